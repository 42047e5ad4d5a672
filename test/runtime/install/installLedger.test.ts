// Two forms of installation, one catalog; ledgers that do not see each other. That a dump restores with its rows is
// tested by installcheck.sh, which has a pg_dump.

import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { comparedCode } from '../../../runtime/install/comparedCode.ts';
import { installLedger, readyLedger } from '../../../runtime/install/installLedger.ts';
import { checkLedger, QUEUE_MIGRATION } from '../../../runtime/ledger/checkLedger.ts';
import { connect } from '../../../runtime/ledger/connection.ts';
import { openDb } from '../../../runtime/ledger/db.ts';
import { createModelClient } from '../../../runtime/model/callModel.ts';
import { startWorker } from '../../../runtime/worker/worker.ts';
import { build } from '../../../sql/extensionSource.ts';
import { catalogLines } from '../../catalog.ts';
import { createDatabase, isWaitedFor } from '../../database.ts';
import type { TestDatabase } from '../../database.ts';
import { until } from '../../workerProcess.ts';

const databases: TestDatabase[] = [];
let plain: TestDatabase;
let extension: TestDatabase;

const create = async (): Promise<TestDatabase> => {
  const made = await createDatabase({ from: null });
  databases.push(made);
  return made;
};

beforeAll(async () => {
  plain = await create();
  extension = await create();
  await installLedger(plain.url, 'ledger');
  await extension.query('create schema ledger; create extension work_ledger schema ledger');
});
afterAll(async () => {
  for (const database of databases) await database.drop({ unchecked: 'older ledgers and parts of them' });
});

/** What both forms have: what belongs to the extension is left out. */
const catalog = async (database: TestDatabase): Promise<string[]> =>
  (await catalogLines({ query: async (sql) => ({ rows: await database.query<{ line: string }>(sql) }) }, 'ledger')).filter(
    (line) => !/^(dumped|member) /.test(line),
  );

test('a new ledger is open to nobody but its owner', async () => {
  for (const database of [plain, extension]) {
    expect(
      await database.query(
        `select proname from pg_proc where pronamespace = 'ledger'::regnamespace and has_function_privilege('public', oid, 'execute')`,
      ),
    ).toEqual([]);
  }
});

test('create extension and the plain script end in the same catalog', async () => {
  const lines = await catalog(plain);
  expect(lines.length).toBeGreaterThan(250);
  expect(lines).toEqual(await catalog(extension));
});

test('installing again changes nothing', async () => {
  const before = await catalog(plain);
  expect(await installLedger(plain.url, 'ledger')).toMatchObject({ form: 'script', changed: false });
  await installLedger(extension.url, 'ledger'); // graphile-worker's schema
  expect(await installLedger(extension.url, 'ledger')).toMatchObject({ form: 'extension', changed: false });
  expect(await catalog(plain)).toEqual(before);
});

/** Of everything that an installation could touch, which transaction wrote it last. */
async function written(database: TestDatabase): Promise<unknown[]> {
  return database.query(`
    with n as (select oid from pg_namespace where nspname in ('ledger', 'graphile_worker'))
    select 'function' as kind, p.oid, p.xmin::text from pg_proc p join n on p.pronamespace = n.oid
    union all select 'trigger', t.oid, t.xmin::text from pg_trigger t join pg_class c on c.oid = t.tgrelid join n on c.relnamespace = n.oid
    union all select 'relation', c.oid, c.xmin::text from pg_class c join n on c.relnamespace = n.oid where c.relkind in ('r', 'v')
    union all select 'comment', d.objoid, d.xmin::text from pg_description d join pg_proc p on p.oid = d.objoid join n on p.pronamespace = n.oid
    order by 1, 2`);
}

test('a worker that starts, and installing again, write nothing', async () => {
  const before = await written(plain);
  await readyLedger(plain.url, 'ledger');
  const worker = await startWorker({
    url: plain.url,
    schema: 'ledger',
    tools: [],
    log: pino({ level: 'silent' }),
    docker: null,
    model: createModelClient({ apiKey: 'k', baseURL: 'http://127.0.0.1:9' }),
  });
  await worker.stop();
  await installLedger(plain.url, 'ledger');
  expect(await written(plain)).toEqual(before);
});

test("graphile-worker's schema is at the migration that this program knows", async () => {
  expect(await plain.query('select max(id) as id from graphile_worker.migrations')).toEqual([{ id: QUEUE_MIGRATION }]);
  const database = await create();
  await installLedger(database.url, 'ledger');
  await database.query(`delete from graphile_worker.migrations where id = ${QUEUE_MIGRATION}`);
  await expect(checkLedger(database.url, 'ledger', { isWorker: true })).rejects.toThrow(
    `graphile-worker's schema is at migration ${QUEUE_MIGRATION - 1}, this program wants migration ${QUEUE_MIGRATION}. Bring it up: work-ledger install --schema ledger`,
  );
  await checkLedger(database.url, 'ledger');
  expect(await installLedger(database.url, 'ledger')).toMatchObject({ changed: true });
  await checkLedger(database.url, 'ledger', { isWorker: true });
});

/** As a ledger of other functions and the same tables says of itself. */
const olderFunctions = `create or replace function ledger.work_ledger_build() returns text language sql immutable return '${build().split('/')[0]}/0000'`;

test('a ledger of other functions is refused by whoever works, and renewed by an installer', async () => {
  const database = await create();
  await installLedger(database.url, 'ledger');
  const before = await catalog(database);
  await database.query(
    `${olderFunctions}; create function ledger.work_cancel(a int) returns int language sql return a; create function ledger.users_own() returns int language sql return 1`,
  );
  await expect(readyLedger(database.url, 'ledger')).rejects.toThrow(
    /version [\d.]+ \(build \w+\/0000\), this program wants .* Only functions differ\. Bring it up: work-ledger install --schema ledger$/,
  );
  expect(await installLedger(database.url, 'ledger')).toMatchObject({ changed: true });
  const after = await catalog(database);
  expect(after.filter((line) => line.includes('users_own'))).toHaveLength(1);
  expect(after.filter((line) => !line.includes('users_own'))).toEqual(before);
  expect(await database.query('select place, problem from ledger.ledger_verify()')).toEqual([]);
  expect(await comparedCode(database.url, 'ledger')).toEqual([]);
});

test('a ledger of other tables, and one that is newer, stay as they are, and it is said what to do', async () => {
  const database = await create();
  await installLedger(database.url, 'ledger');
  await database.query('create schema ledger_2; drop function ledger.work_ledger_build(); drop table ledger.awareness_shown cascade');
  const before = await written(database);
  for (const start of [installLedger, readyLedger, checkLedger]) {
    await expect(start(database.url, 'ledger')).rejects.toThrow(
      /^the ledger in schema "ledger" is version ([\d.]+) \(build unknown\), this program wants \1 \(build .*\)\. It has no table awareness_shown\. Nothing carries it over\. .*: work-ledger install --schema ledger_3\n.*WORK_LEDGER_SCHEMA=ledger_3/,
    );
  }
  await database.query(
    `create function ledger.work_ledger_build() returns text language sql return '1/1'; create or replace function ledger.work_ledger_version() returns text language sql return '0.10.0'`,
  );
  await expect(installLedger(database.url, 'ledger')).rejects.toThrow(
    /^the ledger in schema "ledger" is version 0\.10\.0, this program is version [\d.]+: use work-ledger 0\.10\.0$/,
  );
  expect((await written(database)).length).toBe(before.length + 1);
  await expect(checkLedger(database.url, 'nowhere')).rejects.toThrow(
    'there is no ledger in schema "nowhere". Install one: work-ledger install --schema nowhere',
  );
});

test('renewing waits for who is at work, holds nobody up meanwhile and rolls nobody back', async () => {
  const database = await create();
  await installLedger(database.url, 'ledger');
  const [busy, other] = [await connect({ connectionString: database.url }), await connect({ connectionString: database.url })];
  const submit = async (): Promise<string> =>
    (await database.query<{ id: string }>(`select id from ledger.work_submit('a', 'x')`))[0]?.id ?? '';
  const [first, second] = [await submit(), await submit()];
  await database.query(olderFunctions);

  await busy.query(`set deadlock_timeout = '10ms'`); // is the one to notice a circle, and loses
  await busy.query('begin; lock table ledger.foci in row exclusive mode'); // as a heartbeat does, before it wants an item
  await other.query('begin; lock table ledger.fences in row share mode');
  let isDone = false;
  const renewed = installLedger(database.url, 'ledger').finally(() => (isDone = true));
  // A try that stands before the fences holds nothing. Let in, it finds the foci taken and must give the fences back.
  const isWaiting = (): Promise<boolean> => isWaitedFor(database, 'ledger.fences');
  await until(isWaiting);
  await other.query('commit');
  await until(async () => !(await isWaiting()));
  await busy.query(`select ledger.ledger_append('${first}', 'note', 'x')`); // 40P01 where the installer waits with a lock in its hand
  for (let n = 0; n < 20; n++) await other.query(`select ledger.ledger_append('${second}', 'note', 'x')`);
  expect(isDone).toBe(false);
  await busy.query('commit');
  expect(await renewed).toMatchObject({ changed: true });
  await checkLedger(database.url, 'ledger');
  await busy.end();
  await other.end();
});

test('two installers at once both succeed', async () => {
  const database = await create();
  const both = await Promise.all([installLedger(database.url, 'ledger'), installLedger(database.url, 'ledger')]);
  expect(both.filter((installed) => installed.changed)).toHaveLength(1);
});

test('the extension installs for a role that is no superuser, and the role owns it', async () => {
  const database = await create();
  const role = `installer_${Date.now()}`;
  const name = new URL(database.url).pathname.slice(1);
  await database.query(`create role ${role} login; alter database ${name} owner to ${role}`);
  const client = new pg.Client({ connectionString: database.url.replace('postgres@', `${role}@`) });
  await client.connect();
  await client.query('create schema ledger; create extension work_ledger schema ledger');
  await client.query(`select ledger.ledger_append((ledger.work_submit('a', 'x')).id, 'note', 'mine')`);
  await client.end();
  await database.query(`drop owned by ${role} cascade`).catch(() => {});
});

test('a schema whose name needs quoting is as good as any', async () => {
  const database = await create();
  await installLedger(database.url, 'Team "A" ledger');
  const db = await openDb(database.url, 'Team "A" ledger');
  const item = await db.workSubmit({ workType: 'a', description: 'x' });
  expect((await db.ledgerAppend(item.id, 'note', 'x')).seq).toBe(1);
  expect(await db.awarenessDigest(item.id)).toContain('== AWARENESS ==');
  await db.close();
  expect(await database.query(`select call from "Team ""A"" ledger".ledger_help('work_roles_create')`)).toHaveLength(1);
  expect(await database.query(`select code from "Team ""A"" ledger".work_ledger_doctor() where work_item_id is not null`)).toEqual([
    { code: 'routing' },
  ]);
  expect(await database.query(`select place, problem from "Team ""A"" ledger".ledger_verify()`)).toEqual([]);
  expect(await comparedCode(database.url, 'Team "A" ledger')).toEqual([]);
});

test('two ledgers in two schemas of one database do not see each other', async () => {
  const database = await create();
  await installLedger(database.url, 'one');
  await installLedger(database.url, 'two');
  const [one, two] = [await openDb(database.url, 'one'), await openDb(database.url, 'two')];
  const item = await one.workSubmit({ workType: 'a', description: 'only in one' });
  await one.ledgerAppend(item.id, 'finding', 'only in one');
  await database.query(`select one.work_complete('${item.id}', 'done in one')`);
  expect(await two.workItem(item.id)).toBeNull();
  expect(await two.awarenessDigest(null)).not.toContain('only in one');
  await expect(two.ledgerAppend(item.id, 'note', 'x')).rejects.toMatchObject({ code: 'WL001' });
  expect(await database.query<{ task: string }>('select distinct task_identifier as task from graphile_worker.jobs')).toEqual([
    { task: 'one/engage' },
  ]);
  await one.close();
  await two.close();
});

test('every table with rows of users is marked for pg_dump, and what comes with the extension is not', async () => {
  const marked = await extension.query<{ name: string; condition: string }>(`
    select c.relname as name, condition from pg_extension e, unnest(e.extconfig, e.extcondition) as x(id, condition) join pg_class c on c.oid = x.id
     where extname = 'work_ledger' order by 1`);
  expect(marked.filter((row) => row.condition !== '')).toEqual([
    { name: 'abilities', condition: 'where not is_builtin' },
    { name: 'installed_code', condition: 'where false' }, // the installation writes it
    { name: 'ledger_roles', condition: 'where false' }, // roles belong to the server
    { name: 'locks', condition: 'where false' }, // the installation writes them
    { name: 'search_entries', condition: 'where false' }, // triggers make its rows again
    { name: 'touch_rules', condition: 'where not is_builtin' },
  ]);
  const tables = await extension.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'ledger'::regnamespace and relkind in ('r', 'S') and relpersistence = 'p' order by 1`,
  );
  expect(marked.map((row) => row.name)).toEqual(tables.map((row) => row.name));
});
