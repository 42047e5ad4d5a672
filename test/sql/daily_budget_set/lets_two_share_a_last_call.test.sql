-- Two items of one project have one call left: one makes it, the other waits for what is held, and parks when it is used up.
begin;
select plan(6);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select from daily_budget_set('calls', 1, p_project => 'shop');
create temporary table two as select n, (work_submit('analyze', format('Part %s', n), p_project => 'shop')).id from generate_series(1, 2) n;
create function pg_temp.nth(p_n integer) returns uuid language sql as $$ select id from two where n = p_n $$;

select is(drive(pg_temp.nth(1)) ->> 'kind', 'call_model', 'the first has the call');
select is(drive(pg_temp.nth(2)) ->> 'reason', 'the rest of a budget is reserved by running model calls', 'the second is not told that the budget is used up');
select count(*) from work_cancel(pg_temp.nth(1));
select is((select trim_scale(spent) from v_daily_budgets), 1::numeric, 'what is broken off counts');
select later('10 minutes');
select is(drive(pg_temp.nth(2)) ->> 'kind', 'parked', 'so the second parks');
select is((select run_at from work_items where id = pg_temp.nth(2)), '2026-11-21 00:00:00+00', 'until midnight');
select is_empty('select * from work_ledger_check()', 'nothing is held');

select * from finish();
rollback;
