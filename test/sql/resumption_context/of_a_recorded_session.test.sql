-- The packet of a session that another agent recorded says where it stands in that agent's own words.
begin;
select plan(11);

select from session_import('{"format": "claude-code", "sessionId": "s", "prompt": "Make the import fast", "exchanges": [
  {"text": "I plan.", "at": "2026-01-01T00:00:00Z", "calls": [{"id": "a", "name": "TodoWrite", "input": {"todos": [{"content": "Find the slow query", "status": "in_progress"}, {"content": "Add an index", "status": "pending"}, {"content": "Ask Ann", "status": "pending"}]}, "result": "ok"}]},
  {"text": "I edit.", "calls": [{"id": "b", "name": "Edit", "input": {"file_path": "./a.sql", "old_string": "x", "new_string": "y"}, "result": "ok"}, {"id": "c", "name": "Bash", "input": {"command": "npm test"}, "result": "3 tests fail", "isError": true},
    {"id": "d", "name": "Read", "input": {"file_path": "b.sql"}, "result": "x"}], "followUp": "Only for March"},
  {"text": "Now again.", "compactSummary": "We found that the query has no index.", "calls": [{"id": "e", "name": "TodoWrite", "input": {"todos": [{"content": "Find the slow query", "status": "completed"}, {"content": "Add an index", "status": "in_progress"}]}, "result": "ok"}]},
  {"text": "The index is there; the tests still fail.", "calls": []}]}');
select from session_import('{"format": "codex", "sessionId": "t", "prompt": "Look", "isPromptByHarness": true, "exchanges": [{"text": "", "calls": [{"id": "a", "name": "exec_command", "input": {"cmd": "ls"}, "result": "x"}]}]}');
create temporary table p as select resumption_context(id, 2000) as p from work_items where external_id = 'import:claude-code:s';

select is((select p ->> 'originalPrompt' from p), 'Make the import fast', 'the packet has what was asked');
select matches((select p ->> 'currentState' from p), 'iteration 4; last step: Find the slow query; asked last: Only for March', 'the packet says where the session stands');
select is((select p ->> 'workSummary' from p), E'- Find the slow query\n- Its own summary: We found that the query has no index.\n- Was asked: Make the import fast\n- Was asked: Only for March\n- Said last: The index is there; the tests still fail.', 'the packet has what was done and concluded, in its own words');
select is((select p -> 'filesModified' from p), '["a.sql"]', 'the packet has the files that were changed');
select is((select p -> 'pendingActions' from p), '["Add an index"]', 'the packet has what the todo list still wants');
select is((select p -> 'errorHistory' from p), '["Bash npm test: 3 tests fail"]', 'the packet has what failed');
select is((select p -> 'suggestedNextSteps' from p), '["Continue with: Add an index"]', 'the packet says what comes next');
select is((select resumption_context(id, 500) -> 'suggestedNextSteps' from work_items where external_id = 'import:codex:t'), '["Check how far it got, and continue."]', 'a session that has begun is never to begin');
select from session_import('{"format": "codex", "sessionId": "u", "prompt": "Look", "exchanges": [
  {"text": "I have decided to keep the table. Decisions are hard.\n\n**Decision:** one index, on (month)\n- We chose btree. It was decided by others.", "calls": [{"id": "a", "name": "exec_command", "input": {"cmd": "apply_patch <<''EOF''\n*** Begin Patch\n*** Update File: src/a.sql\n@@\n-x\n+y\n*** End Patch\nEOF"}, "result": "ok"}]},
  {"text": "All done: the import is fast.", "calls": []}]}');
create temporary table u as select resumption_context(id, 2000) as p from work_items where external_id = 'import:codex:u';
select is((select p -> 'keyDecisions' from u), '["We chose btree", "Decision: one index, on (month)", "I have decided to keep the table"]', 'its decisions are those that its words name');
select is((select jsonb_build_array(p -> 'suggestedNextSteps', p -> 'filesModified') from u), '[["Continue from its last answer: All done: the import is fast."], ["src/a.sql"]]',
  'without a todo list its last answer says where it stands; files patched through a shell are files');
select submit('Fix it');
select is((select resumption_context(id) -> 'suggestedNextSteps' from item), '["Begin."]', 'work that has not begun is to begin');

select * from finish();
rollback;
