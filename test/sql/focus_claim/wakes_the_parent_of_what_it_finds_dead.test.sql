-- A claim that finds that the last worker died for good ends the item, and wakes the parent that waits for it.
begin;
select plan(4);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
select submit('Fix it');
create temporary table child as select (work_submit('analyze', 'A part of it', p_parent_id => item(), p_max_attempts => 1)).id;
select drive(), answer(format('[["await_child_work", {"work_item_ids": ["%s"]}]]', (select id from child))::jsonb), run();
select is(iteration_finish(item(), lease()) ->> 'kind', 'parked', 'the parent waits for its child');
select drive((select id from child)), later('1 hour');
delete from graphile_worker._private_jobs;
select is(focus_claim((select id from child), 'w2') ->> 'state', 'dead', 'the only attempt of the child has killed its worker');
select is((select count(*) from graphile_worker.jobs where key like '%' || item() || '%'), 1::bigint, 'the parent is woken');
select is(drive() ->> 'kind', 'run_tools', 'and goes on');

select * from finish();
rollback;
