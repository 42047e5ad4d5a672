-- The journal of a session that another program drives takes each of the sixteen types, each with what it needs.
begin;
select plan(16);

select take(journal_session_create('chat-1', 'Build the thing'));

select lives_ok(format($$ select journal_log('%s', '%s', '%s') $$, item(), t.entry_type, t.content), 'an entry of type ' || t.entry_type || ' is taken')
  from (values
    ('session_start', '{"originalPrompt": "a", "selectedModel": "m"}'), ('thinking', '{"reasoning": "a", "planSteps": ["one", "two"]}'),
    ('tool_request', '{"toolName": "a", "toolInput": {}, "riskLevel": "safe"}'), ('tool_approved', '{"toolName": "a"}'), ('tool_rejected', '{"toolName": "a", "reason": "no"}'),
    ('tool_result', '{"toolName": "a", "success": true, "output": "", "truncated": false}'), ('code_generated', '{"language": "a", "code": "b", "purpose": "c"}'),
    ('file_read', '{"filePath": "a", "operation": "read"}'), ('file_written', '{"filePath": "a", "operation": "modify", "linesAffected": 3}'),
    ('decision', '{"question": "a", "chosenOption": "b", "reasoning": "c"}'), ('error', '{"errorType": "a", "message": "b", "recoverable": true}'), ('recovery', '{"message": "a"}'),
    ('checkpoint', '{"checkpointId": "a", "summary": "b", "completedTasks": [], "pendingTasks": []}'), ('user_feedback', '{"message": "a"}'),
    ('summary', '{"periodCovered": {"start": 1, "end": 2}, "accomplishments": [], "currentStatus": "c", "nextSteps": []}'), ('session_end', '{"status": "completed"}')) t(entry_type, content);

select * from finish();
rollback;
