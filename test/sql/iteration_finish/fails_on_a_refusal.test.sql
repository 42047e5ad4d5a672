begin;
select plan(2);

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
    '{"id": "msg_1", "model": "m", "content": [], "stop_reason": "refusal", "usage": {"input_tokens": 10, "output_tokens": 5}, "stop_details": {"category": "cyber"}}') as answer;

select is((iteration_finish((select id from item), (select lease from held))) ->> 'kind', 'failed', 'no blind retry');
select is((select state_reason from work_items), 'the model refused: cyber', 'with the provider''s category');

select * from finish();
rollback;
