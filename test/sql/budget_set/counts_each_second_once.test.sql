-- Time counts once, however often it is looked at while one worker goes on; a call counts that was under way when its budget was set.
begin;
select plan(5);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
select take(work_submit('analyze', 'Fix it', p_budget => '{"seconds": 1000}'));
create function pg_temp.spent(p_resource text) returns numeric language sql as $$ select trim_scale(spent) from budgets where work_item_id = item() and resource = p_resource $$;
select drive(), later('5 seconds');
select answer('[["note", "n"]]'), run();
select from lease_renew('w', array[item()], array[lease()]);
select is(iteration_finish(item(), lease(), 1, 5) ->> 'kind', 'continued', 'the worker goes on under its lease');
select is(pg_temp.spent('seconds'), 5::numeric, 'its first five seconds count before the next request');
select later('3 seconds'), iteration_release(item(), lease());
select is(pg_temp.spent('seconds'), 8::numeric, 'with three more they are eight');

select submit('Without a budget');
select drive();
select from budget_set(item(), 'calls', 1);
select is(answer('[["note", "n"]]') is not null, true, 'a budget is set while a request is under way');
select is(pg_temp.spent('calls'), 1::numeric, 'its call counts');

select * from finish();
rollback;
