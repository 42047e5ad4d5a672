-- Citus spreads a schema's tables over servers, and cannot run a ledger: its planner rejects the queries of an iteration, and new shards lack the triggers
-- that keep entries append-only. Checked before anything is created; work_ledger_doctor() checks for tables that are distributed later.

do $do$
declare
  v_schema name := current_schema();
  v_is_distributed boolean := v_schema is null and current_setting('citus.enable_schema_based_sharding', true) = 'on';
begin
  -- These catalogs exist only with Citus; the second since Citus 12.
  if v_schema is not null and to_regclass('pg_catalog.pg_dist_partition') is not null then
    execute 'select exists (select from pg_catalog.pg_dist_partition p join pg_catalog.pg_class c on c.oid = p.logicalrelid where c.relnamespace = $1)'
       into v_is_distributed using quote_ident(v_schema)::regnamespace;
  end if;
  if v_schema is not null and not v_is_distributed and to_regclass('pg_catalog.pg_dist_schema') is not null then
    execute 'select exists (select from pg_catalog.pg_dist_schema where schemaid = $1)' into v_is_distributed using quote_ident(v_schema)::regnamespace;
  end if;
  if v_is_distributed then
    raise exception using
      errcode = 'feature_not_supported',
      message = format(
        '%s distributed by Citus, which rejects queries of an iteration and leaves shards without the triggers of an append-only ledger: '
          'use a schema that is not distributed, and other servers for other ledgers',
        coalesce('schema "' || v_schema || '" is', 'new schemas are')),
      hint = 'citus_schema_undistribute(), undistribute_table(), citus.enable_schema_based_sharding = off; "work-ledger move" takes a ledger to another server.';
  end if;
end
$do$;
