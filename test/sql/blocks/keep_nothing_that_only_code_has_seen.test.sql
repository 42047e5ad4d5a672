-- What code has read was never in the conversation, and so there is nothing of it to keep; what code has changed is.
begin;
select plan(3);

select tool('execute_code');
select agent('{"tools": ["read_file", "edit_file"], "code_execution": true, "elide_budget": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');

-- One response with an execute_code that makes the calls of its input.
create function pg_temp.code(p_code jsonb) returns void language plpgsql as $$
declare
  v_code uuid;
  v_inner record;
begin
  perform drive(), answer(jsonb_build_array(p_code));
  v_code := (select id from tool_calls where turn_id = turn());
  perform tool_call_begin(item(), lease(), v_code);
  for v_inner in select c.value, tool_call_nested(item(), lease(), v_code, c.n::integer - 1, c.value ->> 0, (c.value -> 1)::json) as said
                   from jsonb_array_elements(p_code #> '{1,calls}') with ordinality as c(value, n) order by c.n loop
    perform tool_call_settle(item(), lease(), (v_inner.said #>> '{call,id}')::uuid, v_inner.value ->> 2);
  end loop;
  perform tool_call_settle(item(), lease(), v_code, 'done');
  perform iteration_finish(item(), lease());
end
$$;

select pg_temp.code('["execute_code", {"code": "x", "calls": [["read_file", {"path": "a.ts"}, "seen by code"]]}]');
select play('[
  [["ledger_append", {"entry_type": "step", "content": "Counted", "keep": ["a.ts"]}]],
  [["read_file", {"path": "a.ts"}, "content of a"]]]');
select is(kept(3), null, 'what only code has read was never in the conversation');
select pg_temp.code('["execute_code", {"code": "y", "calls": [["read_file", {"path": "a.ts"}, "seen by code"], ["edit_file", {"path": "a.ts", "old_string": "x"}, "Edited."]]}]');
select play('[
  [["ledger_append", {"entry_type": "step", "content": "Changed", "keep": ["a.ts"]}]],
  [["read_file", {"path": "b.ts"}, "b"]]]');
select matches(kept(6), 'content of a.*> edit_file', 'what code has changed since it was read is kept');
select unalike(kept(6), '%seen by code%', 'what code has read is not kept beside what it changed');

select * from finish();
rollback;
