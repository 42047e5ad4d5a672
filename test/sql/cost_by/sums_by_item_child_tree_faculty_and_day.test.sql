-- cost_by() sums what requests cost by item, child, tree, faculty, model and day; it counts apart what has no price.
begin;
select plan(11);

set local work_ledger.now = '2026-01-01 23:59:00+00';
select agent('{"model": "m"}');
select faculty_save('{"name": "aide", "accepts": ["part"], "engage": {"model": "n"}}');
select model_price_save('m', 10, 50); -- 1 to read from the cache, 12.5 to write
select submit('Fix it');
create temporary table tree as select item() as root, null::uuid as child, null::uuid as grandchild;

create function pg_temp.ask(p_says jsonb) returns text language sql as $$
  select play(jsonb_build_array(p_says), p_more => '{"usage": {"input_tokens": 1000, "output_tokens": 2000, "cached_input_tokens": 3000, "cache_write_tokens": 4000}}')
$$;
select pg_temp.ask('[["note", "Begun"]]');
update tree set child = (work_submit('part', 'A part', p_parent_id => root)).id;
update tree set grandchild = (work_submit('part', 'A part of it', p_parent_id => child)).id;
select later('2 minutes');
select pg_temp.ask('[["note", "Gone on"], ["step", "Begun"]]');
select pg_temp.ask('[["look"], "Here"]');
select take(child) from tree;
select pg_temp.ask('["Done."]');
select take(grandchild) from tree;
select pg_temp.ask('["Done."]');

select results_eq($$ select requests, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, cost, unpriced_requests from cost_by('total') $$,
  $$ values (5::bigint, 5000::bigint, 15000::bigint, 20000::bigint, 10000::bigint, 0.489, 2::bigint) $$, 'in total');
select results_eq($$ select key, says, requests, cost, unpriced_requests from cost_by('item') order by requests desc, says $$,
  $$ select root::text, 'Fix it', 3::bigint, 0.489, 0::bigint from tree union all select child::text, 'A part', 1, null, 1 from tree union all select grandchild::text, 'A part of it', 1, null, 1 from tree $$,
  'by item; without a price there is no cost');
select model_price_save('n', 100, 0, p_cache_read => 0, p_cache_write => 0);
select results_eq($$ select key, cost from cost_by('child', (select root from tree)) $$, $$ select root::text, 0.489 from tree union all select child::text, 0.2 from tree $$,
  'by child: each with what is below it');
select results_eq($$ select key, cost from cost_by('tree') $$, $$ select root::text, 0.689 from tree $$, 'by tree');
select results_eq($$ select key, cost from cost_by('faculty') $$, $$ values ('worker', 0.489), ('aide', 0.2) $$, 'by faculty');
select results_eq($$ select key, cost from cost_by('model') $$, $$ values ('m', 0.489), ('n', 0.2) $$, 'by model');
select results_eq($$ select key, cost from cost_by('day') $$, $$ values ('2026-01-01', 0.163), ('2026-01-02', 0.526) $$, 'by day, of the answer');
select results_eq($$ select key, cost from cost_by('item', (select child from tree)) $$, $$ select child::text, 0.1 from tree union all select grandchild::text, 0.1 from tree $$, 'below one item only');
select is((select step_cost from cost_by('item', item()) where key = item()::text), 0::numeric, 'who records no step pays for none');
select is((select step_cost from v_cost_turns where step_tokens > 0), 0.163, 'a request that did nothing but record is the price of its step');
select throws_ok($$ select cost_by('colour') $$, 'WL002', 'cost cannot be shown by colour', 'other words are refused');

select * from finish();
rollback;
