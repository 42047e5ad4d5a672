create or replace function _call_of(p_item work_items, p_tool_call_id uuid)
  returns tool_calls
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_call tool_calls;
begin
  select k.* into v_call
    from tool_calls k
    join turns t on t.id = k.turn_id
   where k.id = p_tool_call_id and t.focus_id = p_item.focus_id
     for update of k;
  if not found then
    perform _raise_not_found('tool call of this focus', p_tool_call_id);
  end if;
  return v_call;
end
$$;

comment on function _call_of(work_items, uuid) is 'A tool call of the focus that drives the item. Raises WL001.';

create or replace function tool_call_begin(
    p_work_item_id uuid,
    p_lease uuid,
    p_tool_call_id uuid)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _fence(p_work_item_id, p_lease);
  v_call tool_calls := _call_of(v_item, p_tool_call_id);
begin
  if v_call.completed_at is not null then
    raise exception using
      errcode = 'WL008',
      message = format('tool call %s is %s and cannot begin', v_call.id, v_call.status);
  end if;
  update tool_calls
     set status = 'running', attempts = attempts + 1, started_at = _now()
   where id = v_call.id and status = 'pending';
end
$$;

comment on function tool_call_begin(uuid, uuid, uuid) is
  'Says that a tool is about to run: after a crash from here on, an unsafe call counts as uncertain. Repeating it under the same lease changes nothing. Raises WL001, WL003, WL004, WL008 (the call is settled).';

create or replace function tool_call_settle(
    p_work_item_id uuid,
    p_lease uuid,
    p_tool_call_id uuid,
    p_content text,
    p_is_error boolean default false)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _fence(p_work_item_id, p_lease);
  v_call tool_calls := _call_of(v_item, p_tool_call_id);
begin
  if v_call.completed_at is null then
    perform _call_settle(v_call, p_content, p_is_error);
  end if;
end
$$;

comment on function tool_call_settle(uuid, uuid, uuid, text, boolean) is
  'Stores the result of a tool call, for good: settling a settled call changes nothing. Content over 256 KiB keeps its head and tail. Raises WL001, WL003, WL004.';

create or replace function _call_settle(p_call tool_calls, p_content text, p_is_error boolean)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_content text := _cap_text(coalesce(nullif(p_content, ''), '(no output)'), 262144);
begin
  update tool_calls
     set status = case when p_is_error then 'failed' else 'completed' end,
         is_error = coalesce(p_is_error, false),
         is_truncated = v_content is distinct from coalesce(nullif(p_content, ''), '(no output)'),
         result = to_json(v_content),
         completed_at = _now()
   where id = p_call.id;
end
$$;

comment on function _call_settle(tool_calls, text, boolean) is 'Writes a result; the caller has checked the lease.';

create or replace function tool_call_execute(
    p_work_item_id uuid,
    p_lease uuid,
    p_tool_call_id uuid)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _fence(p_work_item_id, p_lease);
  v_call tool_calls := _call_of(v_item, p_tool_call_id);
  v_ability abilities;
  v_path text := current_setting('search_path');
  v_result jsonb;
  v_hint text;
begin
  if v_call.completed_at is not null then
    return;
  end if;
  select * into v_ability from abilities where _tool_name(name) = v_call.tool_name and implementation <> 'runtime';
  if not found then
    perform _raise_invalid(format('tool "%s" is not implemented in the database', v_call.tool_name));
  end if;
  perform set_config('work_ledger.work_item_id', v_item.id::text, true),
          set_config('work_ledger.lease', p_lease::text, true),
          set_config('work_ledger.turn_id', v_call.turn_id::text, true),
          set_config('work_ledger.tool_call_id', v_call.id::text, true);
  update tool_calls set attempts = attempts + 1, started_at = _now() where id = v_call.id;
  begin
    if v_ability.implementation = 'sql' then
      -- A user's function finds what it would find in a session of the user's, and the ledger besides.
      perform set_config('search_path', concat_ws(', ',
        nullif((select reset_val from pg_settings where name = 'search_path'), ''), quote_ident(_ledger_schema())), true);
    end if;
    -- Dynamic, because users name the function: a stored, quoted name that ability_register() took from the catalog.
    execute format('select to_jsonb(%s($1))', v_ability.function_name) into v_result using v_call.input::jsonb;
    perform set_config('search_path', v_path, true);
    perform _call_settle(v_call, coalesce(v_result #>> '{}', ''), false);
  exception when others then
    get stacked diagnostics v_hint = pg_exception_hint;
    perform _call_settle(v_call, concat_ws(E'\n', format('%s (%s)', sqlerrm, sqlstate), nullif(v_hint, '')), true);
  end;
  perform set_config('work_ledger.work_item_id', '', true),
          set_config('work_ledger.lease', '', true),
          set_config('work_ledger.turn_id', '', true),
          set_config('work_ledger.tool_call_id', '', true);
end
$$;

comment on function tool_call_execute(uuid, uuid, uuid) is
  'Runs a tool that is a SQL function: what it does and its result commit together, so that a crash can neither lose nor repeat it. An error becomes the result and undoes what the function did. Raises WL001, WL002, WL003, WL004.';
