begin;
select plan(31);

create temporary table s as select * from journal_session_create('chat-1', 'Build the thing');
select results_eq('select state, work_type, params from s', $$ values ('created', 'journal', '{"conversationId": "chat-1"}'::jsonb) $$, 'a session that another program drives');
select is((journal_session_active('chat-1')).id, (select id from s), 'is found by its conversation');
select is((journal_session_active('chat-2')).id, null, 'another has none');
select is((journal_session_open('chat-1', 'Something else')).id, (select id from s), 'opened, it is the one that is there');
select is((journal_session_open('chat-2', 'Another')).description, 'Another', 'or a new one');
select throws_ok($$ select journal_session_create(' ', 'x') $$, 'WL002', null, 'a conversation has a name');
select lives_ok(format($$ select journal_log('%s', '%s', '%s') $$, (select id from s), t.entry_type, t.content), 'takes ' || t.entry_type)
  from (values
    ('session_start', '{"originalPrompt": "a", "selectedModel": "m"}'), ('thinking', '{"reasoning": "a", "planSteps": ["one", "two"]}'),
    ('tool_request', '{"toolName": "a", "toolInput": {}, "riskLevel": "safe"}'), ('tool_approved', '{"toolName": "a"}'), ('tool_rejected', '{"toolName": "a", "reason": "no"}'),
    ('tool_result', '{"toolName": "a", "success": true, "output": "", "truncated": false}'), ('code_generated', '{"language": "a", "code": "b", "purpose": "c"}'),
    ('file_read', '{"filePath": "a", "operation": "read"}'), ('file_written', '{"filePath": "a", "operation": "modify", "linesAffected": 3}'),
    ('decision', '{"question": "a", "chosenOption": "b", "reasoning": "c"}'), ('error', '{"errorType": "a", "message": "b", "recoverable": true}'), ('recovery', '{"message": "a"}'),
    ('checkpoint', '{"checkpointId": "a", "summary": "b", "completedTasks": [], "pendingTasks": []}'), ('user_feedback', '{"message": "a"}'),
    ('summary', '{"periodCovered": {"start": 1, "end": 2}, "accomplishments": [], "currentStatus": "c", "nextSteps": []}'), ('session_end', '{"status": "completed"}')) t(entry_type, content);
select throws_ok($$ select journal_log((select id from s), 'decision', '{"question": "a"}') $$, 'WL002', 'entries of type decision need "reasoning"', 'what a type needs');
select throws_ok($$ select journal_log((select id from s), 'error', '{"errorType": "a", "message": "b", "recoverable": "yes"}') $$, 'WL002', null, 'of what kind it is');
select throws_ok($$ select journal_log((select id from s), 'finding', '{}') $$, 'WL002', null, 'a type that is known');
select throws_ok($$ select journal_log((select id from s), 'thinking', '{"reasoning": "a"}', 'huge') $$, 'WL002', null, 'an importance that is known');

create temporary table logged as select * from journal_log((select id from s), 'thinking', jsonb_build_object('reasoning', repeat('x', 100000)));
select is((select char_length(content ->> 'reasoning') < 17000 from logged), true, 'long text keeps its ends');
select from journal_entry_delete((select id from logged), 'a secret');
select is((select content from journal_entries where id = (select id from logged)), null, 'deleted: its content is gone');
select is((select count(*) from work_journal where source_id = (select id from logged)), 0::bigint, 'and it is not in the journal');
select throws_ok($$ update journal_entries set importance = 'low' where entry_type = 'error' $$, 'WL007', null, 'but nothing is changed');
select throws_ok($$ delete from journal_entries $$, 'WL007', null, 'or vanishes');

select * from finish();
rollback;
