-- v_work_log tells the story of an item to its end; v_attempts, v_turns, v_calls, v_failed_calls, v_inbox, v_journal_logged and v_findings_told its parts.
begin;
select plan(25);
set local work_ledger.now = '2026-01-01 12:00Z';

create function pg_temp.story() returns text[] language sql as $$
  select array_agg(concat_ws(' ', kind, iteration, name, text, status, error) order by happened_at, rank, ordinal) from v_work_log where work_item_id = item() $$;
select agent('{"tools": ["look"], "model": "claude-opus-4-5"}');
select model_price_save('claude-opus-4-5', 5, 25);
select submit('Another'), submit('Fix it');
select play('[["I look first.", ["finding", "It is slow"], ["look", {"at": "a"}, "seen"]]]');
select is(pg_temp.story(), array['said 1 I look first.', 'call 1 look {"at": "a"} completed', 'entry finding It is slow'], 'what was said, called and entered at one time');
select later('1 minute');
select play('[[["look", {"at": "b"}, "failed: no such file"], ["look", {"at": "c"}, "failed: no such file"]]]');
select is((pg_temp.story())[4:], array['call 2 look {"at": "b"} failed failed: no such file', 'call 2 look {"at": "c"} failed failed: no such file'], 'then what failed, and why');
select is((select (tool_name, says, times, first_at = last_at)::text from v_failed_calls where work_item_id = item()), '(look,"failed: no such file",2,t)', 'v_failed_calls: what failed in the same way, counted');
select later('1 minute');
select from give_up();
select is((pg_temp.story())[6], 'attempt 2 worker attempt 1 failed given up', 'an attempt that failed');
select is((select (attempt, faculty, iteration, outcome, error)::text from v_attempts where work_item_id = item()), '(1,worker,2,failed,"given up")', 'v_attempts: how it ended');
select later('1 minute');
select work_message(item(), 'Look at d, too');
select play('[[["look", {"at": "d"}, "seen"]]]');
select is((select (kind, content, is_waiting, iteration)::text from v_inbox where work_item_id = item()), '(message,"Look at d, too",f,1)', 'v_inbox: what it was told, and when');
select work_message(item(), 'And e');
select is((select array_agg(content) from v_inbox where work_item_id = item() and is_waiting), array['And e'], 'and what it will be told');
select later('1 minute');
select drive();
select work_complete(item(), 'Fixed it', p_lease => lease());
select is((pg_temp.story())[7:9], array['told 1 person Look at d, too', 'call 1 look {"at": "d"} completed', 'told 2 person And e'], 'what it was told, each when it was');
select is((pg_temp.story())[10:], array['end Fixed it completed'], 'how it ended');
select is((select seconds from v_work_log where work_item_id = item() and kind = 'end'), 240::double precision, 'and how long it took');
select is((select count(*)::integer from v_work_log where kind = 'attempt'), 1, 'the last attempt ended as the item did');
select is_empty($$ select * from v_work_log where work_item_id <> item() $$, 'nothing has happened in the other item');

-- How others end.
select submit('Break'), drive();
select from work_fail(item(), 'No such table', p_lease => lease());
select is((select (kind, text, status, error)::text from v_work_log where work_item_id = item()), '(end,"No such table",failed,"No such table")', 'it failed, and why');
select submit('Stop');
select work_cancel(item(), 'No longer needed');
select is((select (kind, text, status)::text from v_work_log where work_item_id = item()), '(end,"No longer needed",cancelled)', 'it was cancelled, and why');

-- Turns and calls.
select take(work_item_id) from v_work_list where description = 'Fix it';
select is((select array_agg((attempt, iteration, call_number, said, jsonb_array_length(calls))::text order by turn_id) from v_turns where work_item_id = item()),
  array['(1,1,1,"I look first.",2)', '(1,2,2,,2)', '(2,1,1,,1)', '(2,2,2,,)'], 'v_turns: where, what was said, how many calls');
select is((select calls -> 1 from v_turns where work_item_id = item() and said is not null), '{"tool": "look", "status": "completed"}', 'each call and how it ended');
select is((select sum(cost) from v_turns where work_item_id = item()), (select cost from v_usage where work_item_id = item()), 'its cost is that of its turns');
select is((select sum(input_tokens)::bigint from v_turns where work_item_id = item()), (select input_tokens from v_usage where work_item_id = item()), 'and so is the input');
select is((select array_agg((iteration, status, input ->> 'at', result, result_chars)::text order by created_at, ordinal) from v_calls where work_item_id = item() and tool_name = 'look'),
  array['(1,completed,a,seen,4)', '(2,failed,b,"failed: no such file",20)', '(2,failed,c,"failed: no such file",20)', '(1,completed,d,seen,4)'], 'v_calls: what was called, and what came of it');
select submit('Read it'), drive(), answer('[["look"]]');
select from tool_call_settle(item(), lease(), (select tool_call_id from v_calls where work_item_id = item()), repeat('x', 200000));
select is((select (result_chars, char_length(whole_result), char_length(result) < 200000, artifact_hash is not null)::text from v_calls where work_item_id = item()), '(200000,200000,t,t)', 'a result that is too long for the model is there in full');

-- What was told to others, and what a program logged.
select ledger_append(item(), 'finding', 'The clock is late', p_lease => lease());
select is((select readers from v_findings_told where work_item_id = item()), null, 'v_findings_told: nobody was told of it');
create temporary table teller as select item() as id;
select take(work_item_id) from v_work_list where description = 'Another';
select drive(), answer('["I see."]');
select is((select (readers -> 0 ->> 'id')::uuid from v_findings_told where work_item_id = (select id from teller)), item(), 'the next agent is');
select is((select (readers -> 0 ->> 'faculty', readers -> 0 -> 'iteration')::text from v_findings_told where work_item_id = (select id from teller)), '(worker,1)', 'and when it was');
create temporary table logged as select (journal_log(j.id, 'thinking', '{"reasoning": "Hm"}')).id as entry, j.id from journal_session_create('here', 'Do it') j;
select is((select (work_item_id = id, entry_type, content ->> 'reasoning', is_deleted)::text from v_journal_logged, logged where entry_id = entry), '(t,thinking,Hm,f)', 'v_journal_logged: what a program logged');
select journal_entry_delete(entry, 'wrong') from logged;
select is((select (content, is_deleted, delete_reason)::text from v_journal_logged, logged where entry_id = entry), '(,t,wrong)', 'and that it was deleted');

select * from finish();
rollback;
