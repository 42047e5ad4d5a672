begin;
select plan(6);

select from unnest(array['read_file', 'edit_file', 'write_file', 'web_fetch', 'bash']) n cross join lateral ability_register(n, 'A tool.', '{"type": "object"}', 'pure', 'safe');
select from faculty_save('{"name": "worker", "accepts": ["analyze"], "awareness": {"enabled": false},
  "engage": {"tools": ["read_file", "edit_file", "write_file", "web_fetch", "bash"], "elide_budget": 0, "keep_budget": 2000, "keep_auto": 0, "context_window": 60000, "ledger_nudge_interval": 0}}');
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
create function pg_temp.kept(p_n integer) returns text language sql as $$
  select string_agg(b ->> 'text', E'\n') from request, json_array_elements(body -> 'messages' -> 0 -> 'content') b where n = p_n and b ->> 'text' like '[engine] %ept from closed%' $$;

select pg_temp.play(jsonb_build_array(
  jsonb_build_array(jsonb_build_array('read_file', '{"path": "src/parse.ts"}'::jsonb, 'the parser')),
  jsonb_build_array(jsonb_build_array('edit_file', '{"path": "src/parse.ts", "old_string": "a"}'::jsonb, 'Edited.')),
  jsonb_build_array(jsonb_build_array('ledger_append', '{"entry_type": "step", "content": "Read it", "keep": ["src/parse.ts"]}'::jsonb), jsonb_build_array('bash', '{"command": "true"}'::jsonb, 'ok')),
  jsonb_build_array(jsonb_build_array('bash', '{"command": "true"}'::jsonb, repeat('long ', 8000)))));
select pg_temp.play((select jsonb_agg(jsonb_build_array(jsonb_build_array('bash', '{"command": "true"}'::jsonb, n || ' ' || repeat('long ', 500)))) from generate_series(1, 6) n));
select from context_compact((select id from item));
select pg_temp.play('[[["bash", {"command": "true"}, "ok"]]]');
select is((select compaction_type from compactions), 'ledger', 'a compaction');
select matches(pg_temp.kept(11), 'the parser.*edit_file', 'keeps what the newest step named');

-- A fork from before the cut: its step names what the other one read.
create temporary table fork as select * from work_fork((select turn_id from request where n = 2));
update item set id = (select id from fork);
select pg_temp.play('[
  [["ledger_append", {"entry_type": "step", "content": "Took it over", "keep": ["parse.ts"]}], ["bash", {"command": "true"}, "ok"]],
  [["bash", {"command": "true"}, "ok"]]]');
select matches(pg_temp.kept(13), 'the parser.*edit_file', 'in a fork, what was read before it');
select is((select count(*) from request where body::text = context_at(turn_id)::text), 13::bigint, 'every request is rebuilt to the byte');

-- An attempt that begins anew has read nothing yet.
select from _focus_end((select w from work_items w where id = (select id from item)), 'failed', 'retry', 'tried', null);
update work_items set run_at = now() where id = (select id from item);
select pg_temp.play('[
  [["read_file", {"path": "src/lex.ts"}, "the lexer"]],
  [["ledger_append", {"entry_type": "step", "content": "Read", "keep": ["src/parse.ts", "src/lex.ts"]}], ["bash", {"command": "true"}, "ok"]],
  [["bash", {"command": "true"}, "ok"]]]');
select matches(pg_temp.kept(16), 'the lexer', 'a later attempt keeps what it read itself');
select unalike(pg_temp.kept(16), '%the parser%', 'and not what the one before it saw');

select * from finish();
rollback;
