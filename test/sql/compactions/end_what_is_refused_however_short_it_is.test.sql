-- A request that the model refuses for its length, though nothing of it can leave, ends the work: it is not sent again as it was.
begin;
select plan(3);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play('[[["look"]]]', p_more => '{"usage": {}}');
select drive();
select is(iteration_fail(item(), lease(), '{"class": "context_overflow", "message": "prompt is too long"}') ->> 'kind', 'retry', 'the model refuses the request for its length');
select is(drive() ->> 'kind', 'failed', 'the work ends');
select alike((select state_reason from item), 'the conversation no longer fits the model''s context window:%', 'its reason says why');

select * from finish();
rollback;
