-- What a request may use is reserved before it is sent and settled by what the provider counted; without a price there is no request on a budget of money.
begin;
select plan(11);

select agent('{"max_output_tokens": 4000, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}, "budget": {"calls": 50}}');
select take(work_submit('analyze', 'Fix it', p_budget => '{"tokens": 20000, "money": 2}'));
create function pg_temp.budget(p_resource text) returns table (spent numeric, reserved numeric) language sql as $$
  select trim_scale(spent), reserved from budgets where work_item_id = item() and resource = p_resource;
$$;

select is(drive() ->> 'kind', 'parked', 'without a price of the model work with a budget of money parks');
select matches((select state_reason from item), '^model claude-sonnet-5-5 has no price', 'the reason names the model');
select is(claim() ->> 'kind', 'claimed', 'a job in vain claims the item …');
select is(begin_iteration() ->> 'kind', 'parked', '… and it parks again');
select from model_price_save('claude-sonnet-5-5', 100, 500);
select is(drive() ->> 'kind', 'call_model', 'with a price the work begins');
select is((select b.reserved > 4000 and b.reserved < 12000 and b.spent = 0 from pg_temp.budget('tokens') b), true, 'the tokens of the input and all that the model may answer are reserved');
select is((select reserved from pg_temp.budget('calls')), 1::numeric, 'a call is reserved of the faculty''s budget');
select is((iteration_begin(item(), lease()) ->> 'kind', (select reserved from pg_temp.budget('calls')))::text, '(call_model,1)', 'a request that is asked for again reserves nothing twice');
select answer('[["ledger_read"]]', p_more => '{"usage": {"input_tokens": 3000, "output_tokens": 200}}'), run(), iteration_finish(item(), lease());
select results_eq($$ select * from pg_temp.budget('tokens') $$, $$ values (3200::numeric, 0::numeric) $$, 'tokens are settled by what the provider counted');
select results_eq($$ select * from pg_temp.budget('money') $$, $$ values (0.4::numeric, 0::numeric) $$, 'money is settled by what that costs');
select is((select trim_scale(cost) from v_usage where work_item_id = item()), 0.4, 'v_usage has what the work cost');

select * from finish();
rollback;
