begin;
select plan(10);

select is((select tokens_per_char from model_save('claude-opus-4-6')), 0.34::double precision, 'a model begins with what is known of its family');
select is((select context_window from model_save('claude-opus-4-6', 1000000)), 1000000, 'a window is set');
select is((select context_window from model_save('claude-opus-4-6')), 1000000, 'and stays');
select throws_ok($$ select model_save(' ') $$, 'WL002', null, 'a model has a name');
select throws_ok($$ select model_save('x', 10) $$, 'WL002', null, 'and a window worth the name');
select throws_ok($$ select model_save('x', p_cache_write => -1) $$, 'WL002', null, 'and what writing to its cache costs');

select agent('{"tools": ["look"], "model": "some-model"}');
select submit('Mend it');
create function pg_temp.say(p_input integer, p_output integer, p_result text) returns void language plpgsql as $$
declare
  v_lease uuid := (focus_claim(item(), 'w') ->> 'lease')::uuid;
  v_turn uuid := (iteration_begin(item(), v_lease) ->> 'turn_id')::uuid;
begin
  perform turn_record(item(), v_lease, v_turn, json_build_object('model', 'some-model', 'stop_reason', 'tool_use',
    'usage', json_build_object('input_tokens', p_input, 'output_tokens', p_output),
    'content', '[{"type":"tool_use","id":"a","name":"look","input":{}}]'::json));
  perform tool_call_settle(item(), v_lease, k.id, p_result) from tool_calls k where k.turn_id = v_turn;
  perform iteration_finish(item(), v_lease);
end
$$;
select pg_temp.say(3000, 100, repeat('x', 9998));
select is((select count(*) from models where name = 'some-model'), 0::bigint, 'one request measures nothing');
select pg_temp.say(3000 + 100 + 5000, 100, repeat('x', 500));
select is((select array[sample_count, sample_chars, sample_tokens] from models where name = 'some-model'),
  array[1, 20000 + 10000, 20000 * 0.25 + 5000]::double precision[], 'the next one says how many tokens the result had');
select pg_temp.say(8100 + 100 + 250, 100, 'short');
select is((select sample_count from models where name = 'some-model'), 1, 'a short result measures nothing');
select pg_temp.say(900000, 100, 'short');
select is((select tokens_per_char from models where name = 'some-model'), 10000 / 30000::double precision, 'an implausible count neither');

select * from finish();
rollback;
