begin;
select plan(14);

select from unnest(array['read_file', 'edit_file', 'write_file', 'web_fetch', 'bash']) n cross join lateral ability_register(n, 'A tool.', '{"type": "object"}', 'pure', 'safe');
select from faculty_save('{"name": "worker", "accepts": ["analyze"], "awareness": {"enabled": false},
  "engage": {"tools": ["read_file", "edit_file", "write_file", "web_fetch", "bash"], "elide_budget": 0, "keep_budget": 2000, "ledger_nudge_interval": 0}}');
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

select pg_temp.play('[
  [["read_file", {"path": "src/parse.ts"}, "OLD parse"], ["read_file", {"path": "src/lex.ts"}, "the lexer"], ["read_file", {"path": "notes.md"}, "the notes"]],
  [["read_file", {"path": "src/parse.ts"}, "NEW parse"]],
  [["edit_file", {"path": "src/parse.ts", "old_string": "a", "new_string": "b"}, "Edited."], ["edit_file", {"path": "src/parse.ts", "old_string": "c", "new_string": "d"}, "failed: not found"]],
  [["ledger_append", {"entry_type": "step", "content": "Read it", "keep": ["./src/parse.ts", "lex.ts", "never.ts", "src/parse.ts"]}], ["bash", {"command": "true"}, "ok"]],
  [["bash", {"command": "true"}, "ok"]]]');
select matches(pg_temp.kept(5), E'NEW parse.*> edit_file \\{"path": "src/parse.ts", "new_string": "b", "old_string": "a"\\} \\(block 1, iteration 3\\).*the lexer',
  'the newest content of what the step named, in its order: the last read, then the edits since, and from where');
select is((select count(*) from regexp_matches(pg_temp.kept(5), 'NEW parse', 'g')), 1::bigint, 'once');
select unalike(pg_temp.kept(5), '%OLD parse%', 'not what was read before');
select unalike(pg_temp.kept(5), '%"old_string": "c"%', 'nor an edit that failed');
select unalike(pg_temp.kept(5), '%the notes%', 'nor what it did not name');
select is((select string_agg(case when b -> 'cache_control' is not null then 'breakpoint' when b ->> 'text' like '%ept from closed%' then 'kept' else '-' end, ' ' order by i)
             from request, json_array_elements(body -> 'messages' -> 0 -> 'content') with ordinality as x(b, i) where n = 5), '- - breakpoint kept', 'behind the breakpoint of the stubs');

-- The next step names something else; what is too large is named with its handle.
select pg_temp.play(jsonb_build_array(
  jsonb_build_array(jsonb_build_array('read_file', '{"path": "big.txt"}'::jsonb, repeat('big ', 4000)), jsonb_build_array('web_fetch', '{"url": "https://example.org/api"}'::jsonb, 'the page')),
  jsonb_build_array(jsonb_build_array('ledger_append', '{"entry_type": "step", "content": "Read more", "keep": ["big.txt", "https://example.org/api", "notes.md"]}'::jsonb)),
  jsonb_build_array(jsonb_build_array('bash', '{"command": "true"}'::jsonb, 'ok'))));
select matches(pg_temp.kept(8), E'the page.*the notes', 'also from blocks that left before, and pages');
select unalike(pg_temp.kept(8), '%NEW parse%', 'each step''s list replaces the one before');
select is(artifact_read((regexp_match(pg_temp.kept(8), 'no room: big\.txt \(artifact_read\("([0-9a-f]{16})"\)\)'))[1]), repeat('big ', 4000), 'what has no room is named with a handle that brings it back');
select is((select count(*) from explain_turn((select turn_id from request where n = 8)) where shown = 'kept'), 2::bigint, 'explain_turn says so');

-- A handle can be named too.
select pg_temp.play(jsonb_build_array(
  jsonb_build_array(jsonb_build_array('ledger_append', jsonb_build_object('entry_type', 'step', 'content', 'Named a handle', 'keep',
    jsonb_build_array((select left(content_hash, 16) from artifacts where content like 'big %'), 'lex.ts')))),
  jsonb_build_array(jsonb_build_array('bash', '{"command": "true"}'::jsonb, 'ok'))));
select matches(pg_temp.kept(10), 'the lexer.*no room: [0-9a-f]{16} \(artifact_read', 'a handle as well');
select pg_temp.play('[
  [["ledger_append", {"entry_type": "step", "content": "Read it again", "keep": ["lex.ts"]}], ["read_file", {"path": "src/lex.ts"}, "the lexer"]],
  [["bash", {"command": "true"}, "ok"]]]');
select is(pg_temp.kept(12), null, 'what is still shown is not said twice');
select is((select count(*) from request where body::text = context_at(turn_id)::text), 12::bigint, 'every request is rebuilt to the byte');
select throws_ok($$ select ledger_append((select id from work_submit('analyze', 'x')), 'step', 'Done', p_keep => array_fill('a'::text, array[21])) $$, 'WL002', null, 'at most twenty names');

select * from finish();
rollback;
