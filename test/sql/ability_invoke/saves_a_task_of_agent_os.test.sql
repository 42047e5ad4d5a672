-- The integration test of the Agent OS document: the whole life of a task, its calls and its messages is saved.
begin;
select plan(11);

select from os_task('task-test');
select from os_task('task-lifecycle', '{"parentTaskId": "task-test"}');
select from os_message('m2', 'task-lifecycle', 'assistant', 'Hi there', 1700000000300);
select from os_message('m1', 'task-lifecycle', 'user', 'Hello', 1700000000100);
select from os_call('call-test', 'task-lifecycle');
select is(ability_invoke('ldg:call:list', '{"taskId": "task-lifecycle"}'), '{"calls": [{"id": "call-test", "taskId": "task-lifecycle", "abilityName": "mem:retrieve", "parameters": "{\"query\": \"x\"}", "status": "pending",
  "details": "{}", "createdAt": 1700000000200, "updatedAt": 1700000000200, "startMessageId": "m1"}]}', 'a call is listed as it was saved');
select from os_call('call-test', 'task-lifecycle', '{"status": "in_progress", "details": "{\"step\": 2}", "updatedAt": 1700000000250, "createdAt": 5}');
select results_eq($$ select c ->> 'status', c ->> 'details', c ->> 'createdAt', c ->> 'updatedAt' from jsonb_array_elements(ability_invoke('ldg:call:list', '{"taskId": "task-lifecycle"}') -> 'calls') c $$,
  $$ values ('in_progress', '{"step": 2}', '1700000000200', '1700000000250') $$, 'a call changes, but not when it was made');
select from os_call('call-test', 'task-lifecycle', '{"status": "completed", "details": "\"found\"", "updatedAt": 1700000000260, "endMessageId": "m2"}');
select is(ability_invoke('ldg:call:list', '{"taskId": "task-lifecycle"}') #>> '{calls,0,status}', 'completed', 'a call ends');
select is(ability_invoke('ldg:call:list', '{"taskId": "task-lifecycle"}') #>> '{calls,0,endMessageId}', 'm2', 'a call that ended has the message that says so');
select is(os_call('call-test', 'task-lifecycle', '{"status": "completed", "details": "\"found\"", "updatedAt": 1700000000999}'), '{"success": true}', 'saving the same end of a call again is harmless');
select throws_ok($$ select os_call('call-test', 'task-lifecycle', '{"status": "failed", "details": "\"no\""}') $$, 'WL007', null, 'a call ends once');
select from os_task('task-lifecycle', '{"parentTaskId": "task-test", "completionStatus": "success", "updatedAt": 1700000005000, "createdAt": 7}');
select is(ability_invoke('ldg:task:get', '{"taskId": "task-lifecycle"}'),
  '{"task": {"id": "task-lifecycle", "parentTaskId": "task-test", "completionStatus": "success", "systemPrompt": "Test prompt", "createdAt": 1700000000123, "updatedAt": 1700000005000}}', 'a task that is over was made when it was made');
select is(ability_invoke('ldg:msg:list', '{"taskId": "task-lifecycle"}') #> '{messages,0}',
  '{"id": "m1", "taskId": "task-lifecycle", "role": "user", "content": "Hello", "timestamp": 1700000000100}', 'messages are listed by time');
select is(ability_invoke('ldg:msg:list', '{"taskId": "task-lifecycle", "limit": 1, "offset": 1}') #>> '{messages,0,id}', 'm2', 'messages are listed from an offset');
select is(ability_invoke('ldg:msg:list', '{"taskId": "task-lifecycle", "limit": 1, "offset": 1}') -> 'total', '2', 'a page of messages says how many there are');
select throws_ok($$ select os_task('task-lifecycle', '{"parentTaskId": "task-test"}') $$, 'WL003', null, 'a task that is over does not begin again');

select * from finish();
rollback;
