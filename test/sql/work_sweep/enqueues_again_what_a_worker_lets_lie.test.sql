-- A sweep enqueues again what a living worker has taken up and lets lie.
begin;
select plan(3);

select agent();
select submit();
create function pg_temp.held(p_for interval) returns void language sql as $$
  update graphile_worker._private_jobs set locked_by = 'worker-1', locked_at = now() - p_for where key like '%' || item() || '%'
$$;

select from lease_renew('worker-1', '{}', '{}');
select pg_temp.held('10 seconds');
select is((work_sweep() ->> 'enqueued')::int, 0, 'a job that a living worker has just taken up is left to it');
select pg_temp.held('31 seconds');
select is((work_sweep() ->> 'enqueued')::int, 1, 'an item whose job is held for longer than a lease is enqueued again');
select is((select count(*) from graphile_worker.jobs where key like '%' || item() || '%' and locked_by is null), 1::bigint, 'another job is there for whoever is free');

select * from finish();
rollback;
