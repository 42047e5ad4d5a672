// A ledger whose schema was renamed: everybody says what to do, `install` lets it follow, and work goes on; in both forms.

import { randomBytes } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { comparedCode } from '../../runtime/install/comparedCode.ts';
import { installLedger, readyLedger } from '../../runtime/install/installLedger.ts';
import { installScript } from '../../runtime/install/installScript.ts';
import { checkLedger, standing } from '../../runtime/ledger/checkLedger.ts';
import { withConnection } from '../../runtime/ledger/connection.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { version } from '../../sql/extensionSource.ts';
import { catalogLines, difference } from '../catalog.ts';
import { fillTables, rowsOf } from '../everyTable.ts';
import { earlierVersions, releasedScript } from '../released.ts';
import { servers } from '../servers.ts';
import type { Database } from '../servers.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';

const catalogOf = (database: Database, schema: string): Promise<string[]> =>
  withConnection({ connectionString: database.url }, (client) => catalogLines(client, schema));
const make = (database: Database, form: 'script' | 'extension', schema: string): Promise<unknown> =>
  form === 'script'
    ? installLedger(database.url, schema)
    : database.query(`create schema ${schema}; create extension work_ledger schema ${schema}`);

describe.each(servers)('on $server', ({ start, missing }) => {
  describe.skipIf(missing !== null)('a renamed ledger', () => {
    let at: Awaited<ReturnType<typeof start>>;
    beforeAll(async () => {
      at = await start();
    });
    afterAll(() => at?.stop());

    test.each(['script', 'extension'] as const)(
      'is refused until it is installed again, and then is what a new one of that name is, with its rows and jobs (%s)',
      async (form) => {
        const [database, fresh] = [await at.create(), await at.create()];
        await make(fresh, form, 'moved');
        await make(database, form, 'ledger');
        await installLedger(database.url, 'ledger'); // graphile-worker's schema
        await fillTables(database, 'ledger');
        await database.query(`
        create function ledger.look_up(input jsonb) returns text language sql set search_path = pg_catalog, ledger, pg_temp return input ->> 'at';
        create function ledger.put_away(id uuid) returns void language sql begin atomic; select; end;
        select ledger.ability_register('look_up', 'Looks.', '{"type": "object"}', 'pure', 'safe', 'ledger.look_up(jsonb)');
        select ledger.retention_policy_save('3650 days', 'failed', p_export => 'ledger.put_away(uuid)')`);
        const before = await rowsOf(database, 'ledger');
        const jobs = await database.query<{ key: string }>('select key from graphile_worker.jobs order by key');
        expect(jobs.length).toBeGreaterThan(0);

        await database.query('alter schema ledger rename to moved');
        const told = `the ledger in schema "moved" was in schema "ledger", and its functions still look for it there: bring it up with work-ledger install --schema moved`;
        for (const begin of [checkLedger, readyLedger, openDb]) await expect(begin(database.url, 'moved')).rejects.toThrow(told);
        await expect(checkLedger(database.url, 'ledger')).rejects.toThrow('there is no ledger in schema "ledger"');
        const both = await Promise.all([installLedger(database.url, 'moved'), installLedger(database.url, 'moved')]);
        expect(both.map((one) => one.form)).toEqual([form, form]);
        expect(both.filter(({ renamedFrom }) => renamedFrom === 'ledger')).not.toEqual([]);
        expect(await installLedger(database.url, 'moved')).toMatchObject({ changed: false, renamedFrom: null });

        const rows = await rowsOf(database, 'moved');
        const named = [
          ...(rows.get('abilities') ?? []).map((row) => row['function_name']),
          ...(rows.get('retention_policies') ?? []).map((row) => row['export_function']),
        ].filter((name) => name !== null);
        expect(named.map(String).toSorted()).toEqual(['moved.look_up', 'moved.put_away']);
        for (const [table, there] of before) {
          if (table === 'installed_code') continue; // says of each function what it is now
          const plain = (list: Record<string, unknown>[]): string[] =>
            list.map((row) => JSON.stringify(row).replaceAll('moved.', 'ledger.').replaceAll('"moved"', '"ledger"')).toSorted();
          expect(plain(rows.get(table) ?? []), table).toEqual(plain(there));
        }
        expect(await database.query('select key from graphile_worker.jobs order by key')).toEqual(
          jobs.map(({ key }) => ({ key: key.replace('ledger/', 'moved/') })),
        );
        expect(await database.query(`select distinct task_identifier as task from graphile_worker.jobs`)).toEqual([
          { task: 'moved/engage' },
        ]);
        const users = (line: string): boolean => /look_up|put_away/.test(line);
        expect(
          difference(
            await catalogOf(fresh, 'moved'),
            (await catalogOf(database, 'moved')).filter((line) => !users(line)),
          ),
        ).toEqual([]);
        expect(await database.query(`select p.proconfig as config from pg_proc p where proname = 'look_up'`)).toEqual([
          { config: ['search_path=pg_catalog, moved, pg_temp'] },
        ]);
        expect(await database.query('select place, problem from moved.ledger_verify()')).toEqual([]);
        expect(await comparedCode(database.url, 'moved')).toEqual([]);
        await database.query(`create or replace function moved.look_up(input jsonb) returns text language sql return 'changed'`);
        expect(await database.query('select place, problem from moved.ledger_verify()'), 'what users keep there is theirs').toEqual([]);
        await database.drop();
        await fresh.drop();
      },
    );

    test('is worked on by who is given the new name', async () => {
      const database = await at.create();
      await installLedger(database.url, 'ledger');
      const old = await openDb(database.url, 'ledger');
      await old.facultySave({ name: 'worker', accepts: ['part'] });
      const { id } = await old.workSubmit({ workType: 'part', description: 'x' });
      await old.close();
      await database.query('alter schema ledger rename to renamed');
      await installLedger(database.url, 'renamed');
      const model = await startScriptedModel(scriptOf([{ content: [{ type: 'text', text: 'Done.' }] }]));
      const worker = await startWorkerProcess({ url: database.url, modelUrl: model.url, args: ['--schema', 'renamed'] });
      await until(
        async () => (await database.query(`select from renamed.work_items where id = '${id}' and state = 'completed'`)).length === 1,
      );
      await worker.end('SIGTERM');
      await model.close();
      await database.drop();
    });

    test('may have names that need quoting', async () => {
      const database = await at.create();
      const [from, to] = ['Of "A"', `it's "B"`];
      await installLedger(database.url, from);
      await withConnection({ connectionString: database.url }, async (client) => {
        const [old, now] = [from, to].map((name) => client.escapeIdentifier(name));
        await client.query(`select ${old}.work_submit('part', 'x'); alter schema ${old} rename to ${now}`);
      });
      await expect(checkLedger(database.url, to)).rejects.toThrow(
        `the ledger in schema "it's "B"" was in schema "Of "A"", and its functions still look for it there: bring it up with work-ledger install --schema 'it'\\''s "B"'`,
      );
      expect(await installLedger(database.url, to)).toMatchObject({ renamedFrom: from });
      const db = await openDb(database.url, to);
      const { id } = await db.workSubmit({ workType: 'part', description: 'x' });
      expect((await db.ledgerAppend(id, 'note', 'goes on')).seq).toBe(1);
      await db.close();
      expect(await database.query(`select distinct task_identifier as task from graphile_worker.jobs`)).toEqual([{ task: `${to}/engage` }]);
      await database.drop();
    });

    test('of an earlier version is upgraded where it is', async () => {
      const [earlier = ''] = earlierVersions();
      const [database, fresh] = [await at.create(), await at.create()];
      await installLedger(fresh.url, 'renamed');
      await installLedger(database.url, 'other'); // graphile-worker's schema
      await database.query(releasedScript(earlier, 'ledger'));
      await database.query('alter schema ledger rename to renamed');
      await expect(checkLedger(database.url, 'renamed')).rejects.toThrow('was in schema "ledger"');
      expect(await installLedger(database.url, 'renamed')).toMatchObject({ upgradedFrom: earlier, renamedFrom: 'ledger' });
      expect(difference(await catalogOf(fresh, 'renamed'), await catalogOf(database, 'renamed'))).toEqual([]);
      await database.drop();
      await fresh.drop();
    });

    test('leaves the jobs of a ledger that has its old name now', async () => {
      const database = await at.create();
      await installLedger(database.url, 'ledger');
      await database.query('alter schema ledger rename to renamed');
      await installLedger(database.url, 'ledger');
      await database.query(`select ledger.work_submit('part', 'Of the new one')`);
      await installLedger(database.url, 'renamed');
      expect(await database.query(`select distinct task_identifier as task from graphile_worker.jobs`)).toEqual([
        { task: 'ledger/engage' },
      ]);
      await database.drop();
    });

    test.each(['script', 'extension'] as const)(
      'follows by psql alone, with what install --print prints; and by the role that owns it (%s)',
      async (form) => {
        const [database, role] = [await at.create(), `owner_${randomBytes(4).toString('hex')}`];
        await database.query(
          `create role ${role} login; do $$ begin execute format('grant create on database %I to ${role}', current_database()); end $$`,
        );
        const url = database.url.replace('postgres@', `${role}@`);
        if (form === 'script') await installLedger(url, 'ledger');
        else
          await withConnection({ connectionString: url }, (client) =>
            client.query('create schema ledger; create extension work_ledger schema ledger'),
          );
        await installLedger(url, 'ledger');
        await database.query('alter schema ledger rename to renamed');
        const script = await installScript(await standing(url, 'renamed'), 'renamed', null);
        await withConnection({ connectionString: url }, (client) => client.query(script ?? ''));
        expect(await installLedger(url, 'renamed')).toMatchObject({ form, version: version(), changed: false });
        expect(await database.query('select place, problem from renamed.ledger_verify()')).toEqual([]);
        if (form === 'extension')
          expect(
            await database.query(
              `select n.nspname as name from pg_extension e join pg_namespace n on n.oid = e.extnamespace where extname = 'work_ledger'`,
            ),
          ).toEqual([{ name: 'renamed' }]);
        await database.query('alter schema renamed rename to ledger');
        expect(await installLedger(url, 'ledger')).toMatchObject({ form, renamedFrom: 'renamed' });
        await database.query(`drop owned by ${role} cascade; drop role ${role}`);
        await database.drop();
      },
    );
  });
});
