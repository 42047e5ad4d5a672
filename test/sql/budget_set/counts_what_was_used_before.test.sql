-- A budget that is set for work under way counts what the work and everything below it have used, once.
begin;
select plan(5);

select agent('{"max_output_tokens": 4000, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select model_price_save('claude-sonnet-5-5', 3, 15);
select submit('Fix it');
create temporary table lead as select item() as id;
select drive(), answer('[["ledger_read"]]', p_more => '{"usage": {"input_tokens": 3000, "output_tokens": 200}}'), run(), iteration_finish(item(), lease());
select take(work_submit('analyze', 'A part of it', p_parent_id => item()));
select drive(), answer('[["ledger_read"]]', p_more => '{"usage": {"input_tokens": 1000, "output_tokens": 100}}'), run(), iteration_finish(item(), lease());
select take(id) from lead;
create function pg_temp.spent() returns jsonb language sql as $$ select jsonb_object_agg(resource, trim_scale(spent)) from budgets where work_item_id = item() $$;

select from unnest('{tokens,money,calls,children,seconds}'::text[]) r cross join lateral budget_set(item(), r, 4000);
select is(pg_temp.spent(), '{"tokens": 4300, "money": 0.0165, "calls": 2, "children": 1, "seconds": 0}', 'of the item and of its child');
select is(drive() ->> 'kind', 'parked', 'what it has used already holds it');
select matches((select state_reason from item), 'the budget of 4000 tokens .* is used up: 4300', 'with what it was');
select from budget_set(item(), 'tokens', 50000);
select is(pg_temp.spent() -> 'tokens', '4300', 'another amount counts nothing twice');
select is(drive() ->> 'kind', 'call_model', 'and lets it go on');

select * from finish();
rollback;
