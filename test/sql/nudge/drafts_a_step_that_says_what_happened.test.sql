-- The step that the engine drafts says which files changed, what failed and how, and what the agent said last.
begin;
select plan(6);

select agent('{"tools": ["read_file", "edit_file", "write_file", "web_fetch", "bash"], "elide_budget": 0, "keep_budget": 2000, "ledger_nudge_interval": 2, "keep_auto": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');

-- An iteration: what the agent says, a command and its result, and an edit of one of two files.
create function pg_temp.say(p_text text, p_command text, p_result text) returns void language sql as $$
  select play(jsonb_build_array(jsonb_build_array(p_text, jsonb_build_array('bash', jsonb_build_object('command', p_command), p_result),
    jsonb_build_array('edit_file', jsonb_build_object('path', format('src/file%s.ts', (count(*) + 1) % 2)), 'Edited.')))) from request $$;
select pg_temp.say(format('I try number %s.', n), 'npm test', E'failed\n3 tests fail: parse drops last line\n[exit code 1]') from generate_series(1, 5) n;
select pg_temp.say('I found that parse() drops the last line; I change it.', 'npm test', 'ok');
select pg_temp.say('', 'true', 'ok');

select is((select content from work_ledger where is_auto), 'Not recorded by the agent; drafted by the engine from iterations 1 to 6. '
  || 'Changed: src/file1.ts, src/file0.ts. Failed: npm test (exit 1) ×5, passed after, last: "3 tests fail: parse drops last line". '
  || 'Last said: "I found that parse() drops the last line; I change it." Calls: bash ×6, edit_file ×6.', 'the draft has the files that changed, what failed with its last line, and the agent''s last words');
select is((select count(*) from request, regexp_matches(body::text, 'changed: src/file', 'gi') where n = 7), 1::bigint, 'the stub of the block does not say again which files changed');
select matches(stub(7, 1), '^\[completed step 1: Not recorded by the agent; ', 'the stub says that the agent did not record it');
select is((select max(n) from request where body::text like '%parse drops last line%'), 7, 'the stub stands for what left');
select is(rebuilt(), 7::bigint, 'every request is rebuilt to the byte');

select submit('Call what is not there');
select play('[[{"type": "tool_use", "id": "a", "name": "two\nlines", "input": {}}]]') from generate_series(1, 6);
select play('[["So be it."]]');
select matches((select content from work_ledger where is_auto and work_item_id = item()), 'Calls: two lines ×\d+\.$', 'a name that the model made up stands on one line');

select * from finish();
rollback;
