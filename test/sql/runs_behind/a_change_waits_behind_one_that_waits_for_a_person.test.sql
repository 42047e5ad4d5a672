begin;
select plan(11);
set local work_ledger.now = '2026-03-01 12:00+00';

select from faculty_save('{"name": "worker", "accepts": ["work"], "awareness": {"enabled": false}, "engage": {"code_execution": true, "require_approval": "moderate", "tools": ["read_file", "write_file", "put"]}}');
select ability_register(n, n, '{"type": "object"}', 'unsafe', r) from (values ('write_file', 'moderate'), ('read_file', 'safe'), ('execute_code', 'safe')) v(n, r);
create function pg_temp.put(p_input jsonb) returns text language sql as $$ select 'put' $$;
select from ability_register('put', 'Puts.', '{"type": "object"}', 'unsafe', 'safe', 'pg_temp.put(jsonb)', p_touches => '[{"key": "path", "action": "modify"}]');

create temporary table item as select id, null::uuid as lease, null::uuid as turn from work_submit('work', 'Write it');
create function pg_temp.claim() returns text language plpgsql as $$
declare
  v_claim jsonb := (select focus_claim(id, 'w') from item);
begin
  update item set lease = (v_claim ->> 'lease')::uuid;
  return v_claim ->> 'kind';
end
$$;
create function pg_temp.named(p_calls json) returns text language sql as $$
  select string_agg(substr(k.provider_id, 2), ' ' order by k.provider_id) from json_array_elements(p_calls) c join tool_calls k on k.id = (c ->> 'id')::uuid
$$;
create function pg_temp.begin() returns text language sql as $$ select pg_temp.named(iteration_begin(id, lease) -> 'calls') from item $$;
create function pg_temp.finish() returns text language sql as $$ select iteration_finish(id, lease) ->> 'kind' from item $$;
create function pg_temp.call(p_n text) returns uuid language sql as $$ select k.id from item join tool_calls k on k.turn_id = item.turn where k.provider_id = 'c' || p_n $$;
create function pg_temp.run(p_n text) returns void language sql as $$
  select tool_call_begin(id, lease, pg_temp.call(p_n)), tool_call_settle(id, lease, pg_temp.call(p_n), 'done') from item
$$;

select pg_temp.claim();
update item set turn = (iteration_begin(id, lease) ->> 'turn_id')::uuid;
-- 1, 2: both want approval; 3: reads what they write; 4: something else; 5: a SQL tool on the same; 6: code.
select is(pg_temp.named(turn_record(id, lease, turn, '{"stop_reason": "tool_use", "content": [
  {"type": "tool_use", "id": "c1", "name": "write_file", "input": {"path": "a", "content": "one"}}, {"type": "tool_use", "id": "c2", "name": "write_file", "input": {"path": "./a", "content": "two"}},
  {"type": "tool_use", "id": "c3", "name": "read_file", "input": {"path": "a"}}, {"type": "tool_use", "id": "c4", "name": "read_file", "input": {"path": "b"}},
  {"type": "tool_use", "id": "c5", "name": "put", "input": {"path": "a"}}, {"type": "tool_use", "id": "c6", "name": "execute_code", "input": {"code": "x"}}]}') -> 'calls'), '4 6',
  'what touches what a call that waits for a person is about to change, is not to be run') from item;
select is(array[tool_call_begin(id, lease, pg_temp.call('3')), tool_call_execute(id, lease, pg_temp.call('5'))], array[array[pg_temp.call('3')], array[pg_temp.call('5')]], 'and does not begin: it is told that it waits itself') from item;
select pg_temp.run('4');
select tool_call_begin(id, lease, pg_temp.call('6')) from item;
select is(tool_call_nested(id, lease, pg_temp.call('6'), 0, 'read_file', '{"path": "a"}') ->> 'kind', 'waiting', 'nor in code') from item;
select tool_call_suspend(id, lease, pg_temp.call('6')) from item;
select is((select status from tool_calls where id = pg_temp.call('6')), 'waiting', 'which waits with it');
select is(pg_temp.finish(), 'parked', 'nobody is kept busy by them');

select tool_call_approve(pg_temp.call('2'));
select is(pg_temp.claim(), 'not_due', 'the second is approved first: it keeps its place');

select tool_call_approve(pg_temp.call('1'));
select pg_temp.claim();
select is(pg_temp.begin(), '1 2 3 5 6', 'when the first is approved, too, all of them run');
select is((select (c -> 'behind')::jsonb from item, json_array_elements(_open_calls(turn)) c where c ->> 'id' = pg_temp.call('2')::text), jsonb_build_array(pg_temp.call('1')), 'in the model''s order');
select pg_temp.run('1'), pg_temp.run('2'), pg_temp.run('3');
select is((select tool_call_execute(id, lease, pg_temp.call('5')) from item), '{}', 'the SQL tool in its turn');
select tool_call_begin(id, lease, pg_temp.call('6')) from item;
select is(tool_call_nested(id, lease, pg_temp.call('6'), 0, 'read_file', '{"path": "a"}') ->> 'kind', 'run', 'and code') from item;
select tool_call_settle(id, lease, pg_temp.call('6.1'), 'read'), tool_call_settle(id, lease, pg_temp.call('6'), 'done') from item;
select is(pg_temp.finish(), 'continued', 'and the iteration is over');
select * from finish();
rollback;
