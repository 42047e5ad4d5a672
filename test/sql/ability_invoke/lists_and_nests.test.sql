-- Agent OS: lists are whole unless a limit is given, tasks are nested as deep as they like.
begin;
select plan(4);

select from os_task('t0');
select from generate_series(1, 150) n, lateral os_message('m' || n, 't0', 'user', 'a', 1700000000000 + n);
select is(jsonb_array_length(ability_invoke('ldg:msg:list', '{"taskId": "t0"}') -> 'messages'), 150, 'all messages are listed where no limit is given');
select is(jsonb_array_length(ability_invoke('ldg:msg:list', '{"taskId": "t0", "limit": 20}') -> 'messages'), 20, 'as many messages are listed as the limit says');

do $$ begin for n in 1..12 loop perform os_task('t' || n, jsonb_build_object('parentTaskId', 't' || n - 1)); end loop; end $$;
select is(ability_invoke('ldg:task:get', '{"taskId": "t12"}') #>> '{task,parentTaskId}', 't11', 'tasks are nested as deep as they like');
select throws_ok($$ select work_submit('a', 'Too deep', p_parent_id => (select id from work_items where external_id = 't12')) $$, 'WL002', null, 'work that we drive is not nested that deep');

select * from finish();
rollback;
