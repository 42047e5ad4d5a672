begin;
select plan(4);

select agent();
select submit();
select drive();
create temporary table recorded as
  select turn_record(item(), lease(), turn(),
    '{"id": "msg_1", "model": "m", "content": [{"type":"text","text":"It is the index."}], "stop_reason": "end_turn", "usage": {"input_tokens": 10, "output_tokens": 5}}') as answer;

select is((iteration_finish(item(), lease())) ->> 'kind', 'completed', 'the item is completed');
select is((select outcome_data ->> 'summary' from work_items), 'It is the index.', 'with what the model said');
select is((select outcome from foci), 'completed', 'the focus ended');
select throws_ok($$ update work_items set state = 'queued', resolved_at = null $$, 'WL003', null, 'a final state never changes');

select * from finish();
rollback;
