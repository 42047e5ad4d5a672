begin;
select plan(3);

select from faculty_save('{"name": "worker", "accepts": ["analyze"]}');
create temporary table item as select * from work_submit('analyze', 'Find why the nightly import is slow');
create temporary table held as
  select v.claim ->> 'lease' as lease_text, (v.claim ->> 'lease')::uuid as lease, (v.claim ->> 'focus_id')::uuid as focus_id
    from focus_claim((select id from item), 'worker-1') as v(claim);
create temporary table begun as
  select (v.stage ->> 'turn_id')::uuid as turn_id, v.stage
    from iteration_begin((select id from item), (select lease from held)) as v(stage);
create temporary table recorded as
  select turn_record((select id from item), (select lease from held), (select turn_id from begun),
    '{"id": "msg_1", "model": "m", "content": [{"type":"tool_use","id":"a","name":"work_complete","input":{"summary":"Fixed","evidence":["test run"]}},{"type":"tool_use","id":"b","name":"ledger_append","input":{"entry_type":"step","content":"Fixed it"}}], "stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 5}}') as answer;

select from tool_calls k cross join lateral tool_call_execute((select id from item), (select lease from held), k.id);
select is((select state from work_items), 'running', 'not in the middle of the batch');
select is((iteration_finish((select id from item), (select lease from held))) ->> 'kind', 'completed', 'but at its end');
select is((select outcome_data from work_items), '{"summary": "Fixed", "evidence": ["test run"]}'::jsonb, 'with summary and evidence');

select * from finish();
rollback;
