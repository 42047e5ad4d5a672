begin;
select plan(5);

select from unnest(array['read_file', 'edit_file', 'write_file', 'web_fetch', 'bash']) n cross join lateral ability_register(n, 'A tool.', '{"type": "object"}', 'pure', 'safe');
select from faculty_save('{"name": "worker", "accepts": ["analyze"], "awareness": {"enabled": false},
  "engage": {"tools": ["read_file", "edit_file", "write_file", "web_fetch", "bash"], "elide_budget": 0, "keep_budget": 2000, "ledger_nudge_interval": 2, "keep_auto": 0}}');
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
create function pg_temp.stub(p_n integer, p_block integer) returns text language sql as $$
  select b ->> 'text' from request, json_array_elements(body -> 'messages' -> 0 -> 'content') b where n = p_n and b ->> 'text' like format('[completed step %s:%%', p_block) $$;

create function pg_temp.say(p_text text, p_command text, p_result text) returns void language plpgsql as $$
declare
  v_lease uuid := (focus_claim((select id from item), 'w') ->> 'lease')::uuid;
  v_stage json := iteration_begin((select id from item), v_lease);
  v_n integer := (select count(*) + 1 from request);
begin
  insert into request values (v_n, (v_stage ->> 'turn_id')::uuid, v_stage -> 'request');
  perform turn_record((select id from item), v_lease, (v_stage ->> 'turn_id')::uuid, json_build_object('stop_reason', 'tool_use', 'content', json_build_array(
    json_build_object('type', 'text', 'text', p_text),
    json_build_object('type', 'tool_use', 'id', format('a%s', v_n), 'name', 'bash', 'input', json_build_object('command', p_command)),
    json_build_object('type', 'tool_use', 'id', format('b%s', v_n), 'name', 'edit_file', 'input', json_build_object('path', format('src/file%s.ts', v_n % 2))))));
  perform tool_call_settle((select id from item), v_lease, k.id, case k.tool_name when 'bash' then p_result else 'Edited.' end, k.tool_name = 'bash' and p_result ~ 'exit code')
     from tool_calls k where k.turn_id = (v_stage ->> 'turn_id')::uuid;
  perform iteration_finish((select id from item), v_lease);
end
$$;
select pg_temp.say(format('I try number %s.', n), 'npm test', E'…\n3 tests fail: parse drops last line\n[exit code 1]') from generate_series(1, 5) n;
select pg_temp.say('I found that parse() drops the last line; I change it.', 'npm test', 'ok');
select pg_temp.say('', 'true', 'ok');

select is((select content from work_ledger where is_auto), 'Not recorded by the agent; drafted by the engine from iterations 1 to 6. '
  || 'Changed: src/file1.ts, src/file0.ts. Failed: npm test (exit 1) ×5, passed after, last: "3 tests fail: parse drops last line". '
  || 'Last said: "I found that parse() drops the last line; I change it." Calls: bash ×6, edit_file ×6.', 'files changed, what failed and its last line, the agent''s last words');
select is((select count(*) from request, regexp_matches(body::text, 'changed: src/file', 'gi') where n = 7), 1::bigint, 'its stub does not say it again');
select matches(pg_temp.stub(7, 1), '^\[completed step 1: Not recorded by the agent; ', 'the stub says that the agent did not record it');
select is((select max(n) from request where body::text like '%parse drops last line%'), 7, 'and stands for what left');
select is((select count(*) from request where body::text = context_at(turn_id)::text), 7::bigint, 'every request is rebuilt to the byte');

select * from finish();
rollback;
