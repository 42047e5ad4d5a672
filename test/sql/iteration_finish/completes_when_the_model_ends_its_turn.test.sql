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
    '{"id": "msg_1", "model": "m", "content": [{"type":"text","text":"It is the index."}], "stop_reason": "end_turn", "usage": {"input_tokens": 10, "output_tokens": 5}}') as answer;

select is((iteration_finish((select id from item), (select lease from held))) ->> 'kind', 'completed', 'the item is completed');
select is((select outcome_data ->> 'summary' from work_items), 'It is the index.', 'with what the model said');
select is((select outcome from foci), 'completed', 'the focus ended');
select throws_ok($$ update work_items set state = 'queued', resolved_at = null $$, 'WL003', null, 'a final state never changes');

select * from finish();
rollback;
