-- The abilities of Agent OS (ldg:task:*, ldg:call:*, ldg:msg:*) on the same rows: a task is a work item, a call a tool call, a message a message. JSON in
-- camelCase, times in Unix milliseconds. A task saved here has state "created": its own loop drives it, and no worker claims it. Its messages and calls
-- belong to one turn.

create or replace function _ldg_task_save(p_input jsonb)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_task jsonb := p_input -> 'task';
  v_id text := _text_of(v_task, 'id');
  v_prompt text := _text_of(v_task, 'systemPrompt');
  v_status text := _text_of(v_task, 'completionStatus', true);
  v_parent_id text := _text_of(v_task, 'parentTaskId', true);
  v_created timestamptz := _from_ms(v_task, 'createdAt');
  v_updated timestamptz := _from_ms(v_task, 'updatedAt');
  v_parent work_items;
  v_item work_items;
  v_new uuid := _uuidv7();
begin
  if v_id !~ '\S' or char_length(v_id) > 500 then
    perform _raise_invalid('a task needs an id of at most 500 characters');
  end if;
  if v_parent_id is not null then
    v_parent := _task(v_parent_id);
    if v_parent.id is null then
      raise exception using errcode = 'WL001', message = format('there is no task "%s"', v_parent_id);
    end if;
    perform _check_submitter(v_parent.id);
  end if;
  v_item := _task(v_id);
  if v_item.id is null then
    insert into work_items (id, parent_id, root_id, depth, work_type, description, params, external_id, source, state, created_at, started_at, project)
    values (v_new, v_parent.id, coalesce(v_parent.root_id, v_new), coalesce(v_parent.depth + 1, 0), 'ldg:task',
            case when v_prompt ~ '\S' then left(v_prompt, 16000) else format('Task %s', v_id) end,
            jsonb_build_object('systemPrompt', v_prompt), v_id, 'agent', 'created', v_created, v_updated, v_parent.project)
    on conflict (external_id) where external_id is not null do nothing
    returning * into v_item;
    if found then
      perform _fence_create(v_item);
    end if;
    v_item := _task(v_id);
  elsif v_item.work_type <> 'ldg:task' or v_item.resolved_at is null and v_item.state not in ('created', 'paused') then
    perform _raise_invalid(format('task "%s" is driven by Work Ledger', v_id),
      'Read it with ldg:task:get; change it with work_cancel(), work_pause() and the like.');
  elsif v_parent.id is distinct from v_item.parent_id then
    perform _raise_invalid(format('task "%s" has another parent', v_id));
  end if;
  v_item := _item_locked(v_item.id);
  perform _check_submitter(v_item.id);
  if v_item.resolved_at is not null then
    if v_status is distinct from _task_json(v_item) ->> 'completionStatus' then
      raise exception using errcode = 'WL003', message = format('task "%s" is %s: a final state never changes', v_id, v_item.state);
    end if;
  end if;
  -- Before it ends, since its seal covers them.
  update work_items
     set params = params || jsonb_build_object('systemPrompt', v_prompt)
   where id = v_item.id and params ->> 'systemPrompt' is distinct from v_prompt;
  if v_item.resolved_at is null then
    v_item.state := case
      when v_status is null then 'created'
      when v_status = 'cancelled' then 'cancelled'
      when v_status in ('failed', 'error') then 'failed'
      else 'completed' end;
    v_item.started_at := v_updated;
    v_item.resolved_at := case when v_status is not null then v_updated end;
    v_item.outcome_data := case when v_status is not null then jsonb_build_object('completionStatus', v_status) end;
    v_item := _work_move(v_item, '_ldg_task_save');
    perform _enqueue_all(_to_wake(v_item)) where v_item.resolved_at is not null;
  end if;
  return '{"success": true}';
end
$$;

comment on function _ldg_task_save(jsonb) is 'Ability ldg:task:save: makes or changes a task. createdAt never changes, nor does a final state. Raises WL001 (parent), WL002, WL003, 42501 (it or its parent is somebody else''s).';

create or replace function _ldg_task_get(p_input jsonb)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select jsonb_build_object('task', (select _task_json(w) from _task(p_input ->> 'taskId') w where w.id is not null));
$$;

comment on function _ldg_task_get(jsonb) is 'Ability ldg:task:get.';

create or replace function _ldg_task_query(p_input jsonb)
  returns jsonb
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
  set plan_cache_mode = force_custom_plan
as $$
declare
  v_status text := p_input ->> 'completionStatus';
  v_states text[] := case v_status
    when 'success' then '{completed}'
    when 'cancelled' then '{cancelled}'
    when 'failed' then '{failed}'
    when 'error' then '{failed,dead}'
    else '{completed}'
  end;
  v_parent uuid := (_task(p_input ->> 'parentTaskId')).id;
  v_from timestamptz := case when p_input ? 'fromTime' then _from_ms(p_input, 'fromTime') else '-infinity' end;
  v_to timestamptz := case when p_input ? 'toTime' then _from_ms(p_input, 'toTime') else 'infinity' end;
  v_where text := 'w.created_at >= $1 and w.created_at <= $2';
  v_tasks jsonb;
  v_total bigint;
begin
  -- Dynamic, so that each filter is planned with its own index; all values are parameters.
  if v_status = 'null' then
    v_where := v_where || ' and w.resolved_at is null';
  elsif v_status is not null then
    v_where := v_where
      || format(
        ' and w.state = any (%L) and coalesce(w.outcome_data ->> ''completionStatus'', '
        'case w.state when ''completed'' then ''success'' when ''dead'' then ''error'' else w.state end) = $5',
        v_states);
  end if;
  if p_input ? 'parentTaskId' then
    v_where := v_where || ' and w.parent_id = $6';
  end if;
  execute format('select count(*) from work_items w where %s', v_where) into v_total
    using v_from, v_to, 0, 0, v_status, v_parent;
  if p_input ? 'before' then
    v_where := v_where || ' and (w.created_at, w.id) < ($7, $8)';
  end if;
  execute format('select coalesce(jsonb_agg(_task_json(t) order by t.created_at desc, t.id desc), ''[]'')
                    from (select w.* from work_items w where %s order by w.created_at desc, w.id desc limit $3 offset $4) t', v_where)
     into v_tasks
    using v_from, v_to, _page(p_input, 'limit', 100), _page(p_input, 'offset', 0), v_status, v_parent,
          (_task(p_input ->> 'before')).created_at, (_task(p_input ->> 'before')).id;
  return jsonb_build_object('tasks', v_tasks, 'total', v_total);
end
$$;

comment on function _ldg_task_query(jsonb) is 'Ability ldg:task:query: newest first. completionStatus "null": active tasks. before: only tasks after that id in this order; unlike offset, this skips none when tasks are added.';

create or replace function _task(p_id text)
  returns work_items
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select w
    from work_items w
   where w.id = coalesce(
     (select id from work_items where external_id = p_id),
     case when _is_uuid(p_id) then p_id::uuid end);
$$;

comment on function _task(text) is 'The work item with a task''s id: the caller''s own id, or ours. Null: there is none.';

create or replace function _task_json(p_item work_items)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'id', coalesce(p_item.external_id, p_item.id::text),
    'parentTaskId', (select coalesce(external_id, id::text) from work_items where id = p_item.parent_id),
    'completionStatus', case p_item.state
      when 'completed' then coalesce(p_item.outcome_data ->> 'completionStatus', 'success')
      when 'cancelled' then coalesce(p_item.outcome_data ->> 'completionStatus', 'cancelled')
      when 'failed' then coalesce(p_item.outcome_data ->> 'completionStatus', 'failed')
      when 'dead' then 'error' end,
    'systemPrompt', coalesce(p_item.params ->> 'systemPrompt', p_item.description),
    'createdAt', _ms(p_item.created_at),
    'updatedAt', _ms(coalesce(p_item.resolved_at, p_item.started_at, p_item.created_at))));
$$;

comment on function _task_json(work_items) is 'A work item as a Task.';

create or replace function _task_turn(p_task_id text)
  returns turns
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _task(p_task_id);
  v_turn turns;
begin
  if v_item.id is null then
    raise exception using errcode = 'WL001', message = format('there is no task "%s"', p_task_id);
  end if;
  if v_item.work_type <> 'ldg:task' then
    perform _raise_invalid(format('task "%s" is driven by Work Ledger, which writes its messages and calls itself', p_task_id));
  end if;
  perform _check_submitter(v_item.id);
  perform from fences where work_item_id = v_item.id for no key update;
  select * into v_turn from turns where work_item_id = v_item.id;
  if not found then
    insert into turns (work_item_id, status, started_at, completed_at)
    values (v_item.id, 'completed', v_item.created_at, v_item.created_at)
    returning * into v_turn;
    perform session_create(v_item.id::text, v_turn.id);
  end if;
  return v_turn;
end
$$;

comment on function _task_turn(text) is 'The turn to which a task''s messages and calls belong, made if there is none yet; locks the task''s fence. Raises WL001, WL002.';

create or replace function _task_seal(p_turn turns)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _turns_seal(f.work_item_id, true) from fences f where f.work_item_id = p_turn.work_item_id and f.is_over;
$$;

comment on function _task_seal(turns) is 'Seals what was added to the turn of a task that is over; until then it may grow.';
