-- Writing to the cache for an hour has a price of its own, wherever money is counted, and what was written lives an hour.
begin;
select plan(6);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"tools": ["look"], "cache_ttl": "1h", "model": "m"}');
select from model_save('m', p_cache_write => 1.25, p_cache_write_1h => 2);
select from model_price_save('m', 10, 50);
select submit('Fix it');
select from budget_set(item(), 'money', 100);
select play('[[["look"]]]', p_more => '{"usage": {"input_tokens": 0, "output_tokens": 0, "cache_write_tokens": 100000}}');

select is((select cache_write_cost from v_cost_turns), 2::numeric, 'twice the input price');
select is((select cost from cost_by('total')), 2::numeric, 'so it is in sums');
select is((_usage_of(array[item()])).cost, 2::numeric, 'and of the item');
select is((select spent from budgets where resource = 'money'), 2::numeric, 'its budget is charged so');
select later('40 minutes');
select play('[[["look"]]]', p_more => '{"usage": {"input_tokens": 10, "output_tokens": 0, "cached_input_tokens": 0, "cache_write_tokens": 100000}}');
select is((select array_agg(cache order by iteration) from v_cost_turns), array['first', 'other'], 'what was missed after 40 minutes had not expired');
select is((select c.cache_write from _relative_prices('m', '1h') c), 2::numeric, 'a cut is held against the price of an hour');

select * from finish();
rollback;
