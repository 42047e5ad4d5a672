begin;
select plan(8);

select agent('{"tools": ["look"], "model": "m", "context_window": 10000}');
select submit('Mend it');
select throws_ok($$ select work_approaching_limit(gen_random_uuid()) $$, 'WL001', null, 'of a work item that is there');
select is(work_approaching_limit(item()), false, 'not before anything was said');

create function pg_temp.say(p_input integer) returns void language plpgsql as $$
declare
  v_lease uuid := (focus_claim(item(), 'w') ->> 'lease')::uuid;
  v_turn uuid := (iteration_begin(item(), v_lease) ->> 'turn_id')::uuid;
begin
  perform turn_record(item(), v_lease, v_turn, json_build_object('model', 'm', 'stop_reason', 'tool_use',
    'usage', json_build_object('input_tokens', p_input, 'output_tokens', 100),
    'content', '[{"type":"tool_use","id":"a","name":"look","input":{}}]'::json));
  perform tool_call_settle(item(), v_lease, k.id, repeat('x', 398)) from tool_calls k where k.turn_id = v_turn;
  perform iteration_finish(item(), v_lease);
end
$$;
select pg_temp.say(5000);
select results_eq($$ select tokens, context_window, compacts_at from v_context $$, $$ values (5200, 10000, 7000) $$, 'what the provider counted, the response, and an estimate of the results');
select is(work_approaching_limit(item()), false, 'under four fifths of the threshold');
select pg_temp.say(5500);
select is(work_approaching_limit(item()), true, 'over them');
select is(work_approaching_limit(item(), 0.6), false, 'or by a share of the window');
select is(work_approaching_limit(item(), 0.5), true, 'of one''s own');
select is((select count(*) from v_compactions), 0::bigint, 'nothing was compacted yet');

select * from finish();
rollback;
