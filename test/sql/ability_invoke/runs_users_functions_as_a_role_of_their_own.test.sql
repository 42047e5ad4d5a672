-- In a ledger with roles a user's SQL function runs as the role of tools, and finds what it found when it was registered, whoever calls.
begin;
select plan(10);

create temporary table made as select * from work_roles_create(format('t%s_', pg_backend_pid()));
create function pg_temp.role(p_kind text) returns name language sql as $$ select role from made where kind = p_kind $$;
create table public.customers as select 1 as id, 'Ada' as name;
do $$ begin execute format('grant select on public.customers to %I', pg_temp.role('tools')); end $$;
create function public.who(input jsonb) returns text language sql as $$ select concat_ws(' ', name, current_user) from customers where id = (input ->> 'id')::integer $$;
select from ability_register('who', 'Who.', '{"type": "object"}', 'pure', 'safe', 'public.who(jsonb)');
create function public.ask(input jsonb) returns text language plpgsql as $$ declare v text; begin execute input ->> 'sql' into v; return v; end $$;
select from ability_register('ask', 'Asks.', '{"type": "object"}', 'unsafe', 'safe', 'public.ask(jsonb)');
create function pg_temp.ask(p_sql text, p_item uuid default null) returns text language sql as $$ select ability_invoke('ask', jsonb_build_object('sql', p_sql), p_item) #>> '{}' $$;

select is(ability_invoke('who', '{"id": 1}') #>> '{}', format('Ada %s', pg_temp.role('tools')), 'it runs as the role of tools');

-- What the caller's session holds.
create schema elsewhere;
create table elsewhere.customers as select 1 as id, 'Eve' as name;
create function elsewhere.to_jsonb(text) returns jsonb language sql as $$ select '"owned"'::jsonb $$;
create function elsewhere.set_config(text, text, boolean) returns text language plpgsql as $$ begin raise exception 'ran as %', current_user; end $$;
create function elsewhere.same(integer, integer) returns boolean language plpgsql as $$ begin raise exception 'ran as %', current_user; end $$;
create operator elsewhere.= (leftarg = integer, rightarg = integer, function = elsewhere.same);
grant usage on schema elsewhere to public;
grant select on elsewhere.customers to public;
create temporary view customers as select 1 as id, 'Mallory' as name;
grant select on customers to public;
do $$ begin perform pg_catalog.set_config('search_path', format('elsewhere, pg_catalog, %I, work_test, public', _ledger_schema()), true); end $$;
select pg_catalog.set_config('test.said', ability_invoke('who', '{"id": 1}') #>> '{}', true);
do $$ begin perform pg_catalog.set_config('search_path', format('%I, work_test, public', _ledger_schema()), true); end $$;
select is(current_setting('test.said'), format('Ada %s', pg_temp.role('tools')), 'no schema, table or operator of the caller comes before its own');
select is((select search_path from abilities where name = 'who'), array[_ledger_schema(), 'work_test', 'public']::name[], 'the path is that of who registered it');

-- What it may not do.
select throws_ok($$ select pg_temp.ask('update work_items set description = ''owned'' returning id') $$, '42501', null, 'it writes no table');
select throws_ok($$ select pg_temp.ask(format('select set_config(''role'', %L, false)', session_user)) $$, '42501', null, 'nor becomes who called');
create function pg_temp.sets_path() returns text language plpgsql as $$
declare
  v_said text;
begin
  begin
    v_said := pg_temp.ask('select set_config(''search_path'', ''elsewhere, pg_catalog'', false)');
  exception when others then
    v_said := sqlerrm;
  end;
  perform pg_catalog.set_config('search_path', format('%I, work_test, public', _ledger_schema()), true);
  return v_said;
end $$;
select is(pg_temp.sets_path(), 'elsewhere, pg_catalog', 'a path that it sets is not that of the ledger''s functions');
create function public.leave(input jsonb) returns void language plpgsql as $$ begin create temporary table work_items (id uuid); end $$;
select from ability_register('leave', 'Leaves.', '{"type": "object"}', 'unsafe', 'safe', 'public.leave(jsonb)');
select throws_like($$ select ability_invoke('leave') $$, '%leaves a temporary object%', 'it leaves no table in the session');
create function public.hold(input jsonb) returns void language plpgsql as $$ begin execute 'declare later cursor with hold for select current_user'; end $$;
select from ability_register('hold', 'Holds.', '{"type": "object"}', 'unsafe', 'safe', 'public.hold(jsonb)');
select throws_like($$ select ability_invoke('hold') $$, '%leaves a temporary object or an open cursor%', 'nor a query that runs when the session commits');

select submit();
select is(ability_invoke('ask', jsonb_build_object('sql', format('select trust from ledger_append(%L, ''note'', ''noted'')', item())), item()) #>> '{}', 'other_agent',
  'without a lease it appends to what the caller submitted');
delete from ledger_roles where kind = 'tools';
select throws_ok($$ select ability_invoke('who', '{"id": 1}') $$, '42501', null, 'without that role it does not run at all');

select * from finish();
rollback;
