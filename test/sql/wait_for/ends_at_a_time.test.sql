-- A wait has a deadline: a time, a number of seconds, or both, of which the first counts; thirty days at most.
begin;
select plan(14);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
create temporary table other as select (work_submit('analyze', 'Somebody else''s')).id;
select submit('Wait');
create function pg_temp.until(p_input jsonb) returns text language plpgsql as $$
declare
  v_call uuid;
begin
  perform drive(), answer(jsonb_build_array(jsonb_build_array('wait_for', p_input))), run();
  select id into v_call from tool_calls where work_item_id = item() order by created_at desc, id desc limit 1;
  return coalesce(iteration_finish(item(), lease()) ->> 'until', (select result #>> '{}' from tool_calls where id = v_call));
end
$$;
create function pg_temp.newest() returns text language sql as $$ select result #>> '{}' from tool_calls where work_item_id = item() order by created_at desc, id desc limit 1 $$;
select is(pg_temp.until('{"until": "2026-11-20T13:00:00Z"}'), '2026-11-20T13:00:00+00:00', 'a time alone is waited for until then');
select is((select array[w.state_reason, v.waits_for, v.why] from work_items w join v_now v on v.work_item_id = w.id where w.id = item()),
  '{waits for a time,time,waits for a time}', 'people see that it waits for a time');
select later('59 minutes');
select is(drive() ->> 'kind', 'not_due', 'not before');
delete from graphile_worker._private_jobs;
select later('1 minute');
select work_sweep();
select is((select count(*) from graphile_worker.jobs where key like '%' || item() || '%'), 1::bigint, 'the sweep wakes it');
select drive();
select is(pg_temp.newest(), '[engine] It is 2026-11-20 13:00:00 UTC.', 'then it is told what time it is');
select iteration_finish(item(), lease());
select is(pg_temp.until('{"timeout_seconds": 60}'), '2026-11-20T13:01:00+00:00', 'seconds alone do, too');
select later('1 minute'), drive(), iteration_finish(item(), lease());
select is(pg_temp.until('{"until": "2026-11-20 14:00", "timeout_seconds": 60}'), '2026-11-20T13:02:00+00:00', 'of both the first');
select later('1 minute'), drive(), iteration_finish(item(), lease());
select is(pg_temp.until('{"until": "2030-01-01"}'), '2026-12-20T13:02:00+00:00', 'nobody waits for longer than thirty days');
select later('30 days'), drive(), iteration_finish(item(), lease());
select is(pg_temp.until(jsonb_build_object('work_item_ids', jsonb_build_array((select id from other)))), '2026-12-20T13:07:00+00:00', 'five minutes where nothing is said');
select later('5 minutes'), drive();
select ok(pg_temp.newest() like '[engine] The wait timed out; some of that work has not ended. %"state": "queued"%', 'then it is told how things stand');
select iteration_finish(item(), lease());
select is(pg_temp.until('{"until": "2026-12-01"}'), '[engine] It is 2026-12-20 13:07:00 UTC.', 'a time that is past is not waited for');
select ok(pg_temp.until(jsonb_build_object('timeout_seconds', 0, 'work_item_ids', jsonb_build_array((select id from other)))) like '[engine] The wait timed out; %', 'nor are no seconds');
set local timezone = 'America/New_York';
select is(_time_given('until', t), '2026-12-20 14:00:00+00', 'without a zone it is of UTC, as all times that agents are told: ' || t)
  from unnest(array['2026-12-20 14:00', '2026-12-20T09:00:00-05']) t;

select * from finish();
rollback;
