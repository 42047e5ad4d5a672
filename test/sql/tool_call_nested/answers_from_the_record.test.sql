-- A call that code makes is a row below its execute_code call: run once, then answered from the record, and a divergence where it is another call.
begin;
select plan(9);

select tool('erase', 'unsafe', 'dangerous'), tool('execute_code', 'idempotent');
select agent('{"code_execution": true, "tools": ["look", "erase"], "require_approval": "dangerous", "max_result_chars": 1000}');
select submit('Compute it');
-- A call that the code makes, by its number.
create function pg_temp.nested(p_ordinal integer, p_name text, p_input json default '{}') returns json language sql as $$
  select tool_call_nested(item(), lease(), call('t1_1'), p_ordinal, p_name, p_input);
$$;
select drive();
create temporary table code as select answer('[["execute_code", {"code": "x"}]]') #> '{calls,0,code_tools}' as tools;
select tool_call_begin(item(), lease(), call('t1_1'));

select ok('execute_code' in (select t.name from _toolset(config) t), 'who wants code execution is offered it') from faculties where name = 'worker' and is_current;
select from faculty_save('{"name": "writer", "accepts": ["write"], "engage": {"tools": ["look"]}}');
select ok('execute_code' not in (select t.name from _toolset(config) t), 'who does not want code execution is not offered it') from faculties where name = 'writer';
select is((select array_agg(t ->> 'name') from code, json_array_elements(tools) t),
  array['artifact_read', 'check_child_work', 'erase', 'ledger_append', 'ledger_read', 'look', 'notify_me', 'recall_block', 'spawn_child_work'], 'code is told what it may call');
select is(pg_temp.nested(0, 'work_complete') ->> 'kind', 'unknown', 'code may not call what ends the work');
create temporary table first as select (pg_temp.nested(0, 'look', '{"at": 1}') #>> '{call,id}')::uuid as id;
select is((select provider_id from tool_calls where id = (select id from first)), 't1_1.1', 'a call of code is a row below the call that runs it');
select tool_call_settle(item(), lease(), (select id from first), repeat('seen ', 1000), false, null, null, '[1, 2]');
select is(pg_temp.nested(0, 'look', '{ "at":1 }') ->> 'content', repeat('seen ', 1000), 'a call that was made is answered from the record, whole');
select is(pg_temp.nested(0, 'look', '{"at": 1}') ->> 'value', '[1, 2]', 'the answer from the record has what code is given');
select matches(pg_temp.nested(0, 'look', '{"at": 2}') ->> 'reason', 'call 1 of the code was look \{"at": 1\} when it ran before, and is look \{"at": 2\} now', 'another input in its place is a divergence');
select is(pg_temp.nested(0, 'erase', '{"at": 1}') ->> 'kind', 'diverged', 'another tool in its place is a divergence');

select * from finish();
rollback;
