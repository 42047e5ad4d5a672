-- The journal of work is a view of what is stored: all sixteen types, numbered by time, each with its payload.
begin;
select plan(11);

select tool('write_file', 'idempotent', 'dangerous');
select agent('{"tools": ["look", "read_file", "write_file"], "ledger_nudge_interval": 0, "elide_budget": 0, "require_approval": "dangerous"}', '{"awareness": {"enabled": false}}');
select submit('Find why the import is slow');
select play('[["I look first.", ["plan", "1. look\n2. [x] read\n3. fix"], ["look", "saw it"], ["look", "failed to see"], ["read_file", {"path": "./a.ts"}]]]');
select from work_message(item(), 'Only the tests, please');
select play('[[["decision", "Add an index"], ["error", "No such table"], ["write_file", {"path": "a.ts", "content": "x\ny"}], ["write_file", {"path": "b.ts", "content": "x"}]]]');
select from tool_call_approve(call('t2_3')), tool_call_reject(call('t2_4'), 'Not that file');
select drive(), tool_call_settle(item(), lease(), call('t2_3'), 'Wrote'), iteration_finish(item(), lease());
select play('[[["step", "Looked and fixed"]]]');
select from journal_log(item(), 'code_generated', '{"language": "sql", "code": "create index", "purpose": "speed"}');
select from journal_log(item(), 'recovery', '{"message": "Connected again"}', 'high');
select claim(), work_complete(item(), 'It is fast', p_lease => lease());
create temporary table j as select * from journal_read(item());

select set_eq('select distinct entry_type from j', array['session_start', 'thinking', 'tool_request', 'tool_approved', 'tool_rejected', 'tool_result', 'code_generated', 'file_read', 'file_written',
  'decision', 'error', 'recovery', 'checkpoint', 'user_feedback', 'summary', 'session_end'], 'the journal has all sixteen types');
select is((select array_agg(created_at order by sequence_num) from j), (select array_agg(created_at order by created_at) from j), 'entries are numbered by time');
select is((select count(distinct id) from j), (select count(*) from j), 'each entry is there once');
select is((select bool_and(content ->> 'type' = entry_type) from j), true, 'each entry has its payload');
select is((select entry_type from j order by sequence_num limit 1), 'session_start', 'the journal begins with session_start');
select is((select content from j order by sequence_num limit 1), '{"type": "session_start", "originalPrompt": "Find why the import is slow", "selectedModel": "claude-sonnet-5-5", "selectedPersona": "worker"}', 'session_start has what was asked');
select is((select entry_type from j order by sequence_num desc limit 1), 'session_end', 'the journal ends with session_end');
select is((select content ->> 'summary' from j where entry_type = 'session_end'), 'It is fast', 'session_end has what came of it');
select is((select content -> 'planSteps' from j where content ->> 'ledgerType' = 'plan'), '["look", "fix"]', 'a plan has its open parts');
select results_eq($$ select content ->> 'filePath', content ->> 'operation', (content ->> 'linesAffected')::integer from j where entry_type in ('file_read', 'file_written') order by sequence_num $$,
  $$ values ('a.ts', 'read', null), ('a.ts', 'create', 2) $$, 'files that were read and written are in the journal');
select is((select content ->> 'reason' from j where entry_type = 'tool_rejected'), 'Not that file', 'tool_rejected has the reason');

select * from finish();
rollback;
