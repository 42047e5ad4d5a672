// A role that owns one schema and nothing else installs, and works; what it may not do it is told before anything is changed, with the
// script that somebody else runs for it. And a database that is not in UTF8 is refused.

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { installLedger, readyLedger } from '../../runtime/install/installLedger.ts';
import { installScript } from '../../runtime/install/installScript.ts';
import { checkLedger, QUEUE_MIGRATION } from '../../runtime/ledger/checkLedger.ts';
import { withConnection } from '../../runtime/ledger/connection.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { build } from '../../sql/extensionSource.ts';
import { cliOrFail } from '../cli.ts';
import { servers } from '../servers.ts';
import type { Database } from '../servers.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';

describe.each(servers)('on $server', ({ start, missing }) => {
  describe.skipIf(missing !== null)('a role', () => {
    let at: Awaited<ReturnType<typeof start>>;
    let database: Database;
    let folder: string;
    const roles: string[] = [];
    beforeAll(async () => {
      at = await start();
      folder = await mkdtemp(join(tmpdir(), 'wl-rights-'));
      database = await at.create();
      await database.query(
        `do $$ begin execute format('revoke all on database %I from public; grant connect on database %1$I to public', current_database()); end $$`,
      );
    });
    afterAll(async () => {
      for (const role of roles) await database?.query(`drop owned by ${role} cascade; drop role ${role}`);
      await database?.drop();
      await at?.stop();
      await rm(folder, { recursive: true, force: true });
    });

    /** A role that owns a schema, and its address. */
    async function owner(schema: string): Promise<{ role: string; url: string }> {
      const role = `owner_${randomBytes(4).toString('hex')}`;
      roles.push(role);
      await database.query(`create role ${role} login; create schema ${schema} authorization ${role}`);
      return { role, url: database.url.replace('postgres@', `${role}@`) };
    }
    const cli = (url: string | null, ...args: string[]): Promise<{ stdout: string; stderr: string }> =>
      cliOrFail(args, {
        env: {
          PATH: process.env['PATH'],
          HOME: folder,
          WORK_LEDGER_DATA_DIR: join(folder, 'data'),
          ...(url !== null && { DATABASE_URL: url }),
        },
      });
    async function psql(url: string, script: string): Promise<void> {
      await writeFile(join(folder, 'install.sql'), script);
      await promisify(execFile)('psql', [url, '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', join(folder, 'install.sql')]);
    }
    const schemas = async (): Promise<string[]> =>
      (
        await database.query<{ name: string }>(`select nspname as name from pg_namespace where nspname !~ '^(pg_|information)' order by 1`)
      ).map(({ name }) => name);
    const ownersOf = async (schema: string): Promise<string[]> =>
      (
        await database.query<{ name: string }>(`
      select distinct pg_get_userbyid(o.owner) as name from (
        select relnamespace, relowner from pg_class union all select pronamespace, proowner from pg_proc union all select oid, nspowner from pg_namespace) o(namespace, owner)
       where o.namespace = '${schema}'::regnamespace`)
      ).map(({ name }) => name);

    /** A worker process of a role does an item. */
    async function works(url: string, schema: string): Promise<void> {
      const model = await startScriptedModel(scriptOf([{ content: [{ type: 'text', text: 'Done.' }] }]));
      const worker = await startWorkerProcess({ url, modelUrl: model.url, args: ['--schema', schema] });
      const db = await openDb(url, schema);
      try {
        await db.facultySave({ name: 'worker', accepts: ['part'] });
        const { id } = await db.workSubmit({ workType: 'part', description: 'x' });
        await until(async () => (await db.workItem(id))?.state === 'completed');
      } finally {
        await db.close();
        await worker.end('SIGTERM');
        await model.close();
      }
    }

    test("that may not make graphile-worker's schema is told so, and what is printed for it lets it work", async () => {
      const { role, url } = await owner('agents');
      const before = await schemas();
      const told = `role "${role}" may not create schema "graphile_worker" in database "${new URL(url).pathname.slice(1)}": let a role that may run in psql what this prints: work-ledger install --schema agents --print --owner ${role}`;
      for (const begin of [installLedger, readyLedger]) await expect(begin(url, 'agents')).rejects.toThrow(told);
      await expect(cli(url, 'work', '--install', '--schema', 'agents')).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringContaining(told),
      });
      expect(await schemas()).toEqual(before);

      const { stdout: script } = await cli(url, ...(told.split('prints: work-ledger ')[1]?.split(' ') ?? []));
      expect(await schemas()).toEqual(before);
      await psql(database.url, script);
      for (const schema of ['agents', 'graphile_worker']) expect(await ownersOf(schema)).toEqual([role]);
      expect(await installLedger(url, 'agents')).toMatchObject({ form: 'script', changed: false });
      expect(await cli(url, 'install', '--print', '--schema', 'agents')).toMatchObject({
        stdout: '\n',
        stderr: 'nothing is missing in schema agents\n',
      });
      await works(url, 'agents');
    });

    test('with a schema of its own beside that of another is told that the jobs are not its own, and what is printed lets it work', async () => {
      const { role, url } = await owner('others');
      expect(await installLedger(url, 'others')).toMatchObject({ changed: true });
      const told = `role "${role}" may not work with graphile-worker's jobs: grant it this ledger's role for workers (work_roles_create), or have the owner of these jobs run what this prints: work-ledger install --schema others --print --owner ${role}`;
      for (const begin of [readyLedger, (...where: [string, string]) => checkLedger(...where, { isWorker: true })])
        await expect(begin(url, 'others')).rejects.toThrow(told);
      // Rows are hidden from who has privileges and no policy.
      await database.query(
        `grant usage on schema graphile_worker to ${role}; grant all on all tables in schema graphile_worker to ${role}`,
      );
      await expect(readyLedger(url, 'others')).rejects.toThrow(told);
      await psql(database.url, (await cli(url, 'install', '--schema', 'others', '--print', '--owner', role)).stdout);
      await works(url, 'others');
    });

    test('makes what is missing in a schema for graphile-worker that it was given', async () => {
      const other = await at.create();
      const { role, url } = { role: roles[0] ?? '', url: other.url.replace('postgres@', `${roles[0]}@`) };
      await other.query(`create schema agents authorization ${role}; create schema graphile_worker authorization ${role}`);
      await expect(installLedger(url, 'more')).rejects.toThrow(`role "${role}" may not create schema "more" in database`);
      expect(await installLedger(url, 'agents')).toMatchObject({ changed: true });
      expect(await other.query('select max(id) as id from graphile_worker.migrations')).toEqual([{ id: QUEUE_MIGRATION }]);
      await other.query(
        `delete from graphile_worker.migrations where id = ${QUEUE_MIGRATION}; alter table graphile_worker.migrations owner to postgres; grant select on graphile_worker.migrations to ${role}`,
      );
      await expect(installLedger(url, 'agents')).rejects.toThrow(
        `role "${role}" may not change graphile-worker's tables, which belong to role "postgres"`,
      );
      await other.drop();
    });

    test('that does not own a ledger is told whose it is', async () => {
      const { role, url } = await owner('mine');
      const told = `role "${role}" may not change the ledger in schema "agents": install as role "${roles[0]}", which it belongs to`;
      await expect(installLedger(url, 'agents')).rejects.toThrow(told);
      await database.query(
        `create or replace function agents.work_ledger_build() returns text language sql immutable return '${build().split('/')[0]}/0000'; grant usage on schema agents to ${role}; grant execute on all functions in schema agents to ${role}`,
      );
      await expect(installLedger(url, 'agents')).rejects.toThrow(told);
      expect(await installLedger(database.url.replace('postgres@', `${roles[0]}@`), 'agents')).toMatchObject({ changed: true });
    });

    test('has a script for an empty database without any address; nothing is started for it', async () => {
      const { stdout } = await cli(null, 'install', '--print', '--schema', 'agents', '--owner', roles[0] ?? '');
      expect(stdout.trimEnd()).toBe((await installScript(null, 'agents', roles[0] ?? ''))?.trimEnd());
      const other = await at.create();
      await psql(other.url, stdout);
      expect(await installLedger(other.url.replace('postgres@', `${roles[0]}@`), 'agents')).toMatchObject({ changed: false });
      await other.drop();
      await expect(cli(null, 'down')).resolves.toMatchObject({ stdout: expect.stringContaining('the embedded database was not running') });
    });

    test.each(['LATIN1', 'SQL_ASCII'])('finds a database in %s refused, in both forms, and as it was', async (encoding) => {
      const name = `not_utf8_${randomBytes(4).toString('hex')}`;
      await database.query(`create database ${name} encoding '${encoding}' locale_provider libc locale 'C' template template0`);
      const url = database.url.replace(/[^/]*$/, name);
      const told = `Work Ledger needs a database whose encoding is UTF8, and that of ${name} is ${encoding}`;
      const refused = { code: '0A000', message: told };
      for (const begin of [installLedger, readyLedger]) await expect(begin(url, 'ledger')).rejects.toMatchObject(refused);
      await expect(cli(url, 'install')).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(`error: ${told}\n`) });
      await expect(psql(url, (await installScript(null, 'ledger', null)) ?? '')).rejects.toThrow(told);
      const path = (await database.query<{ path: string | null }>(`select current_setting('extension_control_path', true) as path`))[0]
        ?.path;
      await withConnection({ connectionString: url }, async (client) => {
        if (path) await client.query(`set extension_control_path = '${path}'`);
        await expect(client.query('create schema ledger; create extension work_ledger schema ledger')).rejects.toMatchObject(refused);
        expect((await client.query(`select nspname as name from pg_namespace where nspname !~ '^(pg_|information)'`)).rows).toEqual([
          { name: 'public' },
        ]);
      });
      await database.query(`drop database ${name}`);
    });
  });
});
