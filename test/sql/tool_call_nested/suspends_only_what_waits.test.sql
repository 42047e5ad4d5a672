-- Code is suspended for as long as a call of it waits; a decision that comes while its worker ends the code is not waited for again.
begin;
select plan(6);

select tool('erase', 'unsafe', 'dangerous'), tool('execute_code', 'idempotent');
select agent('{"code_execution": true, "tools": ["look", "erase"], "require_approval": "dangerous"}');
select submit('Compute it');
select drive();
select answer('[["execute_code", {"code": "x"}]]');
select tool_call_begin(item(), lease(), call('t1_1'));
select tool_call_nested(item(), lease(), call('t1_1'), 0, 'look', '{}'), tool_call_settle(item(), lease(), call('t1_1.1'), 'seen');
select tool_call_suspend(item(), lease(), call('t1_1'));
select is((select status from tool_calls where id = call('t1_1')), 'running', 'code none of whose calls waits goes on');

select is(tool_call_nested(item(), lease(), call('t1_1'), 1, 'erase', '{}') ->> 'kind', 'waiting', 'a call of the code waits');
-- The person is quicker than the worker, which ends the code only now.
select tool_call_approve(call('t1_1.2'));
select tool_call_suspend(item(), lease(), call('t1_1'));
select isnt(iteration_finish(item(), lease()) ->> 'kind', 'parked', 'the work does not park for a decision that was made');
select is(drive() ->> 'kind', 'run_tools', 'the code runs again');
select is((select array_agg(c ->> 'name') from json_array_elements(stage() -> 'calls') c), array['execute_code'], 'from its beginning');
select is(tool_call_nested(item(), lease(), call('t1_1'), 1, 'erase', '{}') ->> 'kind', 'run', 'and makes the call that was approved');

select * from finish();
rollback;
