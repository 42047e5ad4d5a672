begin;
select plan(12);

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

select pg_temp.play(jsonb_build_array(
  jsonb_build_array(jsonb_build_array('read_file', '{"path": "a.ts"}'::jsonb, 'content of a'), jsonb_build_array('read_file', '{"path": "b.ts"}'::jsonb, 'content of b')),
  jsonb_build_array(jsonb_build_array('edit_file', '{"path": "b.ts", "old_string": "x", "new_string": "y"}'::jsonb, 'Edited.'), jsonb_build_array('read_file', '{"path": "c.ts"}'::jsonb, 'content of c')),
  jsonb_build_array(jsonb_build_array('read_file', '{"path": "huge.ts"}'::jsonb, repeat('huge ', 5000)), jsonb_build_array('read_file', '{"path": "gone.ts"}'::jsonb, 'failed: no such file')),
  jsonb_build_array(jsonb_build_array('ledger_append', '{"entry_type": "step", "content": "Read"}'::jsonb), jsonb_build_array('bash', '{"command": "true"}'::jsonb, 'ok')),
  jsonb_build_array(jsonb_build_array('bash', '{"command": "true"}'::jsonb, 'ok'))));
select matches(pg_temp.kept(5), 'you read it lately.*content of c.*content of a', 'files that were read and not changed since, newest first');
select unalike(pg_temp.kept(5), '%content of b%', 'not what was changed');
select unalike(pg_temp.kept(5), '%huge%', 'nor what is larger than keep_auto');
select unalike(pg_temp.kept(5), '%gone.ts%', 'nor what could not be read');
select ok((select kept_tokens between 1 and 4000 from elisions), 'the cut says how much it keeps');
select is((select tokens_kept from elisions) > 0, true, 'beside what is shown anyway');

select pg_temp.play('[
  [["read_file", {"path": "a.ts"}, "a again"]],
  [["ledger_append", {"entry_type": "step", "content": "Read a"}], ["read_file", {"path": "c.ts"}, "c again"]],
  [["bash", {"command": "true"}, "ok"]]]');
select matches(pg_temp.kept(8), 'a again', 'the newest reading');
select unalike(pg_temp.kept(8), '%c again%', 'what is still shown is not said twice');
select unalike(pg_temp.kept(8), '%content of c%', 'nor what is older than that');

select from faculty_save('{"name": "worker", "accepts": ["analyze"], "awareness": {"enabled": false}, "engage": {"tools": ["read_file", "bash"], "elide_budget": 0, "keep_auto": 0}}');
delete from request;
update item set id = (select id from work_submit('analyze', 'Fix another'));
select pg_temp.play('[
  [["read_file", {"path": "a.ts"}, "content of a"]],
  [["ledger_append", {"entry_type": "step", "content": "Read"}], ["bash", {"command": "true"}, "ok"]],
  [["bash", {"command": "true"}, "ok"]]]');
select is(pg_temp.kept(3), null, 'keep_auto = 0: nothing');
select is((select count(*) from request where body::text = context_at(turn_id)::text), 3::bigint, 'every request is rebuilt to the byte');
select is((select kept from elisions e join item i on e.work_item_id = i.id)::text, null, 'and nothing is noted');

select * from finish();
rollback;
