-- Agent OS: a call of which its client says nothing for an hour has failed.
begin;
select plan(5);

create function pg_temp.call(p_id text, p_more jsonb default '{}') returns jsonb language sql as $$
  select os_call(p_id, 't0', '{"status": "in_progress", "createdAt": 1700000000000, "updatedAt": 1700000000000}' || p_more) $$;

select os_task('t0'), os_message('m1', 't0', 'user', 'a', 1700000000001);
set local work_ledger.now = '2023-11-14 22:13:20+00'; -- 1700000000
select from pg_temp.call('lost');
select from pg_temp.call('alive');
set local work_ledger.now = '2023-11-14 23:13:19+00';
select is(work_sweep() -> 'calls_given_up', '0', 'a call may be silent for an hour');
select from pg_temp.call('alive', '{"updatedAt": 1700003000000}');
set local work_ledger.now = '2023-11-14 23:13:21+00';
select is(work_sweep() -> 'calls_given_up', '1', 'after an hour the silent one is given up');
select results_eq($$ select c ->> 'id', c ->> 'status', c ->> 'details' from jsonb_array_elements(ability_invoke('ldg:call:list', '{"taskId": "t0"}') -> 'calls') c order by 1 $$,
  $$ values ('alive', 'in_progress', '{}'), ('lost', 'failed', '"[engine] Given up: its client reported nothing about it for 01:00:00."') $$, 'the silent call has failed, the one that was saved again has not');
select throws_ok($$ select pg_temp.call('lost', '{"status": "completed", "details": "\"late\""}') $$, 'WL007', null, 'a call that was given up does not complete');
select is(work_sweep(p_call_timeout => '1 minute') -> 'calls_given_up', '1', 'a sweep may be told another time to wait');

select * from finish();
rollback;
