-- Near its end a budget shortens the answer that is asked for; used up, it parks the work until it is raised.
begin;
select plan(6);

select agent('{"max_output_tokens": 4000, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select take(work_submit('analyze', 'Fix it', p_budget => '{"tokens": 20000}'));
update budgets set spent = 15000 where work_item_id = item() and resource = 'tokens';

select is(drive() ->> 'kind', 'call_model', 'when there is not enough for a long answer …');
select is((stage() #>> '{request,max_tokens}')::integer between 1000 and 3999, true, '… a shorter one is asked for');
select is((select spent + reserved = 20000 from budgets where resource = 'tokens'), true, 'the budget is reserved to its last token');
select answer('[["ledger_read"]]', p_more => '{"usage": {"input_tokens": 3000, "output_tokens": 900}}'), run(), iteration_finish(item(), lease());
select is(drive() ->> 'kind', 'parked', 'work whose budget is used up parks');
select results_eq($$ select state, run_at, state_reason ~ '^the budget of 20000 tokens of work item .* is used up: 18900, and the next request needs about \d+ tokens$' from item $$,
  $$ values ('waiting', 'infinity'::timestamptz, true) $$, 'the reason says what is used up, and what would be needed');
select from budget_set(item(), 'tokens', 40000);
select is(drive() ->> 'kind', 'call_model', 'a budget that is raised lets the work go on by itself');

select * from finish();
rollback;
