begin;
select plan(35);

select from faculty_save('{"name": "worker", "accepts": ["analyze"], "engage": {"max_output_tokens": 4000, "ledger_nudge_interval": 0}, "awareness": {"enabled": false}, "budget": {"calls": 50}}');
create temporary table item as select * from work_submit('analyze', 'Mend it', p_budget => '{"tokens": 20000, "money": 2}');
create temporary table held (lease uuid, stage json);
create function pg_temp.next() returns json language plpgsql as $$
begin
  delete from held;
  insert into held (lease) select (focus_claim((select id from item), 'w') ->> 'lease')::uuid;
  update held set stage = iteration_begin((select id from item), lease);
  return (select stage from held);
end
$$;
create function pg_temp.answered(p_input integer, p_output integer, p_more text default '') returns void language plpgsql as $$
begin
  perform turn_record((select id from item), (select lease from held), (select (stage ->> 'turn_id')::uuid from held), format(
    '{"stop_reason": "tool_use", "usage": {"input_tokens": %s, "output_tokens": %s}, "content": [{"type": "tool_use", "id": "a", "name": "ledger_read", "input": {}}]}', p_input, p_output)::json);
  perform tool_call_execute((select id from item), (select lease from held), id) from tool_calls where work_item_id = (select id from item) and status = 'pending';
  perform iteration_finish((select id from item), (select lease from held));
end
$$;
create function pg_temp.budget(p_resource text) returns table (spent numeric, reserved numeric) language sql as $$
  select spent, reserved from budgets where work_item_id = (select id from item) and resource = p_resource;
$$;

select throws_ok($$ select budget_set((select id from item), 'patience', 1) $$, 'WL002', null, 'of a resource that there is');
select throws_ok($$ select budget_set((select id from item), 'tokens', -1) $$, 'WL002', null, 'not below zero');
select throws_ok($$ select budget_set((select id from item), 'tokens', 'NaN') $$, 'WL002', null, 'a number');
select throws_ok($$ select budget_set(gen_random_uuid(), 'tokens', 1) $$, 'WL001', null, 'of an item that there is');
select throws_ok($$ select work_submit('analyze', 'x', p_budget => '{"tokens": "many"}') $$, 'WL002', null, 'amounts are numbers');
select throws_ok($$ select work_submit('analyze', 'x', p_budget => '[1]') $$, 'WL002', null, 'a budget names its resources');
select throws_ok($$ select faculty_save('{"name": "x", "budget": {"tokens": -5}}') $$, 'WL002', null, 'a faculty''s too');
select throws_ok($$ select model_price_save('claude-sonnet-5-5', -1, 2) $$, 'WL002', null, 'no price is negative');

select is(pg_temp.next() ->> 'kind', 'parked', 'money without a price: nobody can say what is left');
select matches((select state_reason from work_items where id = (select id from item)), '^no price of model claude-sonnet-5-5 is known', 'which is said');
select is(focus_claim((select id from item), 'w') ->> 'kind', 'claimed', 'rung in vain …');
select is(iteration_begin((select id from item), (select lease_token from work_items where id = (select id from item))) ->> 'kind', 'parked', '… it parks again');
select from model_price_save('claude-sonnet-5-5', 100, 500);
select is(pg_temp.next() ->> 'kind', 'call_model', 'with a price the work begins');
select is((select work_ledger.reserved > 4000 and work_ledger.reserved < 12000 and work_ledger.spent = 0 from pg_temp.budget('tokens') work_ledger), true, 'held: its input and all it may answer');
select is((select reserved from pg_temp.budget('calls')), 1::numeric, 'and a call, of the faculty''s budget');
select is((iteration_begin((select id from item), (select lease from held)) ->> 'kind', (select reserved from pg_temp.budget('calls')))::text, '(call_model,1)', 'asked again, nothing is held twice');
select pg_temp.answered(3000, 200);
select results_eq($$ select * from pg_temp.budget('tokens') $$, $$ values (3200::numeric, 0::numeric) $$, 'settled by what the provider counted');
select results_eq($$ select trim_scale(spent), reserved from pg_temp.budget('money') $$, $$ values (0.4::numeric, 0::numeric) $$, 'and by what that costs');
select is((select trim_scale(cost) from v_usage where work_item_id = (select id from item)), 0.4, 'the view says so too');

select from budget_set((select id from item), 'money', 100);
select is(pg_temp.next() ->> 'kind', 'call_model', 'the next one');
select is(iteration_fail((select id from item), (select lease from held), '{"class": "overloaded"}') ->> 'kind', 'retry', 'is refused by the provider');
select results_eq($$ select * from pg_temp.budget('tokens') $$, $$ values (3200::numeric, 0::numeric) $$, 'who charges nothing');
update models set cooldown_ends_at = null;
update work_items set run_at = _now() where id = (select id from item);
select pg_temp.next();
select work_message((select id from item), 'Stop', true);
select is((select spent > 4500 and reserved = 0 from pg_temp.budget('tokens')), true, 'broken off: what the model read is counted');
update budgets set spent = 15000 where work_item_id = (select id from item) and resource = 'tokens';
select is(pg_temp.next() ->> 'kind', 'call_model', 'when there is not enough for a long answer …');
select is((select (stage #>> '{request,max_tokens}')::integer between 1000 and 3999 from held), true, '… a shorter one is asked for');
select is((select spent + reserved = 20000 from pg_temp.budget('tokens')), true, 'to the last token');
select pg_temp.answered(3000, 900);
select is(pg_temp.next() ->> 'kind', 'parked', 'used up: the item parks');
select results_eq($$ select state, run_at, state_reason ~ '^the budget of 20000 tokens of work item .* is used up: 18900, and the next request needs about \d+ tokens$' from work_items where id = (select id from item) $$,
  $$ values ('waiting', 'infinity'::timestamptz, true) $$, 'and says why');
select from budget_set((select id from item), 'tokens', 40000);
select is(pg_temp.next() ->> 'kind', 'call_model', 'raised: it goes on by itself');
update foci set leased_at = _now() - interval '90 seconds';
select pg_temp.answered(3000, 100);
select from budget_set((select id from item), 'seconds', 60);
select is(pg_temp.next() ->> 'kind', 'call_model', 'time counts from when there is a budget of it');
update foci set leased_at = _now() - interval '90 seconds';
select pg_temp.answered(3000, 100);
select is(pg_temp.next() ->> 'kind', 'parked', 'and is used up');
select matches((select state_reason from work_items where id = (select id from item)), 'the budget of 60 seconds .* is used up: 90', 'as was measured');

create temporary table parent as select * from work_submit('other', 'Delegate', p_budget => '{"children": 1, "tokens": 100}');
create temporary table child as select c.* from parent p, spawn_child_work(p.id, 'analyze', 'A part') c;
select throws_ok($$ select spawn_child_work((select id from parent), 'analyze', 'Another part') $$, 'WL009', null, 'no more children than there are');
delete from item;
insert into item select * from child;
select is(pg_temp.next() ->> 'kind', 'parked', 'a child draws on its parent''s budget');
select matches((select state_reason from work_items where id = (select id from item)), 'the budget of 100 tokens of work item ' || (select id from parent), 'and says whose it is');

select * from finish();
rollback;
