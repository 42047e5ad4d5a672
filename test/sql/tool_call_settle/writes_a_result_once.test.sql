-- The result of a call is written once, as it came.
begin;
select plan(5);

select agent();
select submit();
select drive();
select answer('[["note", "hi"]]');

select from tool_call_begin(item(), lease(), call('t1_1'));
select from tool_call_settle(item(), lease(), call('t1_1'), E'a "quoted"\nresult', true);
select is((select result::text from tool_calls), '"a \"quoted\"\nresult"', 'the result is kept to the byte');
select is((select status from tool_calls), 'failed', 'a result that is an error is a failed call');
select from tool_call_settle(item(), lease(), call('t1_1'), 'another', false);
select is((select status from tool_calls), 'failed', 'a second result changes nothing');
select throws_ok($$ update tool_calls set result = '"x"' $$, 'WL007', null, 'nobody rewrites a result');
select throws_ok($$ select tool_call_begin(item(), lease(), call('t1_1')) $$, 'WL008', null, 'a settled call cannot begin again');

select * from finish();
rollback;
