begin;
select plan(19);

select tool('look');
select tool('erase', 'unsafe', 'dangerous');
select tool('execute_code', 'idempotent');
select from faculty_save('{"name": "coder", "accepts": ["code"], "engage": {"code_execution": true, "tools": ["look", "erase"], "require_approval": "dangerous", "max_result_chars": 1000}}');
select from faculty_save('{"name": "writer", "accepts": ["write"], "engage": {"tools": ["look"]}}');
select ok('execute_code' in (select t.name from _toolset(config) t), 'who wants code execution is offered it') from faculties where name = 'coder';
select ok('execute_code' not in (select t.name from _toolset(config) t), 'nobody else') from faculties where name = 'writer';

select submit('Compute it', 'code');
select drive();
create temporary table code as select (c ->> 'id')::uuid as id, c -> 'code_tools' as tools
  from (select turn_record(item(), lease(), turn(),
          '{"stop_reason": "tool_use", "content": [{"type": "tool_use", "id": "toolu_1", "name": "execute_code", "input": {"code": "x"}}]}') #> '{calls,0}') as t(c);
select is((select array_agg(t ->> 'name') from code, json_array_elements(tools) t),
  array['artifact_read', 'check_child_work', 'erase', 'ledger_append', 'ledger_read', 'look', 'recall_block', 'spawn_child_work'], 'what code may call');
create function pg_temp.nested(p_ordinal integer, p_name text, p_input json default '{}') returns json language sql as $$
  select tool_call_nested(item(), lease(), (select id from code), p_ordinal, p_name, p_input);
$$;
select tool_call_begin(item(), lease(), (select id from code));
select is(pg_temp.nested(0, 'work_complete') ->> 'kind', 'unknown', 'not what ends the work');
create temporary table first as select (pg_temp.nested(0, 'look', '{"at": 1}') #>> '{call,id}')::uuid as id;
select is((select provider_id from tool_calls where id = (select id from first)), 'toolu_1.1', 'a row below the call that runs the code');
select tool_call_settle(item(), lease(), (select id from first), repeat('seen ', 1000), false, null, null, '[1, 2]');
select is(pg_temp.nested(0, 'look', '{ "at":1 }') ->> 'content', repeat('seen ', 1000), 'asked again, it is answered, whole');
select is(pg_temp.nested(0, 'look', '{"at": 1}') ->> 'value', '[1, 2]', 'with what code is given');
select matches(pg_temp.nested(0, 'look', '{"at": 2}') ->> 'reason', 'call 1 of the code was look \{"at": 1\} when it ran before, and is look \{"at": 2\} now', 'another call in its place is a divergence');
select is(pg_temp.nested(0, 'erase', '{"at": 1}') ->> 'kind', 'diverged', 'another tool too');

select is(pg_temp.nested(1, 'erase') ->> 'kind', 'waiting', 'what needs a person''s word waits');
select tool_call_suspend(item(), lease(), (select id from code));
select is(iteration_finish(item(), lease()) ->> 'kind', 'parked', 'and with it the code and the work');
select is((select state_reason from work_items where id = item()), 'waits for approval of erase', 'for what, it says');
select tool_call_approve(k.id) from tool_calls k where k.tool_name = 'erase';
select is(drive() ->> 'kind', 'run_tools', 'approved, the code runs again');
select is((select array_agg(c ->> 'name') from held, json_array_elements(stage -> 'calls') c), array['execute_code'], 'from its beginning');
select is(pg_temp.nested(1, 'erase') ->> 'kind', 'run', 'and what was approved runs');
select tool_call_begin(item(), lease(), k.id) from tool_calls k where k.tool_name = 'erase';
select tool_call_begin(item(), lease(), (select id from code));
update foci set lease_expires_at = _now() - interval '1 second';
select from work_sweep();
select is(drive() ->> 'kind', 'run_tools', 'after a crash the code runs again');
select is((select status from tool_calls where tool_name = 'erase'), 'uncertain', 'but what may have happened is not repeated');
select matches(pg_temp.nested(1, 'erase') ->> 'content', 'may or may not have happened', 'and the code is told so');
select pg_temp.nested(2, 'look');
select tool_call_settle(item(), lease(), (select id from code), 'Half of it', true, null, 'all of it');
select results_eq($$ select ordinal, status from tool_calls where parent_call_id = (select id from code) order by ordinal $$,
  $$ values (0, 'completed'), (1, 'uncertain'), (2, 'failed') $$, 'code that is over leaves nothing open');

select * from finish();
rollback;
