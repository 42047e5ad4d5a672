begin;
select plan(4);

select agent();
select submit();
select drive();
create temporary table recorded as
  select turn_record(item(), lease(), turn(),
    '{"id": "msg_1", "model": "m", "content": [{"type":"tool_use","id":"t1","name":"ledger_append","input":{"entry_type":"note","content":"hi"}}], "stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 5}}') as answer;

select throws_ok($$ select iteration_finish(item(), lease()) $$, 'WL008', null, 'an open call is in the way');
select from tool_call_execute(item(), lease(), (select id from tool_calls));
select is((iteration_finish(item(), lease())) ->> 'kind', 'continued', 'then it goes on');
select is((select lease_token from work_items), null, 'the lease is free');
select throws_ok($$ select iteration_finish(item(), lease()) $$, 'WL004', null, 'and gone');

select * from finish();
rollback;
