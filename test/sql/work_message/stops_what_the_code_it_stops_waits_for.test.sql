-- An interruption stops code, and with it the call of the code that waits for approval.
begin;
select plan(6);

select tool('execute_code', 'idempotent');
select tool('send', 'unsafe', 'dangerous');
select agent('{"tools": ["send"], "code_execution": true, "require_approval": "dangerous"}');
select submit('Fix it');
select drive();
create temporary table code as select (answer('[["execute_code", {"code": "send()"}]]') #>> '{calls,0,id}')::uuid as id;
select from tool_call_begin(item(), lease(), (select id from code));
select is(tool_call_nested(item(), lease(), (select id from code), 0, 'send', '{}') ->> 'kind', 'waiting', 'a call of the code waits for approval');

select from work_message(item(), 'Stop', true);
select is((select count(*)::integer from tool_calls where completed_at is null), 0, 'with the code its call is stopped');
select is((select count(*)::integer from v_approvals), 0, 'nobody is asked to approve any more');
select is(claim() ->> 'kind', 'claimed', 'the item can be driven');
select is(iteration_begin(item(), lease()) #>> '{calls}', '[]', 'no call is left open');
select is(iteration_finish(item(), lease()) ->> 'kind', 'continued', 'the item goes on to its next request');

select * from finish();
rollback;
