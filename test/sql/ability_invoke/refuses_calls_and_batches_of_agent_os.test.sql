-- Agent OS: calls that cannot be saved; a batch is saved whole or not at all.
begin;
select plan(7);

select os_task('task-test'), os_message('msg-test', 'task-test', 'user', 'Test message', 1700000001000);

select throws_ok($$ select os_call('x', 'task-test', '{"status": "done"}') $$, 'WL002', null, 'an unknown status is refused');
select throws_ok($$ select os_call('x', 'task-test', '{"parameters": "{", "startMessageId": "msg-test"}') $$, 'WL002', null, 'parameters that are no JSON are refused');
select throws_ok($$ select os_call('x', 'task-test', '{"startMessageId": "none"}') $$, 'WL001', null, 'a message that is not there is refused');
select throws_ok($$ select os_call(repeat('x', 1001), 'task-test', '{"startMessageId": "msg-test"}') $$, 'WL002', 'the id of a call can have at most 1,000 bytes, not 1001', 'an id that no index holds is refused');
select throws_ok($$ select _ldg_batch_save('{"entities": {"task": 1}}') $$, 'WL002', '"entities" must be a list', 'a batch is a list');
select throws_ok($$ select ability_invoke('ldg:batch:save', '{"entities": [{"task": {"id": "b", "systemPrompt": "", "createdAt": 1, "updatedAt": 1}}, {"message": {"id": "msg-test", "taskId": "b", "role": "user", "content": "x", "timestamp": 1}}]}') $$, 'WL007', null, 'a batch with a message that is there already is refused');
select is(ability_invoke('ldg:task:get', '{"taskId": "b"}') -> 'task', 'null', 'nothing of a refused batch is saved');

select * from finish();
rollback;
