-- A request that the provider refused costs nothing; one that was broken off costs what the model read.
begin;
select plan(5);

select agent('{"max_output_tokens": 4000, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select take(work_submit('analyze', 'Fix it', p_budget => '{"tokens": 20000}'));
create function pg_temp.budget(p_resource text) returns table (spent numeric, reserved numeric) language sql as $$
  select trim_scale(spent), reserved from budgets where work_item_id = item() and resource = p_resource;
$$;

select drive();
select answer('[["ledger_read"]]', p_more => '{"usage": {"input_tokens": 3000, "output_tokens": 200}}'), run(), iteration_finish(item(), lease());
select is(drive() ->> 'kind', 'call_model', 'there is enough for a next request');
select is(iteration_fail(item(), lease(), '{"class": "overloaded"}') ->> 'kind', 'retry', 'the provider refuses the request');
select results_eq($$ select * from pg_temp.budget('tokens') $$, $$ values (3200::numeric, 0::numeric) $$, 'a refused request costs nothing');
update models set cooldown_ends_at = null;
update work_items set run_at = _now() where id = item();
select drive();
create temporary table asked as select reserved_input_tokens as input from turns where id = turn();
select is((select input > 1300 and input < 5000 from asked), true, 'what the model reads is estimated when it is asked');
select work_message(item(), 'Stop', true);
select results_eq($$ select * from pg_temp.budget('tokens') $$, $$ select 3200 + input::numeric, 0::numeric from asked $$, 'of a request that was broken off what the model read is counted, and nothing else');

select * from finish();
rollback;
