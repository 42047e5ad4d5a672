-- Agent OS: its unit tests, and what cannot be saved.
begin;
select plan(12);

select is(os_task('task-test'), '{"success": true}', 'ldg:task:save creates a new task');
select is(ability_invoke('ldg:task:get', '{"taskId": "task-test"}'),
  '{"task": {"id": "task-test", "systemPrompt": "Test prompt", "createdAt": 1700000000123, "updatedAt": 1700000000123}}', 'a task that was saved is persisted');
select is(ability_invoke('ldg:task:get', '{"taskId": "nobody"}'), '{"task": null}', 'a task that is not there is null');
select is(os_message('msg-test', 'task-test', 'user', 'Test message', 1700000001000), '{"success": true, "messageId": "msg-test"}', 'ldg:msg:save creates a new message');
select throws_ok($$ select os_message('msg-test', 'task-test', 'user', 'Modified content', 1700000001000) $$, 'WL007', null, 'a message that was saved is immutable');
select throws_ok($$ select os_task('x', '{"createdAt": "today"}') $$, 'WL002', null, 'a time that is no number is refused');
select throws_ok($$ select os_task('x', '{"parentTaskId": "nobody"}') $$, 'WL001', null, 'a parent that is not there is refused');
select throws_ok($$ select os_message('x', 'nobody', 'user', 'a', 1) $$, 'WL001', null, 'a message of a task that is not there is refused');
select throws_ok($$ select os_message('x', 'task-test', 'tool', 'a', 1) $$, 'WL002', null, 'an unknown role is refused');
select throws_ok($$ select os_message(repeat('x', 1001), 'task-test', 'user', 'a', 1) $$, 'WL002', 'the id of a message can have at most 1,000 bytes, not 1001', 'an id that no index holds is refused');
select throws_ok($$ select os_message('x', 'task-test', 'user', repeat('x', 4194304), 1) $$, 'WL002', 'the content of a message can have at most 4 MiB', 'a message that no row holds is refused');
select submit();
select throws_ok($$ select os_task(item()::text) $$, 'WL002', null, 'work that Work Ledger drives is not saved over');

select * from finish();
rollback;
