-- An approval may come while other calls run; where none comes in time, the call is not executed.
begin;
select plan(6);

select tool('erase', 'unsafe', 'dangerous');
select agent('{"tools": ["look", "erase"], "require_approval": "dangerous", "approval_timeout": 600}');
select submit('Fix it');

select drive(), answer('[["look"], ["erase"]]');
select from tool_call_approve(call('t1_2'));
select tool_call_settle(item(), lease(), call('t1_1'), 'seen');
select is(iteration_finish(item(), lease())::jsonb, '{"kind": "continued", "iteration": 1}', 'with an early approval the iteration is not over');
select is(drive() #>> '{calls,0,name}', 'erase', 'the call that was approved early runs');
select tool_call_settle(item(), lease(), call('t1_2'), 'erased'), iteration_finish(item(), lease());

select play('[[["erase"]]]');
set local work_ledger.now = '2099-01-01';
select is((select count(*) from v_approvals), 0::bigint, 'after the timeout nothing waits for approval');
select throws_ok($$ select tool_call_approve(call('t2_1')) $$, 'WL008', null, 'an approval after the timeout is refused');
select is(drive() ->> 'kind', 'run_tools', 'after the timeout the work goes on by itself');
select is((select result #>> '{}' from tool_calls where id = call('t2_1')), '[engine] Not executed: nobody approved this call in time.', 'the model is told that nobody approved in time');

select * from finish();
rollback;
