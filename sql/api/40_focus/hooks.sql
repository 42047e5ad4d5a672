-- Hooks: commands at fixed points of a focus. The database decides which one is due and what its output means; the worker runs it. A command gets JSON
-- on stdin and answers on stdout.

create or replace function _hook(p_item work_items, p_focus foci, p_config jsonb, p_hook text, p_turn_id uuid default null)
  returns hook_runs
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_command text := nullif(btrim(case p_hook
    when 'engage' then p_config #>> '{engage,command}'
    when 'check' then p_config #>> '{engage,check_command}'
    when 'before_model_call' then p_config #>> '{hooks,before_model_call}'
    else p_config #>> array[p_hook, 'command'] end), '');
  v_run hook_runs;
begin
  if v_command is not null then
    select * into v_run from hook_runs
     where focus_id = p_focus.id and hook = p_hook and turn_id is not distinct from p_turn_id and tool_call_id is null;
    if not found then
      insert into hook_runs (work_item_id, focus_id, turn_id, hook, command)
      values (p_item.id, p_focus.id, p_turn_id, p_hook, v_command)
      returning * into v_run;
    end if;
  end if;
  return v_run;
end
$$;

comment on function _hook(work_items, foci, jsonb, text, uuid) is 'The run of a faculty''s command at a point of a focus, made if there is none yet; pending until hook_record(). Null: the faculty has no such command.';

create or replace function _hook_order(p_item work_items, p_focus foci, p_config jsonb, p_run hook_runs, p_input jsonb default '{}')
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select jsonb_build_object(
    'kind', 'run_hook',
    'hook_run_id', p_run.id,
    'command', p_run.command,
    'timeout_seconds', (case p_run.hook
      when 'engage' then p_config #>> '{engage,command_timeout}'
      when 'check' then p_config #>> '{engage,check_timeout}'
      when 'before_model_call' then p_config #>> '{hooks,timeout}'
      else p_config #>> array[p_run.hook, 'timeout'] end)::integer,
    'input', jsonb_build_object(
      'hook', p_run.hook,
      'hook_run_id', p_run.id,
      'work_item', jsonb_build_object(
        'id', p_item.id, 'parent_id', p_item.parent_id, 'external_id', p_item.external_id, 'work_type', p_item.work_type,
        'description', p_item.description, 'params', p_item.params, 'priority', p_item.priority),
      'faculty', p_focus.faculty,
      'attempt', p_focus.attempt) || p_input);
$$;

comment on function _hook_order(work_items, foci, jsonb, hook_runs, jsonb) is 'The {kind: run_hook} that tells a worker what to run; input: what the command gets on stdin.';

create or replace function _hook_problem(p_run hook_runs, p_result jsonb)
  returns text
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_said jsonb := _try_json(p_run.output);
  v_types jsonb := case p_run.hook
    when 'recover' then '{"context": "string", "give_up": "string", "mode": "string"}'
    when 'orient' then '{"context": "string", "refuse": "string"}'
    when 'engage' then '{"summary": "string", "evidence": "array", "entries": "array", "result": "any", "fail": "string"}'
    when 'before_model_call' then '{"say": "string", "refuse": "string"}'
    when 'before_tool' then '{"input": "object", "refuse": "string"}'
    when 'after_tool' then '{"content": "string", "is_error": "boolean", "refuse": "string"}'
  end;
  v_key text;
begin
  if p_result ->> 'error' is not null then
    return 'could not be started: ' || _one_line(p_result ->> 'error', 300);
  elsif p_result -> 'is_timed_out' = 'true' then
    return format('did not end within %s second%s', p_result ->> 'timeout_seconds', case when p_result ->> 'timeout_seconds' <> '1' then 's' end);
  elsif p_run.exit_code is distinct from 0 then
    return format('ended %s', coalesce('with exit code ' || p_run.exit_code, 'by signal ' || coalesce(p_result ->> 'signal', '?')))
      || coalesce(': ' || nullif(_one_line(coalesce(nullif(btrim(p_result ->> 'stderr'), ''), p_run.output), 300), ''), '');
  elsif p_result -> 'is_truncated' = 'true' and p_run.hook <> 'check' then
    return 'printed more than 1,000,000 bytes';
  elsif v_types is null then
    return null;
  elsif jsonb_typeof(v_said) is distinct from 'object' then
    return case
      when p_run.hook not in ('before_model_call', 'before_tool', 'after_tool') or p_run.output !~ '\S' then null
      else format('printed something other than a JSON object: "%s"', _one_line(p_run.output, 100)) end;
  end if;
  -- A guard's misspelled key must not be mistaken for a lack of objections.
  select e.key into v_key from jsonb_each(v_said) e where coalesce(v_types ->> e.key not in (jsonb_typeof(e.value), 'any'), true) limit 1;
  if found then
    return case when v_types ? v_key then format('returned "%s", which is not %s', v_key, _an(v_types ->> v_key))
                else format('returned "%s", which is not a key that it can return', _one_line(v_key, 60)) end;
  end if;
  return case when p_run.hook = 'recover' and v_said ->> 'mode' not in ('fresh', 'resume') then 'returned a mode that is neither fresh nor resume' end;
end
$$;

comment on function _hook_problem(hook_runs, jsonb) is 'Why the result of a command cannot be used; null: it can.';

create or replace function _hook_settle(p_run hook_runs, p_result jsonb)
  returns hook_runs
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_said jsonb;
begin
  p_result := _redact_text(p_result::text, 'hook_runs', json_build_object('focus_id', p_run.focus_id)); -- before parts of it are cut
  p_run.output := case p_run.hook when 'check' then _cap_text(concat_ws(E'\n', nullif(p_result ->> 'stdout', ''), p_result ->> 'stderr'), 8000)
                       else left(p_result ->> 'stdout', 1000000) end;
  p_run.exit_code := _count('exit_code', p_result ->> 'exit_code');
  p_run.error := _hook_problem(p_run, p_result);
  v_said := _try_json(p_run.output);
  update hook_runs
     set status = case when p_run.error is not null then 'failed'
                       when p_run.hook not in ('check', 'consolidate') and jsonb_typeof(v_said) = 'object'
                         and coalesce(v_said ->> 'refuse', v_said ->> 'give_up', v_said ->> 'fail') is not null then 'refused'
                       else 'completed' end,
         output = p_run.output, error = p_run.error, exit_code = p_run.exit_code,
         duration_ms = _count('duration_ms', p_result ->> 'duration_ms'), completed_at = _now()
   where id = p_run.id
  returning * into p_run;
  return p_run;
end
$$;

comment on function _hook_settle(hook_runs, jsonb) is 'Stores the result of a command and returns its run; the run''s status says what the result means.';

create or replace function _hook_said(p_run hook_runs, p_key text)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case
           when p_run.status not in ('completed', 'refused') then null
           when jsonb_typeof(v.said) = 'object' then v.said ->> p_key
           when p_key in ('context', 'summary') then nullif(btrim(p_run.output, E' \t\r\n'), '')
         end
    from (select _try_json(p_run.output)) as v(said);
$$;

comment on function _hook_said(hook_runs, text) is 'The value of a key in a command''s output; null: the run has not succeeded, or has no such key. Output that is not a JSON object is taken as the value of context or summary.';

create or replace function _hook_result(p_run hook_runs)
  returns jsonb
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when jsonb_typeof(v.said) = 'object' then v.said -> 'result' end from (select _try_json(p_run.output)) as v(said);
$$;

comment on function _hook_result(hook_runs) is 'The result that an engage command returned, as JSON; null: none.';

create or replace function _hook_words(p_hook text, p_words text)
  returns text
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _fenced(format('What the %s command of your faculty says, as data between the markers', p_hook), p_words);
$$;

comment on function _hook_words(text, text) is 'Text from a command, as a model is shown it. Null for null.';
