begin;
select plan(9);

select tool('act', 'unsafe');
select agent('{"tools": ["look", "act"], "compact_strategy": "selective", "compact_every": 6, "compact_keep_recent": 4, "elide_budget": 0, "keep_auto": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
create temporary table request (n integer, turn_id uuid, body json);

-- Every third response has a step that rides; calls alternate between the two tools.
do $$
declare
  v_lease uuid;
  v_stage json;
begin
  for v_n in 1..9 loop
    v_lease := (focus_claim(item(), 'w') ->> 'lease')::uuid;
    v_stage := iteration_begin(item(), v_lease);
    insert into request values (v_n, (v_stage ->> 'turn_id')::uuid, v_stage -> 'request');
    perform turn_record(item(), v_lease, (v_stage ->> 'turn_id')::uuid, json_build_object('stop_reason', 'tool_use', 'content', json_build_array(
      json_build_object('type', 'tool_use', 'id', 'a' || v_n, 'name', case v_n % 2 when 0 then 'look' else 'act' end, 'input', json_build_object()),
      case when v_n in (2, 8) then json_build_object('type', 'tool_use', 'id', 'b' || v_n, 'name', 'ledger_append', 'input', json_build_object('entry_type', 'step', 'content', 'Step ' || v_n))
           else json_build_object('type', 'text', 'text', 'I go on.') end)));
    perform tool_call_settle(item(), v_lease, k.id, repeat(format('row %s ', v_n), 400)) from tool_calls k where k.turn_id = (v_stage ->> 'turn_id')::uuid and tool_name in ('look', 'act');
    perform tool_call_execute(item(), v_lease, k.id) from tool_calls k where k.turn_id = (v_stage ->> 'turn_id')::uuid and tool_name = 'ledger_append';
    perform iteration_finish(item(), v_lease);
  end loop;
end
$$;
create function pg_temp.body(p_n integer) returns text language sql as $$ select body::text from request where n = p_n $$;

select results_eq($$ select compaction_type, trigger, is_applied, turns_summarized, metadata from v_compactions $$,
  $$ values ('selective', 'periodic', true, 3, '{"keep_recent": 4, "every": 6, "effect": "pure", "max_result_chars": 300, "results": 2}'::jsonb) $$, 'a row says what was done, and by what');
select ok(pg_temp.body(6) like '%' || repeat('row 4 ', 400) || '%' and pg_temp.body(7) not like '%' || repeat('row 4 ', 100) || '%', 'an old result of a pure call is shortened');
select alike(pg_temp.body(7), '%' || repeat('row 3 ', 400) || '%', 'one of another call is not');
select alike(pg_temp.body(7), '%' || repeat('row 6 ', 400) || '%', 'nor a new one');
select alike(pg_temp.body(7), '%[completed step 1: Step 2]%', 'what was elided before stays so');
select alike(artifact_read(substring(pg_temp.body(7) from 'artifact_read\(\\"([0-9a-f]{16})')), repeat('row 2 ', 400), 'its handle brings it back');
select alike(pg_temp.body(9), '%[completed step 2: Step 8]%', 'and blocks are elided as ever');
select is((select bool_and(context_at(turn_id)::text = body::text) from request), true, 'every request is rebuilt to the byte');
select results_eq($$ select shown from explain_turn((select turn_id from request where n = 7)) where turns > 0 $$, $$ values ('stub'), ('selective') $$, 'explain_turn says so');

select * from finish();
rollback;
