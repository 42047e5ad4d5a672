-- What a command said is recorded once, by the holder of the lease; after a crash the same run is asked for again.
begin;
select plan(8);

select agent('{}', '{"orient": {"command": "look --around", "timeout": 7}}');
select take(work_submit('analyze', 'Fix it', '{"file": "a"}'));
create function pg_temp.recorded(p_result jsonb) returns text language sql as $$
  select hook_record(item(), lease(), (stage() ->> 'hook_run_id')::uuid, p_result) ->> 'kind';
$$;

select is(drive() ->> 'kind', 'run_hook', 'the orient command runs before anything is asked');
select results_eq($$ select stage() ->> 'command', (stage() ->> 'timeout_seconds')::integer, stage() #>> '{input,hook}', stage() #>> '{input,work_item,params,file}' $$,
  $$ values ('look --around', 7, 'orient', 'a') $$, 'the command is given what it needs to know');
create temporary table asked as select stage() ->> 'hook_run_id' as run;
select iteration_release(item(), lease());
select is(drive() ->> 'hook_run_id', (select run from asked), 'after a crash the same run is asked for');
select throws_ok($$ select hook_record(item(), gen_random_uuid(), gen_random_uuid(), '{}') $$, 'WL004', null, 'only the holder of the lease records a run');
select throws_ok($$ select hook_record(item(), lease(), gen_random_uuid(), '{}') $$, 'WL001', null, 'a run that was not asked for is not recorded');
select is(pg_temp.recorded('{"stdout": "{\"context\": \"A\\u0000\"}", "exit_code": 0}'), 'recorded', 'what a command printed is recorded, NUL and all');
select is(pg_temp.recorded('{"exit_code": 1}'), 'recorded', 'recording a run again is harmless …');
select is((select status from hook_runs where hook = 'orient'), 'completed', '… and changes nothing');

select * from finish();
rollback;
