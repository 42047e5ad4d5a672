-- A call that begins before midnight is of that day, however it ends; seconds are of the day in which they are counted.
begin;
select plan(13);

set local work_ledger.now = '2026-11-20 23:59:50+00';
select agent('{"max_output_tokens": 4000, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select daily_budget_set('calls', 10, p_project => 'shop'), daily_budget_set('seconds', 1000, p_project => 'shop'),
  daily_budget_set('tokens', 100000, p_faculty => 'worker');
select take(work_submit('analyze', 'Fix it', p_project => 'shop'));
create function pg_temp.day(p_resource text, p_day integer) returns text language sql as $$
  select format('%s spent, %s reserved', trim_scale(spent), trim_scale(reserved)) from daily_spending where resource = p_resource and extract(day from day) = p_day $$;

select drive();
select later('20 seconds'), answer('[["ledger_read"]]', p_more => '{"usage": {"input_tokens": 900, "output_tokens": 100}}'), run();
select is(pg_temp.day('calls', 20), '1 spent, 0 reserved', 'a call that is answered after midnight counts in the day in which it was reserved');
select is(pg_temp.day('tokens', 20), '1000 spent, 0 reserved', 'with its tokens');
select is(pg_temp.day('calls', 21), '0 spent, 0 reserved', 'and not in the next one');
select iteration_finish(item(), lease());
select is(pg_temp.day('seconds', 21), '20 spent, 0 reserved', 'its seconds count when they are counted');

select set_config('work_ledger.now', '2026-11-21 23:59:50+00', true);
select drive();
create temporary table asked as select reserved_input_tokens as input from turns where id = turn();
select later('1 hour'), work_sweep();
select is(pg_temp.day('calls', 21), '1 spent, 0 reserved', 'a call whose lease was lost over midnight is of the day before');
select is(pg_temp.day('tokens', 21), (select input || ' spent, 0 reserved' from asked), 'with the tokens that the model read');
select is(pg_temp.day('seconds', 22), '30 spent, 0 reserved', 'its seconds are of the new day');

select set_config('work_ledger.now', '2026-11-22 23:59:50+00', true);
select drive(), later('20 seconds');
select is(iteration_fail(item(), lease(), '{"class": "overloaded"}') ->> 'kind', 'retry', 'a provider refuses over midnight');
select is(pg_temp.day('calls', 22), '0 spent, 0 reserved', 'and nothing counts');
select is((select reserved_on from turns where id = turn()), null::date, 'what is reserved nowhere has no day');
select is_empty('select * from work_ledger_check()', 'nothing is left held');

select later('10 minutes'), drive(), later('24 hours');
select from daily_budget_set('calls', null, p_project => 'shop');
select is(pg_temp.day('calls', 23), '0 spent, 0 reserved', 'a budget is removed a day after a call began');
select answer('["Done."]');
select is(pg_temp.day('calls', 23), '0 spent, 0 reserved', 'which counts nowhere then');

select * from finish();
rollback;
