-- The first check that fails in an attempt is told to the model, in the second attempt as in the first.
begin;
select plan(4);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"check_command": "make test"}');
select submit('Fix it');
-- The agent says that it is done, and the check fails; how the iteration ends.
create function pg_temp.ends() returns text language plpgsql as $$
declare
  v_order jsonb;
begin
  perform drive(), answer('["Done."]');
  v_order := iteration_finish(item(), lease());
  perform hook_record(item(), lease(), (v_order ->> 'hook_run_id')::uuid, '{"exit_code": 1, "stdout": "red"}');
  return iteration_finish(item(), lease()) ->> 'kind';
end
$$;
select is(pg_temp.ends(), 'continued', 'a check that fails is told to the model');
select give_up(), later('1 hour');
select is(pg_temp.ends(), 'continued', 'so is the first that fails in the next attempt');
select drive();
select alike(told((select max(n)::integer from request)), '%the check failed%red%', 'whose model is shown what it printed');
select answer('["Done again."]');
select is((select count(*) from hook_runs where hook = 'check' and status = 'failed'), 2::bigint, 'each attempt had one');

select * from finish();
rollback;
