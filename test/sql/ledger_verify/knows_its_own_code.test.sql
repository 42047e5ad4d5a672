-- Functions, triggers and views that the owner replaces, disables, adds or drops are found; what users keep in the schema is theirs.
begin;
select plan(12);

select submit();
select is_empty($$ select * from ledger_verify(item()) $$, 'as it was installed, nothing is found');

set local standard_conforming_strings = off;
set local quote_all_identifiers = on;
set local intervalstyle = iso_8601;
set local bytea_output = escape;
select is_empty('select * from ledger_verify(item())', 'nor in a session that writes constants and names otherwise');
set local standard_conforming_strings = on;
reset quote_all_identifiers;
reset intervalstyle;
reset bytea_output;

create function pg_temp.after(p_change text) returns text language plpgsql as $$
declare
  v_found text;
begin
  begin
    execute replace(p_change, 'SCHEMA', _ledger_schema());
    select string_agg(format('%s %s', v.place, v.problem), '; ') into v_found from ledger_verify(item()) v;
    raise exception sqlstate 'XX001';
  exception when sqlstate 'XX001' then
    return coalesce(v_found, 'nothing');
  end;
end
$$;

select is(pg_temp.after($do$do $$
declare
  v_view regclass;
begin
  for v_view in select oid from pg_class where relnamespace = 'SCHEMA'::regnamespace and relkind = 'v' loop
    execute format('create or replace view %s with (security_invoker = true) as %s', v_view, pg_get_viewdef(v_view));
  end loop;
end $$ $do$), 'nothing', 'views as a dump writes them are those that were installed');
select is(pg_temp.after('create or replace function SCHEMA._is_erasing() returns boolean language sql as $f$ select true $f$'),
  'function _is_erasing() is not the one that was installed', 'a replaced function');
select is(pg_temp.after('create or replace function SCHEMA._now() returns timestamptz language sql volatile return clock_timestamp()'),
  'function _now() is not the one that was installed', 'one whose body is no text');
select is(pg_temp.after('alter function SCHEMA._is_erasing() set search_path = public'), 'function _is_erasing() is not the one that was installed', 'a changed search path');
select is(pg_temp.after('create function SCHEMA.ledger_append(uuid, text, varchar) returns void language sql as $f$ $f$'),
  'function ledger_append(uuid,text,character varying) was not installed with the ledger', 'one beside another of its name');
select is(pg_temp.after('alter table SCHEMA.work_ledger disable trigger refuse_change'), 'trigger refuse_change on work_ledger disabled', 'a disabled trigger');
select is(pg_temp.after('drop trigger refuse_change on SCHEMA.messages'), 'trigger refuse_change on messages missing', 'a trigger taken away');
select is(pg_temp.after('create trigger a before insert on SCHEMA.work_ledger for each row execute function suppress_redundant_updates_trigger()'),
  'trigger a on work_ledger was not installed with the ledger', 'a trigger put in');
select is(pg_temp.after('create or replace view SCHEMA.v_findings with (security_invoker = true) as select work_item_id, seq, content, created_at from SCHEMA.work_ledger where seq > 1'),
  'view v_findings is not the one that was installed', 'a replaced view');
select is(pg_temp.after('create function SCHEMA.mine() returns void language sql as $f$ $f$'), 'nothing', 'a function of a user''s own');

select * from finish();
rollback;
