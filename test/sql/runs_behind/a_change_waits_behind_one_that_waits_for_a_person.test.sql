-- A call that touches what another one is about to change waits behind it, even where that one waits for approval; the iteration parks.
begin;
select plan(11);
set local work_ledger.now = '2026-03-01 12:00+00';

select from faculty_save('{"name": "worker", "accepts": ["analyze"], "awareness": {"enabled": false}, "engage": {"code_execution": true, "require_approval": "moderate", "tools": ["read_file", "write_file", "put"]}}');
select ability_register(n, n, '{"type": "object"}', 'unsafe', r) from (values ('write_file', 'moderate'), ('read_file', 'safe'), ('execute_code', 'safe')) v(n, r);
create function pg_temp.put(p_input jsonb) returns text language sql as $$ select 'put' $$;
select from ability_register('put', 'Puts.', '{"type": "object"}', 'unsafe', 'safe', 'pg_temp.put(jsonb)', p_touches => '[{"key": "path", "action": "modify"}]');

create function pg_temp.named(p_calls json) returns text language sql as $$
  select string_agg(split_part(k.provider_id, '_', 2), ' ' order by k.provider_id) from json_array_elements(p_calls) c join tool_calls k on k.id = (c ->> 'id')::uuid
$$;
create function pg_temp.call(p_n text) returns uuid language sql as $$ select call('t1_' || p_n) $$;
create function pg_temp.run(p_n text) returns void language sql as $$
  select tool_call_begin(item(), lease(), pg_temp.call(p_n)), tool_call_settle(item(), lease(), pg_temp.call(p_n), 'done')
$$;

select submit('Write it');
select drive();
-- 1, 2: both want approval; 3: reads what they write; 4: something else; 5: a SQL tool on the same; 6: code.
select is(pg_temp.named(answer('[
  ["write_file", {"path": "a", "content": "one"}], ["write_file", {"path": "./a", "content": "two"}],
  ["read_file", {"path": "a"}], ["read_file", {"path": "b"}],
  ["put", {"path": "a"}], ["execute_code", {"code": "x"}]]') -> 'calls'), '4 6',
  'what touches what a call that waits for approval is about to change, is not to be run');
select is(array[tool_call_begin(item(), lease(), pg_temp.call('3')), tool_call_execute(item(), lease(), pg_temp.call('5'))], array[array[pg_temp.call('3')], array[pg_temp.call('5')]], 'a call behind one that waits does not begin: it is told that it waits itself');
select pg_temp.run('4');
select tool_call_begin(item(), lease(), pg_temp.call('6'));
select is(tool_call_nested(item(), lease(), pg_temp.call('6'), 0, 'read_file', '{"path": "a"}') ->> 'kind', 'waiting', 'a call of code behind one that waits waits, too');
select tool_call_suspend(item(), lease(), pg_temp.call('6'));
select is((select status from tool_calls where id = pg_temp.call('6')), 'waiting', 'code waits with its call');
select is(iteration_finish(item(), lease()) ->> 'kind', 'parked', 'the iteration parks, and nobody is kept busy');

select tool_call_approve(pg_temp.call('2'));
select is(claim() ->> 'kind', 'not_due', 'a call that is approved before the one in front of it keeps its place');

select tool_call_approve(pg_temp.call('1'));
select is(pg_temp.named(drive() -> 'calls'), '1 2 3 5 6', 'when the first one is approved, too, all of them run');
select is((select (c -> 'behind')::jsonb from json_array_elements(_open_calls(turn())) c where c ->> 'id' = pg_temp.call('2')::text), jsonb_build_array(pg_temp.call('1')), 'the approved calls run in the model''s order');
select pg_temp.run('1'), pg_temp.run('2'), pg_temp.run('3');
select is((select tool_call_execute(item(), lease(), pg_temp.call('5'))), '{}', 'a SQL tool runs in its turn');
select tool_call_begin(item(), lease(), pg_temp.call('6'));
select is(tool_call_nested(item(), lease(), pg_temp.call('6'), 0, 'read_file', '{"path": "a"}') ->> 'kind', 'run', 'the call of code runs');
select tool_call_settle(item(), lease(), pg_temp.call('6.1'), 'read'), tool_call_settle(item(), lease(), pg_temp.call('6'), 'done');
select is(iteration_finish(item(), lease()) ->> 'kind', 'continued', 'the iteration is over');

select * from finish();
rollback;
