-- A wait for children that a worker begins again, since it did not hear the answer, ends when it would have ended.
begin;
select plan(3);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
select submit('Fix it');
create temporary table child as select (work_submit('analyze', 'A part of it', p_parent_id => item())).id;
select drive(), answer(format('[["await_child_work", {"work_item_ids": ["%s"], "timeout_seconds": 60}]]', (select id from child))::jsonb), run();
select later('20 seconds');
select is(tool_call_execute(item(), lease(), call('t1_1')), '{}', 'the call is begun again');
select is((iteration_finish(item(), lease()) ->> 'until')::timestamptz, '2026-11-20 12:01:00+00', 'the wait ends a minute after it began');
select later('41 seconds');
select is(drive() ->> 'kind', 'run_tools', 'then the work goes on');

select * from finish();
rollback;
