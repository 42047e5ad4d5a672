-- Calls registered abilities by name, from psql or any language.

create or replace function ability_invoke(
    p_name text, p_input jsonb default '{}', p_work_item_id uuid default null, p_lease uuid default null, p_call_id uuid default null)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_ability abilities;
  v_lease uuid := coalesce(p_lease, nullif(current_setting('work_ledger.lease', true), '')::uuid);
  v_result jsonb;
begin
  select * into v_ability from abilities where tool_name = _tool_name(p_name);
  if not found then
    raise exception using errcode = 'WL001', message = format('there is no ability "%s"', p_name);
  end if;
  perform _ability_check(v_ability, p_work_item_id, v_lease);
  perform _schema_check('the input of ' || p_name, v_ability.input_schema::jsonb, p_input);
  if v_ability.implementation = 'runtime' or v_ability.name = 'await_child_work' then
    raise exception using errcode = 'feature_not_supported', message = format('ability "%s" cannot be invoked from SQL', p_name),
      hint = case v_ability.implementation
        when 'runtime' then 'A worker runs it: list it in a faculty''s engage.tools.'
        else 'Only a running agent can wait; call check_child_work instead.' end;
  end if;
  if v_ability.is_builtin and v_ability.name !~ '^ldg:' and v_ability.name <> 'artifact_read' then
    if p_work_item_id is null or not exists (select from work_items where id = p_work_item_id) then
      perform _raise_not_found('work item', p_work_item_id);
    end if;
    if v_ability.name = 'work_complete' then
      return jsonb_build_object('state', (work_complete(p_work_item_id, p_input ->> 'summary', p_input -> 'evidence', v_lease, p_input -> 'result')).state);
    end if;
  end if;
  v_result := _ability_call(v_ability, p_input, v_ability.name <> 'check_child_work', p_work_item_id, v_lease, coalesce(p_call_id, gen_random_uuid()));
  return case when v_ability.name in ('ledger_append', 'ledger_read') then (v_result #>> '{}')::jsonb else v_result end;
end
$$;

comment on function ability_invoke(text, jsonb, uuid, uuid, uuid) is
  'Calls an ability by its name, as registered or as models call it (ldg_task_get), and returns its result: select ability_invoke(''ldg:task:get'', ''{"taskId": "task-1"}''). The engine''s own (ledger_append, recall_block, spawn_child_work, ...) need p_work_item_id, the item on whose behalf they are called, and its p_lease if it is being driven. p_call_id: an id of the call, of the caller''s choice: called again with it (and the same input), ledger_append, spawn_child_work and memory do nothing a second time, and answer as the first time; to repeat a call whose answer was lost. Input that does not fit the ability''s schema is refused (what objects within it hold, lengths and patterns only with a JavaScript engine, see json_schema_errors()). Raises WL001 (no such ability, work item), WL002 (input), WL006 (p_call_id was used for another call), 0A000 (a worker runs it), 42501 (not yours to call), and whatever the ability raises.';

create or replace function _ability_check(p_ability abilities, p_work_item_id uuid, p_lease uuid)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  -- A role that cannot read the ledger has nothing but its lease, which is for one work item. The same applies to a user's tool, whoever calls it.
  if not has_table_privilege(session_user, 'work_items', 'select') or (p_ability.is_builtin or p_work_item_id is not null) and _in_tool() then
    perform _fence(p_work_item_id, p_lease);
    if p_ability.name ~ '^ldg:' or p_ability.name in ('ledger_search', 'ask_about', 'memory') then
      raise exception using
      errcode = 'insufficient_privilege',
      message = format('ability "%s" cannot be invoked by a role that may read nothing', p_ability.name);
    end if;
  end if;
  -- Users' functions run as a separate role, so the ledger must not let a caller run one that the caller could not run directly.
  if p_ability.implementation = 'sql' and not p_ability.is_builtin
    and not has_function_privilege(session_user, p_ability.function_name || '(jsonb)', 'execute') then
    raise exception using errcode = 'insufficient_privilege', message = format('role %I may not execute %s', session_user, p_ability.function_name);
  end if;
end
$$;

comment on function _ability_check(abilities, uuid, uuid) is 'Refuses whoever is logged in an ability that is not theirs to call. Raises WL001, WL003, WL004, WL005, 42501.';

