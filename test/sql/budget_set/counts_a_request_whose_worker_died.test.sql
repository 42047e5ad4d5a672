-- A request whose worker died is a call that was made; nothing of it stays reserved, and time counts up to the end of the lease.
begin;
select plan(4);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
select take(work_submit('analyze', 'Fix it', p_budget => '{"calls": 3, "seconds": 1000, "tokens": 100000}'));
create function pg_temp.budget(p_resource text) returns text language sql as $$
  select format('%s spent, %s reserved', trim_scale(spent), trim_scale(reserved)) from budgets where work_item_id = item() and resource = p_resource $$;
select drive();
select is(pg_temp.budget('calls'), '0 spent, 1 reserved', 'a call is reserved before it is made');
select later('1 hour');
select from work_sweep();
select is(pg_temp.budget('calls'), '1 spent, 0 reserved', 'a call whose worker died counts as made, and is not reserved any more');
select is(pg_temp.budget('seconds'), '30 spent, 0 reserved', 'its worker had it for as long as its lease lasted');
select drive(), answer('[["note", "n"]]'), run(), iteration_finish(item(), lease());
select is(pg_temp.budget('calls'), '2 spent, 0 reserved', 'the next worker made the second call');

select * from finish();
rollback;
