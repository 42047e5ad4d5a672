-- A tree that a worker keeps is for that worker alone until it stops or dies.
begin;
select plan(13);

select agent();
create temporary table other as select * from work_submit('analyze', 'Something else');
select submit();
create function pg_temp.task(p_item uuid) returns text language sql as $$
  select task_identifier from graphile_worker.jobs where key like '%' || p_item || '%' and locked_by is null
$$;
create function pg_temp.mine() returns text language sql as $$ select _job_task() || '/' || item() $$;
create function pg_temp.name() returns integer language sql as $$ select id from graphile_worker._private_tasks where identifier = pg_temp.mine() $$;

select from work_keep(item(), 'worker-1');
select is(pg_temp.task(item()), pg_temp.mine(), 'the job of a kept item is for its worker alone');
select is(pg_temp.task((select id from other)), _job_task(), 'other work is for all workers');
create temporary table child as select * from spawn_child_work(item(), 'analyze', 'A part of it');
select is(pg_temp.task((select id from child)), pg_temp.mine(), 'what a kept item delegates is for the same worker');
select is((work_sweep() ->> 'enqueued')::int, 0, 'no sweep takes a kept item away');

select from worker_stop('worker-1');
select is(pg_temp.task(item()), _job_task(), 'when the worker stops, its work is for all');
select is(pg_temp.task((select id from child)), _job_task(), 'when the worker stops, what was delegated is for all');

select from work_keep(item(), 'worker-2');
select is(pg_temp.task(item()), pg_temp.mine(), 'another worker may keep it after that');
create temporary table known as select pg_temp.name() as id;
update workers set seen_at = seen_at - interval '31 seconds';
select is((work_sweep() -> 'dead_workers'), '["worker-2"]'::jsonb, 'a worker that sends no heartbeat is dead');
select is(pg_temp.task(item()), _job_task(), 'the work of a dead worker is for all');
select from work_keep(item(), 'worker-2');
select is(pg_temp.name(), (select id from known), 'one that only slept comes back to the jobs that it looks for');
select is(pg_temp.task(item()), pg_temp.mine(), 'they are its own again');
select from worker_stop('worker-2');
select from work_cancel(item());
select from work_sweep();
select from work_sweep();
select is(pg_temp.name(), null, 'no name of a job stays behind when the tree is over');
select throws_ok($$ select work_keep('00000000-0000-7000-8000-000000000000', 'worker-3') $$, 'WL001', null, 'work that is not there is not kept');

select * from finish();
rollback;
