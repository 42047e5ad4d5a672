begin;
select plan(3);

select from unnest(array['read_file', 'edit_file', 'execute_code']) n cross join lateral ability_register(n, 'A tool.', '{"type": "object"}', 'pure', 'safe');
select agent('{"tools": ["read_file", "edit_file"], "code_execution": true, "elide_budget": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
create temporary table request (n serial, body json);

-- One response with the calls given as [tool, input, result]; an execute_code makes the calls of its input's "calls".
create function pg_temp.play(p_calls jsonb) returns void language plpgsql as $$
declare
  v_lease uuid := (focus_claim(item(), 'w') ->> 'lease')::uuid;
  v_stage json := iteration_begin(item(), v_lease);
  v_call record;
  v_inner record;
begin
  insert into request (body) values (v_stage -> 'request');
  perform turn_record(item(), v_lease, (v_stage ->> 'turn_id')::uuid, json_build_object('stop_reason', 'tool_use',
    'content', (select json_agg(json_build_object('type', 'tool_use', 'id', format('t%s_%s', (select count(*) from request), c.n), 'name', c.value ->> 0, 'input', c.value -> 1) order by c.n)
                  from jsonb_array_elements(p_calls) with ordinality as c(value, n))));
  for v_call in select k.id, k.tool_name, k.input::jsonb as input, p_calls -> k.ordinal ->> 2 as result from tool_calls k where k.turn_id = (v_stage ->> 'turn_id')::uuid order by k.ordinal loop
    if v_call.tool_name = 'ledger_append' then
      perform tool_call_execute(item(), v_lease, v_call.id);
      continue;
    end if;
    perform tool_call_begin(item(), v_lease, v_call.id);
    for v_inner in select c.value, c.n, tool_call_nested(item(), v_lease, v_call.id, c.n::integer - 1, c.value ->> 0, (c.value -> 1)::json) as said
                     from jsonb_array_elements(coalesce(v_call.input -> 'calls', '[]')) with ordinality as c(value, n) order by c.n loop
      perform tool_call_settle(item(), v_lease, (v_inner.said #>> '{call,id}')::uuid, v_inner.value ->> 2);
    end loop;
    perform tool_call_settle(item(), v_lease, v_call.id, v_call.result);
  end loop;
  perform iteration_finish(item(), v_lease);
end
$$;
create function pg_temp.kept() returns text language sql as $$
  select string_agg(b ->> 'text', E'\n') from request, json_array_elements(body -> 'messages' -> 0 -> 'content') b where n = (select max(n) from request) and b ->> 'text' like '[engine] %ept from closed%' $$;

select pg_temp.play('[["execute_code", {"code": "x", "calls": [["read_file", {"path": "a.ts"}, "seen by code"]]}, "done"]]');
select pg_temp.play('[["ledger_append", {"entry_type": "step", "content": "Counted", "keep": ["a.ts"]}]]');
select pg_temp.play('[["read_file", {"path": "a.ts"}, "content of a"]]');
select is(pg_temp.kept(), null, 'what only code has read was never in the conversation');
select pg_temp.play('[["execute_code", {"code": "y", "calls": [["read_file", {"path": "a.ts"}, "seen by code"], ["edit_file", {"path": "a.ts", "old_string": "x"}, "Edited."]]}, "done"]]');
select pg_temp.play('[["ledger_append", {"entry_type": "step", "content": "Changed", "keep": ["a.ts"]}]]');
select pg_temp.play('[["read_file", {"path": "b.ts"}, "b"]]');
select matches(pg_temp.kept(), 'content of a.*> edit_file', 'what code has changed since is');
select unalike(pg_temp.kept(), '%seen by code%', 'still without what it read');

select * from finish();
rollback;
