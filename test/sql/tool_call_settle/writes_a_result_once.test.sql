begin;
select plan(5);

select agent();
select submit();
select drive();
create temporary table recorded as
  select turn_record(item(), lease(), turn(),
    '{"id": "msg_1", "model": "m", "content": [{"type":"tool_use","id":"t1","name":"ledger_append","input":{"entry_type":"note","content":"hi"}}], "stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 5}}') as answer;

select from tool_call_begin(item(), lease(), (select id from tool_calls));
select from tool_call_settle(item(), lease(), (select id from tool_calls), E'a "quoted"\nresult', true);
select is((select result::text from tool_calls), '"a \"quoted\"\nresult"', 'the result is kept');
select is((select status from tool_calls), 'failed', 'as the failure that it is');
select from tool_call_settle(item(), lease(), (select id from tool_calls), 'another', false);
select is((select status from tool_calls), 'failed', 'a second one changes nothing');
select throws_ok($$ update tool_calls set result = '"x"' $$, 'WL007', null, 'nor does anybody else');
select throws_ok($$ select tool_call_begin(item(), lease(), (select id from tool_calls)) $$, 'WL008', null, 'it cannot begin again');

select * from finish();
rollback;
