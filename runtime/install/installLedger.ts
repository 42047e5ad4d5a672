// Installs the ledger as a plain script, for servers where extension files cannot be added, from the same sources that `create extension
// work_ledger` runs; upgrades it in either form. Everything happens in one transaction, so that an interruption leaves nothing. Only
// `work-ledger install` changes an existing ledger; every other command compares it with its own version and sources, and works with it or
// says what to do.

import { setTimeout as sleep } from 'node:timers/promises';

import type pg from 'pg';

import { distributionCheck, encodingCheck, plainScript, version } from '../../sql/extensionSource.ts';
import { withConnection } from '../ledger/connection.ts';
import { sqlState } from '../ledger/errors.ts';
import {
  checkLedger,
  isInPlace,
  isInstallable,
  isMadeByUs,
  isUpgradable,
  ledgerOn,
  otherLedger,
  QUEUE_MIGRATION,
  queueOn,
  standing,
} from '../ledger/checkLedger.ts';
import type { Found, Standing } from '../ledger/checkLedger.ts';
import { alone } from './alone.ts';
import { queueScript } from './queue.ts';
import { renamedScript } from './renamedScript.ts';
import { checkRights } from './rights.ts';
import { checkSchemaName } from './schemaName.ts';

/**
 * `upgradedFrom`: the version that the ledger had before, null: it was not upgraded. `renamedFrom`: the schema in which its functions
 * looked for it, null: they looked in the right one.
 */
export type Installed = {
  schema: string;
  version: string;
  form: 'extension' | 'script';
  changed: boolean;
  upgradedFrom: string | null;
  renamedFrom: string | null;
};

/**
 * Installs graphile-worker's schema and the ledger in the database. Upgrades an earlier release; adapts a ledger whose schema was renamed;
 * renews a ledger of this version if only its functions differ.
 */
export async function installLedger(url: string, schema: string): Promise<Installed> {
  checkSchemaName(schema);
  const before = await standing(url, schema).catch(async (error: unknown) => {
    if (sqlState(error) === '42501') await checkInstallable(url, schema, null);
    throw error;
  });
  if (!isInstallable(before)) throw otherLedger(before, schema);
  await checkInstallable(url, schema, before);
  const isQueueOld = await readyQueue(url, before);
  const changed = isInPlace(before) ? isQueueOld : await patiently(url, () => runScript(url, schema));
  return {
    schema,
    version: version(),
    form: before.form,
    changed,
    upgradedFrom: changed && isUpgradable(before) ? (before.ledger?.version ?? null) : null,
    renamedFrom: changed ? (before.ledger?.formerSchema ?? null) : null,
  };
}

/**
 * For commands that run work: installs a ledger if there is none, unless `mayInstall` is false. Does not touch an existing one; throws
 * OtherLedger if it does not fit.
 */
export async function readyLedger(url: string, schema: string, { mayInstall = true } = {}): Promise<void> {
  const found = await standing(url, schema);
  if (found.ledger === null && mayInstall) await installLedger(url, schema);
  else if (found.ledger !== null && found.queue === 0) {
    await checkLedger(url, schema);
    await checkInstallable(url, schema, found);
    await readyQueue(url, found);
  }
  await checkLedger(url, schema, { isWorker: true });
}

/** Throws if the database or the rights of this role do not allow it. `found` null: this role may not even look. */
const checkInstallable = (url: string, schema: string, found: Standing | null): Promise<void> =>
  withConnection({ connectionString: url }, async (client) => {
    if (found?.ledger === null) await client.query(encodingCheck());
    if (found !== null)
      await client.query(`begin; set local search_path to ${client.escapeIdentifier(schema)}; ${distributionCheck()}; rollback`);
    await checkRights(client, schema, found);
  });

/** Brings graphile-worker's schema up to date; false: it already was. */
async function readyQueue(url: string, { queue }: Standing): Promise<boolean> {
  const isOld = queue !== null && queue < QUEUE_MIGRATION;
  if (isOld) await patiently(url, () => migrateQueue(url));
  return isOld;
}

/**
 * Short, so that no transaction that queues behind this one waits longer, and less than deadlock_timeout, so that none is rolled back
 * because of it.
 */
const LOCK_TIMEOUT_MS = 500;
const PATIENCE_MS = 60_000;

/** Repeats `use` for up to a minute while it cannot get a lock. */
export async function patiently<T>(url: string, use: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await use();
    } catch (error) {
      if (!['55P03', '40P01'].includes(sqlState(error) ?? '')) throw error;
      if (performance.now() > deadline)
        throw new Error(`the ledger is in use and could not be changed for a minute${await whoIsInTheWay(url)}`, { cause: error });
    }
    await sleep(LOCK_TIMEOUT_MS + Math.random() * 500);
  }
}

async function whoIsInTheWay(url: string): Promise<string> {
  const { rows } = await withConnection({ connectionString: url }, (client) =>
    client.query<{ pid: number; name: string; since: string }>(`
    select pid, application_name as name, to_char(xact_start, 'HH24:MI:SS') as since from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null order by xact_start limit 1`),
  );
  return rows[0]
    ? `: the oldest open transaction is of process ${rows[0].pid} (${rows[0].name || 'no application name'}), since ${rows[0].since}`
    : '';
}

/** Begins a transaction; the second of two concurrent installers finds the work done. */
async function begin(client: pg.Client, schema: string): Promise<void> {
  await client.query(`begin; set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  await alone(client, 'install', schema, true);
}

function migrateQueue(url: string): Promise<void> {
  return withConnection({ connectionString: url }, async (client) => {
    await begin(client, 'graphile_worker');
    const now = await queueOn(client);
    if (now !== null && now < QUEUE_MIGRATION) {
      await createSchema(client, 'graphile_worker');
      await client.query(await queueScript(now));
    }
    await client.query('commit');
  });
}

/** A role that owns a schema and nothing else may not create one, not even one that exists. */
async function createSchema(client: pg.Client, name: string): Promise<void> {
  if ((await client.query('select from pg_namespace where nspname = $1', [name])).rowCount === 0)
    await client.query(`create schema ${client.escapeIdentifier(name)}`);
}

/** Creates the ledger, upgrades it, or replaces its functions, in one transaction. False: another installer was faster. */
function runScript(url: string, schema: string): Promise<boolean> {
  return withConnection({ connectionString: url }, async (client) => {
    await begin(client, schema);
    const now = await ledgerOn(client, schema);
    if (isInPlace(now)) return false;
    if (!isInstallable(now)) throw otherLedger(now, schema);
    if (now.ledger === null) {
      await createSchema(client, schema);
      await client.query(plainScript(schema, null));
    } else {
      await lockFirst(client, client.escapeIdentifier(schema));
      await change(client, now, schema).catch((error: unknown) => {
        throw standsInTheWay(error) ?? error;
      });
    }
    await client.query('commit');
    return true;
  });
}

/** Names the users' objects that depend on what has to be dropped; null: the error is another one. */
function standsInTheWay(error: unknown): Error | null {
  if (sqlState(error) !== '2BP01' || !(error instanceof Error) || !('detail' in error)) return null;
  const dependents = String(error.detail).replaceAll('\n', '; ');
  return new Error(
    `nothing was changed: something of yours is made of what this version replaces (${dependents}). Drop it, install, and make it again`,
    { cause: error },
  );
}

/** Turns an existing ledger into the one that this program requires. */
async function change(client: pg.Client, now: Found, schema: string): Promise<void> {
  if (now.form === 'script') await replace(client, now, schema);
  else if (!isMadeByUs(now)) await updateExtension(client, now, schema);
  // No update leads from a version to itself: the extension's members are replaced one by one, and stay members.
  else if (now.ledger?.isOfServer === false) await client.query(plainScript(schema, version()));
  // Last, since functions that have not been replaced by now are the users' own.
  const former = now.ledger?.formerSchema ?? null;
  if (former !== null) await client.query(renamedScript(former, schema));
}

async function replace(client: pg.Client, now: Found, schema: string): Promise<void> {
  try {
    await client.query(plainScript(schema, now.ledger?.version ?? null));
    await dropOverloads(client, client.escapeIdentifier(schema));
  } catch (error) {
    // The sources of a version under development changed in a way that requires more than new functions.
    if (isUpgradable(now) || !['42P13', '42P16', '2BP01'].includes(sqlState(error) ?? '')) throw error;
    throw otherLedger(now, schema, `They cannot be renewed in place: ${(error as Error).message}. `);
  }
}

async function updateExtension(client: pg.Client, now: Found, schema: string): Promise<void> {
  const { rowCount } = await client.query(
    `select from pg_extension_update_paths('work_ledger') where source = $1 and target = $2 and path is not null`,
    [now.ledger?.version, version()],
  );
  if (rowCount === 0)
    throw otherLedger(now, schema, `add the extension's files of version ${version()} to the server (make install, or pg_tle.sql), then `);
  await client.query(`alter extension work_ledger update to '${version()}'`);
}

/** A function whose arguments changed would otherwise remain as an overload and make calls ambiguous. */
async function dropOverloads(client: pg.Client, quoted: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `
    select p.oid::regprocedure::text as name from pg_proc p
     where p.pronamespace = to_regnamespace($1) and p.xmin <> pg_current_xact_id()::xid
       and exists (select from pg_proc n where n.pronamespace = p.pronamespace and n.proname = p.proname and n.xmin = pg_current_xact_id()::xid)`,
    [quoted],
  );
  for (const { name } of rows) await client.query(`drop function ${name}`);
  if (rows.length > 0) await client.query(`select ${quoted}._code_note()`);
}

/**
 * Takes every lock that the change needs before changing anything: from then on nothing waits, so that there is no deadlock. It waits only
 * for the first lock (fences, which every writer of work locks first), while it holds nothing: after that no writer is active or can begin.
 * Readers finish in a moment: it tries repeatedly to get all other locks at once. If it cannot, because a session that waits for it holds
 * some of them, it releases everything, and the caller tries again.
 */
async function lockFirst(client: pg.Client, quoted: string): Promise<void> {
  // At once in the mode that is needed in the end: up to PostgreSQL 16, nowait does not strengthen a lock that somebody waits for.
  await client.query(`lock table ${quoted}.fences in access exclusive mode`);
  // A view cannot be locked without its tables, except by changing it.
  await client.query(`
    set local lock_timeout = 20;
    do $do$
    declare
      until constant timestamptz := clock_timestamp() + interval '${LOCK_TIMEOUT_MS} ms';
      lock text;
    begin
      loop
        begin
          for lock in
            select format(case c.relkind when 'r' then 'lock table %s in access exclusive mode nowait'
                                         else 'alter view %s set (security_invoker = true)' end, c.oid::regclass)
              from pg_class c
             where c.relnamespace = to_regnamespace('${quoted.replaceAll("'", "''")}') and c.relkind in ('r', 'v')
             order by c.relkind, c.oid
          loop
            execute lock;
          end loop;
          exit;
        exception when lock_not_available then
          if clock_timestamp() > until then
            raise;
          end if;
        end;
        perform pg_sleep(0.01);
      end loop;
    end
    $do$;
    set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
}
