-- A model that refuses fails the work: no retry makes it say something else.
begin;
select plan(4);

select agent();
select submit();
select drive();
select turn_record(item(), lease(), turn(), '{"content": [], "stop_reason": "refusal", "stop_details": {"category": "cyber"}}');

select is(iteration_finish(item(), lease()) ->> 'kind', 'failed', 'a refusal fails the work');
select is((select state_reason from item), 'the model refused: cyber', 'the reason has the provider''s category');

-- In the middle of a call: the call is not run, and the model is not asked again.
select submit('Look at it');
select drive();
select turn_record(item(), lease(), turn(), '{"content": [{"type": "text", "text": "I"}, {"type": "tool_use", "id": "a", "name": "ledger_append", "input": {}}], "stop_reason": "refusal", "stop_details": {"category": "bio"}}');
select is(iteration_finish(item(), lease()) ->> 'reason', 'the model refused: bio', 'so does one in the middle of a call');
select is((select state from item), 'failed', 'at once');

select * from finish();
rollback;
