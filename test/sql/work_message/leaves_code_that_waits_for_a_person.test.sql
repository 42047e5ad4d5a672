-- An interruption leaves what waits for approval: it goes on waiting, and runs when it is approved.
begin;
select plan(7);

select tool('execute_code', 'idempotent');
select tool('send', 'unsafe', 'dangerous');
select agent('{"tools": ["send"], "code_execution": true, "require_approval": "dangerous"}');
select submit('Fix it');
select drive(), answer('[["send"], ["execute_code", {"code": "send()"}]]');
create temporary table code as select call('t1_2') as id;
select from tool_call_begin(item(), lease(), (select id from code));
select is(tool_call_nested(item(), lease(), (select id from code), 0, 'send', '{}') ->> 'kind', 'waiting', 'code waits for approval, as a call beside it does');
select from tool_call_suspend(item(), lease(), (select id from code));

-- Before the iteration is parked.
select from work_message(item(), 'Stop', true);
select is((select count(*)::integer from v_approvals), 2, 'what waits for approval goes on waiting');
select from tool_call_approve((select id from tool_calls where parent_call_id = (select id from code)));
select is(drive() ->> 'calls', '[]', 'the item has nothing to run');
select is(iteration_finish(item(), lease()) ->> 'kind', 'continued', 'the item goes on to what was approved');
select is(drive() #>> '{calls,0,id}', (select id::text from code), 'the code whose call was approved runs again');
select is(tool_call_nested(item(), lease(), (select id from code), 0, 'send', '{}') ->> 'kind', 'run', 'the approved call of the code runs');
select tool_call_settle(item(), lease(), (select id from code), 'done');
select is(iteration_finish(item(), lease()) ->> 'kind', 'parked', 'the call that nobody has decided on still waits');

select * from finish();
rollback;
