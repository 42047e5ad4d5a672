-- cost_cuts() holds what a cut was to save against what the provider counted.
begin;
select plan(6);

select agent('{"tools": ["look"], "elide_budget": 0, "model": "m"}');
select model_price_save('m', 10, 50);
select submit('Fix it');
create function pg_temp.ask(p_input integer, p_read integer, p_written integer, p_says jsonb default '[["look", "b"]]') returns text language sql as $$
  select play(jsonb_build_array(p_says), p_more => jsonb_build_object('usage', jsonb_build_object(
    'input_tokens', p_input, 'output_tokens', 0, 'cached_input_tokens', p_read, 'cache_write_tokens', p_written)))
$$;
select pg_temp.ask(0, 0, 2000, format('[["look", "%s"]]', repeat('a', 40000))::jsonb);
select pg_temp.ask(0, 2000, 10000, '[["step", "Looked"]]');
select is_empty($$ select * from cost_cuts(item()) $$, 'no cut, nothing to compare');
select pg_temp.ask(0, 1900, 300);
select pg_temp.ask(0, 2200, 100);

select is((select count(*) from cost_cuts(item())), 1::bigint, 'the cut after the step');
select results_eq($$ select cut, blocks, expected_left, expected_rewritten, expected_after from cost_cuts(item()) $$,
  $$ select 'elision', '1', e.tokens_elided - e.stub_tokens - e.kept_tokens, e.tokens_kept + e.stub_tokens + e.kept_tokens, _breaks_even_after(e, 'm') from elisions e $$, 'the forecast is that of the decision');
create temporary table new_content as
  select _tokens(_results_chars(b.id) + char_length(_query_blocks(t.id)), 'm') as tokens from turns t join turns b on b.id = t.parent_turn_id where t.iteration = 3;
select results_eq($$ select left_tokens, rewritten_tokens, requests from cost_cuts(item()) $$,
  $$ select 12000::bigint + tokens - 2200, greatest(300 - tokens, 0)::bigint, 2 from new_content $$, 'what came: 12,000 and what is new became 2,200');
select results_eq($$ select saved_tokens, saved_cost from cost_cuts(item()) $$,
  $$ select round(2 * left_tokens * 0.1 - rewritten_tokens * 1.15, 1), round(round(2 * left_tokens * 0.1 - rewritten_tokens * 1.15, 1) / 100000, 6) from cost_cuts(item()) $$,
  'each request since saved reading what left; writing again cost once');
select throws_ok($$ select cost_cuts(_uuidv7()) $$, 'WL001', null, 'an item that does not exist');

select * from finish();
rollback;
