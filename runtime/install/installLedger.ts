// Installs the ledger as a plain script, for servers where nobody can add extension files: the same sources that
// `create extension work_ledger` runs, in one transaction. Only `work-ledger install` and `up` change a ledger that is
// there; everything else compares it with its own sources, and works with it or says what to do.

import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { build, plainScript, tables, version } from '../../sql/extensionSource.ts';
import { withConnection } from '../ledger/connection.ts';
import { sqlState } from '../ledger/errors.ts';

export type Installed = { schema: string; version: string; form: 'extension' | 'script'; changed: boolean };

/** The ledger that is there was installed from other sources than this program's; the message says what to do. */
export class OtherLedger extends Error {
  override name = 'OtherLedger';
}

type Standing = {
  form: 'extension' | 'script';
  /** Null: there is no ledger. */
  ledger: { version: string; build: string; missingTables: string[] } | null;
  /** The newest migration of graphile-worker; 0: its schema is not there; null: not ours to see. */
  queue: number | null;
  /** A schema that nobody has yet. */
  free: string;
};

/** The newest migration of the graphile-worker that this program has. */
export const QUEUE_MIGRATION = 20;

/** Brings graphile-worker's schema and the ledger into the database. One that is there is renewed only where its functions differ. */
export async function installLedger(url: string, schema: string): Promise<Installed> {
  const before = await standing(url, schema);
  if (before.ledger !== null && !isOurs(before) && !isRenewable(before)) throw otherLedger(before, schema);
  const isQueueOld = before.queue !== null && before.queue < QUEUE_MIGRATION;
  if (isQueueOld) await patiently(url, () => migrateQueue(url));
  const changed = isOurs(before) ? isQueueOld : await patiently(url, () => runScript(url, schema));
  return { schema, version: version(), form: before.form, changed };
}

/** For whoever begins to work: a ledger where there is none. One that is there is not touched: it fits, or OtherLedger is thrown. */
export async function readyLedger(url: string, schema: string): Promise<void> {
  const { ledger, queue } = await standing(url, schema);
  if (ledger === null || queue === 0) await installLedger(url, schema);
  await checkLedger(url, schema, { isWorker: true });
}

/** Throws OtherLedger where the ledger, or for a worker graphile-worker's schema, is missing or of other sources. Reads only. */
export async function checkLedger(url: string, schema: string, { isWorker = false } = {}): Promise<void> {
  const found = await standing(url, schema);
  if (found.ledger === null) throw new OtherLedger(`there is no ledger in schema "${schema}". Install one: ${installCommand(schema)}`);
  if (!isOurs(found)) throw otherLedger(found, schema);
  if (isWorker && found.queue !== null && found.queue < QUEUE_MIGRATION) {
    throw new OtherLedger(`graphile-worker's schema is ${found.queue === 0 ? 'missing' : `at migration ${found.queue}`}, this program wants migration ${QUEUE_MIGRATION}. Bring it up: ${installCommand(schema)}`);
  }
}

async function standing(url: string, schema: string): Promise<Standing> {
  return withConnection({ connectionString: url }, async (client) => {
    const quoted = client.escapeIdentifier(schema);
    const ask = async <Row extends pg.QueryResultRow>(query: string, ...values: unknown[]): Promise<Row> => (await client.query<Row>(query, values)).rows[0] as Row;
    const found = await ask<{ is_there: boolean; missing_tables: string[]; has_version: boolean; has_build: boolean; form: Standing['form']; queue: 'none' | 'seen' | 'hidden'; free: string }>(`
      select to_regclass($1 || '.work_ledger') is not null as is_there,
             array(select t from unnest($3::text[]) t where to_regclass(format('%s.%I', $1::text, t)) is null) as missing_tables,
             to_regprocedure($1 || '.work_ledger_version()') is not null as has_version,
             to_regprocedure($1 || '.work_ledger_build()') is not null as has_build,
             case when exists (select from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'work_ledger' and n.nspname = $2)
                  then 'extension' else 'script' end as form,
             case when to_regnamespace('graphile_worker') is null then 'none'
                  when not has_schema_privilege('graphile_worker', 'usage') then 'hidden'
                  when to_regclass('graphile_worker.migrations') is null then 'none'
                  when not has_table_privilege('graphile_worker.migrations', 'select') then 'hidden'
                  else 'seen' end as queue,
             (select format('%s_%s', $2::text, i) from generate_series(2, 1000) i
               where not exists (select from pg_namespace where nspname = format('%s_%s', $2::text, i)) order by i limit 1) as free`, quoted, schema, tables());
    const call = async (isThere: boolean, name: string): Promise<string> => (isThere ? (await ask<{ value: string }>(`select ${quoted}.${name}() as value`)).value : 'unknown');
    return {
      form: found.form,
      ledger: found.is_there ? { missingTables: found.missing_tables, version: await call(found.has_version, 'work_ledger_version'), build: await call(found.has_build, 'work_ledger_build') } : null,
      queue: found.queue === 'none' ? 0 : found.queue === 'hidden' ? null : (await ask<{ id: number }>('select coalesce(max(id), 0) as id from graphile_worker.migrations')).id,
      free: found.free,
    };
  });
}

const isOurs = ({ ledger }: Standing): boolean => ledger?.build === build() && ledger.missingTables.length === 0;

/** Tables are made once; functions can be made again, where no extension owns them. A newer ledger is never put back. */
const isRenewable = ({ form, ledger }: Standing): boolean =>
  form === 'script' && ledger !== null && ledger.missingTables.length === 0 && ledger.build.split('/')[0] === build().split('/')[0] && !isNewer(ledger.version);

function otherLedger(found: Standing, schema: string, why = ''): OtherLedger {
  const there = found.ledger ?? { version: 'unknown', build: 'unknown', missingTables: [] };
  const missing = there.missingTables.length === 0 ? '' : ` It has no table ${there.missingTables.join(', ')}.`;
  const said = `the ledger in schema "${schema}" is version ${there.version} (build ${there.build}), this program wants ${version()} (build ${build()}).${missing}`;
  if (isNewer(there.version)) return new OtherLedger(`${said} Update this program.`);
  if (isRenewable(found)) return new OtherLedger(`${said} Only functions differ. Bring it up: ${installCommand(schema)}`);
  return new OtherLedger(
    `${said} ${why}Nothing carries it over. Set a fresh one beside it, which leaves the old one as it is: ${installCommand(found.free)}\nFrom then on put WORK_LEDGER_SCHEMA=${found.free} in front of every command.`);
}

const installCommand = (schema: string): string => `work-ledger install --schema ${/^[\w-]+$/.test(schema) ? schema : `'${schema.replaceAll("'", `'\\''`)}'`}`;

function isNewer(there: string): boolean {
  const [theirs, ours] = [there, version()].map((text) => text.split(/[.-]/).map(Number));
  const n = ours?.findIndex((part, i) => part !== theirs?.[i]) ?? -1;
  return n >= 0 && (theirs?.[n] ?? 0) > (ours?.[n] ?? 0);
}

/** Short, so that whoever queues behind us stands still for no longer, and under deadlock_timeout, so that nobody is rolled back for us. */
const LOCK_TIMEOUT_MS = 500;
const PATIENCE_MS = 60_000;

/** Repeats what found a lock taken, until nobody is in the way any more. */
async function patiently<T>(url: string, use: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await use();
    } catch (error) {
      if (!['55P03', '40P01'].includes(sqlState(error) ?? '')) throw error;
      if (performance.now() > deadline) throw new Error(`the ledger is in use and could not be changed for a minute${await whoIsInTheWay(url)}`, { cause: error });
    }
    await sleep(LOCK_TIMEOUT_MS + Math.random() * 500);
  }
}

async function whoIsInTheWay(url: string): Promise<string> {
  const { rows } = await withConnection({ connectionString: url }, (client) => client.query<{ pid: number; name: string; since: string }>(`
    select pid, application_name as name, to_char(xact_start, 'HH24:MI:SS') as since from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null order by xact_start limit 1`));
  return rows[0] ? `: the oldest open transaction is of process ${rows[0].pid} (${rows[0].name || 'no application name'}), since ${rows[0].since}` : '';
}

async function migrateQueue(url: string): Promise<void> {
  const { Logger, runMigrations } = await import('graphile-worker'); // every command comes through here, few install
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    client.on('error', () => {});
    void client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`).catch(() => {});
  });
  try {
    await runMigrations({ pgPool: pool, logger: new Logger(() => () => {}) });
  } finally {
    await pool.end();
  }
}

/** The whole script, or on a ledger that is there its functions, in one transaction. False: somebody else was faster. */
function runScript(url: string, schema: string): Promise<boolean> {
  return withConnection({ connectionString: url }, async (client) => {
    const quoted = client.escapeIdentifier(schema);
    await client.query(`begin; set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
    // Two installers at once: the second finds the work done.
    await client.query(`select pg_advisory_xact_lock(hashtextextended('work_ledger install', 0))`);
    const now = await standing(url, schema);
    const { ledger } = now;
    if (isOurs(now)) return false;
    if (ledger === null) await client.query(`create schema if not exists ${quoted}`);
    else await lockFirst(client, quoted);
    try {
      await client.query(plainScript(schema, ledger === null ? 'all' : 'api'));
      if (ledger !== null) await dropOverloads(client, quoted);
    } catch (error) {
      if (ledger === null || !['42P13', '42P16', '2BP01'].includes(sqlState(error) ?? '')) throw error;
      const found = await standing(url, schema);
      throw otherLedger({ ...found, form: 'extension' }, schema, `They cannot be renewed in place: ${(error as Error).message}. `);
    }
    await client.query('commit');
    return true;
  });
}

/** A function whose arguments changed stands beside its former self, which calls would be ambiguous with. */
async function dropOverloads(client: pg.Client, quoted: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(`
    select p.oid::regprocedure::text as name from pg_proc p
     where p.pronamespace = to_regnamespace($1) and p.xmin <> pg_current_xact_id()::xid
       and exists (select from pg_proc n where n.pronamespace = p.pronamespace and n.proname = p.proname and n.xmin = pg_current_xact_id()::xid)`, [quoted]);
  for (const { name } of rows) await client.query(`drop function ${name}`);
}

/**
 * Takes every lock that new triggers and views want before anything is changed: once it has them nothing waits any more,
 * so that there is no circle. It waits holding nothing (the fence, which all writers come through first), then for nobody:
 * a table that is in use after that is free in a moment, and all is given back until then.
 */
async function lockFirst(client: pg.Client, quoted: string): Promise<void> {
  await client.query(`lock table ${quoted}.work_items in share row exclusive mode`);
  const { rows } = await client.query<{ name: string; kind: string }>(
    `select oid::regclass::text as name, relkind as kind from pg_class where relnamespace = to_regnamespace($1) and relkind in ('r', 'v') order by relkind, oid`, [quoted]);
  const named = rows.filter(({ kind }) => kind === 'r').map(({ name }) => name);
  await client.query(`lock table ${named.join(', ')} in share row exclusive mode nowait`);
  // A view cannot be locked without its tables, but by changing it; readers are gone in no time.
  await client.query(`set local lock_timeout = 20`);
  for (const { name } of rows.filter(({ kind }) => kind === 'v')) await client.query(`alter view ${name} set (security_invoker = true)`);
  await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
}
