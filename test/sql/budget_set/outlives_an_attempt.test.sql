-- A budget that a person set is not taken back by the faculty's when the next attempt begins.
begin;
select plan(4);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent(p_more => '{"budget": {"tokens": 50000}}');
select submit('Fix it');
create function pg_temp.amount() returns numeric language sql as $$ select trim_scale(amount) from budgets where work_item_id = item() and resource = 'tokens' $$;
select drive(), answer('[["ledger_read"]]', p_more => '{"usage": {"input_tokens": 3000, "output_tokens": 200}}'), run(), iteration_finish(item(), lease());
select is(pg_temp.amount(), 50000::numeric, 'the first attempt gives an item the budget of its faculty');
select from budget_set(item(), 'tokens', 90000);
select agent(p_more => '{"budget": {"tokens": 50000, "calls": 20}}');
select give_up(), later('1 hour');
select is(drive() ->> 'kind', 'call_model', 'the next attempt begins');
select is(pg_temp.amount(), 90000::numeric, 'with what the person raised it to');
select results_eq($$ select spent, reserved from budgets where work_item_id = item() and resource = 'calls' $$, $$ values (1::numeric, 1::numeric) $$,
  'a budget that the faculty gives since counts the call of the first attempt, too');

select * from finish();
rollback;
