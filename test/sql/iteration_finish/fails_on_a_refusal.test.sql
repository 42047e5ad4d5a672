-- A model that refuses fails the work: no retry makes it say something else.
begin;
select plan(2);

select agent();
select submit();
select drive();
select turn_record(item(), lease(), turn(), '{"content": [], "stop_reason": "refusal", "stop_details": {"category": "cyber"}}');

select is(iteration_finish(item(), lease()) ->> 'kind', 'failed', 'a refusal fails the work');
select is((select state_reason from item), 'the model refused: cyber', 'the reason has the provider''s category');

select * from finish();
rollback;
