begin;
select plan(3);

select agent();
select submit();
select drive();
create temporary table recorded as
  select turn_record(item(), lease(), turn(),
    '{"id": "msg_1", "model": "m", "content": [{"type":"tool_use","id":"a","name":"work_complete","input":{"summary":"Fixed","evidence":["test run"]}},{"type":"tool_use","id":"b","name":"ledger_append","input":{"entry_type":"step","content":"Fixed it"}}], "stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 5}}') as answer;

select from tool_calls k cross join lateral tool_call_execute(item(), lease(), k.id);
select is((select state from work_items), 'running', 'not in the middle of the batch');
select is((iteration_finish(item(), lease())) ->> 'kind', 'completed', 'but at its end');
select is((select outcome_data from work_items), '{"summary": "Fixed", "evidence": ["test run"]}'::jsonb, 'with summary and evidence');

select * from finish();
rollback;
