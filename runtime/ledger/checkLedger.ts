// Determines which ledger the database has, and whether this program can work with it, by comparing it with the program's own sources.
// Read-only.

import type pg from 'pg';

import { build, isUpgradable as isOfRelease, tables, tablesOf, version } from '../../sql/extensionSource.ts';
import { withConnection } from './connection.ts';

/** What this file needs of a connection. */
type Asking = Pick<pg.ClientBase, 'query' | 'escapeIdentifier'>;

/** This program cannot work with the ledger there; the message says why, and what to do. */
export class OtherLedger extends Error {
  override name = 'OtherLedger';
}

/** The schema has no ledger. */
export class NoLedger extends OtherLedger {
  override name = 'NoLedger';
}

/** This role may not use graphile-worker's jobs. */
export class NoQueue extends OtherLedger {
  override name = 'NoQueue';
}

/** What the database has in a schema. */
export type Found = {
  form: 'extension' | 'script';
  /**
   * Null: there is no ledger. `isServing`: it has a later version, which serves programs of this version, too. `formerSchema`: the schema
   * where its functions still look for it, because its schema was renamed; null: they look in the right one. `isOfServer`: its functions
   * were installed on this major version of PostgreSQL, or this role may not look.
   */
  ledger: {
    version: string;
    build: string;
    isServing: boolean;
    missingTables: string[];
    formerSchema: string | null;
    isOfServer: boolean;
  } | null;
  /** An unused schema name to suggest; empty if this program can work with the ledger. */
  free: string;
};

/** `queue`: the newest migration of graphile-worker; 0: it has no tables; null: this role may not use them. */
export type Standing = Found & { queue: number | null };

/** The newest migration in this program's graphile-worker. */
export const QUEUE_MIGRATION = 20;

/**
 * Throws OtherLedger if there is no ledger that this program can work with or, for a worker, if graphile-worker's schema is missing,
 * outdated or closed to this role. Only reads.
 */
export async function checkLedger(url: string, schema: string, options: { isWorker?: boolean } = {}): Promise<void> {
  await withConnection({ connectionString: url }, (client) => checkLedgerOn(client, schema, options));
}

/** The same, on an open connection. */
export async function checkLedgerOn(client: Asking, schema: string, { isWorker = false } = {}): Promise<void> {
  const found = await ledgerOn(client, schema);
  if (found.ledger === null) throw new NoLedger(`there is no ledger in schema "${schema}". Install one: ${installCommand(schema)}`);
  if (!isOurs(found) && !found.ledger.isServing) throw otherLedger(found, schema);
  if (!isWorker) return;
  const queue = await queueOn(client);
  if (queue === null) {
    const {
      rows: [asking],
    } = await client.query<{ role: string }>('select current_user as role');
    throw new NoQueue(
      `role "${asking?.role}" may not work with graphile-worker's jobs: grant it this ledger's role for workers (work_roles_create), or have the owner of these jobs run what this prints: ${printCommand(schema, asking?.role ?? '')}`,
    );
  }
  if (queue < QUEUE_MIGRATION) {
    throw new OtherLedger(
      `graphile-worker's schema is ${queue === 0 ? 'missing' : `at migration ${queue}`}, this program wants migration ${QUEUE_MIGRATION}. Bring it up: ${installCommand(schema)}`,
    );
  }
}

/** What the database has in that schema, with the state of its queue. */
export const standing = (url: string, schema: string): Promise<Standing> =>
  withConnection({ connectionString: url }, async (client) => ({ ...(await ledgerOn(client, schema)), queue: await queueOn(client) }));

export async function ledgerOn(client: Asking, schema: string): Promise<Found> {
  const quoted = client.escapeIdentifier(schema);
  const ask = async <Row extends Record<string, unknown>>(query: string, ...values: unknown[]): Promise<Row> =>
    (await client.query<Row>(query, values)).rows[0] as Row;
  const found = await ask<{
    is_there: boolean;
    missing_tables: string[];
    has_version: boolean;
    has_build: boolean;
    has_serves: boolean;
    has_code: boolean;
    pinned: string | null;
    form: Found['form'];
  }>(
    `
    select to_regclass($1 || '.work_ledger') is not null as is_there,
           array(select t from unnest($3::text[]) t where to_regclass(format('%s.%I', $1::text, t)) is null) as missing_tables,
           to_regprocedure($1 || '.work_ledger_version()') is not null as has_version,
           to_regprocedure($1 || '.work_ledger_build()') is not null as has_build,
           to_regprocedure($1 || '.work_ledger_serves(text)') is not null as has_serves,
           coalesce(has_table_privilege(to_regclass($1 || '.installed_code'), 'select'), false) as has_code,
           (select (parse_ident(substring(c from '^search_path=pg_catalog, (.*), pg_temp$')))[1] from pg_proc p cross join unnest(p.proconfig) c
             where p.oid = to_regprocedure($1 || '.work_cancel(uuid,text)') and c like 'search_path=%') as pinned,
           case when exists (select from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'work_ledger' and n.nspname = $2)
                then 'extension' else 'script' end as form`,
    quoted,
    schema,
    tables(),
  );
  // Queried only where another schema may be suggested: this search takes as long as everything before it.
  const free = async (): Promise<string> =>
    (
      await ask<{ name: string }>(
        `select format('%s_%s', $1::text, i) as name from generate_series(2, 1000) i
          where not exists (select from pg_namespace where nspname = format('%s_%s', $1::text, i)) order by i limit 1`,
        schema,
      )
    ).name;
  if (!found.is_there) return { form: found.form, ledger: null, free: await free() };
  const made = {
    version: found.has_version ? `${quoted}.work_ledger_version()` : `'unknown'`,
    build: found.has_build ? `${quoted}.work_ledger_build()` : `'unknown'`,
    isOfServer: found.has_code
      ? `exists (select from ${quoted}.installed_code where server = current_setting('server_version_num')::integer / 10000)`
      : 'true',
  };
  const named = await ask<{ version: string; build: string; isOfServer: boolean }>(
    `select ${made.version} as version, ${made.build} as build, ${made.isOfServer} as "isOfServer"`,
  );
  const formerSchema = found.pinned === schema ? null : found.pinned;
  const isServing =
    formerSchema === null &&
    found.has_serves &&
    isNewer(named.version) &&
    (await ask<{ is: boolean }>(`select ${quoted}.work_ledger_serves($1) as is`, version())).is;
  const there = { form: found.form, ledger: { ...named, isServing, missingTables: found.missing_tables, formerSchema }, free: '' };
  return isInPlace(there) || isServing ? there : { ...there, free: await free() };
}

export async function queueOn(client: Asking): Promise<Standing['queue']> {
  const {
    rows: [found],
  } = await client.query<{ state: 'none' | 'seen' | 'hidden' }>(`
    select case when to_regnamespace('graphile_worker') is null then 'none'
                when not has_schema_privilege('graphile_worker', 'usage') then 'hidden'
                when to_regclass('graphile_worker.migrations') is null then 'none'
                when not has_table_privilege('graphile_worker.migrations', 'select') then 'hidden'
                -- Its tables have row-level security: who does not own them needs a policy, too.
                when exists (
                  select from pg_class c
                    join pg_namespace n on n.oid = c.relnamespace
                   where n.nspname = 'graphile_worker' and c.relname = '_private_jobs'
                     and (not has_table_privilege(c.oid, 'insert') or row_security_active(c.oid) and not exists (
                       select from pg_policy y cross join unnest(y.polroles) r where y.polrelid = c.oid and (r = 0 or pg_has_role(r, 'usage'))))) then 'hidden'
                else 'seen' end as state`);
  if (found?.state !== 'seen') return found?.state === 'none' ? 0 : null;
  return (await client.query<{ id: number }>('select coalesce(max(id), 0) as id from graphile_worker.migrations')).rows[0]?.id ?? 0;
}

/** Whether it was made from this program's sources, even if its schema was renamed since. */
export const isMadeByUs = ({ ledger }: Found): boolean =>
  ledger?.version === version() && ledger.build === build() && ledger.missingTables.length === 0;

/** Whether this program can work with it as it is. */
export const isOurs = (found: Found): boolean => isMadeByUs(found) && found.ledger?.formerSchema === null;

/** Whether there is nothing to install: the ledger is ours, and its functions were installed on this major version of PostgreSQL. */
export const isInPlace = (found: Found): boolean => isOurs(found) && found.ledger?.isOfServer === true;

/** Whether only functions differ and can be replaced, since the tables are ours. An extension changes only with its version. */
const isRenewable = ({ form, ledger }: Found): boolean =>
  form === 'script' &&
  ledger !== null &&
  ledger.missingTables.length === 0 &&
  ledger.version === version() &&
  tablesOf(ledger.build) === tablesOf(build());

/** Whether it is an earlier release. */
export const isUpgradable = ({ ledger }: Found): boolean => ledger !== null && isOfRelease(ledger);

/** Whether an installer can make it ours. A newer ledger is never downgraded. */
export const isInstallable = (found: Found): boolean =>
  found.ledger === null || isMadeByUs(found) || isRenewable(found) || isUpgradable(found);

/** An error that says what to do about it; `why` is its first part. */
export function otherLedger(found: Found, schema: string, why = ''): OtherLedger {
  const there = found.ledger ?? {
    version: 'unknown',
    build: 'unknown',
    isServing: false,
    missingTables: [],
    formerSchema: null,
    isOfServer: true,
  };
  if (isNewer(there.version))
    return new OtherLedger(
      `the ledger in schema "${schema}" is version ${there.version}, this program is version ${version()}: use work-ledger ${there.version}`,
    );
  if (there.formerSchema !== null && isInstallable(found)) {
    return new OtherLedger(
      `the ledger in schema "${schema}" was in schema "${there.formerSchema}", and its functions still look for it there: ${why}bring it up with ${installCommand(schema)}`,
    );
  }
  if (isUpgradable(found))
    return new OtherLedger(
      `the ledger in schema "${schema}" is version ${there.version}, this program is version ${version()}: ${why}bring it up with ${installCommand(schema)}`,
    );
  const missing = there.missingTables.length === 0 ? '' : ` It has no table ${there.missingTables.join(', ')}.`;
  const said = `the ledger in schema "${schema}" is version ${there.version} (build ${there.build}), this program wants ${version()} (build ${build()}).${missing}`;
  if (isRenewable(found) && why === '') return new OtherLedger(`${said} Only functions differ. Bring it up: ${installCommand(schema)}`);
  return new OtherLedger(
    `${said} ${why}Nothing carries it over. Set a fresh one beside it, which leaves the old one as it is: ${installCommand(found.free)}\nFrom then on put WORK_LEDGER_SCHEMA=${found.free} in front of every command.`,
  );
}

const installCommand = (schema: string): string => `work-ledger install --schema ${word(schema)}`;

/** The command that prints, for somebody with more rights, how to install the ledger for a role. */
export const printCommand = (schema: string, role: string): string => `${installCommand(schema)} --print --owner ${word(role)}`;

/** Quotes a text as one word of a shell. */
const word = (text: string): string => (/^[\w-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

function isNewer(there: string): boolean {
  const [theirs, ours] = [there, version()].map((text) => text.split(/[.-]/).map(Number));
  const n = ours?.findIndex((part, i) => part !== theirs?.[i]) ?? -1;
  return n >= 0 && (theirs?.[n] ?? 0) > (ours?.[n] ?? 0);
}
