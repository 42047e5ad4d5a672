-- A tool of a user's has no more than its lease gives, also in a session that quotes all names when it runs its first tool.
begin;
select plan(3);

-- What it changes of its function lets the session read that anew.
create temporary table made as select * from work_roles_create(format('t%s_', pg_backend_pid()));
do $$ begin execute format('grant usage on schema work_test to %1$I; grant all on all tables in schema work_test to %1$I', (select role from made where kind = 'worker')); end $$;
create function public.ask(input jsonb) returns text language plpgsql as $$ declare v text; begin execute input ->> 'sql' into v; return v; end $$;
select from ability_register('ask', 'Asks.', '{"type": "object"}', 'unsafe', 'safe', 'public.ask(jsonb)');
select agent('{"tools": ["ask"]}');
create temporary table other as select submit('Something else') as id;
select submit();
create temporary table said as
  select format($f$ select (ledger_append(%L, 'note', 'noted')).seq from set_config('work_ledger.lease', '', true) $f$, (select id from other)) as sql;
create temporary table me as select session_user as name, (select role from made where kind = 'worker') as worker;

grant select on said, me to public;
set local quote_all_identifiers = on;
select set_config('session_authorization', worker, true) from me;
select play(jsonb_build_array(jsonb_build_array(jsonb_build_array('ask', jsonb_build_object('sql', (select sql from said))))));
select set_config('session_authorization', name, true) from me;
set local quote_all_identifiers = off;

select is((select status from tool_calls where work_item_id = item()), 'failed', 'what it may not do fails');
select matches((select result #>> '{}' from tool_calls where work_item_id = item()), '42501', 'since it is a tool');
select is((select count(*) from work_ledger where work_item_id = (select id from other)), 0::bigint, 'nothing was written to work whose lease it has not');

select * from finish();
rollback;
