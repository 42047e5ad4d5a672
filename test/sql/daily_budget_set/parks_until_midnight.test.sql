-- Work whose project has used up its day parks until midnight UTC, and goes on by itself; or at once, when the budget is raised or removed.
begin;
select plan(18);

set local work_ledger.now = '2026-11-20 12:00:00+00';
set local timezone = 'Pacific/Auckland';
select agent('{"max_output_tokens": 4000, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select from daily_budget_set('tokens', 20000, p_project => 'acme/shop');
select take(work_submit('analyze', 'Fix it', p_project => 'acme/shop'));
create function pg_temp.day() returns text language sql as $$
  select format('%s of %s spent, %s reserved, %s left', trim_scale(spent), trim_scale(amount), trim_scale(reserved), trim_scale(remaining)) from v_daily_budgets $$;

select is(drive() ->> 'kind', 'call_model', 'there is room');
select is((select reserved = spent + (select reserved_tokens from turns where id = turn()) from v_daily_budgets), true, 'a request is reserved in the day');
select answer('[["ledger_read"]]', p_more => '{"usage": {"input_tokens": 17000, "output_tokens": 1000}}'), run(), iteration_finish(item(), lease());
select is(pg_temp.day(), '18000 of 20000 spent, 0 reserved, 2000 left', 'and settled by what was used');
select results_eq($$ select j ->> 'kind', (j ->> 'until')::timestamptz from drive() j $$,
  $$ values ('parked', '2026-11-21 00:00:00+00'::timestamptz) $$, 'what has no room parks until the day of UTC ends');
select matches((select state_reason from item),
  '^the budget of 20000 tokens a day of project "acme/shop" is used up: 18000, and the next request needs about \d+ tokens; it continues at midnight UTC$', 'and says why');
select is((select array[waits_for, why] from v_now where work_item_id = item()), (select array['budget', state_reason] from item), 'who looks is told the same');
select is((select remedy from work_ledger_doctor() where work_item_id = item()), 'Nothing, it continues by itself; or raise the budget with daily_budget_set().', 'the doctor says what helps');

select later('11 hours'), work_sweep();
select is((select state from item), 'waiting', 'an hour before midnight it still waits');
select from daily_budget_set('tokens', 20001, p_project => 'acme/shop');
select is((select run_at <= _now() from item), true, 'a budget that is raised wakes it');
select drive();
select is((select run_at from item), '2026-11-21 00:00:00+00', 'a little more is not enough');
delete from graphile_worker._private_jobs;
select is((work_sweep() ->> 'enqueued')::integer, 0, 'until midnight nobody is sent to it');
select later('1 hour');
select is((work_sweep() ->> 'enqueued')::integer, 1, 'then the sweep sends a worker');
select is(drive() ->> 'kind', 'call_model', 'at midnight it goes on');
select is(pg_temp.day() ~ '^0 of 20001 spent, [1-9]', true, 'in a new day');
select answer('[["ledger_read"]]', p_more => '{"usage": {"input_tokens": 20000, "output_tokens": 1}}'), run(), iteration_finish(item(), lease());
select is(drive() ->> 'kind', 'parked', 'until that is used up, too');
select is((daily_budget_set('tokens', null, p_project => 'acme/shop')).amount, 20001::numeric, 'a budget is removed');
select is(drive() ->> 'kind', 'call_model', 'and its work goes on');
select results_eq('select day, trim_scale(spent), reserved from daily_spending', $$ values ('2026-11-20'::date, 18000::numeric, 0::numeric) $$, 'days that are over stay to be looked at');

select * from finish();
rollback;
