-- A model begins with what is known of its family; how many tokens a character has is learned from what the provider counts.
begin;
select plan(10);

select is((select tokens_per_char from model_save('claude-opus-4-6')), 0.34::double precision, 'a model begins with what is known of its family');
select is((select context_window from model_save('claude-opus-4-6', 1000000)), 1000000, 'the context window of a model is set');
select is((select context_window from model_save('claude-opus-4-6')), 1000000, 'a context window stays until it is set again');
select throws_ok($$ select model_save(' ') $$, 'WL002', null, 'a model without a name is refused');
select throws_ok($$ select model_save('x', 10) $$, 'WL002', null, 'a context window of ten tokens is refused');
select throws_ok($$ select model_save('x', p_cache_write => -1) $$, 'WL002', null, 'a negative price of writing to the cache is refused');

select agent('{"tools": ["look"], "model": "some-model"}');
select submit('Fix it');
-- A response, the tokens of its request and of itself, and the result of its call.
create function pg_temp.say(p_input integer, p_output integer, p_result text) returns void language sql as $$
  select play(jsonb_build_array(jsonb_build_array(jsonb_build_array('look', p_result))),
    p_more => jsonb_build_object('model', 'some-model', 'usage', jsonb_build_object('input_tokens', p_input, 'output_tokens', p_output))) $$;
select pg_temp.say(3000, 100, repeat('x', 9998));
select is((select count(*) from models where name = 'some-model'), 0::bigint, 'one request measures nothing');
select pg_temp.say(3000 + 100 + 5000, 100, repeat('x', 500));
select is((select array[sample_count, sample_chars, sample_tokens] from models where name = 'some-model'),
  array[1, 20000 + 10000, 20000 * 0.25 + 5000]::double precision[], 'the next request says how many tokens the result had');
select pg_temp.say(8100 + 100 + 250, 100, 'short');
select is((select sample_count from models where name = 'some-model'), 1, 'a short result measures nothing');
select pg_temp.say(900000, 100, 'short');
select is((select tokens_per_char from models where name = 'some-model'), 10000 / 30000::double precision, 'an implausible count measures nothing');

select * from finish();
rollback;
