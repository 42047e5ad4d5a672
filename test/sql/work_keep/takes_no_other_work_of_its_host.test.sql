-- A worker that keeps a tree drives nothing else, also where it is the only one on the host that an item needs: the item waits for another.
begin;
select plan(4);

select agent(p_more => '{"hosts": ["gpu"]}');
create temporary table kept as select submit('Kept') as id;
select from work_keep((select id from kept), 'keeper', 'gpu');
select submit('Something else');
create function pg_temp.job() returns text language sql as $$
  select task_identifier from graphile_worker.jobs where key like '%' || item() || '%' and locked_by is null $$;

select is((select says ->> 'reason' from claim(p_worker => 'elsewhere') says), 'waits for a worker on host "gpu"', 'a worker elsewhere may not drive it');
select is((select says ->> 'host' from claim(p_worker => 'elsewhere') says), null, 'nobody is there who would');
delete from graphile_worker._private_jobs;
select from lease_renew('other', '{}', '{}', 'gpu');
select from work_sweep();
select is(pg_temp.job(), _job_task_at('gpu'), 'another worker of that host gets the job');
select is(claim(p_worker => 'other') ->> 'kind', 'claimed', 'and drives it');

select * from finish();
rollback;
