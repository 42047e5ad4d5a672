-- The ledger's version, sources and schema, and which programs it serves.

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

-- Raise this with each change that older programs cannot work with.
create or replace function _oldest_program()
  returns text
  language sql
  immutable
  parallel safe
  return '0.1.0';

comment on function _oldest_program() is 'The oldest version of a program (worker, command line, library) that may work with this ledger; the newest is that of the ledger.';

create or replace function work_ledger_serves(p_version text)
  returns boolean
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if coalesce(p_version, '') !~ '^\d{1,6}(\.\d{1,6}){2}$' then
    perform _raise_invalid('a version is three numbers, such as ' || work_ledger_version());
  end if;
  return string_to_array(p_version, '.')::integer[]
    between string_to_array(_oldest_program(), '.')::integer[] and string_to_array(work_ledger_version(), '.')::integer[];
end
$$;

comment on function work_ledger_serves(text) is
  'Whether a program (worker, command line, library) of this version, such as 0.2.0, may work with this ledger: it is not newer than the ledger, and not older than the oldest that the ledger serves. So workers of two versions can work side by side while one replaces the other, once the ledger has been upgraded. Raises WL002.';

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
