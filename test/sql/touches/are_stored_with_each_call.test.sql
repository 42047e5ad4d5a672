-- Each call is stored with what it touches, wherever it comes from: a response, a hook, code, a task of Agent OS, a recorded session.
begin;
select plan(8);

select tool('edit_file', 'unsafe');
select tool('bash', 'unsafe');
select from faculty_save('{"name": "worker", "accepts": ["fix"], "hooks": {"before_tool": "guard"}, "engage": {"tools": ["edit_file", "bash"], "code_execution": true}}');
select tool('execute_code', 'unsafe');
select submit('Fix it', 'fix');
select claim();
select from lateral (select iteration_begin(item(), lease()) ->> 'turn_id' as turn) b,
  lateral turn_record(item(), lease(), turn::uuid, '{"stop_reason": "tool_use", "content": [
    {"type": "tool_use", "id": "e", "name": "edit_file", "input": {"path": "./a.ts"}},
    {"type": "tool_use", "id": "p", "name": "bash", "input": {"command": "apply_patch <<X\n*** Begin Patch\n*** Add File: b.ts\n*** Delete File: c.ts\n*** End Patch\nX"}},
    {"type": "tool_use", "id": "x", "name": "execute_code", "input": {"code": "edit_file()"}}]}');
create function pg_temp.of(p_call text) returns text[] language sql as $$
  select array_agg(format('%s %s %s', x.ordinal, x.action, x.target) order by x.ordinal) from touches x join tool_calls k on k.id = x.tool_call_id where k.provider_id = p_call and x.work_item_id = k.work_item_id
$$;

select is(pg_temp.of('e'), array['0 modify a.ts'], 'a call of a response has what it touches');
select is(pg_temp.of('p'), array['0 create b.ts', '1 delete c.ts'], 'a call with a patch has each of its files');
select from tool_hook_record(item(), lease(), (select id from tool_calls where provider_id = 'e'), 'before_tool', '{"exit_code": 0, "stdout": "{\"input\": {\"path\": \"safe/a.ts\"}}"}');
select is(pg_temp.of('e'), array['0 modify safe/a.ts'], 'a call that a hook rewrote has what the hook made of it');
select from tool_call_nested(item(), lease(), (select id from tool_calls where provider_id = 'x'), 0, 'edit_file', '{"path": "d.ts"}');
select is(pg_temp.of('x.1'), array['0 modify d.ts'], 'a call made by code has what it touches');

create function pg_temp.saved(p_path text, p_status text) returns void language sql as $$
  select ability_invoke('ldg:call:save', jsonb_build_object('call', jsonb_build_object('id', 'c', 'taskId', 't', 'abilityName', 'fs:write_file', 'parameters', format('{"path": "%s"}', p_path),
    'status', p_status, 'details', '1', 'createdAt', 1700000000200, 'updatedAt', 1700000000200, 'startMessageId', 'm')));
$$;
select from ability_invoke('ldg:task:save', '{"task": {"id": "t", "systemPrompt": "P", "createdAt": 1700000000123, "updatedAt": 1700000000123}}');
select from ability_invoke('ldg:msg:save', '{"message": {"id": "m", "taskId": "t", "role": "user", "content": "x", "timestamp": 1700000001000}}');
select from pg_temp.saved('w.ts', 'pending');
select from pg_temp.saved('v.ts', 'completed');
select is(pg_temp.of('c'), array['0 create v.ts'], 'a call of a task has what it touches as it was changed last');

select from session_import('{"format": "swe-agent", "sessionId": "s", "exchanges": [{"text": "", "calls": [{"name": "edit", "input": {"arguments": "1:2"}, "result": "ok", "file": "/t/a.py"}, {"name": "open", "input": {"arguments": "b.py 3"}, "result": "ok", "file": "b.py"}, {"name": "bash", "input": {}, "result": "ok"}]}]}');
select is((select array_agg(x.action || ' ' || x.target order by k.ordinal) from touches x join tool_calls k on k.id = x.tool_call_id join work_items w on w.id = k.work_item_id where w.work_type = 'import'), array['modify /t/a.py', 'read b.py'], 'a recorded call has what it touches');
select results_eq($$ select f.kind, f.file_path, f.action from message_files f join tool_calls k on k.id = f.tool_call_id where k.tool_name in ('edit', 'open') order by 2 $$, $$ values ('written', '/t/a.py', 'modify'), ('read', 'b.py', 'read') $$, 'what a recorded call touches is among the files of its message');
select results_eq($$ select content ->> 'filePath', content ->> 'operation', entry_type from work_journal j join work_items w on w.id = j.work_item_id where w.work_type = 'import' and entry_type like 'file%' order by 1 $$,
  $$ values ('/t/a.py', 'modify', 'file_written'), ('b.py', 'read', 'file_read') $$, 'what a recorded call touches is in the journal');

select * from finish();
rollback;
