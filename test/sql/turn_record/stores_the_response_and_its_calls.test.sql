-- A response is stored as it came, with its calls; recording it again changes nothing.
begin;
select plan(8);

select agent();
select submit();
select drive();
select turn_record(item(), lease(), turn(),
  '{"content": [{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"I look"},{"type":"tool_use","id":"t1","name":"ledger_read","input":{"z":1,"a":2}}], "stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 5}}');

select is((select status from turns), 'completed', 'the turn is complete');
select is((select chain_tokens from turns), 15::bigint, 'the tokens of the turn are counted');
select is((select content::text from messages where role = 'assistant'),
  '[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"I look"},{"type":"tool_use","id":"t1","name":"ledger_read","input":{"z":1,"a":2}}]',
  'the blocks are kept to the byte');
select is((select status from tool_calls), 'pending', 'the call waits to be run');
select is((select head_turn_id from sessions), turn(), 'the session points at the turn');
select is((select count(*) from session_history), 1::bigint, 'the move of the session is logged');
select lives_ok($$ select turn_record(item(), lease(), turn(), '{"content": [], "stop_reason": "end_turn"}') $$, 'recording again is harmless');
select is((select count(*) from tool_calls), 1::bigint, 'recording again changes nothing');

select * from finish();
rollback;
