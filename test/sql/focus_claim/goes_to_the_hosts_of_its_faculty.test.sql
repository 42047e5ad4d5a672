-- Work of a faculty that names hosts is driven there, by whichever worker lives there; where none does it waits, without a slot, and says so.
begin;
select plan(18);

set local work_ledger.now = '2026-11-22 12:00Z';
create function pg_temp.job() returns text language sql as $$
  select task_identifier from graphile_worker.jobs where key like '%' || item() || '%' and locked_by is null
$$;
create function pg_temp.seen(p_worker text, p_host text) returns void language sql as $$ select from lease_renew(p_worker, '{}', '{}', p_host) $$;
-- The job that brought a worker here.
create function pg_temp.taken() returns void language sql as $$ delete from graphile_worker._private_jobs where key like '%' || item() || '%' $$;

select agent(p_more => '{"hosts": ["gpu-1", "gpu-2"], "max_concurrent": 1}');
select submit();
select is(pg_temp.job(), _job_task(), 'while no worker lives on these hosts, whoever comes is told so');
select pg_temp.seen('w', 'office'), pg_temp.taken();
create temporary table refused as select claim() as says;
select is((select says from refused), '{"kind": "not_due", "state": "waiting", "run_at": "infinity", "host": null, "reason": "waits for a worker on host \"gpu-1\" or \"gpu-2\""}'::jsonb, 'a worker elsewhere is told why it is not given the item');
select is((select array[state, state_reason, slot_faculty] from item), array['waiting', 'waits for a worker on host "gpu-1" or "gpu-2"', null], 'which waits, says for what, and holds no slot');
select is((select waits_for from v_now where work_item_id = item()), 'host', 'as what goes on now says');
select is((select says from work_ledger_doctor() where code = 'hosts' and severity = 'error'), 'waits for a worker on host "gpu-1" or "gpu-2"', 'and the doctor');
select is(pg_temp.job(), null, 'there is no job for it');
select is((work_sweep() ->> 'enqueued')::int, 0, 'nor does a sweep make one in vain');

select pg_temp.seen('g', 'gpu-2');
select is((work_sweep() ->> 'enqueued')::int, 1, 'when a worker lives there, the sweep finds it');
select is(pg_temp.job(), _job_task_at('gpu-2'), 'its job is for the workers of that host');
select is((work_sweep() ->> 'enqueued')::int, 0, 'which is a job that will run');
select is((select array[says ->> 'kind', says ->> 'host'] from claim() says), array['not_due', 'gpu-2'], 'another worker that asks for it is told where it goes');
select pg_temp.taken();
select is((select says ->> 'kind' from claim(p_worker => 'g') says), 'claimed', 'a worker there drives it');
select is((select array[state_reason, is_stranded::text, slot_faculty] from item), array[null, 'false', 'worker'], 'with a slot, and waits for nothing');

select iteration_release(item(), lease());
select is(pg_temp.job(), _job_task_at('gpu-2'), 'every job of it is for that host');
delete from workers where id = 'g';
select is((work_sweep() ->> 'enqueued')::int, 1, 'when the last worker there is gone, the job counts no more');
select pg_temp.taken();
select is((select says ->> 'host' from claim() says), null, 'and the item waits again');
select is((select count(*) from work_items where slot_faculty is not null), 0::bigint, 'its slot is free for what can be driven');

select from faculty_save('{"name": "worker", "accepts": ["analyze"]}');
select work_sweep(), pg_temp.taken();
select is((select says ->> 'kind' from claim() says), 'claimed', 'a faculty that names no hosts any more lets it be driven anywhere, in the middle of an attempt, too');

select * from finish();
rollback;
