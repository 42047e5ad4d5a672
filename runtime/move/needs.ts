// What a move needs at both ends, looked at before anything is made.

import { isOurs } from '../ledger/checkLedger.ts';
import type { Standing } from '../ledger/checkLedger.ts';
import type { End } from './ends.ts';

/** What is missing, each with what to do about it; empty: a move can begin. `there`: what the target has. */
export async function missing(source: End, target: End, there: Standing): Promise<string[]> {
  const [atSource, atTarget] = [await look(source, ofSource, source.schema), await look(target, ofTarget, target.schema)];
  return [
    ...atSource.map((one) => `the source ${one}`),
    ...atTarget.map((one) => `the target ${one}`),
    ...(there.ledger === null || isOurs(there) ? [] : [`the target has a ledger of version ${there.ledger.version} (build ${there.ledger.build}): move to where there is none`]),
    ...(await encodings(source, target)),
    ...(await functions(source, target)),
  ];
}

async function look(end: End, query: string, schema: string): Promise<string[]> {
  return (await end.client.query<{ says: string }>(query, [schema])).rows.map(({ says }) => says);
}

/** $1: the schema. One slot and one sender follow the source, two more copy tables meanwhile. */
const ofSource = `
  with me as (select * from pg_roles where rolname = current_user),
  settings as (select
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
  select format('lets role %s not replicate: alter role %1$I replication', rolname) from me where not (rolsuper or rolreplication)
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
  select format('lets role %s make no subscription: %s', rolname,
           case when current_setting('server_version_num')::integer < 160000 then 'before PostgreSQL 16 that takes a superuser' else format('grant pg_create_subscription to %I', rolname) end)
    from pg_roles
   where rolname = current_user and not rolsuper
     and not exists (select from pg_roles p where p.rolname = 'pg_create_subscription' and pg_has_role(p.oid, 'usage'))
  union all
  select format('lets role %s make no schema: grant create on database %I to %1$I', current_user, current_database()) where not has_database_privilege(current_database(), 'create')
  union all
  select 'has fewer than 2 logical replication workers left: raise max_logical_replication_workers'
   where current_setting('max_logical_replication_workers')::integer - (select count(pid) from pg_stat_subscription) < 2
  union all
  select format('has a schema %I without a ledger: move to a database where that name is free', $1::text)
   where exists (select from pg_class where relnamespace = to_regnamespace(quote_ident($1::text))) and to_regclass(quote_ident($1::text) || '.work_ledger') is null`;

async function encodings(source: End, target: End): Promise<string[]> {
  const [theirs, ours] = await Promise.all([target, source].map(async ({ client }) => (await client.query<{ encoding: string }>(`select current_setting('server_encoding') as encoding`)).rows[0]?.encoding));
  return theirs === ours ? [] : [`the target's encoding is ${theirs}, the source's ${ours}: make that database with encoding ${ours}`];
}

/** What agents call, and what exports before it erases, can be functions of the users'. */
async function functions(source: End, target: End): Promise<string[]> {
  const { rows: used } = await source.client.query<{ call: string }>(`
    select function_name || '(jsonb)' as call from ${source.quoted}.abilities where implementation = 'sql' and not is_builtin
    union
    select export_function || '(uuid)' from ${source.quoted}.retention_policies where export_function is not null`);
  const { rows: gone } = await target.client.query<{ call: string }>('select call from unnest($1::text[]) call where to_regprocedure(call) is null order by call', [used.map(({ call }) => call)]);
  return gone.length === 0 ? [] : [`the target does not have what the ledger calls: make ${gone.map(({ call }) => call).join(', ')} there`];
}
