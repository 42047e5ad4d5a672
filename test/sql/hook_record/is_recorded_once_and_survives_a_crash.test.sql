begin;
select plan(16);

select agent('{}', '{"orient": {"command": "look --around", "timeout": 7}, "hooks": {"before_model_call": "ask"}, "consolidate": {"command": "store", "on_failure": "fail"}, "recover": {"max_attempts": 1}}');
select take(work_submit('analyze', 'Mend it', '{"file": "a"}'));
create function pg_temp.recorded(p_stage json, p_result jsonb) returns text language sql as $$
  select hook_record(item(), lease(), (p_stage ->> 'hook_run_id')::uuid, p_result) ->> 'kind';
$$;

select is(drive() ->> 'kind', 'run_hook', 'before anything is asked, the orient command');
select results_eq($$ select stage ->> 'command', (stage ->> 'timeout_seconds')::integer, stage #>> '{input,hook}', stage #>> '{input,work_item,params,file}' from held $$,
  $$ values ('look --around', 7, 'orient', 'a') $$, 'with what it needs to know');
create temporary table asked as select stage ->> 'hook_run_id' as run from held;
select iteration_release(item(), lease());
select is(drive() ->> 'hook_run_id', (select run from asked), 'after a crash the same run is asked for');
select throws_ok($$ select hook_record(item(), gen_random_uuid(), gen_random_uuid(), '{}') $$, 'WL004', null, 'only the holder of the lease reports');
select throws_ok($$ select hook_record(item(), lease(), gen_random_uuid(), '{}') $$, 'WL001', null, 'of a run that was asked for');
select is(pg_temp.recorded(stage(), '{"stdout": "{\"context\": \"A\\u0000\"}", "exit_code": 0}'), 'recorded', 'what is no JSON is text');
select is(pg_temp.recorded(stage(), '{"exit_code": 1}'), 'recorded', 'recording again …');
select is((select status from hook_runs where hook = 'orient'), 'completed', '… changes nothing');

select begin();
select results_eq($$ select stage ->> 'command', stage #>> '{input,request,model}' from held $$, $$ values ('ask', 'claude-sonnet-5-5') $$, 'then the hook before the request, with the request');
select is(pg_temp.recorded(stage(), '{"stdout": "[]", "exit_code": 0}'), 'paused', 'a guard that nobody understands stops the work');
select is((select state_reason from work_items where id = item()), 'the before_model_call command printed what is not a JSON object: "[]"', 'and says so');
select work_resume(item());
select is(drive() #>> '{input,hook}', 'before_model_call', 'let go on, it is asked again');
select is(pg_temp.recorded(stage(), '{"stdout": " \n", "exit_code": 0}'), 'recorded', 'nothing said is nothing against it');
select begin();
select is(stage() ->> 'kind', 'call_model', 'and the model is asked');

select turn_record(item(), lease(), turn(), '{"stop_reason": "end_turn", "content": [{"type": "text", "text": "Done."}]}');
update held set stage = iteration_finish(item(), lease())::json;
select is(stage() #>> '{input,outcome,summary}', 'Done.', 'the end waits for the consolidate command');
select is(pg_temp.recorded(stage(), '{"exit_code": null, "signal": "SIGKILL"}'), 'dead', 'which fails the attempt where the faculty wants it so');

select * from finish();
rollback;
