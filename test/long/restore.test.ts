// A dump comes back by pg_restore, under another name by `install`, as docs/backup.md types it: with the same rows and chains, and a
// worker goes on with its work. Dumps are those of pg_dump 15.

import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { comparedCode } from '../../runtime/install/comparedCode.ts';
import { installLedger } from '../../runtime/install/installLedger.ts';
import { withConnection } from '../../runtime/ledger/connection.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { catalogLines, difference } from '../catalog.ts';
import { cliOrFail } from '../cli.ts';
import { fillTables, rowsOf } from '../everyTable.ts';
import { blocksOf, commandsOf } from '../pages.ts';
import { newest, noOldest, oldest } from '../servers.ts';
import type { Database } from '../servers.ts';
import { Shell, run } from '../shell.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';

const noDump = noOldest ?? spawnSync('pg_dump', ['--version']).error?.message ?? null;
if (noDump !== null) console.warn(`no dump is restored: ${noDump}`);

/** What belongs to an installation, and what is on its way. */
const ofInstallation = ['installed_code', 'turn_streams'];
const [ofScript, ofExtension] = blocksOf('sh').filter(
  ({ page, code }) => page === 'docs/backup.md' && /^pg_restore .*"\$COPY"/m.test(code),
);

describe.skipIf(noDump !== null)('a dump', () => {
  let at: Awaited<ReturnType<typeof oldest>>;
  let later: Awaited<ReturnType<typeof newest>>;
  let shell: Shell;
  let folder: string;
  const made: Database[] = [];
  const create = async (on: { create(): Promise<Database> }): Promise<Database> => {
    const database = await on.create();
    made.push(database);
    return database;
  };
  beforeAll(async () => {
    [at, later] = [await oldest(), await newest()];
    folder = await mkdtemp(join(tmpdir(), 'wl-restore-'));
    shell = await Shell.open({});
  });
  afterAll(async () => {
    for (const database of made) await database.drop();
    await shell?.close();
    await at?.stop();
    await later?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** A ledger with a row in every table. */
  async function filled(form: 'script' | 'extension', schema: string): Promise<Database> {
    const database = await create(at);
    if (form === 'extension') await database.query(`create schema ${schema}; create extension work_ledger schema ${schema}`);
    await installLedger(database.url, schema);
    await fillTables(database, schema);
    await database.query(String.raw`
      select ${schema}.person_add('Ann');
      select ${schema}.ledger_append((${schema}.work_submit('foxes', E'Ends: \\.\n\\.\n\ttab \\N ünïcødé 🦊')).id, 'note', E'\\.\nCOPY work_ledger.turns (id) FROM stdin;')`);
    return database;
  }
  const catalogOf = (database: Database, schema: string): Promise<string[]> =>
    withConnection({ connectionString: database.url }, (client) => catalogLines(client, schema));

  /** Types the block, from one database to another. */
  async function type(block: typeof ofScript, from: Database, to: Database): Promise<void> {
    expect(block).toBeDefined();
    if (block === undefined) return;
    for (const { words } of commandsOf(block).filter((command) => !/^(export|createdb) /.test(command.words))) {
      const { code, stdout, stderr } = await run(shell.home, { ...shell.env, DATABASE_URL: from.url, COPY: to.url }, 'sh', '-c', words);
      expect(code, `${words}\n${stdout}${stderr}`).toBe(0);
    }
  }

  async function isRestored(from: Database, former: string, to: Database, schema: string): Promise<void> {
    const [before, after] = [await rowsOf(from, former), await rowsOf(to, schema)];
    for (const [table, rows] of before) {
      if (!ofInstallation.includes(table))
        expect((after.get(table) ?? []).map((row) => JSON.stringify(row)).toSorted(), table).toEqual(
          rows.map((row) => JSON.stringify(row)).toSorted(),
        );
    }
    expect(await to.query(`select place, problem from ${schema}.ledger_verify()`)).toEqual([]);
    expect(await to.query(`select * from ${schema}.work_ledger_check(null)`)).toEqual([]);
    expect(await comparedCode(to.url, schema)).toEqual([]);
    // Numbers go on behind those that there are.
    await to.query(`select ${schema}.session_create('after'), ${schema}.retention_policy_save('1 year', 'failed')`);
  }

  test.each([
    { form: 'script', on: 'the same PostgreSQL' },
    { form: 'script', on: 'a later PostgreSQL' },
    { form: 'extension', on: 'the same PostgreSQL' },
  ] as const)('of the $form comes back under another name on $on', async ({ form, on }) => {
    const server = on === 'the same PostgreSQL' ? at : later;
    const [database, to, fresh] = [await filled(form, 'work_ledger'), await create(server), await create(server)];
    await type(
      ofScript && form === 'extension' ? { ...ofScript, code: ofScript.code.replace(' -n work_ledger', '') } : ofScript,
      database,
      to,
    );
    await isRestored(database, 'work_ledger', to, 'agents_of_may');
    if (form === 'extension') await fresh.query('create schema agents_of_may; create extension work_ledger schema agents_of_may');
    await installLedger(fresh.url, 'agents_of_may');
    expect(difference(await catalogOf(fresh, 'agents_of_may'), await catalogOf(to, 'agents_of_may'))).toEqual([]);
  });

  test('of an extension that was renamed comes back where its name is made first', async () => {
    const [database, to] = [await filled('extension', 'work_ledger'), await create(at)];
    await database.query('alter schema work_ledger rename to agents');
    await installLedger(database.url, 'agents');
    // As the extension's control file says, which is another one here.
    await to.query(
      `create schema work_ledger; do $$ begin execute format('alter database %I set search_path to work_ledger, public', current_database()); end $$`,
    );
    await type(ofExtension, database, to);
    await isRestored(database, 'agents', to, 'agents');
  });

  test('restored by psql alone on a later PostgreSQL, is brought there by install', async () => {
    const [database, to] = [await filled('script', 'work_ledger'), await create(later)];
    const file = join(folder, 'for psql');
    expect(await run(folder, shell.env, 'pg_dump', '-Fp', '--no-owner', '-f', file, database.url)).toMatchObject({ code: 0 });
    expect(await run(folder, shell.env, 'psql', to.url, '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', file)).toMatchObject({ code: 0 });
    expect(await comparedCode(to.url, 'work_ledger')).toContainEqual({
      place: 'function _uuidv7()',
      problem: 'is not the one of this package',
    });
    expect(await installLedger(to.url, 'work_ledger')).toMatchObject({ changed: true, upgradedFrom: null });
    expect(await installLedger(to.url, 'work_ledger')).toMatchObject({ changed: false });
    await isRestored(database, 'work_ledger', to, 'work_ledger');
  });

  test('serves readers, and a worker goes on with its work, while its original is there', async () => {
    const [database, to] = [await create(at), await create(at)];
    await installLedger(database.url, 'work_ledger');
    const db = await openDb(database.url, 'work_ledger');
    await db.facultySave({ name: 'worker', accepts: ['part'], engage: { tools: [] } });
    const { id } = await db.workSubmit({ workType: 'part', description: 'Count to three' });
    const count = (n: number) => ({
      content: [{ type: 'tool_use', name: 'ledger_append', input: { entry_type: 'note', content: `${n}` } }],
    });
    const model = await startScriptedModel(scriptOf([count(1), count(2), { stall: true }]));
    const first = await startWorkerProcess({ url: database.url, modelUrl: model.url, leaseSeconds: 2, args: ['--schema', 'work_ledger'] });
    await until(async () => (await database.query(`select from work_ledger.work_ledger`)).length === 2);
    await type(ofScript, database, to);
    await first.end('SIGKILL');
    await model.close();
    const env = { PATH: process.env['PATH'], HOME: folder, DATABASE_URL: to.url, WORK_LEDGER_SCHEMA: 'agents_of_may' };
    expect((await cliOrFail(['ledger', id], { env })).stdout).toContain('2');
    expect((await cliOrFail(['list'], { env })).stdout).toContain('Count to three');

    const on = await startScriptedModel(scriptOf([count(1), count(2), count(3)]));
    const worker = await startWorkerProcess({ url: to.url, modelUrl: on.url, leaseSeconds: 2, args: ['--schema', 'agents_of_may'] });
    await until(async () => (await to.query(`select from agents_of_may.work_items where state = 'completed'`)).length === 1);
    await worker.end('SIGTERM');
    await on.close();
    expect(await to.query(`select seq::int, content from agents_of_may.work_ledger where entry_type = 'note' order by seq`)).toEqual(
      [1, 2, 3].map((n) => ({ seq: n, content: `${n}` })),
    );
    expect((await db.workItem(id))?.state).toBe('running');
    expect((await cliOrFail(['verify'], { env })).stdout).toBe('everything is as it was written\n');
    await db.close();
  });
});
