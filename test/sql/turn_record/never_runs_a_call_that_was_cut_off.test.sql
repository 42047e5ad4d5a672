begin;
select plan(4);

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
    '{"id": "msg_1", "model": "m", "content": [{"type":"tool_use","id":"t1","name":"ledger_append","input":{}}], "stop_reason": "max_tokens", "usage": {"input_tokens": 10, "output_tokens": 5}}') as answer;

select is((select status from tool_calls), 'failed', 'the call is not run');
select alike((select result::text from tool_calls), '%Not executed%max_tokens%', 'the model is told why');
select is((select kind from (select iteration_finish((select id from item), (select lease from held)) ->> 'kind') v(kind)), 'continued', 'the work goes on');
select is((select max_tokens from foci), 64000, 'with twice the output limit');

select * from finish();
rollback;
