-- A project that gets another name keeps its budgets; of two that become one, what both used counts.
begin;
select plan(9);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select faculty_save('{"name": "worker", "accepts": ["analyze"], "project": "shop", "awareness": {"enabled": false}}');
create function pg_temp.days() returns text language sql as $$
  select string_agg(format('%s %s: %s+%s of %s', resource, name, trim_scale(spent), trim_scale(reserved), trim_scale(amount)), ', ' order by resource, name) from v_daily_budgets $$;
create function pg_temp.one(p_item uuid) returns void language sql as $$
  select work_test.drive(p_item), work_test.answer('[["ledger_read"]]', p_item), work_test.run('[]', p_item), iteration_finish(p_item, work_test.lease(p_item)) $$;

select daily_budget_set('calls', 10, p_project => 'shop'), daily_budget_set('calls', 20, p_faculty => 'worker@shop');
select take(work_submit('analyze', 'Fix it', p_project => 'shop'));
select pg_temp.one(item());
select count(*) from project_rename('shop', 'store');
select is(pg_temp.days(), 'calls store: 1+0 of 10, calls worker@store: 1+0 of 20', 'both go with it');
select drive();
select is(pg_temp.days(), 'calls store: 1+1 of 10, calls worker@store: 1+1 of 20', 'its work draws on them');
select count(*) from project_rename('store', 'acme/store');
select is((daily_budget_set('calls', 11, p_project => 'shop')).name, 'acme/store', 'it is set by any name');
select answer('[["ledger_read"]]'), run(), iteration_finish(item(), lease());
select is(pg_temp.days(), 'calls acme/store: 2+0 of 11, calls worker@acme/store: 2+0 of 20', 'what is under way meanwhile is settled');

select pg_temp.one((work_submit('analyze', 'Another', p_project => 'other')).id);
select daily_budget_set('calls', 5, p_project => 'other'), daily_budget_set('tokens', 500000, p_project => 'other');
select drive();
select count(*) from project_rename('acme/store', 'other');
select is((select string_agg(format('%s %s: %s+%s of %s', scope, name, trim_scale(spent), trim_scale(reserved), trim_scale(amount)), ', ' order by scope) from v_daily_budgets where resource = 'calls'),
  'faculty worker@other: 2+1 of 20, project other: 3+1 of 5', 'of two amounts that of the new name stays, and what both used counts');
select is((select format('%s %s', spent, reserved) from v_daily_budgets where resource = 'tokens'), (select format('600 %s', reserved_tokens) from turns where id = turn()), 'where one had none, too');
select is_empty('select * from work_ledger_check()', 'the sums are those of the rows');
select answer('["Done."]');
select is((select sum(reserved) from v_daily_budgets), 0::numeric, 'nothing is left held');
select set_config('work_ledger.now', '2026-11-21 12:00:00+00', true);
select is(pg_temp.days() ~ 'calls other: 0\+0 of 5', true, 'the next day begins anew');

select * from finish();
rollback;
