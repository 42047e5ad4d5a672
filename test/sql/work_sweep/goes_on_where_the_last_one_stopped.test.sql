-- Of a long backlog each sweep looks at the next thousand items, until all were looked at, and then at the first again.
begin;
select plan(9);

select agent();
create temporary table bulk as select _uuidv7() as id, n from generate_series(1, 2500) n;
insert into work_items (id, root_id, work_type, description, run_at) select id, id, 'analyze', 'Do it', now() - interval '1 minute' - n % 3 * interval '1 hour' from bulk;

select is((work_sweep() ->> 'enqueued')::int, 1000, 'the first thousand without a job');
select is((work_sweep() ->> 'enqueued')::int, 1000, 'the next thousand');
select is((work_sweep() ->> 'enqueued')::int, 500, 'the rest');
select is((work_sweep() ->> 'enqueued')::int, 0, 'then there is nothing left');
delete from graphile_worker._private_jobs where key like '%' || (select id from bulk where n = 1) || '%';
create temporary table found as select (work_sweep() ->> 'enqueued')::int as n from generate_series(1, 3);
select is((select sum(n) from found), 1::bigint, 'a job that is lost later is found when all were looked at once more');

create temporary table kept as select id from work_submit('analyze', 'The last of all');
select from work_keep((select id from kept), 'worker-1');
update workers set seen_at = seen_at - interval '31 seconds';
select isnt((select task_identifier from graphile_worker.jobs where key like '%' || (select id from kept) || '%'), _job_task(), 'what a worker keeps is for it alone');
select from work_sweep();
select is((select task_identifier from graphile_worker.jobs where key like '%' || (select id from kept) || '%'), _job_task(), 'what a dead worker kept is for all at once, however much is before it');
select from work_cancel((select id from kept));

update work_items set state = 'waiting', run_at = 'infinity' where id in (select id from bulk);
delete from graphile_worker._private_jobs;
insert into inbox (work_item_id, kind, content, is_interrupt) select id, 'message', '"Go on"', true from bulk where n in (1, 2500);
update found set n = (work_sweep() ->> 'enqueued')::int;
select is((select sum(n) from found), 2::bigint, 'so it is with items that wait, for which something has come');

update graphile_worker._private_jobs set attempts = max_attempts;
insert into graphile_worker._private_jobs (task_id, attempts, max_attempts) select j.task_id, 1, 1 from graphile_worker._private_jobs j, generate_series(1, 1500) limit 1500;
update found set n = (work_sweep() ->> 'enqueued')::int;
select is(cardinality(_dead_jobs()), 0, 'and with jobs that will never run');

select * from finish();
rollback;
