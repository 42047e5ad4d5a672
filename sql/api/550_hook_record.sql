-- Commands at fixed points of a focus: the database says which is due and what its answer means, the worker runs it. It is
-- given JSON on stdin and answers on stdout.

create or replace function _hook(p_item work_items, p_focus foci, p_hook text, p_turn_id uuid default null)
  returns hook_runs
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_config jsonb := (select config from faculties where content_hash = p_focus.faculty_hash);
  v_command text := nullif(btrim(case p_hook
    when 'engage' then v_config #>> '{engage,command}'
    when 'check' then v_config #>> '{engage,check_command}'
    when 'before_model_call' then v_config #>> '{hooks,before_model_call}'
    else v_config #>> array[p_hook, 'command'] end), '');
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

comment on function _hook(work_items, foci, text, uuid) is 'The run of a faculty''s command at a point of a focus, which is pending until hook_record(); null where it has no such command.';

create or replace function _hook_order(p_item work_items, p_focus foci, p_run hook_runs, p_input jsonb default '{}')
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
      when 'engage' then f.config #>> '{engage,command_timeout}'
      when 'check' then f.config #>> '{engage,check_timeout}'
      when 'before_model_call' then f.config #>> '{hooks,timeout}'
      else f.config #>> array[p_run.hook, 'timeout'] end)::integer,
    'input', jsonb_build_object(
      'hook', p_run.hook,
      'hook_run_id', p_run.id,
      'work_item', jsonb_build_object(
        'id', p_item.id, 'parent_id', p_item.parent_id, 'external_id', p_item.external_id, 'work_type', p_item.work_type,
        'description', p_item.description, 'params', p_item.params, 'priority', p_item.priority),
      'faculty', p_focus.faculty,
      'attempt', p_focus.attempt) || p_input)
    from faculties f
   where f.content_hash = p_focus.faculty_hash;
$$;

comment on function _hook_order(work_items, foci, hook_runs, jsonb) is 'What the worker is told to run, and what the command is given on stdin.';

create or replace function _try_json(p_text text)
  returns jsonb
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return p_text::jsonb;
exception when others then
  return null;
end
$$;

comment on function _try_json(text) is 'The text as JSON; null where it is none.';

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
    when 'engage' then '{"summary": "string", "evidence": "array", "entries": "array", "fail": "string"}'
    when 'before_model_call' then '{"say": "string", "refuse": "string"}'
    when 'before_tool' then '{"input": "object", "refuse": "string"}'
    when 'after_tool' then '{"content": "string", "is_error": "boolean", "refuse": "string"}'
  end;
  v_key text;
begin
  if p_result ->> 'error' is not null then
    return 'could not be started: ' || _one_line(p_result ->> 'error', 300);
  elsif (p_result ->> 'is_timed_out')::boolean then
    return format('did not end within %s seconds', p_result ->> 'timeout_seconds');
  elsif p_run.exit_code is distinct from 0 then
    return format('ended %s', coalesce('with exit code ' || p_run.exit_code, 'by signal ' || coalesce(p_result ->> 'signal', '?')))
      || coalesce(': ' || nullif(_one_line(coalesce(nullif(btrim(p_result ->> 'stderr'), ''), p_run.output), 300), ''), '');
  elsif (p_result ->> 'is_truncated')::boolean and p_run.hook <> 'check' then
    return 'printed more than 1,000,000 bytes';
  elsif v_types is null then
    return null;
  elsif jsonb_typeof(v_said) is distinct from 'object' then
    return case
      when p_run.hook not in ('before_model_call', 'before_tool', 'after_tool') or p_run.output !~ '\S' then null
      else format('printed what is not a JSON object: "%s"', _one_line(p_run.output, 100)) end;
  end if;
  -- A guard whose word is misspelt must not pass for one that has nothing to say.
  select e.key into v_key from jsonb_each(v_said) e where v_types ->> e.key is distinct from jsonb_typeof(e.value) limit 1;
  if found then
    return case when v_types ? v_key then format('said "%s" that is not a %s', v_key, v_types ->> v_key)
                else format('said "%s", which means nothing here', _one_line(v_key, 60)) end;
  end if;
  return case when p_run.hook = 'recover' and v_said ->> 'mode' not in ('fresh', 'resume') then 'said a mode that is neither fresh nor resume' end;
end
$$;

comment on function _hook_problem(hook_runs, jsonb) is 'Why a command''s answer cannot be used; null when it can.';

create or replace function _hook_settle(p_run hook_runs, p_result jsonb)
  returns hook_runs
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_said jsonb;
begin
  p_run.output := case p_run.hook when 'check' then _cap_text(concat_ws(E'\n', p_result ->> 'stdout', p_result ->> 'stderr'), 8000)
                       else left(p_result ->> 'stdout', 1000000) end;
  p_run.exit_code := (p_result ->> 'exit_code')::integer;
  p_run.error := _hook_problem(p_run, p_result);
  v_said := _try_json(p_run.output);
  update hook_runs
     set status = case when p_run.error is not null then 'failed'
                       when p_run.hook not in ('check', 'consolidate') and jsonb_typeof(v_said) = 'object' and coalesce(v_said ->> 'refuse', v_said ->> 'give_up', v_said ->> 'fail') is not null then 'refused'
                       else 'completed' end,
         output = p_run.output, error = p_run.error, exit_code = p_run.exit_code,
         duration_ms = (p_result ->> 'duration_ms')::integer, completed_at = _now()
   where id = p_run.id
  returning * into p_run;
  return p_run;
end
$$;

comment on function _hook_settle(hook_runs, jsonb) is 'Writes what a command said.';

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

comment on function _hook_said(hook_runs, text) is 'What a command answered under a key; text that is no JSON object stands for the one that is not a word to the engine.';

create or replace function hook_record(
    p_work_item_id uuid,
    p_lease uuid,
    p_hook_run_id uuid,
    p_result jsonb)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _fence(p_work_item_id, p_lease);
  v_focus foci;
  v_config jsonb;
  v_run hook_runs;
  v_failure text;
  v_entry jsonb;
begin
  select * into v_focus from foci where id = v_item.focus_id;
  select * into v_run from hook_runs where id = p_hook_run_id and focus_id = v_focus.id;
  if not found then
    perform _raise_not_found('hook run of this focus', p_hook_run_id);
  end if;
  if v_run.completed_at is not null then
    return '{"kind": "recorded"}';
  end if;
  v_run := _hook_settle(v_run, p_result);
  v_config := (select config from faculties where content_hash = v_focus.faculty_hash);
  v_failure := format('the %s command %s', v_run.hook, v_run.error);

  if v_run.status = 'failed' and (v_run.hook = 'engage' or v_config #>> array[v_run.hook, 'on_failure'] = 'fail') then
    v_item := _focus_end(v_item, 'failed', 'retry', v_failure, null);
  elsif v_run.hook = 'recover' and v_run.status = 'refused' then
    v_item := _focus_end(v_item, 'failed', 'dead', 'the recover command gave up: ' || _hook_said(v_run, 'give_up'), null);
  elsif v_run.hook = 'recover' and _hook_said(v_run, 'mode') = 'fresh' then
    update work_items set ledger_epoch = ledger_count where id = v_item.id;
  elsif v_run.hook = 'orient' and v_run.status = 'refused' then
    v_item := _focus_end(v_item, 'failed', 'failed', 'the orient command refused: ' || _hook_said(v_run, 'refuse'), null);
  elsif v_run.hook = 'engage' and v_run.status = 'refused' then
    v_item := _focus_end(v_item, 'failed', 'retry', _hook_said(v_run, 'fail'), null);
  elsif v_run.hook = 'engage' then
    begin
      for v_entry in select value from jsonb_array_elements(coalesce(_hook_said(v_run, 'entries')::jsonb, '[]')) loop
        perform ledger_append(v_item.id, v_entry ->> 'entry_type', v_entry ->> 'content', p_lease => p_lease);
      end loop;
    exception when sqlstate 'WL002' then
      v_item := _focus_end(v_item, 'failed', 'retry', 'the engage command wanted to record what is no entry: ' || sqlerrm, null);
    end;
  elsif v_run.hook = 'before_model_call' then
    if v_run.status = 'refused' or (v_run.status = 'failed' and v_config #>> '{hooks,on_failure}' = 'refuse') then
      v_item := _work_park(v_item, coalesce('the before_model_call hook refused: ' || _hook_said(v_run, 'refuse'), v_failure));
    elsif _hook_said(v_run, 'say') ~ '\S' then
      insert into messages (turn_id, sequence, role, source, content, metadata)
      values (v_run.turn_id, 850, 'user', 'engine', ('[' || _text_block(_hook_said(v_run, 'say')) || ']')::json, '{"kind": "hook"}');
    end if;
  end if;
  if v_item.lease_token is null then
    return jsonb_build_object('kind', v_item.state, 'reason', v_item.state_reason);
  end if;
  return '{"kind": "recorded"}';
end
$$;

comment on function hook_record(uuid, uuid, uuid, jsonb) is
  'Reports what a command printed that iteration_begin() or iteration_finish() asked for with {kind: run_hook}: p_result = {stdout, stderr, exit_code, signal, is_timed_out, timeout_seconds, is_truncated, error, duration_ms}. Returns {kind: recorded}, and the same stage comes once more, or the item''s new state: an attempt that fails, an item that is given up or parked, by what the command said (README) or by the faculty''s on_failure. Recording again changes nothing. Raises WL001, WL002, WL003, WL004.';

create or replace function _work_park(p_item work_items, p_reason text)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
begin
  perform _lease_drop(p_item);
  update work_items set state = 'paused', state_reason = p_reason, slot_faculty = null where id = p_item.id;
  perform _slot_ring(p_item.slot_faculty);
  select * into v_item from work_items where id = p_item.id;
  return v_item;
end
$$;

comment on function _work_park(work_items, text) is 'Pauses an item, whose row lock the caller holds, until a person lets it go on.';

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
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _fence(p_work_item_id, p_lease);
  v_call tool_calls := _call_of(v_item, p_tool_call_id);
  v_config jsonb := (select f.config from foci o join faculties f on f.content_hash = o.faculty_hash where o.id = v_item.focus_id);
  v_run hook_runs;
  v_reason text;
  v_risk text;
begin
  if p_hook is null or p_hook not in ('before_tool', 'after_tool') then
    perform _raise_invalid(format('"%s" is not a hook of a tool call', p_hook), 'before_tool or after_tool');
  end if;
  if v_call.completed_at is not null then
    return jsonb_build_object('kind', 'settled');
  end if;
  insert into hook_runs (work_item_id, focus_id, turn_id, tool_call_id, hook, command)
  values (v_item.id, v_item.focus_id, v_call.turn_id, v_call.id, p_hook, coalesce(v_config #>> array['hooks', p_hook], ''))
  on conflict on constraint one_run_a_point do update set status = 'pending', completed_at = null
  returning * into v_run;
  v_run := _hook_settle(v_run, p_result);
  v_reason := case
    when v_run.status = 'refused' then format('a hook refused it: %s', _hook_said(v_run, 'refuse'))
    when v_run.status = 'failed' and v_config #>> '{hooks,on_failure}' = 'refuse' then format('the %s hook %s.', p_hook, v_run.error) end;

  if p_hook = 'after_tool' then
    if v_reason is not null then
      perform _call_settle(v_call, '[engine] The call ran. Its result is withheld: ' || v_reason, true);
    else
      -- What a hook rewrote is all that code may see, too.
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
  v_risk := (select risk from abilities where _tool_name(name) = v_call.tool_name);
  if _needs_approval(v_risk, v_config -> 'engage') then
    perform _approval_ask(v_call, v_risk, v_config -> 'engage');
    return jsonb_build_object('kind', 'waiting');
  end if;
  return jsonb_build_object('kind', 'go', 'input', _call_input(v_call));
end
$$;

comment on function tool_hook_record(uuid, uuid, uuid, text, jsonb, text, boolean, jsonb, json) is
  'Reports what the before_tool or after_tool command of a faculty printed for a call (p_result as hook_record() takes it). before_tool: {kind: go, input}: run it with that input; {kind: waiting}: a person has to approve the call first; {kind: settled}: refused, and the model is told. after_tool, with the result as tool_call_settle() takes it: the call is settled, with that result or what the hook made of it. Raises WL001, WL002, WL003, WL004.';

create or replace function _finish(p_item work_items, p_focus foci, p_turn_id uuid, p_outcome jsonb)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
  v_run hook_runs := _hook(p_item, p_focus, 'check', p_turn_id);
begin
  if v_run.status = 'pending' then
    return _hook_order(p_item, p_focus, v_run, jsonb_build_object('outcome', p_outcome));
  elsif v_run.status = 'failed' then
    if p_turn_id is not null and (select count(*) from hook_runs where focus_id = p_focus.id and hook = 'check' and status = 'failed') = 1 then
      return null;
    end if;
    v_item := _focus_end(p_item, 'failed', case when p_turn_id is null then 'retry' else 'failed' end,
      format('the check (%s) %s', _one_line(v_run.command, 100), v_run.error), p_outcome || jsonb_build_object('error', 'the check failed', 'check', v_run.output));
    return jsonb_build_object('kind', v_item.state, 'reason', v_item.state_reason);
  end if;
  v_run := _hook(p_item, p_focus, 'consolidate');
  if v_run.status = 'pending' then
    return _hook_order(p_item, p_focus, v_run, jsonb_build_object(
      'outcome', p_outcome,
      'ledger', (select jsonb_agg(jsonb_build_object('seq', l.seq, 'entry_type', l.entry_type, 'content', l.content) order by l.seq)
                   from ledger_read(p_item.id, null, 500) l),
      'children', (select jsonb_agg(jsonb_build_object('work_item_id', c.id, 'work_type', c.work_type, 'state', c.state, 'outcome', c.outcome_data) order by c.created_at)
                     from work_items c where c.parent_id = p_item.id)));
  elsif v_run.status = 'failed' then
    p_outcome := p_outcome || jsonb_build_object('consolidate_error', v_run.error);
  elsif v_run.output ~ '\S' then
    p_outcome := p_outcome || jsonb_build_object('consolidated', coalesce(_try_json(v_run.output), to_jsonb(v_run.output)));
  end if;
  v_item := _focus_end(p_item, 'completed', 'completed', null, p_outcome);
  return jsonb_build_object('kind', v_item.state, 'reason', v_item.state_reason);
end
$$;

comment on function _finish(work_items, foci, uuid, jsonb) is
  'What follows when the work of a focus is said to be done: the faculty''s check, then its consolidate command ({kind: run_hook}), then the end. A check that fails for the first time is told to the model: null, and the work goes on; the second time the item fails.';

create or replace function _before_work(p_item work_items, p_focus foci)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_engage jsonb := (select config -> 'engage' from faculties where content_hash = p_focus.faculty_hash);
  v_run hook_runs;
begin
  if p_focus.attempt > 1 then
    v_run := _hook(p_item, p_focus, 'recover');
    if v_run.status = 'pending' then
      return _hook_order(p_item, p_focus, v_run, jsonb_build_object(
        'attempts', (select jsonb_agg(jsonb_build_object('attempt', f.attempt, 'outcome', f.outcome, 'error', f.error ->> 'message', 'iterations', f.iteration) order by f.attempt)
                       from foci f where f.work_item_id = p_item.id and f.attempt < p_focus.attempt),
        'ledger', (select jsonb_agg(jsonb_build_object('seq', l.seq, 'entry_type', l.entry_type, 'content', l.content) order by l.seq)
                     from ledger_read(p_item.id, null, 500) l)));
    end if;
  end if;
  v_run := _hook(p_item, p_focus, 'orient');
  if v_run.status = 'pending' then
    return _hook_order(p_item, p_focus, v_run);
  end if;
  if v_engage ->> 'mode' = 'external' then
    v_run := _hook(p_item, p_focus, 'engage');
    if v_run.status = 'pending' then
      return _hook_order(p_item, p_focus, v_run, jsonb_build_object('context', _orient(p_item, p_focus), 'lease', p_item.lease_token));
    end if;
    return _finish(p_item, p_focus, null, jsonb_strip_nulls(jsonb_build_object(
      'summary', coalesce(_hook_said(v_run, 'summary'), '(no summary)'), 'evidence', _hook_said(v_run, 'evidence')::jsonb)));
  end if;
  return null;
end
$$;

comment on function _before_work(work_items, foci) is
  'What an attempt has to run before its first request: the faculty''s recover and orient commands, and with engage.mode = external the command that does the work. Null: nothing more.';
