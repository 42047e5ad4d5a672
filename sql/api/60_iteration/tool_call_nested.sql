-- Calls made by an agent's code: ordinary rows below the execute_code call that runs the code. When code runs again after an interruption, the calls
-- that it already made are answered from these rows.

create or replace function tool_call_nested(
    p_work_item_id uuid,
    p_lease uuid,
    p_parent_call_id uuid,
    p_ordinal integer,
    p_name text,
    p_input json)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _fence(p_work_item_id, p_lease);
  v_parent tool_calls := _call_of(v_item, p_parent_call_id);
  v_config jsonb := _faculty_config(v_item.focus_id);
  v_ability abilities;
  v_call tool_calls;
  v_kinds text[];
begin
  if p_ordinal is null or p_ordinal not between 0 and 1000000 or p_name is null or p_input is null then
    perform _raise_invalid('a call made by code needs a number from 0 to 1,000,000, a name and an input');
  end if;
  p_input := _storable(p_input);
  if v_parent.tool_name <> 'execute_code' or v_parent.completed_at is not null then
    raise exception using errcode = 'WL008', message = format('call %s is not running code', v_parent.id);
  end if;
  select * into v_call from tool_calls where turn_id = v_parent.turn_id and parent_call_id = v_parent.id and ordinal = p_ordinal;
  if found then
    if v_call.tool_name <> p_name or v_call.input::jsonb not in (p_input::jsonb, _redacted(p_input::text)::jsonb) then
      return json_build_object('kind', 'diverged', 'reason', format('call %s of the code was %s %s when it ran before, and is %s %s now',
        p_ordinal + 1, v_call.tool_name, _one_line(v_call.input::text, 200), p_name, _one_line(p_input::text, 200)));
    end if;
  else
    select a.* into v_ability from _toolset(v_config) a where a.tool_name = p_name and _is_for_code(a.name);
    if not found then
      return json_build_object('kind', 'unknown', 'reason', format('there is no tool "%s" to call from code', _one_line(p_name, 64)));
    end if;
    insert into tool_calls (turn_id, parent_call_id, ordinal, work_item_id, provider_id, tool_name, input, effect)
    values (v_parent.turn_id, v_parent.id, p_ordinal, v_item.id, format('%s.%s', v_parent.provider_id, p_ordinal + 1), p_name, p_input, v_ability.effect)
    returning * into v_call;
    v_kinds := _touches_store(v_call);
    if v_config #>> '{hooks,before_tool}' is null and _needs_approval(v_ability.risk, v_config -> 'engage') then
      perform _approval_ask(v_call, v_ability.risk, v_config -> 'engage');
      v_call.status := 'waiting';
    elsif _claims_are_due(v_item, v_config, v_kinds) and _calls_claim(v_item, v_config, v_call.turn_id, v_call.id) is not null then
      select * into v_call from tool_calls where id = v_call.id; -- rejected
    end if;
  end if;
  return case
    when v_call.status = 'waiting' or v_call.id = any (_calls_held(v_call.turn_id)) then json_build_object('kind', 'waiting')
    when v_call.completed_at is not null then json_build_object(
      'kind', 'settled', 'is_error', v_call.is_error, 'content', _call_whole(v_call), 'value', v_call.value)
    else json_build_object('kind', 'run', 'call', _open_call(v_call), 'is_rewritten', v_call.rewritten_input is not null) end;
end
$$;

comment on function tool_call_nested(uuid, uuid, uuid, integer, text, json) is
  'Registers a call made by the code of an execute_code call. p_ordinal: its number in that code, from 0. Returns {kind: run, call, is_rewritten}: run it like any call of turn_record(), then call this again; is_rewritten: its input is what a before_tool hook made of it. {kind: settled, is_error, content, value}: it has run, now or before the code was interrupted. {kind: waiting}: it waits for approval, or for a call that does; end the code and call tool_call_suspend(). {kind: diverged, reason}: the code is running again and makes a different call than before. {kind: unknown, reason}: code has no such tool. Raises WL001, WL002, WL003, WL004, WL008 (the parent is not running code).';

create or replace function tool_call_suspend(p_work_item_id uuid, p_lease uuid, p_tool_call_id uuid)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _fence(p_work_item_id, p_lease);
  v_call tool_calls := _call_of(v_item, p_tool_call_id);
begin
  update tool_calls
     set status = 'waiting', wait_ends_at = (select min(k.wait_ends_at) from tool_calls k where k.turn_id = v_call.turn_id and k.status = 'waiting')
   where id = v_call.id and completed_at is null
     and _code_waits(v_call);
end
$$;

comment on function tool_call_suspend(uuid, uuid, uuid) is
  'Reports that the code of an execute_code call was ended because a call in it waits for approval, or for a call that does. The execute_code call then also waits, and its code runs again once the approval is decided. Raises WL001, WL003, WL004.';

create or replace function _call_whole(p_call tool_calls)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when p_call.artifact_hash is not null then (select content from artifacts where content_hash = p_call.artifact_hash)
              else _result_text(p_call.result) end;
$$;

comment on function _call_whole(tool_calls) is 'The whole result of a call, as text.';

create or replace function _code_waits(p_call tool_calls)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select exists (select from tool_calls k
                  where k.turn_id = p_call.turn_id and k.parent_call_id = p_call.id
                    and (k.status = 'waiting' or k.id = any ((select _calls_held(p_call.turn_id))::uuid[])));
$$;

comment on function _code_waits(tool_calls) is 'Whether a call made by the code of this call waits for approval, or is behind one that does.';
