-- Runs the function behind an ability: one of the ledger's, or a user's, which runs as a separate role. Both ways to call one lead here:
-- tool_call_execute() for agents that a worker drives, ability_invoke() for everybody else.

create or replace function _ability_call(
    p_ability abilities,
    p_input jsonb,
    p_is_data boolean,
    p_work_item_id uuid,
    p_lease uuid,
    p_tool_call_id uuid,
    p_turn_id uuid default null)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_before text[] := array[
    current_setting('work_ledger.work_item_id', true), current_setting('work_ledger.lease', true), current_setting('work_ledger.turn_id', true),
    current_setting('work_ledger.tool_call_id', true), current_setting('work_ledger.is_agent', true)];
  v_result jsonb;
begin
  perform set_config('work_ledger.work_item_id', coalesce(p_work_item_id::text, ''), true),
          set_config('work_ledger.lease', coalesce(p_lease::text, ''), true),
          set_config('work_ledger.turn_id', coalesce(p_turn_id::text, ''), true),
          set_config('work_ledger.tool_call_id', p_tool_call_id::text, true),
          set_config('work_ledger.is_agent', case when p_turn_id is null then 'true' else '' end, true);
  -- Both calls are dynamic, because the function's name comes from a row: ability_register() took it from the catalog, quoted.
  if not p_ability.is_builtin then
    perform _tool_role_check();
    v_result := _tool_run(p_ability.function_name, _tool_path(p_ability.search_path), p_input);
  else
    if p_is_data and p_ability.name in ('ledger_append', 'ledger_read', 'spawn_child_work', 'check_child_work') then
      p_ability.function_name := format('%I.%I', _ledger_schema(), '_code_' || p_ability.name);
    end if;
    execute format('select to_jsonb(%s($1))', p_ability.function_name) into v_result using p_input;
  end if;
  -- The function may have called other abilities by name: restore the previous settings.
  perform set_config('work_ledger.work_item_id', coalesce(v_before[1], ''), true),
          set_config('work_ledger.lease', coalesce(v_before[2], ''), true),
          set_config('work_ledger.turn_id', coalesce(v_before[3], ''), true),
          set_config('work_ledger.tool_call_id', coalesce(v_before[4], ''), true),
          set_config('work_ledger.is_agent', coalesce(v_before[5], ''), true);
  return v_result;
end
$$;

comment on function _ability_call(abilities, jsonb, boolean, uuid, uuid, uuid, uuid) is
  'Runs the function of an ability on behalf of a work item, and returns what it returned. p_is_data: the caller is a program, which gets data, not sentences. p_turn_id: the turn of ours that made the call; null: an agent with a loop of its own, or a program.';

create or replace function _tool_role_check()
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if exists (select from ledger_roles) and not exists (
    select from ledger_roles r
      join pg_roles o on o.rolname = r.role
      join pg_proc p on p.proowner = o.oid
     where r.kind = 'tools' and p.prosecdef and p.oid = '_tool_run(text, text, jsonb)'::regprocedure) then
    raise exception using
      errcode = 'insufficient_privilege',
      message = 'this ledger has roles, but none that runs users'' SQL functions',
      hint = 'Create it with work_roles_create().';
  end if;
end
$$;

comment on function _tool_role_check() is 'Refuses to run a function of a user as the ledger''s owner. Raises 42501.';

create or replace function _tool_run(p_function text, p_path text, p_input jsonb)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_own_path text := current_setting('search_path');
  v_own_redact text := coalesce(current_setting('work_ledger.redact', true), '');
  v_call text := format('select pg_catalog.to_jsonb(%s($1))', p_function);
  v_result jsonb;
begin
  -- Between these two calls, the path is the function's, even if it sets another: everything here is looked up with its schema.
  perform pg_catalog.set_config('search_path', p_path, true);
  execute v_call into v_result using p_input;
  perform pg_catalog.set_config('search_path', v_own_path, true);
  -- If the tool switched redaction off for the session, switch it back on, so that the session's later rows lose their secrets. What the tool set for the
  -- transaction makes no difference.
  if v_own_redact = '' then
    perform pg_catalog.set_config('work_ledger.redact', '', false);
  end if;
  -- Anything that the function leaves in the session would act later with the session's rights: a table or type that hides another, triggers that wait for
  -- the commit, a cursor whose query runs then.
  if (select prosecdef from pg_proc where oid = '_tool_run(text, text, jsonb)'::regprocedure) and (
    pg_my_temp_schema() <> 0 and exists (
      select from pg_class where relnamespace = pg_my_temp_schema() and relowner = quote_ident(current_user)::regrole
      union all
      select from pg_type where typnamespace = pg_my_temp_schema() and typowner = quote_ident(current_user)::regrole)
    or exists (select from pg_cursors where is_holdable and creation_time >= statement_timestamp())
  ) then
    raise exception using
      errcode = 'insufficient_privilege',
      message = format('%s leaves a temporary object or an open cursor in the session', p_function),
      hint = 'Drop and close what it makes before it returns.';
  end if;
  return v_result;
end
$$;

comment on function _tool_run(text, text, jsonb) is
  'Runs a user''s function under its own search path. In a ledger with roles it belongs to PREFIXtools, runs with its rights, and only the owner may call it; elsewhere it runs as the caller. Raises 42501, and whatever the function raises.';
