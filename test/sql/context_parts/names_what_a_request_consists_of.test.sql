begin;
select plan(6);

select from unnest(array['read_file', 'edit_file', 'write_file', 'web_fetch', 'bash']) n cross join lateral ability_register(n, 'A tool.', '{"type": "object"}', 'pure', 'safe');
select from faculty_save('{"name": "worker", "accepts": ["analyze"], "awareness": {"enabled": false},
  "engage": {"tools": ["read_file", "edit_file", "write_file", "web_fetch", "bash"], "elide_budget": 0, "keep_budget": 2000, "ledger_nudge_interval": 0, "keep_auto": 0}}');
create temporary table item as select * from work_submit('analyze', 'Fix it');
create temporary table request (n integer, turn_id uuid, body json);

-- Plays responses, each a list of calls [tool, input, result] or, of ledger_append, [tool, input].
create function pg_temp.play(p_responses jsonb) returns void language plpgsql as $$
declare
  v_lease uuid;
  v_stage json;
  v_response jsonb;
  v_call record;
  v_n integer := (select count(*) from request);
begin
  for v_response in select value from jsonb_array_elements(p_responses) loop
    v_n := v_n + 1;
    v_lease := (focus_claim((select id from item), 'w') ->> 'lease')::uuid;
    v_stage := iteration_begin((select id from item), v_lease);
    insert into request values (v_n, (v_stage ->> 'turn_id')::uuid, v_stage -> 'request');
    perform turn_record((select id from item), v_lease, (v_stage ->> 'turn_id')::uuid, json_build_object(
      'stop_reason', 'tool_use', 'usage', json_build_object('input_tokens', 100 * v_n),
      'content', (select json_agg(json_build_object('type', 'tool_use', 'id', format('t%s_%s', v_n, c.n), 'name', c.value ->> 0, 'input', c.value -> 1) order by c.n)
        from jsonb_array_elements(v_response) with ordinality as c(value, n))));
    for v_call in
      select k.id, k.tool_name, v_response -> k.ordinal ->> 2 as text from tool_calls k where k.turn_id = (v_stage ->> 'turn_id')::uuid order by k.ordinal
    loop
      if v_call.tool_name = 'ledger_append' then
        perform tool_call_execute((select id from item), v_lease, v_call.id);
      else
        perform tool_call_settle((select id from item), v_lease, v_call.id, v_call.text, v_call.text like 'failed%');
      end if;
    end loop;
    perform iteration_finish((select id from item), v_lease);
  end loop;
end
$$;
select pg_temp.play('[[["read_file", {"path": "a.ts"}, "content of a"]]]');
select from work_message((select id from item), 'Only a.ts, please');
select pg_temp.play('[
  [["ledger_append", {"entry_type": "step", "content": "Read it", "keep": ["a.ts"]}], ["bash", {"command": "true"}, "ok"]],
  [["bash", {"command": "true"}, "ok"]]]');
select is((select string_agg(part, ' ' order by n) from context_parts((select turn_id from request where n = 1))), 'system tools task', 'the first request');
select is((select string_agg(part, ' ' order by n) from context_parts((select turn_id from request where n = 2))), 'system tools task response result message', 'what it says besides comes last');
select is((select string_agg(part, ' ' order by n) from context_parts((select turn_id from request where n = 3))), 'system tools task stubs stubs kept message response result result', 'after a cut');
select is((select array[iteration, block] from context_parts((select turn_id from request where n = 3)) where part = 'response'), array[2, 2], 'where each is from');
select ok((select bool_and(tokens > 0 and content <> '') from context_parts((select turn_id from request where n = 3))), 'its words and their size');
select throws_ok($$ select context_parts(gen_random_uuid()) $$, 'WL001', null, 'a turn that is not there');

select * from finish();
rollback;
