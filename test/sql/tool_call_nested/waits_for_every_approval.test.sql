-- Code that waits for two approvals at once waits until both are decided: one alone lets neither the item nor its iteration go on.
begin;
select plan(5);

select tool('erase', 'unsafe', 'dangerous'), tool('execute_code', 'idempotent');
select agent('{"code_execution": true, "tools": ["erase"], "require_approval": "dangerous"}');
select submit('Fix it');
select drive(), answer('[["execute_code", {"code": "x"}]]'), tool_call_begin(item(), lease(), call('t1_1'));
select tool_call_nested(item(), lease(), call('t1_1'), n, 'erase', '{}') from generate_series(0, 1) n;
select tool_call_suspend(item(), lease(), call('t1_1'));
select is(iteration_finish(item(), lease()) ->> 'kind', 'parked', 'the code waits for both');
select tool_call_approve(call('t1_1.1'));
select is(claim() ->> 'kind', 'not_due', 'one decision does not let it go on');
select is((select status from tool_calls where id = call('t1_1')), 'waiting', 'the code waits for the other');
select tool_call_approve(call('t1_1.2'));
select is(drive() #>> '{calls,0,name}', 'execute_code', 'when both are decided, it runs');
select is((select array_agg(tool_call_nested(item(), lease(), call('t1_1'), n, 'erase', '{}') ->> 'kind') from generate_series(0, 1) n), '{run,run}', 'and makes its calls');

select * from finish();
rollback;
