begin;
select plan(6);

select submit();
create function pg_temp.jobs() returns bigint language sql as $$
  select count(*) from graphile_worker.jobs where task_identifier = _job_task()
$$;

select from lease_renew('worker-1', '{}');
update graphile_worker._private_jobs set locked_by = 'worker-1', locked_at = now(), attempts = 1 where key like '%' || item() || '%';
select from _enqueue(item());
select is(pg_temp.jobs(), 2::bigint, 'a job that is rung for while a worker holds it loses its key to another');
select from work_sweep();
select is(pg_temp.jobs(), 2::bigint, 'as long as the worker lives both stay');

select from worker_stop('worker-1');
select is(cardinality(_dead_jobs()), 1, 'a worker that is gone leaves a job that is used up');
select from graphile_worker.add_job('other/engage', max_attempts => 1);
update graphile_worker._private_jobs j set attempts = 1 from graphile_worker._private_tasks t where t.id = j.task_id and t.identifier = 'other/engage';
select from work_sweep();
select is(pg_temp.jobs(), 1::bigint, 'which is swept');
select is(cardinality(_dead_jobs()), 0, 'and counted no more');
select is((select count(*) from graphile_worker.jobs where task_identifier = 'other/engage'), 1::bigint, 'what is not this ledger''s stays');

select * from finish();
rollback;
