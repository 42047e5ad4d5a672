-- Tool calls: begun once, settled once. SQL tools commit their effect and their result together.

create or replace function tool_call_begin(
    p_work_item_id uuid,
    p_lease uuid,
    p_tool_call_id uuid)
  returns uuid[]
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
declare
  v_item work_items := _fence(p_work_item_id, p_lease);
  v_call tool_calls := _call_of(v_item, p_tool_call_id);
  v_behind uuid[] := '{}';
begin
  if v_call.completed_at is not null then
    raise exception using
      errcode = 'WL008',
      message = format('tool call %s is %s and cannot begin', v_call.id, v_call.status);
  end if;
  if v_call.status = 'pending' then
    v_behind := _begins_behind(v_call);
    update tool_calls
       set status = 'running', attempts = attempts + 1, started_at = _now()
     where id = v_call.id and v_behind = '{}';
  end if;
  perform _tell_watchers(v_item);
  return v_behind;
end
$$;

comment on function tool_call_begin(uuid, uuid, uuid) is
  'Reports that a tool is about to run: if the worker crashes from here on, an unsafe call becomes uncertain. Returns {}: run it. Otherwise the call has not begun: returns the ids of the calls that touch the same things and must end first (call this again when they have), or its own id if one of those waits for approval (leave it open). Repeating it under the same lease changes nothing. Raises WL001, WL003, WL004, WL008 (the call is settled).';

create or replace function tool_call_settle(
    p_work_item_id uuid,
    p_lease uuid,
    p_tool_call_id uuid,
    p_content text,
    p_is_error boolean default false,
    p_images jsonb default null,
    p_whole text default null,
    p_value json default null,
    p_code_run jsonb default null)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
declare
  v_item work_items := _fence(p_work_item_id, p_lease);
  v_call tool_calls := _call_of(v_item, p_tool_call_id);
begin
  if jsonb_typeof(p_code_run) <> 'object' then
    perform _raise_invalid('p_code_run must be an object: {verdict, calls, bytes_seen, bytes_returned, duration_ms, timeout_seconds}');
  end if;
  perform _check_images(p_images);
  if v_call.completed_at is null then
    if p_code_run is not null or v_call.parent_call_id is not null and p_value is not null then
      update tool_calls
         set value = case when parent_call_id is null then value else coalesce(p_value, value) end, code_run = coalesce(p_code_run, code_run)
       where id = v_call.id;
    end if;
    perform _call_settle(v_call, p_content, p_is_error, p_images, p_whole);
    perform _tell_watchers(v_item);
  end if;
end
$$;

comment on function tool_call_settle(uuid, uuid, uuid, text, boolean, jsonb, text, json, jsonb) is
  'Stores the result of a tool call, once: settling a settled call changes nothing. If p_content is longer than the faculty''s max_result_chars (50,000), the model is shown head, tail and a handle, and the whole becomes an artifact, see artifact_read(). p_images: [{media_type, data (base64)}], shown after the text. p_whole: the whole output from which p_content was made, stored as an artifact whatever its size. p_value: what code receives instead of the text, if code made the call. p_code_run: for execute_code, how its code ran, see tool_calls.code_run. Raises WL001, WL002, WL003, WL004.';

create or replace function _check_images(p_images jsonb)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_images is null then
    return;
  elsif jsonb_typeof(p_images) <> 'array' or exists (
    select from jsonb_array_elements(case jsonb_typeof(p_images) when 'array' then p_images else '[]' end) i
     where coalesce(i ->> 'media_type', '') !~ '^image/(png|jpeg|gif|webp)$' or coalesce(i ->> 'data', '') !~ '^[A-Za-z0-9+/]+=*$'
       or octet_length(i ->> 'data') > 5242880) then
    perform _raise_invalid('images must be an array of {media_type, data}: image/png, jpeg, gif or webp, in base64 of at most 5 MiB');
  end if;
end
$$;

comment on function _check_images(jsonb) is 'Checks the images of a result. Raises WL002.';

create or replace function tool_call_execute(
    p_work_item_id uuid,
    p_lease uuid,
    p_tool_call_id uuid)
  returns uuid[]
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _fence(p_work_item_id, p_lease);
  v_call tool_calls := _call_of(v_item, p_tool_call_id);
  v_behind uuid[];
begin
  if v_call.completed_at is not null or v_call.status = 'waiting' then
    return '{}';
  end if;
  v_behind := _begins_behind(v_call);
  if v_behind = '{}' then
    perform _call_execute(v_item, p_lease, v_call), _tell_watchers(v_item);
  end if;
  return v_behind;
end
$$;

comment on function tool_call_execute(uuid, uuid, uuid) is
  'Runs a tool that is a SQL function and stores its result. Both commit together, so a crash can neither lose nor repeat the call. An error becomes the result and rolls back what the function did; only deadlocks and serialization failures are raised, for the caller to repeat the call. Returns {}; or, like tool_call_begin(), the calls that must end first, in which case nothing was run. Raises WL001, WL002, WL003, WL004, 40001, 40P01.';

create or replace function _call_execute(p_item work_items, p_lease uuid, p_call tool_calls)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_ability abilities;
  v_result jsonb;
  v_hint text;
begin
  select * into v_ability from abilities where tool_name = p_call.tool_name and implementation <> 'runtime';
  if not found then
    perform _raise_invalid(format('tool "%s" is not implemented in the database', p_call.tool_name));
  end if;
  p_call.attempts := p_call.attempts + 1;
  p_call.started_at := _now();
  begin
    v_result := _ability_call(v_ability, _call_input(p_call)::jsonb, p_call.parent_call_id is not null, p_item.id, p_lease, p_call.id, p_call.turn_id);
    if v_result is null and _is_wait(v_ability.name) then
      -- What it waits for comes from its original input, even if a hook rewrote that.
      perform _awaits(p_call.input), _claim_held_by(p_item, case v_ability.name when 'wait_for' then p_call.input ->> 'claim' end, p_call.id)
        where p_call.rewritten_input is not null;
      update tool_calls
         set status = 'waiting', attempts = p_call.attempts, started_at = p_call.started_at, wait_ends_at = _wait_ends_at(p_call.input)
       where id = p_call.id;
    else
      perform _call_settle(
        p_call, coalesce(v_result #>> '{}', ''), false,
        case when v_ability.implementation = 'engine' then _recalled_images(p_item.id, v_ability.name, _call_input(p_call)::jsonb) end);
    end if;
  exception
  when deadlock_detected or serialization_failure then
    raise; -- not the call's fault: the worker runs it again
  when others then
    get stacked diagnostics v_hint = pg_exception_hint;
    -- Models know the errors of the memory tool in their original form.
    perform _call_settle(p_call, concat_ws(E'\n', case when v_ability.name = 'memory' and v_ability.is_builtin and sqlstate ~ '^WL' then 'Error: ' || sqlerrm
                                                        else format('%s (%s)', sqlerrm, sqlstate) end, nullif(v_hint, '')), true);
  end;
end
$$;

comment on function _call_execute(work_items, uuid, tool_calls) is 'tool_call_execute() of an open call that waits for no other, for a caller that holds the lock on its item''s fence.';
