-- The six query patterns of the Agent OS document.
begin;
select plan(10);

select os_task('task-test'), os_task('task-lifecycle', '{"parentTaskId": "task-test", "completionStatus": "success"}');
select from generate_series(1, 250) n, lateral os_task('t' || n, jsonb_build_object('createdAt', 1600000000000 + n, 'updatedAt', 1600000000000 + n, 'completionStatus', case n % 3 when 0 then to_jsonb('error'::text) when 1 then to_jsonb('handed over'::text) else 'null' end));

select is(jsonb_array_length(ability_invoke('ldg:task:query') -> 'tasks'), 100, 'a hundred tasks are found unless more are asked for');
select is(ability_invoke('ldg:task:query') -> 'total', '252', 'the total counts all tasks');
select is(ability_invoke('ldg:task:query', '{"completionStatus": "null", "limit": 1}') -> 'total', '84', 'active tasks are found');
select is(ability_invoke('ldg:task:query', '{"completionStatus": "error", "limit": 1}') -> 'total', '83', 'tasks are found by their status');
select is(ability_invoke('ldg:task:query', '{"completionStatus": "handed over", "limit": 1}') #>> '{tasks,0,completionStatus}', 'handed over', 'a status may be any word');
select is(ability_invoke('ldg:task:query', '{"parentTaskId": "task-test"}') #>> '{tasks,0,id}', 'task-lifecycle', 'tasks are found by their parent');
select is(ability_invoke('ldg:task:query', '{"parentTaskId": "nobody"}') -> 'total', '0', 'a parent that is not there has no tasks');
select is(ability_invoke('ldg:task:query', '{"fromTime": 1600000000010, "toTime": 1600000000019}') -> 'total', '10', 'tasks are found by time, both ends counted');
select is(ability_invoke('ldg:task:query', '{"limit": 1, "offset": 2}') #>> '{tasks,0,id}', 't250', 'tasks come newest first, from an offset');
select is(ability_invoke('ldg:task:query', '{"limit": 1, "before": "t250"}') #>> '{tasks,0,id}', 't249', 'tasks come from another task on, whatever was added since');

select * from finish();
rollback;
