-- What agents recorded is in the journal with all that they said of it, and nothing of it changes the entry's type.
begin;
select plan(12);

select tool('write_file', 'idempotent');
select from ability_register('remove', 'Removes.', '{"type": "object"}', 'idempotent', 'safe', p_touches => '[{"key": "path", "action": "delete"}]');
select agent('{"tools": ["write_file", "remove"], "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Find why');
select from ledger_append(item(), 'error', 'disk full', '{"recoverable": false, "errorType": "io"}');
select from ledger_append(item(), 'decision', 'Use B', '{"reasoning": "cheaper", "alternatives": ["A"]}');
select from ledger_append(item(), 'finding', 'It is the index', '{"table": "orders"}');
select from ledger_append(item(), 'note', 'Ask Anna');
select from ledger_append(item(), 'plan', '1. Look');
select from ledger_append(item(), 'step', 'Freed the disk');
select from ledger_append(item(), 'step', 'And went on');

select drive(), iteration_fail(item(), lease(), '{"class": "overloaded", "message": "too busy", "retry_after_seconds": 0}');
update work_items set run_at = _now() where id = item();
update models set cooldown_ends_at = null;
select play('[["So", ["write_file", {"path": "a.sql", "content": "select 1;\nselect 2;"}, "Done"], ["remove", {"path": "b.ts"}, "Done"], ["write_file", {"path": "notes.md", "content": "x"}, "Done"]]]');
select from checkpoint_create(item());
select from checkpoint_create(item(), 'automatic');
create temporary table j as select * from journal_read(item());

select is((select content from j where entry_type = 'error'), '{"type": "error", "ledgerType": "error", "entry": "disk full", "errorType": "io", "message": "disk full", "recoverable": false}', 'an error is as recoverable as it was said to be');
select is((select content from j where entry_type = 'decision'), '{"type": "decision", "ledgerType": "decision", "entry": "Use B", "question": "", "chosenOption": "Use B", "reasoning": "cheaper", "alternatives": ["A"]}', 'a decision has its reasons');
select results_eq($$ select content from j where entry_type = 'thinking' and content ? 'ledgerType' order by sequence_num $$,
  $$ values ('{"type": "thinking", "ledgerType": "finding", "reasoning": "It is the index", "entry": "It is the index", "table": "orders"}'::jsonb), ('{"type": "thinking", "ledgerType": "note", "reasoning": "Ask Anna"}'),
    ('{"type": "thinking", "ledgerType": "plan", "reasoning": "1. Look", "planSteps": ["Look"]}') $$, 'findings, notes and plans say which they are');
select results_eq($$ select content ->> 'message', content ->> 'fromError' from j where entry_type = 'recovery' order by sequence_num $$,
  $$ values ('Freed the disk', 'disk full'), ('the model answered request 2', 'overloaded: too busy') $$, 'recovery from an error: by a step, by another request');
select results_eq($$ select content from j where entry_type = 'code_generated' $$,
  $$ values ('{"type": "code_generated", "language": "sql", "code": "select 1;\nselect 2;", "purpose": "write_file", "filePath": "a.sql"}'::jsonb) $$, 'code that was written, and where');
select results_eq($$ select content ->> 'filePath', content ->> 'operation', (content ->> 'linesAffected')::integer from j where entry_type = 'file_written' order by 1 $$,
  $$ values ('a.sql', 'create', 2), ('b.ts', 'delete', null), ('notes.md', 'create', 1) $$, 'a file that was deleted is in the journal');
select is((select array_agg(entry_type order by sequence_num) from j where entry_type in ('thinking', 'tool_request') and not content ? 'ledgerType'), array['thinking', 'tool_request', 'tool_request', 'tool_request'], 'a thought stands before what it led to');
select is((select bool_and(session_id = item() and id like entry_type || '/%') from j), true, 'each entry knows itself and its session');
select results_eq($$ select content -> 'manual', content -> 'completedTasks' from j where entry_type = 'checkpoint' and content ->> 'summary' ~ '^2 ' order by sequence_num desc limit 2 $$,
  $$ values ('false'::jsonb, '["Freed the disk", "And went on"]'::jsonb), ('true', '["Freed the disk", "And went on"]') $$, 'a checkpoint says whether somebody wanted it');
select is(journal_export(item()) #> '{entries,0,sessionId}', to_jsonb(item()), 'an exported entry knows its session');

-- A later attempt.
select drive(), work_fail(item(), 'no luck', p_lease => lease());
select is((select content ->> 'summary' from journal_read(item()) where entry_type = 'session_end'), 'no luck', 'a failed attempt ends the session with its reason');
select is((select count(*) from journal_read(item()) where content ->> 'type' is distinct from entry_type), 0::bigint, 'an entry''s data never changes its type');

select * from finish();
rollback;
