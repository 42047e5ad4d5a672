// A ledger of a dump, restored under another name beside the one that it was dumped from: it has the same rows, verifies, serves readers,
// and a worker goes on with its work. Dumps are those of pg_dump 15, in each of its formats.

import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { comparedCode } from '../../runtime/install/comparedCode.ts';
import { installLedger } from '../../runtime/install/installLedger.ts';
import { restoreLedger } from '../../runtime/install/restoreLedger.ts';
import { withConnection } from '../../runtime/ledger/connection.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { catalogLines, difference } from '../catalog.ts';
import { fillTables, rowsOf } from '../everyTable.ts';
import { earlierVersions, releasedScript } from '../released.ts';
import { newest, noOldest, oldest } from '../servers.ts';
import type { Database } from '../servers.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';

const main = fileURLToPath(new URL('../../runtime/start.ts', import.meta.url));
const noDump = noOldest ?? spawnSync('pg_dump', ['--version']).error?.message ?? null;
if (noDump !== null) console.warn(`no dump is restored: ${noDump}`);

/** What belongs to the server, to an installation or to living workers. */
const notRestored = ['erasing', 'installed_code', 'ledger_roles', 'turn_streams', 'workers'];

describe.skipIf(noDump !== null)('a dump', () => {
  let at: Awaited<ReturnType<typeof oldest>>;
  let later: Awaited<ReturnType<typeof newest>>;
  let folder: string;
  const made: Database[] = [];
  const fresh = new Map<object, string[]>();
  const create = async (on: { create(): Promise<Database> }): Promise<Database> => {
    const database = await on.create();
    made.push(database);
    return database;
  };
  beforeAll(async () => {
    [at, later] = [await oldest(), await newest()];
    folder = await mkdtemp(join(tmpdir(), 'wl-restore-'));
    for (const server of [at, later]) {
      const database = await create(server);
      await installLedger(database.url, 'again');
      fresh.set(server, await catalogOf(database, 'again'));
    }
  });
  afterAll(async () => {
    for (const database of made) await database.drop();
    await at?.stop();
    await later?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** A ledger in schema `ledger` with a row in every table, and what users have beside it. */
  async function filled(form: 'script' | 'extension'): Promise<Database> {
    const database = await create(at);
    if (form === 'extension') await database.query('create schema ledger; create extension work_ledger schema ledger');
    await installLedger(database.url, 'ledger');
    await fillTables(database, 'ledger');
    await database.query(`select ledger.person_add('Ann')`);
    await database.query(String.raw`
      create table public.messages (says text);
      insert into public.messages values (E'COPY ledger.turns (id) FROM stdin;\n\\.\n-- Data for Name: turns; Type: TABLE DATA; Schema: ledger; Owner: x\n\nCOPY ledger.turns (id) FROM stdin;');
      create function public.says() returns text language sql as E'select \'\nCOPY ledger.turns (id) FROM stdin;\n\'';
      select ledger.ledger_append((ledger.work_submit('foxes', E'Ends: \\.\n\\.\n\ttab \\N ünïcødé 🦊')).id, 'note', E'\\.\nCOPY ledger.turns (id) FROM stdin;')`);
    return database;
  }
  async function dump(database: Database, name: string, ...options: string[]): Promise<string> {
    const file = join(folder, name);
    await promisify(execFile)('pg_dump', [...options, '-f', file, database.url]);
    return file;
  }
  const cli = (url: string, ...args: string[]): Promise<{ stdout: string; stderr: string }> =>
    promisify(execFile)(process.execPath, [main, ...args], { env: { PATH: process.env['PATH'], HOME: folder, DATABASE_URL: url } });
  const catalogOf = (database: Database, schema: string): Promise<string[]> => withConnection({ connectionString: database.url }, (client) => catalogLines(client, schema));

  async function isRestored(from: Database, to: Database, schema: string): Promise<void> {
    const [before, after] = [await rowsOf(from, 'ledger'), await rowsOf(to, schema)];
    for (const [table, rows] of before) {
      if (!notRestored.includes(table)) expect((after.get(table) ?? []).map((row) => JSON.stringify(row)).toSorted(), table).toEqual(rows.map((row) => JSON.stringify(row)).toSorted());
    }
    for (const table of ['erasing', 'ledger_roles', 'turn_streams', 'workers']) expect(after.get(table), table).toEqual([]);
    expect(await to.query(`select place, problem from ${schema}.ledger_verify()`)).toEqual([]);
    expect(await to.query(`select * from ${schema}.work_ledger_check(null)`)).toEqual([]);
    expect(await comparedCode(to.url, schema)).toEqual([]);
  }

  test.each([
    { format: 'custom', form: 'script', options: ['-Fc'] },
    { format: 'plain', form: 'script', options: ['-Fp'] },
    { format: 'plain, compressed', form: 'extension', options: ['-Fp', '-Z1'] },
    { format: 'directory', form: 'extension', options: ['-Fd'] },
    { format: 'tar', form: 'script', options: ['-Ft', '-n', 'ledger'] },
    { format: 'plain, rows alone, in another encoding', form: 'script', options: ['-Fp', '-a', '-n', 'ledger', '-E', 'GB18030'] },
  ] as const)('in the format $format, of the $form, comes back beside it, and on a later PostgreSQL', async ({ format, form, options }) => {
    const database = await filled(form);
    const file = await dump(database, `dump of ${form}, ${format}`, ...options);
    for (const to of [database, await create(later)]) {
      const restored = await restoreLedger(file, to.url, 'again');
      const [counted] = await database.query<{ items: number; entries: number }>('select (select count(*)::int from ledger.work_items) as items, (select count(*)::int from ledger.work_ledger) as entries');
      expect(restored).toEqual({ schema: 'again', from: 'ledger', workItems: counted?.items, entries: counted?.entries, missingFunctions: [] });
      await isRestored(database, to, 'again');
      const ofForm = /^(dumped|member) /; // of the extension beside it
      expect(difference(fresh.get(to === database ? at : later) ?? [], (await catalogOf(to, 'again')).filter((line) => !ofForm.test(line)))).toEqual([]);
      // Numbers go on behind those that there are.
      await to.query(`select again.session_create('after'), again.retention_policy_save('1 year', 'failed')`);
    }
  });

  test('restored by psql alone on a later PostgreSQL, is brought there by install', async () => {
    const [database, to] = [await filled('script'), await create(later)];
    const file = await dump(database, 'for psql', '-Fp', '--no-owner');
    await promisify(execFile)('psql', [to.url, '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', file]);
    expect(await comparedCode(to.url, 'ledger')).toContainEqual({ place: 'function _uuidv7()', problem: 'is not the one of this package' });
    expect(await installLedger(to.url, 'ledger')).toMatchObject({ changed: true, upgradedFrom: null });
    expect(await comparedCode(to.url, 'ledger')).toEqual([]);
    expect(await to.query('select place, problem from ledger.ledger_verify()')).toEqual([]);
    const [before, after] = [await rowsOf(database, 'ledger'), await rowsOf(to, 'ledger')];
    for (const [table, rows] of before) if (!['installed_code', 'turn_streams'].includes(table)) expect(after.get(table), table).toEqual(rows);
    expect(await installLedger(to.url, 'ledger')).toMatchObject({ changed: false });
  });

  test('serves readers, and a worker goes on with its work, while its original does so, too', async () => {
    const database = await create(at);
    await installLedger(database.url, 'ledger');
    const db = await openDb(database.url, 'ledger');
    await db.facultySave({ name: 'worker', accepts: ['part'], engage: { tools: [] } });
    const { id } = await db.workSubmit({ workType: 'part', description: 'Count to three' });
    const count = (n: number) => ({ content: [{ type: 'tool_use', name: 'ledger_append', input: { entry_type: 'note', content: `${n}` } }] });
    const model = await startScriptedModel(scriptOf([count(1), count(2), { ...count(3), delayMs: 60_000 }]));
    const first = await startWorkerProcess({ url: database.url, modelUrl: model.url, leaseSeconds: 2, args: ['--schema', 'ledger'] });
    await until(async () => (await database.query(`select from ledger.work_ledger`)).length === 2);
    const file = await dump(database, 'under way', '-Fc');
    await first.end('SIGKILL');
    await model.close();

    const said = await cli(database.url, 'restore', file, '--schema', 'copy');
    expect(said.stdout).toBe('restored 1 work items with 2 entries from schema ledger into schema copy\neverything is as it was written\n');
    expect(said.stderr).toContain('Not in a dump of a ledger: roles');
    expect((await cli(database.url, 'ledger', id, '--schema', 'copy')).stdout).toContain('2');
    expect((await cli(database.url, 'verify', '--schema', 'copy')).stdout).toBe('everything is as it was written\n');
    expect((await cli(database.url, 'list', '--schema', 'copy')).stdout).toContain('Count to three');

    const on = await startScriptedModel(scriptOf([count(1), count(2), count(3)]));
    const worker = await startWorkerProcess({ url: database.url, modelUrl: on.url, leaseSeconds: 2, args: ['--schema', 'copy'] });
    await until(async () => (await database.query(`select from copy.work_items where state = 'completed'`)).length === 1);
    await worker.end('SIGTERM');
    await on.close();
    expect(await database.query(`select seq::int, content from copy.work_ledger where entry_type = 'note' order by seq`)).toEqual([1, 2, 3].map((n) => ({ seq: n, content: `${n}` })));
    expect((await db.workItem(id))?.state).toBe('running');
    expect((await cli(database.url, 'verify', '--schema', 'copy')).stdout).toBe('everything is as it was written\n');
    await db.close();
  });

  test('says which tools have no function here, and those of its own schema under its new name', async () => {
    const database = await create(at);
    await installLedger(database.url, 'ledger');
    await database.query(`
      create function ledger.look_up(input jsonb) returns text language sql return input ->> 'at';
      create function public.look_out(input jsonb) returns text language sql return input ->> 'at';
      select ledger.ability_register('look_up', 'Looks.', '{"type": "object"}', 'pure', 'safe', 'ledger.look_up(jsonb)'), ledger.ability_register('look_out', 'Looks.', '{"type": "object"}', 'pure', 'safe', 'public.look_out(jsonb)')`);
    const file = await dump(database, 'with tools');
    expect((await restoreLedger(file, database.url, 'again')).missingFunctions).toEqual(['again.look_up(jsonb)']);
  });

  test('is restored by a role that owns a schema and nothing else', async () => {
    const database = await filled('script');
    const role = `owner_${randomBytes(4).toString('hex')}`;
    await database.query(`create role ${role} login; create schema mine authorization ${role}; do $$ begin execute format('revoke all on database %I from public; grant connect on database %1$I to public', current_database()); end $$`);
    const file = await dump(database, 'for a role', '-Fc');
    const url = database.url.replace('postgres@', `${role}@`);
    await expect(restoreLedger(file, url, 'other')).rejects.toThrow(`role "${role}" may not create schema "other"`);
    expect(await restoreLedger(file, url, 'mine')).toMatchObject({ schema: 'mine' });
    await isRestored(database, database, 'mine');
    await database.query(`drop owned by ${role} cascade; drop role ${role}`);
  });

  test('with two ledgers asks which', async () => {
    const database = await create(at);
    for (const schema of ['one', 'two']) {
      await installLedger(database.url, schema);
      await database.query(`select ${schema}.work_submit('part', 'of ${schema}')`);
    }
    const file = await dump(database, 'two ledgers', '-Fc');
    await expect(restoreLedger(file, database.url, 'again')).rejects.toThrow(`${file} has ledgers of the schemas "one", "two": name one with --from`);
    await expect(restoreLedger(file, database.url, 'again', 'three')).rejects.toThrow(`${file} has no ledger of schema "three", but of "one", "two"`);
    await cli(database.url, 'restore', file, '--from', 'two', '--schema', 'again');
    expect(await database.query('select description from again.work_items')).toEqual([{ description: 'of two' }]);
    await expect(restoreLedger(file, database.url, 'again', 'two')).rejects.toThrow('there is a ledger in schema "again" already: name a schema that is free, such as --schema again_2');
  });

  test('that cannot be restored is refused with why, and leaves nothing behind', async () => {
    const database = await filled('script');
    const plain = await dump(database, 'whole', '-Fp');
    const whole = await readFile(plain, 'utf8');
    const cases: [string, string, RegExp][] = [
      ['cut', whole.slice(0, whole.length / 2), /is not a whole dump of pg_dump/],
      ['empty', '', /is not a whole dump of pg_dump/],
      ['rows as inserts', await readFile(await dump(database, 'inserts', '--inserts'), 'utf8'), /has rows as INSERT: dump it again without --inserts/],
      ['tables alone', await readFile(await dump(database, 'schema', '-s'), 'utf8'), /has no rows of a ledger/],
      ['twice', whole + whole, /has schema "ledger" more than once/],
      ['without a table', await readFile(await dump(database, 'part', '-T', 'ledger.seals'), 'utf8'), /is not of a whole ledger of this version, for these tables differ: seals;/],
      ['changed', whole.replace(/^(COPY ledger\.work_ledger .*\n.*?\t)/m, '$1x'), /nothing was restored: invalid input syntax/],
      ['a row that refers to nothing', whole.replace(/^(COPY ledger\.foci .*\n)[^]*?^(\\\.)$/m, '$1$2'), /nothing was restored: insert or update on table ".*" violates foreign key constraint/],
      ['another program\'s', whole.replace(/^COPY ledger\.turns \(id, /m, 'COPY ledger.turns (id)from/**/program/**/$$touch$$;--, '), /for these tables differ: turns;/],
    ];
    for (const [name, content, why] of cases) {
      const file = join(folder, `${name}.sql`);
      await writeFile(file, content);
      await expect(restoreLedger(file, database.url, 'again'), name).rejects.toThrow(why);
    }
    const broken = await dump(database, 'broken', '-Fc');
    await writeFile(broken, (await readFile(broken)).subarray(0, 20_000));
    await expect(restoreLedger(broken, database.url, 'again')).rejects.toThrow(/pg_restore cannot read .*broken: /);
    await expect(cli(database.url, 'restore', join(folder, 'nowhere'))).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(/^error: there is no .*nowhere\n$/) });
    expect(await database.query(`select from pg_namespace where nspname = 'again'`)).toEqual([]);
    // Lines that pg_dump would not write between rows do not reach psql.
    const evil = join(folder, 'evil.sql');
    await writeFile(evil, whole.replace(/^(COPY ledger\.faculties .*\n)/m, `$1\\.\r\n\\! touch '${folder}/evil'\n`));
    await restoreLedger(evil, database.url, 'again').catch(() => {});
    await expect(readFile(join(folder, 'evil'))).rejects.toThrow('ENOENT');
  });

  test('of an earlier version is refused: restored and upgraded by hand it is one of this version', async () => {
    const [earlier = ''] = earlierVersions();
    const database = await create(at);
    await database.query(releasedScript(earlier, 'ledger'));
    const file = await dump(database, 'earlier');
    await expect(restoreLedger(file, database.url, 'again')).rejects.toThrow(/nothing was restored: the dump is not of a whole ledger of this version, for these tables differ: .*; restore it with the work-ledger that made it, and upgrade it then/);
  });
});
