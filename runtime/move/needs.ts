// What a move requires at both ends, checked before anything is created.

import { withoutPassword } from '../ledger/address.ts';
import { isOurs } from '../ledger/checkLedger.ts';
import type { Standing } from '../ledger/checkLedger.ts';
import { sqlState } from '../ledger/errors.ts';
import type { End } from './ends.ts';

/**
 * What is missing, each with what to do about it; empty: a move can begin. `there`: what the target has; `fetchFrom`: the source's address
 * as the target's server reaches it.
 */
export async function missing(source: End, target: End, there: Standing, fetchFrom: string): Promise<string[]> {
  const atSource = [...(await look(source, ofSource, source.schema)), ...(await replicating(source))];
  const atTarget = [...(await look(target, ofTarget, target.schema)), ...(await subscribing(target, fetchFrom))];
  return [
    ...atSource.map((one) => `the source ${one}`),
    ...atTarget.map((one) => `the target ${one}`),
    ...(there.ledger === null || isOurs(there)
      ? []
      : [`the target has a ledger of version ${there.ledger.version} (build ${there.ledger.build}): move to where there is none`]),
    ...(await encodings(source, target)),
    ...(await functions(source, target)),
  ];
}

async function look(end: End, query: string, schema: string): Promise<string[]> {
  return (await end.client.query<{ says: string }>(query, [schema])).rows.map(({ says }) => says);
}

/** $1: the schema. One slot and one sender follow the source; two more copy tables meanwhile. */
const ofSource = `
  with settings as (select
    current_setting('max_replication_slots')::integer - (select count(*) from pg_replication_slots) as slots,
    current_setting('max_wal_senders')::integer - (select count(*) from pg_stat_get_wal_senders()) as senders)
  select 'is a standby: name its primary' as says where pg_is_in_recovery()
  union all
  select format('has wal_level = %s: alter system set wal_level = logical, and restart it', current_setting('wal_level')) where current_setting('wal_level') <> 'logical'
  union all
  select format('has %s replication slots left: raise max_replication_slots, so that there are 3', slots) from settings where slots < 3
  union all
  select format('has %s senders left: raise max_wal_senders, so that there are 3', senders) from settings where senders < 3
  union all
  select format('lets role %s make no publication: grant create on database %I to %1$I', current_user, current_database()) where not has_database_privilege(current_database(), 'create')
  union all
  select format('lets role %s not publish %s: use the role that owns them', current_user, string_agg(relname, ', ' order by relname))
    from pg_class where relnamespace = to_regnamespace(quote_ident($1::text)) and relkind = 'r' and not pg_has_role(relowner, 'usage') having count(*) > 0`;

/** $1: the schema. */
const ofTarget = `
  select 'is a standby: name its primary' as says where pg_is_in_recovery()
  union all
  select format('is PostgreSQL %s: use 15 or a later one', current_setting('server_version')) where current_setting('server_version_num')::integer < 150000
  union all
  select format('lets role %s make no schema: grant create on database %I to %1$I', current_user, current_database()) where not has_database_privilege(current_database(), 'create')
  union all
  select 'has fewer than 2 logical replication workers left: raise max_logical_replication_workers'
   where current_setting('max_logical_replication_workers')::integer - (select count(pid) from pg_stat_subscription) < 2
  union all
  select format('has a schema %I without a ledger: move to a database where that name is free', $1::text)
   where exists (select from pg_class where relnamespace = to_regnamespace(quote_ident($1::text))) and to_regclass(quote_ident($1::text) || '.work_ledger') is null`;

/**
 * Checks whether the role may replicate by trying, since managed servers allow that without the attribute. A physical slot waits for no
 * transaction.
 */
async function replicating(source: End): Promise<string[]> {
  const refusal = await refusalOf(
    source,
    `select pg_drop_replication_slot(slot_name) from pg_create_physical_replication_slot('${source.name}_tried', false, true)`,
  );
  if (refusal?.code !== '42501') return []; // the other checks report other errors
  return look(
    source,
    `
    select format('lets role %s not replicate: %s', current_user,
             case when exists (select from pg_roles where rolname = $1 and not pg_has_role(oid, 'usage')) then format('grant %I to %I', $1::text, current_user)
                  else format('alter role %I replication', current_user) end) as says`,
    'rds_replication',
  );
}

/** Checks whether the role may subscribe by trying; the subscription connects to nothing and is rolled back. */
async function subscribing(target: End, fetchFrom: string): Promise<string[]> {
  const given = withoutPassword(fetchFrom).password === null ? '' : 'password=given';
  const refusal = await refusalOf(
    target,
    `create subscription ${target.name}_tried connection '${given}' publication none with (connect = false, slot_name = none)`,
  );
  if (refusal?.code === '2F003') {
    return [`lets no role but a superuser subscribe without a password: name one in the source's address (--fetch-from)`];
  }
  if (refusal?.code !== '42501' || refusal.isOfDatabase) return [];
  return look(
    target,
    `
    select format('lets role %s make no subscription: %s', current_user,
             coalesce((select format('grant %I to %I', r.rolname, current_user) from pg_roles r where r.rolname in ($1, 'rds_superuser') and not pg_has_role(r.oid, 'usage') order by r.rolname limit 1),
                      'before PostgreSQL 16 that takes a superuser')) as says`,
    'pg_create_subscription',
  );
}

/**
 * The server's error for a statement that is rolled back; null: none. `isOfDatabase`: what is missing is the right to create in the
 * database.
 */
async function refusalOf({ client }: End, statement: string): Promise<{ code: string; isOfDatabase: boolean } | null> {
  try {
    await client.query(`begin; set local client_min_messages = error; ${statement}`);
    return null;
  } catch (error) {
    return { code: sqlState(error) ?? '', isOfDatabase: (error as { routine?: string }).routine === 'aclcheck_error' };
  } finally {
    await client.query('rollback');
  }
}

async function encodings(source: End, target: End): Promise<string[]> {
  const [theirs, ours] = await Promise.all(
    [target, source].map(
      async ({ client }) =>
        (await client.query<{ encoding: string }>(`select current_setting('server_encoding') as encoding`)).rows[0]?.encoding,
    ),
  );
  return theirs === ours ? [] : [`the target's encoding is ${theirs}, the source's ${ours}: make that database with encoding ${ours}`];
}

/** Abilities and the export functions of retention policies can be users' functions. */
async function functions(source: End, target: End): Promise<string[]> {
  const { rows: used } = await source.client.query<{ call: string }>(`
    select function_name || '(jsonb)' as call from ${source.quoted}.abilities where implementation = 'sql' and not is_builtin
    union
    select export_function || '(uuid)' from ${source.quoted}.retention_policies where export_function is not null`);
  const { rows: gone } = await target.client.query<{ call: string }>(
    'select call from unnest($1::text[]) call where to_regprocedure(call) is null order by call',
    [used.map(({ call }) => call)],
  );
  return gone.length === 0 ? [] : [`the target does not have what the ledger calls: make ${gone.map(({ call }) => call).join(', ')} there`];
}
