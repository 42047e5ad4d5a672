-- The output of a before_tool or after_tool command: recorded once, and what happens to the call.

create or replace function tool_hook_record(
    p_work_item_id uuid,
    p_lease uuid,
    p_tool_call_id uuid,
    p_hook text,
    p_result jsonb,
    p_content text default null,
    p_is_error boolean default false,
    p_images jsonb default null,
    p_value json default null)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _fence(p_work_item_id, p_lease);
  v_call tool_calls := _call_of(v_item, p_tool_call_id);
  v_config jsonb := _faculty_config(v_item.focus_id);
  v_run hook_runs;
  v_reason text;
  v_risk text;
  v_kinds text[];
begin
  if p_hook is null or p_hook not in ('before_tool', 'after_tool') then
    perform _raise_invalid(format('"%s" is not a hook of a tool call', p_hook), 'Pass before_tool or after_tool.');
  end if;
  if v_call.completed_at is not null then
    return jsonb_build_object('kind', 'settled');
  elsif v_call.status = 'waiting' then
    return _hook_verdict('waiting', v_call);
  end if;
  insert into hook_runs (work_item_id, focus_id, turn_id, tool_call_id, hook, command)
  values (v_item.id, v_item.focus_id, v_call.turn_id, v_call.id, p_hook, coalesce(v_config #>> array['hooks', p_hook], ''))
  on conflict on constraint one_run_a_point do update set status = 'pending', completed_at = null
  returning * into v_run;
  v_run := _hook_settle(v_run, p_result);
  v_reason := case
    when v_run.status = 'refused' then 'a hook refused it. ' || _hook_words(p_hook, _hook_said(v_run, 'refuse'))
    when v_run.status = 'failed' and v_config #>> '{hooks,on_failure}' = 'refuse' then format('the %s hook %s.', p_hook, v_run.error) end;

  if p_hook = 'after_tool' then
    if v_reason is not null then
      perform _call_settle(v_call, '[engine] The call ran. Its result is withheld: ' || v_reason, true);
    else
      -- If a hook rewrote the result, code sees only the rewritten one as well.
      update tool_calls set value = p_value
       where id = v_call.id and parent_call_id is not null and p_value is not null and _hook_said(v_run, 'content') is null;
      perform _call_settle(v_call, coalesce(_hook_said(v_run, 'content'), p_content), coalesce(_hook_said(v_run, 'is_error')::boolean, p_is_error),
                           case when _hook_said(v_run, 'content') is null then p_images end);
    end if;
    return jsonb_build_object('kind', 'settled');
  elsif v_reason is not null then
    perform _call_settle(v_call, '[engine] Not executed: ' || v_reason, true);
    return jsonb_build_object('kind', 'settled');
  end if;
  update tool_calls set rewritten_input = _hook_said(v_run, 'input')::json where id = v_call.id returning * into v_call;
  delete from touches where tool_call_id = v_call.id;
  v_kinds := _touches_store(v_call);
  v_risk := (select risk from abilities where tool_name = v_call.tool_name);
  if _needs_approval(v_risk, v_config -> 'engage') then
    perform _approval_ask(v_call, v_risk, v_config -> 'engage');
    return _hook_verdict('waiting', v_call);
  elsif v_kinds <> '{}' and _calls_claim(v_item, v_config, v_call.turn_id, v_call.id) is not null then
    return jsonb_build_object('kind', 'settled');
  end if;
  return _hook_verdict('go', v_call);
end
$$;

comment on function tool_hook_record(uuid, uuid, uuid, text, jsonb, text, boolean, jsonb, json) is
  'Reports the result of the faculty''s before_tool or after_tool command (p_hook) for a call; p_result as in hook_record(). before_tool returns {kind: go, input, is_rewritten}: run the tool with that input, which is the hook''s if is_rewritten; {kind: waiting, input, is_rewritten}: the call waits for approval; {kind: settled}: the call was refused, by the hook or because others are working on what it changes (see claim_take()), and the model is told. after_tool, with the tool''s result in the arguments of tool_call_settle(), settles the call with that result or the hook''s replacement, and returns {kind: settled}. Raises WL001, WL002, WL003, WL004.';

create or replace function _hook_verdict(p_kind text, p_call tool_calls)
  returns json
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select json_build_object('kind', p_kind, 'input', _call_input(p_call), 'is_rewritten', p_call.rewritten_input is not null);
$$;

comment on function _hook_verdict(text, tool_calls) is 'The answer to a before_tool hook for a call that is to run, now or once it is approved: the worker, which knows what the hook said before secrets were removed from it, runs the call with that.';
