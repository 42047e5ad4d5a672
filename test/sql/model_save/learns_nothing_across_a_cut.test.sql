-- What was added between two requests is measured only where the second begins with the first: not where a block left between them.
begin;
select plan(4);

select agent('{"tools": ["look"], "model": "some-model", "elide_budget": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
-- A response, the input tokens of its request, and a step beside its call or none; how often the model was measured by then.
create function pg_temp.say(p_input integer, p_has_step boolean) returns integer language plpgsql as $$
declare
  v_lease uuid := (focus_claim(item(), 'w') ->> 'lease')::uuid;
  v_turn uuid := iteration_begin(item(), v_lease) ->> 'turn_id';
begin
  perform turn_record(item(), v_lease, v_turn, json_build_object('model', 'some-model', 'stop_reason', 'tool_use', 'usage', json_build_object('input_tokens', p_input, 'output_tokens', 100),
    'content', jsonb_build_array(jsonb_build_object('type', 'tool_use', 'id', 'a' || v_turn, 'name', 'look', 'input', '{}'::jsonb))
      || case when p_has_step then jsonb_build_array(jsonb_build_object('type', 'tool_use', 'id', 'b' || v_turn, 'name', 'ledger_append', 'input', '{"entry_type": "step", "content": "Looked"}'::jsonb)) else '[]' end));
  perform tool_call_settle(item(), v_lease, k.id, repeat('x', 9998)) from tool_calls k where k.turn_id = v_turn and tool_name = 'look';
  perform tool_call_execute(item(), v_lease, k.id) from tool_calls k where k.turn_id = v_turn and tool_name <> 'look';
  perform iteration_finish(item(), v_lease);
  return coalesce((select sample_count from models where name = 'some-model'), 0);
end
$$;

select is(pg_temp.say(3000, false), 0, 'one request measures nothing');
select is(pg_temp.say(3000 + 100 + 5000, true), 1, 'the next one measures the result');
select is(pg_temp.say(8100 + 100 + 5000, false), 1, 'behind a cut no count is one of results alone, however plausible');
select is(pg_temp.say(13200 + 100 + 5000, false), 2, 'between two requests behind it the next one is');

select * from finish();
rollback;
