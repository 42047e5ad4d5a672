-- People interrupt, pause, resume and cancel who waits, and an attempt that ends leaves no wait behind.
begin;
select plan(11);

select agent('{"tools": ["look"]}');
create temporary table other as select (work_submit('analyze', 'Other')).id;
create function pg_temp.wait() returns json language sql as $$
  select drive();
  select answer(format('[["wait_for", {"work_item_ids": ["%s"]}], ["look"]]', (select id from other))::jsonb);
  select run();
  select iteration_finish(item(), lease());
$$;
create function pg_temp.waiters() returns bigint language sql as $$ select count(*) from _awaited_by((select id from other)) $$;

select submit('Interrupted');
select is(pg_temp.wait() ->> 'kind', 'parked', 'it waits');
select work_message(item(), 'Never mind', true);
delete from graphile_worker._private_jobs;
select work_sweep();
select is((select count(*) from graphile_worker.jobs where key like '%' || item() || '%'), 1::bigint, 'an interruption whose job was lost wakes it');
select drive();
select ok((select result #>> '{}' like '[engine] The wait was interrupted; some of that work has not ended.%' from tool_calls where id = call('t1_1')), 'a person interrupts');
select is(pg_temp.waiters(), 0::bigint, 'and nobody waits');

select submit('Paused'), pg_temp.wait(), work_pause(item());
select is(pg_temp.waiters(), 1::bigint, 'who is paused waits on');
select work_resume(item());
select is(drive() ->> 'kind', 'run_tools', 'resumed it goes on where it was');
select is(iteration_finish(item(), lease()) ->> 'kind', 'parked', 'and waits again');
select throws_ok(format('select work_fork(%L)', turn()), 'WL008', null, 'what waits is not forked in the middle of its wait');
select work_pause(item()), work_resume(item()), drive(), give_up();
select is((select min(status) from tool_calls where work_item_id = item() and tool_name = 'wait_for'), 'failed', 'the next attempt does not wait');
select is(pg_temp.waiters(), 0::bigint, 'nor does the one that ended');

select submit('Cancelled'), pg_temp.wait();
select work_cancel(item());
select is(pg_temp.waiters(), 0::bigint, 'who is cancelled waits for nothing');

select * from finish();
rollback;
