-- The tests of the Agent OS document, and its six query patterns by their plans.
begin;
select plan(36);

create function pg_temp.task(p_id text, p_more jsonb default '{}') returns jsonb language sql as $$
  select ability_invoke('ldg:task:save', jsonb_build_object('task', jsonb_build_object('id', p_id, 'systemPrompt', 'Test prompt', 'createdAt', 1700000000123, 'updatedAt', 1700000000123) || p_more)) $$;
create function pg_temp.msg(p_id text, p_task text, p_role text, p_content text, p_at bigint) returns jsonb language sql as $$
  select ability_invoke('ldg:msg:save', jsonb_build_object('message', jsonb_build_object('id', p_id, 'taskId', p_task, 'role', p_role, 'content', p_content, 'timestamp', p_at))) $$;
create function pg_temp.call(p_id text, p_task text, p_more jsonb default '{}') returns jsonb language sql as $$
  select ability_invoke('ldg:call:save', jsonb_build_object('call', jsonb_build_object('id', p_id, 'taskId', p_task, 'abilityName', 'mem:retrieve', 'parameters', '{"query": "x"}',
    'status', 'pending', 'details', '{}', 'createdAt', 1700000000200, 'updatedAt', 1700000000200, 'startMessageId', 'm1') || p_more)) $$;

-- Its unit tests
select is(pg_temp.task('task-test'), '{"success": true}', 'ldg:task:save creates new task');
select is(ability_invoke('ldg:task:get', '{"taskId": "task-test"}'),
  '{"task": {"id": "task-test", "systemPrompt": "Test prompt", "createdAt": 1700000000123, "updatedAt": 1700000000123}}', 'which is persisted');
select is(ability_invoke('ldg:task:get', '{"taskId": "nobody"}'), '{"task": null}', 'one that is not there is null');
select is(pg_temp.msg('msg-test', 'task-test', 'user', 'Test message', 1700000001000), '{"success": true, "messageId": "msg-test"}', 'ldg:msg:save');
select throws_ok($$ select pg_temp.msg('msg-test', 'task-test', 'user', 'Modified content', 1700000001000) $$, 'WL007', null, 'ldg:msg:save is immutable');

-- Its integration test: full task lifecycle persistence
select from pg_temp.task('task-lifecycle', '{"parentTaskId": "task-test"}');
select from pg_temp.msg('m2', 'task-lifecycle', 'assistant', 'Hi there', 1700000000300);
select from pg_temp.msg('m1', 'task-lifecycle', 'user', 'Hello', 1700000000100);
select from pg_temp.call('call-test', 'task-lifecycle');
select is(ability_invoke('ldg:call:list', '{"taskId": "task-lifecycle"}'), '{"calls": [{"id": "call-test", "taskId": "task-lifecycle", "abilityName": "mem:retrieve", "parameters": "{\"query\": \"x\"}", "status": "pending",
  "details": "{}", "createdAt": 1700000000200, "updatedAt": 1700000000200, "startMessageId": "m1"}]}', 'a call as it was saved');
select from pg_temp.call('call-test', 'task-lifecycle', '{"status": "in_progress", "details": "{\"step\": 2}", "updatedAt": 1700000000250, "createdAt": 5}');
select results_eq($$ select c ->> 'status', c ->> 'details', c ->> 'createdAt', c ->> 'updatedAt' from jsonb_array_elements(ability_invoke('ldg:call:list', '{"taskId": "task-lifecycle"}') -> 'calls') c $$,
  $$ values ('in_progress', '{"step": 2}', '1700000000200', '1700000000250') $$, 'it changes, but not when it was made');
select from pg_temp.call('call-test', 'task-lifecycle', '{"status": "completed", "details": "\"found\"", "updatedAt": 1700000000260, "endMessageId": "m2"}');
select is(ability_invoke('ldg:call:list', '{"taskId": "task-lifecycle"}') #>> '{calls,0,status}', 'completed', 'it ends');
select is(ability_invoke('ldg:call:list', '{"taskId": "task-lifecycle"}') #>> '{calls,0,endMessageId}', 'm2', 'with the message that says so');
select is(pg_temp.call('call-test', 'task-lifecycle', '{"status": "completed", "details": "\"found\"", "updatedAt": 1700000000999}'), '{"success": true}', 'saying so again is harmless');
select throws_ok($$ select pg_temp.call('call-test', 'task-lifecycle', '{"status": "failed", "details": "\"no\""}') $$, 'WL007', null, 'but it ends once');
select from pg_temp.task('task-lifecycle', '{"parentTaskId": "task-test", "completionStatus": "success", "updatedAt": 1700000005000, "createdAt": 7}');
select is(ability_invoke('ldg:task:get', '{"taskId": "task-lifecycle"}'),
  '{"task": {"id": "task-lifecycle", "parentTaskId": "task-test", "completionStatus": "success", "systemPrompt": "Test prompt", "createdAt": 1700000000123, "updatedAt": 1700000005000}}', 'the task is over, made when it was made');
select is(ability_invoke('ldg:msg:list', '{"taskId": "task-lifecycle"}') #> '{messages,0}',
  '{"id": "m1", "taskId": "task-lifecycle", "role": "user", "content": "Hello", "timestamp": 1700000000100}', 'messages come by time');
select is(ability_invoke('ldg:msg:list', '{"taskId": "task-lifecycle", "limit": 1, "offset": 1}') #>> '{messages,0,id}', 'm2', 'a page of them');
select is(ability_invoke('ldg:msg:list', '{"taskId": "task-lifecycle", "limit": 1, "offset": 1}') -> 'total', '2', 'and how many there are');
select throws_ok($$ select pg_temp.task('task-lifecycle', '{"parentTaskId": "task-test"}') $$, 'WL003', null, 'a final state never changes');

-- Queries
select from generate_series(1, 250) n, lateral pg_temp.task('t' || n, jsonb_build_object('createdAt', 1600000000000 + n, 'updatedAt', 1600000000000 + n, 'completionStatus', case n % 3 when 0 then to_jsonb('error'::text) when 1 then to_jsonb('handed over'::text) else 'null' end));
select is(jsonb_array_length(ability_invoke('ldg:task:query') -> 'tasks'), 100, 'a hundred unless more are asked for');
select is(ability_invoke('ldg:task:query') -> 'total', '252', 'of all');
select is(ability_invoke('ldg:task:query', '{"completionStatus": "null", "limit": 1}') -> 'total', '84', 'the active ones');
select is(ability_invoke('ldg:task:query', '{"completionStatus": "error", "limit": 1}') -> 'total', '83', 'those with a status');
select is(ability_invoke('ldg:task:query', '{"completionStatus": "handed over", "limit": 1}') #>> '{tasks,0,completionStatus}', 'handed over', 'any status');
select is(ability_invoke('ldg:task:query', '{"parentTaskId": "task-test"}') #>> '{tasks,0,id}', 'task-lifecycle', 'subtasks');
select is(ability_invoke('ldg:task:query', '{"parentTaskId": "nobody"}') -> 'total', '0', 'of nobody, none');
select is(ability_invoke('ldg:task:query', '{"fromTime": 1600000000010, "toTime": 1600000000019}') -> 'total', '10', 'by time, both ends counted');
select is(ability_invoke('ldg:task:query', '{"limit": 1, "offset": 2}') #>> '{tasks,0,id}', 't250', 'newest first, from an offset');
select is(ability_invoke('ldg:task:query', '{"limit": 1, "before": "t250"}') #>> '{tasks,0,id}', 't249', 'or from a task, whatever was added since');

-- Mistakes
select throws_ok($$ select pg_temp.task('x', '{"createdAt": "today"}') $$, 'WL002', null, 'a time is a number');
select throws_ok($$ select pg_temp.task('x', '{"parentTaskId": "nobody"}') $$, 'WL001', null, 'a parent is there');
select throws_ok($$ select pg_temp.msg('x', 'nobody', 'user', 'a', 1) $$, 'WL001', null, 'a task is there');
select throws_ok($$ select pg_temp.msg('x', 'task-test', 'tool', 'a', 1) $$, 'WL002', null, 'a role is known');
select throws_ok($$ select pg_temp.call('x', 'task-test', '{"status": "done"}') $$, 'WL002', null, 'a status is known');
select throws_ok($$ select pg_temp.call('x', 'task-test', '{"parameters": "{"}') $$, 'WL002', null, 'parameters are JSON');
select throws_ok($$ select pg_temp.call('x', 'task-test', '{"startMessageId": "none"}') $$, 'WL001', null, 'a message is there');
select throws_ok($$ select ability_invoke('ldg:batch:save', '{"entities": [{"task": {"id": "b", "systemPrompt": "", "createdAt": 1, "updatedAt": 1}}, {"message": {"id": "msg-test", "taskId": "b", "role": "user", "content": "x", "timestamp": 1}}]}') $$, 'WL007', null, 'a batch');
select is(ability_invoke('ldg:task:get', '{"taskId": "b"}') -> 'task', 'null', 'is saved whole or not at all');
create temporary table native as select * from work_submit('analyze', 'Native work');
select throws_ok($$ select pg_temp.task((select id::text from native)) $$, 'WL002', null, 'work that Work Ledger drives is not saved over');

select * from finish();
rollback;
