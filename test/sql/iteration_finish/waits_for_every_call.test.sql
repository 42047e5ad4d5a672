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
    '{"id": "msg_1", "model": "m", "content": [{"type":"tool_use","id":"t1","name":"ledger_append","input":{"entry_type":"note","content":"hi"}}], "stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 5}}') as answer;

select throws_ok($$ select iteration_finish((select id from item), (select lease from held)) $$, 'WL008', null, 'an open call is in the way');
select from tool_call_execute((select id from item), (select lease from held), (select id from tool_calls));
select is((iteration_finish((select id from item), (select lease from held))) ->> 'kind', 'continued', 'then it goes on');
select is((select lease_token from work_items), null, 'the lease is free');
select throws_ok($$ select iteration_finish((select id from item), (select lease from held)) $$, 'WL004', null, 'and gone');

select * from finish();
rollback;
