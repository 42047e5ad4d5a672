// Which ledger the database has, and whether this program can work with it: compared with its own sources, read-only.

import type pg from 'pg';

import { build, tables, version } from '../../sql/extensionSource.ts';
import { withConnection } from '../ledger/connection.ts';

/** What is asked of a connection. */
type Asking = Pick<pg.ClientBase, 'query' | 'escapeIdentifier'>;

/** The existing ledger was installed from other sources than this program's; the message says what to do. */
export class OtherLedger extends Error {
  override name = 'OtherLedger';
}

/** There is none in that schema. */
export class NoLedger extends OtherLedger {
  override name = 'NoLedger';
}

export type Standing = {
  form: 'extension' | 'script';
  /** Null: there is no ledger. */
  ledger: { version: string; build: string; missingTables: string[] } | null;
  /** The newest migration of graphile-worker; 0: its schema does not exist; null: we may not read it. */
  queue: number | null;
  /** A schema name that is not in use. */
  free: string;
};

/** The newest migration of the graphile-worker that this program has. */
export const QUEUE_MIGRATION = 20;

/** Throws OtherLedger if the ledger, or for a worker graphile-worker's schema, is missing or from other sources. Reads only. */
export async function checkLedger(url: string, schema: string, options: { isWorker?: boolean } = {}): Promise<void> {
  await withConnection({ connectionString: url }, (client) => checkLedgerOn(client, schema, options));
}

/** The same, by a connection that is open. */
export async function checkLedgerOn(client: Asking, schema: string, { isWorker = false } = {}): Promise<void> {
  const found = await ledgerOn(client, schema);
  if (found.ledger === null) throw new NoLedger(`there is no ledger in schema "${schema}". Install one: ${installCommand(schema)}`);
  if (!isOurs(found)) throw otherLedger(found, schema);
  const queue = isWorker ? await queueOn(client) : null;
  if (queue !== null && queue < QUEUE_MIGRATION) {
    throw new OtherLedger(`graphile-worker's schema is ${queue === 0 ? 'missing' : `at migration ${queue}`}, this program wants migration ${QUEUE_MIGRATION}. Bring it up: ${installCommand(schema)}`);
  }
}

/** What the database has under that name. */
export const standing = (url: string, schema: string): Promise<Standing> => withConnection({ connectionString: url }, async (client) => ({ ...(await ledgerOn(client, schema)), queue: await queueOn(client) }));

async function ledgerOn(client: Asking, schema: string): Promise<Omit<Standing, 'queue'>> {
  const quoted = client.escapeIdentifier(schema);
  const ask = async <Row extends Record<string, unknown>>(query: string, ...values: unknown[]): Promise<Row> => (await client.query<Row>(query, values)).rows[0] as Row;
  const found = await ask<{ is_there: boolean; missing_tables: string[]; has_version: boolean; has_build: boolean; form: Standing['form']; free: string }>(`
    select to_regclass($1 || '.work_ledger') is not null as is_there,
           array(select t from unnest($3::text[]) t where to_regclass(format('%s.%I', $1::text, t)) is null) as missing_tables,
           to_regprocedure($1 || '.work_ledger_version()') is not null as has_version,
           to_regprocedure($1 || '.work_ledger_build()') is not null as has_build,
           case when exists (select from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'work_ledger' and n.nspname = $2)
                then 'extension' else 'script' end as form,
           (select format('%s_%s', $2::text, i) from generate_series(2, 1000) i
             where not exists (select from pg_namespace where nspname = format('%s_%s', $2::text, i)) order by i limit 1) as free`, quoted, schema, tables());
  const made = { version: found.has_version ? `${quoted}.work_ledger_version()` : `'unknown'`, build: found.has_build ? `${quoted}.work_ledger_build()` : `'unknown'` };
  return {
    form: found.form,
    ledger: found.is_there ? { missingTables: found.missing_tables, ...(await ask<{ version: string; build: string }>(`select ${made.version} as version, ${made.build} as build`)) } : null,
    free: found.free,
  };
}

async function queueOn(client: Asking): Promise<Standing['queue']> {
  const { rows: [found] } = await client.query<{ state: 'none' | 'seen' | 'hidden' }>(`
    select case when to_regnamespace('graphile_worker') is null then 'none'
                when not has_schema_privilege('graphile_worker', 'usage') then 'hidden'
                when to_regclass('graphile_worker.migrations') is null then 'none'
                when not has_table_privilege('graphile_worker.migrations', 'select') then 'hidden'
                else 'seen' end as state`);
  if (found?.state !== 'seen') return found?.state === 'none' ? 0 : null;
  return (await client.query<{ id: number }>('select coalesce(max(id), 0) as id from graphile_worker.migrations')).rows[0]?.id ?? 0;
}

/** Whether it was made from this program's sources. */
export const isOurs = ({ ledger }: Pick<Standing, 'ledger'>): boolean => ledger?.build === build() && ledger.missingTables.length === 0;

/** Tables are made once; functions can be replaced unless an extension owns them. A newer ledger is never downgraded. */
export const isRenewable = ({ form, ledger }: Pick<Standing, 'form' | 'ledger'>): boolean =>
  form === 'script' && ledger !== null && ledger.missingTables.length === 0 && ledger.build.split('/')[0] === build().split('/')[0] && !isNewer(ledger.version);

/** What to do about it, as an error; `why` comes before it. */
export function otherLedger(found: Omit<Standing, 'queue'>, schema: string, why = ''): OtherLedger {
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
