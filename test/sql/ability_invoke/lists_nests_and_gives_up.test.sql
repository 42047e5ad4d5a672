begin;
select plan(9);

create function pg_temp.task(p_id text, p_more jsonb default '{}') returns jsonb language sql as $$
  select ability_invoke('ldg:task:save', jsonb_build_object('task', jsonb_build_object('id', p_id, 'systemPrompt', 'Test prompt', 'createdAt', 1700000000123, 'updatedAt', 1700000000123) || p_more)) $$;
create function pg_temp.call(p_id text, p_more jsonb default '{}') returns jsonb language sql as $$
  select ability_invoke('ldg:call:save', jsonb_build_object('call', jsonb_build_object('id', p_id, 'taskId', 't0', 'abilityName', 'mem:retrieve', 'parameters', '{}',
    'status', 'in_progress', 'details', '{}', 'createdAt', 1700000000000, 'updatedAt', 1700000000000, 'startMessageId', 'm1') || p_more)) $$;

select from pg_temp.task('t0');
select from generate_series(1, 150) n, lateral ability_invoke('ldg:msg:save', jsonb_build_object('message', jsonb_build_object('id', 'm' || n, 'taskId', 't0', 'role', 'user', 'content', 'a', 'timestamp', 1700000000000 + n)));
select is(jsonb_array_length(ability_invoke('ldg:msg:list', '{"taskId": "t0"}') -> 'messages'), 150, 'all messages, where no limit is given');
select is(jsonb_array_length(ability_invoke('ldg:msg:list', '{"taskId": "t0", "limit": 20}') -> 'messages'), 20, 'so many, where one is');

do $$ begin for n in 1..12 loop perform pg_temp.task('t' || n, jsonb_build_object('parentTaskId', 't' || n - 1)); end loop; end $$;
select is(ability_invoke('ldg:task:get', '{"taskId": "t12"}') #>> '{task,parentTaskId}', 't11', 'tasks are nested as deep as they like');
select throws_ok($$ select work_submit('a', 'Too deep', p_parent_id => (select id from work_items where external_id = 't12')) $$, 'WL002', null, 'work that we drive is not');

set local work_ledger.now = '2023-11-14 22:13:20+00'; -- 1700000000
select from pg_temp.call('lost');
select from pg_temp.call('alive');
set local work_ledger.now = '2023-11-14 23:13:19+00';
select is(work_sweep() -> 'calls_given_up', '0', 'a call may take an hour');
select from pg_temp.call('alive', '{"updatedAt": 1700003000000}');
set local work_ledger.now = '2023-11-14 23:13:21+00';
select is(work_sweep() -> 'calls_given_up', '1', 'or say that it goes on');
select results_eq($$ select c ->> 'id', c ->> 'status', c ->> 'details' from jsonb_array_elements(ability_invoke('ldg:call:list', '{"taskId": "t0"}') -> 'calls') c order by 1 $$,
  $$ values ('alive', 'in_progress', '{}'), ('lost', 'failed', '"[engine] Given up: its client said nothing of it for 01:00:00."') $$, 'the other has failed');
select throws_ok($$ select pg_temp.call('lost', '{"status": "completed", "details": "\"late\""}') $$, 'WL007', null, 'for good');
select is(work_sweep(p_call_timeout => '1 minute') -> 'calls_given_up', '1', 'after as long as is wanted');

select * from finish();
rollback;
