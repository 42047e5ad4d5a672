-- A job that failed pauses as long as graphile-worker says, and no longer: not until an old time comes again, to which the clock was set back.
begin;
select plan(3);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
create temporary table items as select name, submit(name) as id from unnest(array['pauses', 'from later']) name;
create function pg_temp.failed(p_name text, p_attempts integer, p_run_at timestamptz) returns void language sql as $$
  update graphile_worker._private_jobs set attempts = p_attempts, last_error = 'it broke', run_at = p_run_at
   where key like (select '%' || id || '%' from pg_temp.items where name = p_name)
$$;
create function pg_temp.runs_at(p_name text) returns timestamptz language sql as $$
  select run_at from graphile_worker.jobs where key like (select '%' || id || '%' from pg_temp.items where name = p_name)
$$;

select pg_temp.failed('pauses', 6, '2026-11-20 12:06:43+00'); -- e to the power of 6 is 403 seconds
select pg_temp.failed('from later', 1, '2026-11-20 13:00:02+00');
select is((work_sweep() ->> 'enqueued')::int, 1, 'one of two jobs that failed will not run in time');
select is(pg_temp.runs_at('pauses'), '2026-11-20 12:06:43+00', 'a pause stays as it is');
select is(pg_temp.runs_at('from later'), '2026-11-20 12:00:00+00', 'a time that is later than any pause does not hold its item up');

select * from finish();
rollback;
