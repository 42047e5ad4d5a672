-- In a ledger with roles a tool of a user's has what the lease of its call gives, whatever the worker may do that runs it.
begin;
select plan(9);

create temporary table made as select * from work_roles_create(format('t%s_', pg_backend_pid()));
grant select on made to public;
do $$ begin execute format('grant usage on schema work_test to %1$I; grant all on all tables in schema work_test to %1$I', (select role from made where kind = 'worker')); end $$;
create function public.ask(input jsonb) returns text language plpgsql as $$ declare v text; begin execute input ->> 'sql' into v; return v; end $$;
select from ability_register('ask', 'Asks.', '{"type": "object"}', 'unsafe', 'safe', 'public.ask(jsonb)');
select agent('{"tools": ["ask"]}');
create temporary table other as select submit('Something else') as id;
select submit();

-- The result of a call of the tool that runs p_sql, made by a worker with roles.
create function pg_temp.result(p_sql text) returns text language plpgsql as $$
declare
  v_me text := session_user;
begin
  perform set_config('session_authorization', (select role from made where kind = 'worker'), true);
  perform play(jsonb_build_array(jsonb_build_array(jsonb_build_array('ask', jsonb_build_object('sql', p_sql)))));
  perform set_config('session_authorization', v_me, true);
  return (select k.result #>> '{}' from tool_calls k where k.work_item_id = item() order by k.created_at desc, k.id desc limit 1);
end $$;
create function pg_temp.append(p_item uuid) returns text language sql as $$ select format('select (ledger_append(%L, ''note'', ''noted'')).seq', p_item) $$;

select is(pg_temp.result('select current_user'), (select role::text from made where kind = 'tools'), 'it runs as the role of tools');
select is(pg_temp.result(pg_temp.append(item())), '1', 'it appends to the item whose call it is');
select isnt((select turn_id from work_ledger where work_item_id = item()), null, 'in the name of its turn');
select matches(pg_temp.result(pg_temp.append((select id from other))), 'WL004', 'not to another item');
select matches(pg_temp.result(pg_temp.append((select id from other)) || $$ from set_config('work_ledger.lease', '', true) $$), '42501', 'nor without a lease, as the worker could');
select matches(pg_temp.result(format($$ select ability_invoke('ledger_read', '{}', %L) $$, (select id from other))), 'WL004', 'it reads no other item');
select matches(pg_temp.result($$ select ability_invoke('ldg:task:query', '{}', current_setting('work_ledger.work_item_id')::uuid) $$), '42501', 'and not all of them');
select is(pg_temp.result($$ select ability_invoke('ledger_read', '{}', current_setting('work_ledger.work_item_id')::uuid) $$),
  '[{"seq": 1, "content": "noted", "entry_type": "note"}]', 'its own it does');
select is((select count(*) from work_ledger where work_item_id = (select id from other)), 0::bigint, 'nothing was written elsewhere');

select * from finish();
rollback;
