begin;
select plan(9);

select from session_import('{"format": "claude-code", "sessionId": "s", "prompt": "Make the import fast", "exchanges": [
  {"text": "I plan.", "at": "2026-01-01T00:00:00Z", "calls": [{"id": "a", "name": "TodoWrite", "input": {"todos": [{"content": "Find the slow query", "status": "in_progress"}, {"content": "Add an index", "status": "pending"}, {"content": "Ask Ann", "status": "pending"}]}, "result": "ok"}]},
  {"text": "I edit.", "calls": [{"id": "b", "name": "Edit", "input": {"file_path": "./a.sql", "old_string": "x", "new_string": "y"}, "result": "ok"}, {"id": "c", "name": "Bash", "input": {"command": "npm test"}, "result": "3 tests fail", "isError": true},
    {"id": "d", "name": "Read", "input": {"file_path": "b.sql"}, "result": "x"}], "followUp": "Only for March"},
  {"text": "Now again.", "compactSummary": "We found that the query has no index.", "calls": [{"id": "e", "name": "TodoWrite", "input": {"todos": [{"content": "Find the slow query", "status": "completed"}, {"content": "Add an index", "status": "in_progress"}]}, "result": "ok"}]},
  {"text": "The index is there; the tests still fail.", "calls": []}]}');
select from session_import('{"format": "codex", "sessionId": "t", "prompt": "Look", "isPromptByHarness": true, "exchanges": [{"text": "", "calls": [{"id": "a", "name": "exec_command", "input": {"cmd": "ls"}, "result": "x"}]}]}');
create temporary table p as select resumption_context(id, 2000) as p from work_items where external_id = 'import:claude-code:s';

select is((select p ->> 'originalPrompt' from p), 'Make the import fast', 'what was asked');
select matches((select p ->> 'currentState' from p), 'iteration 4; last step: Find the slow query; asked last: Only for March', 'where it stands');
select is((select p ->> 'workSummary' from p), E'- Find the slow query\n- Its own summary: We found that the query has no index.\n- Was asked: Make the import fast\n- Was asked: Only for March\n- Said last: The index is there; the tests still fail.', 'what was done and concluded, in its own words');
select is((select p -> 'filesModified' from p), '["a.sql"]', 'what was changed');
select is((select p -> 'pendingActions' from p), '["Add an index"]', 'what its todo list still wants');
select is((select p -> 'errorHistory' from p), '["Bash npm test: 3 tests fail"]', 'what failed');
select is((select p -> 'suggestedNextSteps' from p), '["Go on with: Add an index"]', 'what comes next');
select is((select resumption_context(id, 500) -> 'suggestedNextSteps' from work_items where external_id = 'import:codex:t'), '["Look how far it came, and go on."]', 'never to begin what has begun');
select submit('Fix it', 'fix');
select is((select resumption_context(id) -> 'suggestedNextSteps' from item), '["Begin."]', 'but what has not');

select * from finish();
rollback;
