-- What is being driven is taken at its last turn whose calls have ended; what nobody drives any more, with calls that have no result.
begin;
select plan(8);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play('[[["look", "saw a"]]]');
select drive();
select is((select count(*) from session_export(item()::text, 'claude-code') where record::text like '%saw a%'), 1::bigint, 'while a request is open, what was over before it is carried');
select answer('[{"type": "text", "text": "Half done"}, {"type": "tool_use", "id": "open", "name": "look", "input": {}}]');
select is((select count(*) from session_export(item()::text, 'claude-code') where record::text like '%Half done%'), 0::bigint, 'a turn whose call is open is not');
select is((select count(*) from session_export(item()::text, 'claude-code') where left_out = 'a turn that has not ended, with what it was told'), 1::bigint, 'which is said');
select from work_message(item(), 'Hurry');
select is((select count(*) from session_export(item()::text, 'claude-code') where left_out = 'a message that waits for its next request'), 1::bigint, 'so is a message that nobody was told yet');
select is((select record ->> 'turn_id' from session_export(item()::text, 'work-ledger') where n = 1), (select turn_id::text from request where n = 1), 'a fork begins there, too');

create temporary table imported as select session_import('{"format": "pi", "sessionId": "p", "prompt": "Look", "exchanges": [{"text": "I look", "calls": [{"id": "a", "name": "read", "input": {"path": "x"}, "result": "seen"}]}, {"text": "Again", "calls": [{"id": "b", "name": "read", "input": {"path": "y"}}, {"id": "c", "name": "ask", "input": {}}]}]}') as i;
create temporary table line as select n, record, record #> '{message,content,0}' as block, left_out from session_export('p', 'claude-code');
select is((select array_agg(block ->> 'tool_use_id' order by n) from line where block ->> 'type' = 'tool_result'), array['a', 'b'], 'every call of a recorded run has a result');
select is((select count(*) from line where left_out = 'the result of a call, which was not recorded'), 2::bigint, 'and where it was not recorded, that is said');
select is((select (record ->> 'turn_id')::uuid from session_export('p', 'work-ledger') where n = 1), (select t.id from turns t where t.depth = 0 and t.provider = 'pi'), 'a fork begins where all calls have ended');

select * from finish();
rollback;
