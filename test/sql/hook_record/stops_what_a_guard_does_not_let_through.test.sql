-- A before_model_call command sees the request; one that says nothing lets it through, one that nobody understands pauses the work.
begin;
select plan(6);

select agent('{}', '{"hooks": {"before_model_call": "ask"}}');
select submit('Fix it');
create function pg_temp.recorded(p_result jsonb) returns text language sql as $$
  select hook_record(item(), lease(), (stage() ->> 'hook_run_id')::uuid, p_result) ->> 'kind';
$$;

select drive();
select results_eq($$ select stage() ->> 'command', stage() #>> '{input,request,model}' $$, $$ values ('ask', 'claude-sonnet-5-5') $$, 'the command is given the request');
select is(pg_temp.recorded('{"stdout": "[]", "exit_code": 0}'), 'paused', 'a guard that nobody understands pauses the work');
select is((select state_reason from item), 'the before_model_call command printed something other than a JSON object: "[]"', 'the reason has what the guard printed');
select work_resume(item());
select is(drive() #>> '{input,hook}', 'before_model_call', 'resumed, the guard is asked again');
select is(pg_temp.recorded('{"stdout": " \n", "exit_code": 0}'), 'recorded', 'a guard that says nothing has nothing against it');
select is(begin_iteration() ->> 'kind', 'call_model', 'a guard that has nothing against it lets the model be asked');

select * from finish();
rollback;
