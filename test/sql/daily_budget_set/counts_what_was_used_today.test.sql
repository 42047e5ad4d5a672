-- What was used today counts when a budget is set, and what is under way is reserved: so it is given back as it was taken.
begin;
select plan(14);

set local work_ledger.now = '2026-11-19 22:00:00+00';
select model_price_save('claude-sonnet-5-5', 3, 15);
select agent('{"max_output_tokens": 4000, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
create function pg_temp.day(p_resource text) returns text language sql as $$
  select format('%s spent, %s reserved', trim_scale(spent), trim_scale(reserved)) from v_daily_budgets where resource = p_resource $$;
create function pg_temp.one(p_item uuid) returns void language sql as $$
  select work_test.drive(p_item), work_test.answer('[["ledger_read"]]', p_item, '{"usage": {"input_tokens": 900, "output_tokens": 100}}'),
         work_test.run('[]', p_item), iteration_finish(p_item, work_test.lease(p_item)) $$;
select take(work_submit('analyze', 'Fix it', p_project => 'shop', p_budget => '{"calls": 30, "tokens": 1000000}'));
select pg_temp.one(item());
select later('12 hours'), pg_temp.one(item()), pg_temp.one((work_submit('analyze', 'Elsewhere', p_project => 'other')).id);
select drive();

select daily_budget_set('tokens', 50000, p_project => 'shop'), daily_budget_set('calls', 5, p_project => 'shop'), daily_budget_set('money', 1, p_project => 'shop'),
  daily_budget_set('seconds', 50, p_project => 'shop');
select is(pg_temp.day('tokens'), (select format('1000 spent, %s reserved', reserved_tokens) from turns where id = turn()), 'the tokens of today count, and those that are reserved');
select is(pg_temp.day('calls'), '1 spent, 1 reserved', 'and the calls');
select is(pg_temp.day('money'), (select format('0.0042 spent, %s reserved', trim_scale(reserved_money)) from turns where id = turn()), 'and the money');
select is(pg_temp.day('seconds'), '0 spent, 0 reserved', 'seconds count from now on');
select from daily_budget_set('calls', 6, p_project => 'shop');
select is(pg_temp.day('calls'), '1 spent, 1 reserved', 'another amount changes nothing of that');
select answer('[["ledger_read"]]', p_more => '{"usage": {"input_tokens": 900, "output_tokens": 100}}'), run(), iteration_finish(item(), lease());
select is(pg_temp.day('tokens') || ', ' || pg_temp.day('calls'), '2000 spent, 0 reserved, 2 spent, 0 reserved', 'what was reserved before is given back');

select drive();
select from daily_budget_set('calls', null, p_project => 'shop');
select is_empty($$ select from daily_spending where resource = 'calls' $$, 'a budget is removed while something is reserved in it');
select from daily_budget_set('calls', 7, p_project => 'shop');
select is(pg_temp.day('calls'), '2 spent, 1 reserved', 'set again, it has what was used and what is reserved');
select from daily_budget_set('tokens', null, p_project => 'shop');
select answer('[["ledger_read"]]', p_more => '{"usage": {"input_tokens": 900, "output_tokens": 100}}'), run(), iteration_finish(item(), lease());
select is(pg_temp.day('calls'), '3 spent, 0 reserved', 'and the call that was under way is settled');
select is((daily_budget_set('tokens', null, p_project => 'shop')).name, null, 'what is not there is not removed');

select take(work_submit('analyze', 'Without a limit', p_project => 'shop', p_faculty => 'worker'));
select daily_budget_set('calls', null, p_project => 'shop'), daily_budget_set('money', null, p_project => 'shop'), daily_budget_set('seconds', null, p_project => 'shop');
select drive();
select from daily_budget_set('calls', 7, p_project => 'shop');
select is(pg_temp.day('calls'), '3 spent, 0 reserved', 'what was begun without a budget is reserved nowhere');
select answer('["Done."]');
select is(pg_temp.day('calls'), '4 spent, 0 reserved', 'and counts when it is answered');

select count(*) from work_cancel(item());
select work_erase(item()), work_retention_run();
select is(pg_temp.day('calls'), '4 spent, 0 reserved', 'what erased work used was used');
select later('401 days'), work_retention_run();
select is_empty('select from daily_spending', 'a day is looked at for 400 days');

select * from finish();
rollback;
