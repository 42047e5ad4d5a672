-- Jobs that nobody will run any more are swept, those of this ledger alone.
begin;
select plan(14);

select submit();
create function pg_temp.jobs() returns bigint language sql as $$
  select count(*) from graphile_worker.jobs where task_identifier = _job_task()
$$;

select from lease_renew('worker-1', '{}', '{}');
update graphile_worker._private_jobs set locked_by = 'worker-1', locked_at = now(), attempts = 1 where key like '%' || item() || '%';
select from _enqueue(item());
select is(pg_temp.jobs(), 2::bigint, 'a job that is enqueued while a worker holds it loses its key to another');
select from work_sweep();
select is(pg_temp.jobs(), 2::bigint, 'while the worker lives both jobs stay');

select from worker_stop('worker-1');
select is(cardinality(_dead_jobs()), 1, 'a worker that is gone leaves a job that is used up');
select from graphile_worker.add_job('other/engage', max_attempts => 1);
update graphile_worker._private_jobs j set attempts = 1 from graphile_worker._private_tasks t where t.id = j.task_id and t.identifier = 'other/engage';
select from work_sweep();
select is(pg_temp.jobs(), 1::bigint, 'a job that is used up is swept');
select is(cardinality(_dead_jobs()), 0, 'a job that was swept is counted no more');
select is((select count(*) from graphile_worker.jobs where task_identifier = 'other/engage'), 1::bigint, 'jobs of others stay');

-- Signed off while the rows of its jobs were locked.
select work_complete(item(), 'Done');
update graphile_worker._private_jobs set locked_by = 'worker-1', locked_at = now() - interval '40 seconds';
select from work_sweep(p_worker_timeout => '1 minute');
select is((select count(*) from graphile_worker.jobs where locked_by is null), 0::bigint, 'a worker that was just not heard of keeps its jobs for the moment');
select from lease_renew('worker-1', '{}', '{}');
select from work_sweep();
select is((select count(*) from graphile_worker.jobs where locked_by is null), 0::bigint, 'and one that is heard of for good');
delete from workers;
select from work_sweep();
select is((select array_agg(task_identifier) from graphile_worker.jobs where locked_by is null), array[_job_task()], 'of a worker that is gone they are unlocked, whatever has become of the work; those of others are not');


-- Enqueued for whoever lives while no worker did; then one came that looks at the jobs of its project alone, and another job drove the work.
create temporary table over as select id from work_submit('analyze', 'Driven by another job');
create temporary table paused as select id from work_submit('analyze', 'Driven later');
select from work_pause((select id from paused));
select from lease_renew('worker-2', '{}', '{}', p_project => '/work');
select from work_sweep();
select is((select count(*) from graphile_worker.jobs where key like '%' || (select id from over) || '%'), 1::bigint, 'a job of work that is not over stays');
select from work_cancel((select id from over));
insert into graphile_worker._private_jobs (task_id, payload)
select t.id, v::json from graphile_worker._private_tasks t, unnest(array['{}', '[]', '{"work_item_id": "not an id"}']) v where t.identifier = _job_task();
select from graphile_worker.add_job('other/engage', json_build_object('work_item_id', (select id from over)));
select from workers k, graphile_worker.add_job((_worker_tasks(k))[1], json_build_object('work_item_id', (select id from over)), job_key => 'looked for');
select from work_sweep();
select is((select count(*) from graphile_worker.jobs where key like '%' || (select id from over) || '%'), 0::bigint, 'a job of work that is over is swept');
select is((select count(*) from graphile_worker.jobs where key = 'looked for'), 1::bigint, 'one that a living worker looks for is left to it');
select is((select count(*) from graphile_worker.jobs where key like '%' || (select id from paused) || '%'), 1::bigint, 'one of work that goes on later is not');
select is((select count(*) from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
            where j.key is null and (t.identifier = 'other/engage' or j.payload::text ~ 'not an id|^[{[][]}]$') and j.attempts = 0), 4::bigint,
          'nor are jobs without a work item, and those of others');

select * from finish();
rollback;
