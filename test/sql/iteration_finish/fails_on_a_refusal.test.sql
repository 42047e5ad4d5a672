begin;
select plan(2);

select agent();
select submit();
select drive();
create temporary table recorded as
  select turn_record(item(), lease(), turn(),
    '{"id": "msg_1", "model": "m", "content": [], "stop_reason": "refusal", "usage": {"input_tokens": 10, "output_tokens": 5}, "stop_details": {"category": "cyber"}}') as answer;

select is((iteration_finish(item(), lease())) ->> 'kind', 'failed', 'no blind retry');
select is((select state_reason from work_items), 'the model refused: cyber', 'with the provider''s category');

select * from finish();
rollback;
