begin;
select plan(9);

select tool('Edit', 'unsafe');
select agent('{"tools": ["Read", "Edit"], "elide_budget": 0, "keep_auto": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');

-- Six files are read one by one; a step closes the block; then they are edited one by one, with a step beside every third edit.
do $$
declare
  v_lease uuid;
  v_turn uuid;
begin
  for v_n in 1..12 loop
    v_lease := (focus_claim(item(), 'w') ->> 'lease')::uuid;
    v_turn := (iteration_begin(item(), v_lease) ->> 'turn_id')::uuid;
    perform turn_record(item(), v_lease, v_turn, json_build_object('stop_reason', 'tool_use', 'content', json_build_array(
      case when v_n <= 6 then json_build_object('type', 'tool_use', 'id', 'a', 'name', 'Read', 'input', json_build_object('file_path', format('/src/f%s.ts', v_n)))
           else json_build_object('type', 'tool_use', 'id', 'a', 'name', 'Edit', 'input', json_build_object('file_path', format('/src/f%s.ts', v_n - 6), 'old_string', 'a', 'new_string', 'b')) end,
      case when v_n in (7, 10) then json_build_object('type', 'tool_use', 'id', 'b', 'name', 'ledger_append', 'input', json_build_object('entry_type', 'step', 'content', 'Step ' || v_n))
           else json_build_object('type', 'text', 'text', 'I go on.') end)));
    perform tool_call_settle(item(), v_lease, k.id, repeat(format('line of f%s ', v_n), case when v_n <= 6 then 300 else 50 end)) from tool_calls k where k.turn_id = v_turn and tool_name in ('Read', 'Edit');
    perform tool_call_execute(item(), v_lease, k.id) from tool_calls k where k.turn_id = v_turn and tool_name = 'ledger_append';
    perform iteration_finish(item(), v_lease);
  end loop;
end
$$;
create temporary table session as select session_label as label from foci;
create function pg_temp.said(p_policy jsonb, p_iteration integer) returns text language sql as
  $$ select array_to_string(new_texts, E'\n') from session s, _replay_requests(s.label, p_policy) where iteration = p_iteration $$;

select is(pg_temp.said('{}', 8) like '%Kept%', false, 'an agent that names nothing is given nothing');
select is(_edited_ahead((select array_agg(t order by depth) from turns t where depth >= 7), 3), '{/src/f2.ts,/src/f3.ts,/src/f4.ts}', 'what the next calls change');
select ok(pg_temp.said('{"keep": {"ahead": 3}}', 8) like all (array['%# /src/f2.ts%line of f2%', '%# /src/f4.ts%line of f4%']), 'is named, and its content kept');
select unalike(pg_temp.said('{"keep": {"ahead": 3}}', 8), '%# /src/f5.ts%', 'no other');
select unalike(pg_temp.said('{"keep": {"ahead": 3, "budget": 1500}}', 8), '%line of f3 line%', 'in so many tokens');
select throws_ok($$ select context_replay((select label from session), '{"keep": {"budget": 1}}') $$, 'WL002', null, 'it says how many calls ahead');

select results_eq($$ select iteration from session s, context_replay_turns(s.label, '{"truncate_closed_blocks": false, "compact_strategy": "sliding_window", "compact_every": 4, "compact_keep_recent": 4}') where is_cut $$,
  'values (5), (9)', 'a sliding window moves every so many iterations');
select ok(pg_temp.said('{"truncate_closed_blocks": false, "compact_strategy": "selective", "compact_every": 9, "compact_keep_recent": 2}', 10) like all (array[
  '%artifact_read%', '%' || repeat('line of f7 ', 50) || '%']), 'a selective compaction shortens results of pure calls, and no other');
select throws_ok($$ select context_replay((select label from session), '{"compact_every": "often"}') $$, 'WL002', null, 'a policy has the types of a faculty');

select * from finish();
rollback;
