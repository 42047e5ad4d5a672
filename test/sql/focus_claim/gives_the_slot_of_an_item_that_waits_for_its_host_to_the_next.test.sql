-- An item whose files are at a Docker daemon that is gone waits for it without its slot, and the next item of the faculty is enqueued at once.
begin;
select plan(4);

create function pg_temp.seen(p_worker text, p_host text, p_daemon text) returns void language sql as $$ select from lease_renew(p_worker, '{}', '{}', p_host, p_daemon => p_daemon) $$;
create function pg_temp.jobs(p_item uuid) returns bigint language sql as $$ select count(*) from graphile_worker.jobs where key like '%' || p_item || '%' $$;

select agent(p_more => '{"max_concurrent": 1}');
select pg_temp.seen('left', 'left', 'd1'), pg_temp.seen('right', 'right', 'd2');
create temporary table next as select submit() as id;
select submit();
select claim(p_worker => 'left');
select workspace_bind(item(), lease(), 'd1');
select begin_iteration();
select is(focus_claim((select id from next), 'right')::jsonb ->> 'state', 'queued', 'one item of the faculty is driven, another waits for its slot');
select iteration_release(item(), lease());
delete from graphile_worker._private_jobs;
delete from workers where id = 'left';
select is((select says ->> 'state' from claim(p_worker => 'right') says), 'waiting', 'an item whose host is gone waits for it');
select is((select slot_faculty from item), null, 'without a slot');
select is(pg_temp.jobs((select id from next)), 1::bigint, 'and the one that waits for the slot has a job');

select * from finish();
rollback;
