-- A new budget holds what running calls reserved in other budgets, so that each gives back to it just that.
begin;
select plan(4);

select agent('{"max_output_tokens": 4000, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select model_price_save('claude-sonnet-5-5', 3, 15);
create temporary table lead as select * from work_submit('other', 'Delegate', p_budget => '{"calls": 10}');
select take(c) from lead p, spawn_child_work(p.id, 'analyze', 'A part') c;
create function pg_temp.budget(p_resource text) returns table (spent numeric, reserved numeric) language sql as $$
  select trim_scale(spent), trim_scale(reserved) from budgets where work_item_id = (select id from lead) and resource = p_resource $$;

select drive();
select budget_set(id, 'tokens', 50000), budget_set(id, 'money', 1) from lead;
select results_eq($$ select * from pg_temp.budget('tokens') $$, $$ select 0::numeric, reserved_tokens::numeric from turns where id = turn() $$,
  'the tokens of a running call of a child');
select results_eq($$ select * from pg_temp.budget('money') $$, $$ select 0::numeric, trim_scale(reserved_money) from turns where id = turn() $$,
  'and what they may cost');
select from budget_set((select id from lead), 'tokens', 60000);
select results_eq($$ select * from pg_temp.budget('tokens') $$, $$ select 0::numeric, reserved_tokens::numeric from turns where id = turn() $$,
  'once, however often its amount changes');
select answer('[["ledger_read"]]', p_more => '{"usage": {"input_tokens": 3000, "output_tokens": 200}}');
select results_eq($$ select * from pg_temp.budget('tokens') $$, $$ values (3200::numeric, 0::numeric) $$, 'which the answer gives back and charges');

select * from finish();
rollback;
