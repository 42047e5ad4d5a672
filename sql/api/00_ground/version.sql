-- What this ledger is: its version, its sources, its schema.

create or replace function work_ledger_version()
  returns text
  language sql
  immutable
  parallel safe
  return '@version@';

comment on function work_ledger_version() is 'Version of the installed ledger, as in work_ledger.control.';

create or replace function work_ledger_build()
  returns text
  language sql
  immutable
  parallel safe
  return '@build@';

comment on function work_ledger_build() is
  'Digests of the sources from which the ledger was installed: of the tables and, after a slash, of the functions. A program compares them with its own before it works, since the sources of a version under development change while its number does not.';

create or replace function _ledger_schema()
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select n.nspname::text
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
   where c.oid = 'work_items'::regclass;
$$;

comment on function _ledger_schema() is 'The schema of this ledger.';
