begin;
select plan(2);

select agent('{"tools": ["look"], "elide_budget": 0, "model": "some-model", "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select take(work_submit('analyze', repeat('A long task. ', 2000)));

-- A provider that hides context: the first exchange of 4,000 characters adds 4,000 tokens. Its block is closed by a step alone.
do $$
declare
  v_lease uuid;
  v_turn uuid;
begin
  for v_n in 1..3 loop
    v_lease := (focus_claim(item(), 'w') ->> 'lease')::uuid;
    v_turn := (iteration_begin(item(), v_lease) ->> 'turn_id')::uuid;
    perform turn_record(item(), v_lease, v_turn, json_build_object(
      'stop_reason', 'tool_use', 'usage', json_build_object('input_tokens', 10000 + 4000 * (v_n - 1), 'output_tokens', 30),
      'content', case v_n when 2 then '[{"type":"tool_use","id":"s","name":"ledger_append","input":{"entry_type":"step","content":"Looked"}}]'::json
                          else '[{"type":"tool_use","id":"a","name":"look","input":{}}]' end));
    perform tool_call_settle(item(), v_lease, k.id, repeat('row ', 1000)) from tool_calls k where k.turn_id = v_turn and tool_name = 'look';
    perform tool_call_execute(item(), v_lease, k.id) from tool_calls k where k.turn_id = v_turn and tool_name <> 'look';
    perform iteration_finish(item(), v_lease);
  end loop;
end
$$;
create temporary table request as select r.* from sessions s, context_replay_turns(s.label) r;

select is((select array_agg(iteration) from request where is_cut), array[3], 'the block leaves');
select cmp_ok((select l.input_tokens - f.input_tokens from request f, request l where f.iteration = 1 and l.iteration = 3), '<', 300,
  'and the request is as large as the first one, which is the task, and the stub');

select * from finish();
rollback;
