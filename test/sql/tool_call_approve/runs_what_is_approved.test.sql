-- What is approved runs; what is rejected does not, and the model is told why.
begin;
select plan(11);

select tool('erase', 'unsafe', 'dangerous');
select agent('{"tools": ["look", "erase"], "require_approval": "dangerous", "approval_timeout": 600}');
select submit('Fix it');
select play('[[["erase", {"what": "first"}], ["erase", {"what": "second"}]]]');

select throws_ok($$ select tool_call_approve(call('t1_1'), 'another hash') $$, 'WL008', null, 'an approval of other arguments is refused');
select is((select decision from tool_call_approve(call('t1_1'), (select input_hash from approvals where tool_call_id = call('t1_1')))), 'approved', 'an approval of these arguments is taken');
create function pg_temp.decided() returns approvals language sql as $$ select a from approvals a where tool_call_id = call('t1_1') $$;
create temporary table first as select (pg_temp.decided()).*;
select is((select decided_by from first), session_user::text, 'who decided is who is logged in');
select later('1 second'), tool_call_approve(call('t1_1'));
select is(pg_temp.decided(), (select f::approvals from (select * from first) f), 'the first decision on a call counts');
select is(drive() #>> '{calls,0,input,what}', 'first', 'the approved call runs');
select is(json_array_length(stage() -> 'calls'), 1, 'a call that is not approved does not run');
select tool_call_begin(item(), lease(), call('t1_1')), tool_call_settle(item(), lease(), call('t1_1'), 'erased');
select is(iteration_finish(item(), lease()) ->> 'kind', 'parked', 'the other call still waits');
select from tool_call_reject(call('t1_2'), 'not that file');
select throws_ok($$ select tool_call_approve(call('t1_2')) $$, 'WL008', null, 'a rejected call stays rejected');
select is(drive() ->> 'calls', '[]', 'when one call is rejected and one has run, nothing is left to run');
select is(iteration_finish(item(), lease()) ->> 'kind', 'continued', 'when all is decided the work goes on');
select matches((select messages::text from context_window(focus())), 'a person rejected this call: not that file', 'the model is told of the rejection');

select * from finish();
rollback;
