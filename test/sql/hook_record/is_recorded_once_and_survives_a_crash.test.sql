begin;
select plan(16);

select from faculty_save('{"name": "worker", "accepts": ["analyze"], "orient": {"command": "look --around", "timeout": 7}, "hooks": {"before_model_call": "ask"},
  "consolidate": {"command": "store", "on_failure": "fail"}, "recover": {"max_attempts": 1}}');
create temporary table item as select * from work_submit('analyze', 'Mend it', '{"file": "a"}');
create temporary table held (lease uuid, stage json);
create function pg_temp.next() returns json language plpgsql as $$
begin
  delete from held;
  insert into held (lease) select (focus_claim((select id from item), 'w') ->> 'lease')::uuid;
  update held set stage = iteration_begin((select id from item), lease);
  return (select stage from held);
end
$$;
create function pg_temp.recorded(p_stage json, p_result jsonb) returns text language sql as $$
  select hook_record((select id from item), (select lease from held), (p_stage ->> 'hook_run_id')::uuid, p_result) ->> 'kind';
$$;

select is(pg_temp.next() ->> 'kind', 'run_hook', 'before anything is asked, the orient command');
select results_eq($$ select stage ->> 'command', (stage ->> 'timeout_seconds')::integer, stage #>> '{input,hook}', stage #>> '{input,work_item,params,file}' from held $$,
  $$ values ('look --around', 7, 'orient', 'a') $$, 'with what it needs to know');
create temporary table asked as select stage ->> 'hook_run_id' as run from held;
select iteration_release((select id from item), (select lease from held));
select is(pg_temp.next() ->> 'hook_run_id', (select run from asked), 'after a crash the same run is asked for');
select throws_ok($$ select hook_record((select id from item), gen_random_uuid(), gen_random_uuid(), '{}') $$, 'WL004', null, 'only the holder of the lease reports');
select throws_ok($$ select hook_record((select id from item), (select lease from held), gen_random_uuid(), '{}') $$, 'WL001', null, 'of a run that was asked for');
select is(pg_temp.recorded((select stage from held), '{"stdout": "{\"context\": \"A\\u0000\"}", "exit_code": 0}'), 'recorded', 'what is no JSON is text');
select is(pg_temp.recorded((select stage from held), '{"exit_code": 1}'), 'recorded', 'recording again …');
select is((select status from hook_runs where hook = 'orient'), 'completed', '… changes nothing');

update held set stage = iteration_begin((select id from item), lease);
select results_eq($$ select stage ->> 'command', stage #>> '{input,request,model}' from held $$, $$ values ('ask', 'claude-sonnet-5-5') $$, 'then the hook before the request, with the request');
select is(pg_temp.recorded((select stage from held), '{"stdout": "[]", "exit_code": 0}'), 'paused', 'a guard that nobody understands stops the work');
select is((select state_reason from work_items where id = (select id from item)), 'the before_model_call command printed what is not a JSON object: "[]"', 'and says so');
select work_resume((select id from item));
select is(pg_temp.next() #>> '{input,hook}', 'before_model_call', 'let go on, it is asked again');
select is(pg_temp.recorded((select stage from held), '{"stdout": " \n", "exit_code": 0}'), 'recorded', 'nothing said is nothing against it');
update held set stage = iteration_begin((select id from item), lease);
select is((select stage ->> 'kind' from held), 'call_model', 'and the model is asked');

select turn_record((select id from item), (select lease from held), (select (stage ->> 'turn_id')::uuid from held), '{"stop_reason": "end_turn", "content": [{"type": "text", "text": "Done."}]}');
update held set stage = iteration_finish((select id from item), lease)::json;
select is((select stage #>> '{input,outcome,summary}' from held), 'Done.', 'the end waits for the consolidate command');
select is(pg_temp.recorded((select stage from held), '{"exit_code": null, "signal": "SIGKILL"}'), 'dead', 'which fails the attempt where the faculty wants it so');

select * from finish();
rollback;
