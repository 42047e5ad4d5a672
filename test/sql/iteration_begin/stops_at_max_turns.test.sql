begin;
select plan(2);

select agent('{"max_turns": 1}');
select submit();
select drive();
create temporary table recorded as
  select turn_record(item(), lease(), turn(),
    '{"id": "msg_1", "model": "m", "content": [{"type":"tool_use","id":"t1","name":"ledger_append","input":{"entry_type":"note","content":"hi"}}], "stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 5}}') as answer;

select from tool_call_execute(item(), lease(), (select id from tool_calls));
create temporary table finished as select iteration_finish(item(), lease());
select is((select (iteration_begin(id, (focus_claim(id, 'w') ->> 'lease')::uuid)) ->> 'kind' from item), 'failed', 'no second turn');
select alike((select state_reason from work_items), 'reached max_turns (1)%', 'with its reason');

select * from finish();
rollback;
