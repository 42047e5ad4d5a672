-- The abilities of Agent OS (ldg:task:*, ldg:call:*, ldg:msg:*) over the same rows: a task is a work item, a call a tool
-- call, a message a message. JSON in camelCase, times in Unix milliseconds. A task that is saved here is state "created":
-- its own loop drives it, no worker takes it up. Its messages and calls hang on one turn.

create or replace function _ms(p_at timestamptz)
  returns bigint
  language sql
  immutable
  parallel safe
  return floor(extract(epoch from p_at) * 1000)::bigint;

comment on function _ms(timestamptz) is 'Unix milliseconds.';

create or replace function _from_ms(p_entity jsonb, p_key text)
  returns timestamptz
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if jsonb_typeof(p_entity -> p_key) is distinct from 'number' or (p_entity ->> p_key)::numeric not between 0 and 253402300799999 then
    perform _raise_invalid(format('"%s" is a time in Unix milliseconds', p_key));
  end if;
  return timestamptz 'epoch' + round((p_entity ->> p_key)::numeric) * interval '1 millisecond';
end
$$;

comment on function _from_ms(jsonb, text) is 'The time under a key of an entity. Raises WL002.';

create or replace function _text_of(p_entity jsonb, p_key text, p_is_optional boolean default false)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_is_optional and coalesce(p_entity -> p_key, 'null') = 'null' then
    return null;
  end if;
  if jsonb_typeof(p_entity -> p_key) is distinct from 'string' then
    perform _raise_invalid(format('"%s" is text', p_key));
  end if;
  return p_entity ->> p_key;
end
$$;

comment on function _text_of(jsonb, text, boolean) is 'The text under a key of an entity; null where it is left out and may be. Raises WL002.';

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
     case when p_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then p_id::uuid end);
$$;

comment on function _task(text) is 'The work item of a task''s id: a caller''s own, or ours.';

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
  end if;
  v_item := _task(v_id);
  if v_item.id is null then
    insert into work_items (id, parent_id, root_id, depth, work_type, description, external_id, source, state, created_at, started_at)
    values (v_new, v_parent.id, coalesce(v_parent.root_id, v_new), coalesce(v_parent.depth + 1, 0), 'ldg:task',
            case when v_prompt ~ '\S' then left(v_prompt, 16000) else format('Task %s', v_id) end, v_id, 'agent', 'created', v_created, v_updated)
    on conflict (external_id) where external_id is not null do nothing;
    v_item := _task(v_id);
  elsif v_item.work_type <> 'ldg:task' then
    perform _raise_invalid(format('task "%s" is driven by Work Ledger', v_id), 'Read it with ldg:task:get; work_cancel() and the like change it.');
  elsif v_parent.id is distinct from v_item.parent_id then
    perform _raise_invalid(format('task "%s" has another parent', v_id));
  end if;
  select * into v_item from work_items where id = v_item.id for update;
  if v_item.resolved_at is not null then
    if v_status is distinct from _task_json(v_item) ->> 'completionStatus' then
      raise exception using errcode = 'WL003', message = format('task "%s" is %s: a final state never changes', v_id, v_item.state);
    end if;
    update work_items set params = params || jsonb_build_object('systemPrompt', v_prompt) where id = v_item.id;
  else
    update work_items
       set params = params || jsonb_build_object('systemPrompt', v_prompt),
           started_at = v_updated,
           state = case when v_status is null then 'created' when v_status = 'cancelled' then 'cancelled' when v_status in ('failed', 'error') then 'failed' else 'completed' end,
           outcome_data = case when v_status is not null then jsonb_build_object('completionStatus', v_status) end,
           resolved_at = case when v_status is not null then v_updated end
     where id = v_item.id;
  end if;
  return '{"success": true}';
end
$$;

comment on function _ldg_task_save(jsonb) is 'Ability ldg:task:save: makes or changes a task; createdAt stays what it was, and a final state too. Raises WL001 (parent), WL002, WL003.';

create or replace function _ldg_task_get(p_input jsonb)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select jsonb_build_object('task', (select _task_json(w) from _task(p_input ->> 'taskId') w where w.id is not null));
$$;

comment on function _ldg_task_get(jsonb) is 'Ability ldg:task:get.';

create or replace function _page(p_input jsonb, p_key text, p_default integer)
  returns integer
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if (p_input ->> p_key)::numeric not between 0 and 1000000000 then
    perform _raise_invalid(format('"%s" is a number from 0', p_key));
  end if;
  return coalesce(floor((p_input ->> p_key)::numeric)::integer, p_default);
end
$$;

comment on function _page(jsonb, text, integer) is 'limit or offset of a query. Raises WL002.';

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
    when 'success' then '{completed}' when 'cancelled' then '{cancelled}' when 'failed' then '{failed}' when 'error' then '{failed,dead}' else '{completed}' end;
  v_parent uuid := (_task(p_input ->> 'parentTaskId')).id;
  v_from timestamptz := case when p_input ? 'fromTime' then _from_ms(p_input, 'fromTime') else '-infinity' end;
  v_to timestamptz := case when p_input ? 'toTime' then _from_ms(p_input, 'toTime') else 'infinity' end;
  v_where text := 'w.created_at >= $1 and w.created_at <= $2';
  v_tasks jsonb;
  v_total bigint;
begin
  -- Dynamic, so that each filter has the plan of its own index; all values are parameters.
  if v_status = 'null' then
    v_where := v_where || ' and w.resolved_at is null';
  elsif v_status is not null then
    v_where := v_where || format(' and w.state = any (%L) and coalesce(w.outcome_data ->> ''completionStatus'', case w.state when ''completed'' then ''success'' when ''dead'' then ''error'' else w.state end) = $5', v_states);
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

comment on function _ldg_task_query(jsonb) is 'Ability ldg:task:query: newest first; completionStatus "null" for those that are active; before: only tasks behind that id, which, unlike offset, skips none when others are added.';

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
    perform _raise_invalid(format('task "%s" is driven by Work Ledger: its messages and calls are written by its own loop', p_task_id));
  end if;
  perform from work_items where id = v_item.id for update;
  select * into v_turn from turns where work_item_id = v_item.id;
  if not found then
    insert into turns (work_item_id, status, started_at, completed_at) values (v_item.id, 'completed', v_item.created_at, v_item.created_at) returning * into v_turn;
    perform session_create(v_item.id::text, v_turn.id);
  end if;
  return v_turn;
end
$$;

comment on function _task_turn(text) is 'The turn that a task''s messages and calls hang on, made with the first; the task''s row is locked. Raises WL001, WL002.';

create or replace function _ldg_call_save(p_input jsonb)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_call jsonb := p_input -> 'call';
  v_id text := _text_of(v_call, 'id');
  v_ability text := _text_of(v_call, 'abilityName');
  v_status text := _text_of(v_call, 'status');
  v_parameters text := _text_of(v_call, 'parameters');
  v_details text := _text_of(v_call, 'details');
  v_created timestamptz := _from_ms(v_call, 'createdAt');
  v_updated timestamptz := _from_ms(v_call, 'updatedAt');
  v_turn turns := _task_turn(_text_of(v_call, 'taskId'));
  v_start uuid := (select id from messages where external_id = _text_of(v_call, 'startMessageId'));
  v_end uuid := (select id from messages where external_id = _text_of(v_call, 'endMessageId', true));
  v_row tool_calls;
begin
  if v_status not in ('pending', 'in_progress', 'completed', 'failed') then
    perform _raise_invalid(format('"%s" is not the status of a call', v_status), 'One of: pending, in_progress, completed, failed.');
  end if;
  if v_start is null or (v_call ->> 'endMessageId' is not null and v_end is null) then
    raise exception using errcode = 'WL001', message = format('there is no message "%s"', coalesce(case when v_start is null then v_call ->> 'startMessageId' end, v_call ->> 'endMessageId'));
  end if;
  begin
    perform v_parameters::json, v_details::json;
  exception when others then
    perform _raise_invalid('parameters and details are JSON as text');
  end;
  insert into tool_calls (turn_id, ordinal, work_item_id, message_id, provider_id, tool_name, input, effect, status, external_id, created_at)
  values (v_turn.id, (select count(*) from tool_calls where turn_id = v_turn.id), v_turn.work_item_id, v_start, v_id, v_ability, v_parameters::json,
          coalesce((select effect from abilities where name = v_ability), 'unsafe'), 'pending', v_id, v_created)
  on conflict (external_id) where external_id is not null do nothing;
  select * into v_row from tool_calls where external_id = v_id;
  if (v_row.turn_id, v_row.tool_name) is distinct from (v_turn.id, v_ability) then
    perform _raise_invalid(format('call "%s" is another task''s, or of another ability', v_id));
  end if;
  if v_row.completed_at is not null then
    if (v_status, v_details) is distinct from (v_row.status, v_row.value::text) then
      raise exception using errcode = 'WL007', message = format('call "%s" is settled: its result is written once', v_id);
    end if;
    return '{"success": true}';
  end if;
  update tool_calls
     set input = v_parameters::json,
         status = case v_status when 'in_progress' then 'running' else v_status end,
         value = v_details::json,
         result = case when v_status in ('completed', 'failed') then to_json(v_details) end,
         is_error = case when v_status in ('completed', 'failed') then v_status = 'failed' end,
         started_at = v_updated,
         completed_at = case when v_status in ('completed', 'failed') then v_updated end,
         end_message_id = v_end
   where id = v_row.id;
  return '{"success": true}';
end
$$;

comment on function _ldg_call_save(jsonb) is 'Ability ldg:call:save: makes or changes a call; createdAt stays what it was, and what a call ended with too. Raises WL001 (task, message), WL002, WL007.';

create or replace function _ldg_call_list(p_input jsonb)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select jsonb_build_object('calls', coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
           'id', coalesce(k.external_id, k.id::text),
           'taskId', p_input ->> 'taskId',
           'abilityName', k.tool_name,
           'parameters', k.input::text,
           'status', case k.status when 'running' then 'in_progress' when 'waiting' then 'in_progress' when 'uncertain' then 'failed' else k.status end,
           'details', coalesce(k.value::text, k.result::text, 'null'),
           'createdAt', _ms(k.created_at),
           'updatedAt', _ms(coalesce(k.completed_at, k.started_at, k.created_at)),
           'startMessageId', (select coalesce(m.external_id, m.id::text) from messages m where m.id = k.message_id),
           'endMessageId', (select coalesce(m.external_id, m.id::text) from messages m where m.id = k.end_message_id)
         )) order by k.created_at, k.turn_id, k.ordinal), '[]'))
    from tool_calls k
   where k.work_item_id = (_task(p_input ->> 'taskId')).id;
$$;

comment on function _ldg_call_list(jsonb) is 'Ability ldg:call:list. A call of which nobody knows whether it happened is failed here.';

create or replace function _ldg_msg_save(p_input jsonb)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_message jsonb := p_input -> 'message';
  v_id text := _text_of(v_message, 'id');
  v_role text := _text_of(v_message, 'role');
  v_content text := _text_of(v_message, 'content');
  v_at timestamptz := _from_ms(v_message, 'timestamp');
  v_turn turns := _task_turn(_text_of(v_message, 'taskId'));
begin
  if v_role not in ('system', 'user', 'assistant') then
    perform _raise_invalid(format('"%s" is not the role of a message', v_role), 'One of: system, user, assistant.');
  end if;
  insert into messages (turn_id, sequence, role, source, content, external_id, created_at)
  values (v_turn.id, (select count(*) + 1 from messages where turn_id = v_turn.id), v_role, case v_role when 'user' then 'human' end,
          ('[' || _text_block(v_content) || ']')::json, v_id, v_at);
  return jsonb_build_object('success', true, 'messageId', v_id);
exception when unique_violation then
  raise exception using errcode = 'WL007', message = format('message "%s" is there already: a message is never changed', v_id);
end
$$;

comment on function _ldg_msg_save(jsonb) is 'Ability ldg:msg:save. Raises WL001 (task), WL002, WL007 (a message of that id is there).';

create or replace function _ldg_msg_list(p_input jsonb)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with said as (
    select m.* from turns t join messages m on m.turn_id = t.id where t.work_item_id = (_task(p_input ->> 'taskId')).id
  ),
  page as (
    select * from said order by created_at, turn_id, sequence limit _page(p_input, 'limit', 100) offset _page(p_input, 'offset', 0)
  )
  select jsonb_build_object('messages', coalesce((select jsonb_agg(jsonb_build_object(
           'id', coalesce(p.external_id, p.id::text), 'taskId', p_input ->> 'taskId', 'role', case p.role when 'tool' then 'user' else p.role end,
           'content', coalesce(_result_text(p.content), ''), 'timestamp', _ms(p.created_at)) order by p.created_at, p.turn_id, p.sequence) from page p), '[]'),
         'total', (select count(*) from said));
$$;

comment on function _ldg_msg_list(jsonb) is 'Ability ldg:msg:list: by time, and by the order of saving where that is the same.';

create or replace function _ldg_batch_save(p_input jsonb)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_one jsonb;
begin
  for v_one in select jsonb_array_elements(p_input -> 'entities') loop
    if v_one ? 'task' then
      perform _ldg_task_save(v_one);
    elsif v_one ? 'message' then
      perform _ldg_msg_save(v_one);
    elsif v_one ? 'call' then
      perform _ldg_call_save(v_one);
    else
      perform _raise_invalid('an entity is {"task": …}, {"message": …} or {"call": …}');
    end if;
  end loop;
  return jsonb_build_object('success', true, 'saved', jsonb_array_length(p_input -> 'entities'));
end
$$;

comment on function _ldg_batch_save(jsonb) is 'Ability ldg:batch:save: tasks, messages and calls in the order given, all or none.';

insert into abilities (name, description, input_schema, output_schema, effect, risk, implementation, function_name, is_builtin, position)
select v.name, v.description, v.input_schema::json, v.output_schema::json, v.effect, 'safe', 'sql',
       format('%I.%I', _ledger_schema(), '_' || replace(v.name, ':', '_')), true, v.position
  from (values
    (20, 'ldg:task:save', 'idempotent', 'Save or update a task entity.',
     '{"type":"object","properties":{"task":{"type":"object","description":"Task entity to save"}},"required":["task"]}',
     '{"type":"object","properties":{"success":{"type":"boolean"}},"required":["success"]}'),
    (21, 'ldg:task:get', 'pure', 'Retrieve a task by ID.',
     '{"type":"object","properties":{"taskId":{"type":"string"}},"required":["taskId"]}',
     '{"type":"object","properties":{"task":{"type":["object","null"],"description":"Task entity or null if not found"}},"required":["task"]}'),
    (22, 'ldg:task:query', 'pure', 'Query tasks with filters and pagination.',
     '{"type":"object","properties":{"completionStatus":{"type":"string","description":"Filter by status, use ''null'' for active tasks"},"parentTaskId":{"type":"string","description":"Filter by parent task"},"fromTime":{"type":"number","description":"Start timestamp (Unix ms)"},"toTime":{"type":"number","description":"End timestamp (Unix ms)"},"limit":{"type":"number","description":"Maximum results","default":100},"offset":{"type":"number","description":"Pagination offset","default":0},"before":{"type":"string","description":"Only tasks behind this one: its ID"}}}',
     '{"type":"object","properties":{"tasks":{"type":"array","items":{"type":"object"}},"total":{"type":"number","description":"Total matching tasks"}},"required":["tasks","total"]}'),
    (23, 'ldg:call:save', 'idempotent', 'Save or update a call entity.',
     '{"type":"object","properties":{"call":{"type":"object","description":"Call entity to save"}},"required":["call"]}',
     '{"type":"object","properties":{"success":{"type":"boolean"}},"required":["success"]}'),
    (24, 'ldg:call:list', 'pure', 'List all calls for a task.',
     '{"type":"object","properties":{"taskId":{"type":"string"}},"required":["taskId"]}',
     '{"type":"object","properties":{"calls":{"type":"array","items":{"type":"object"}}},"required":["calls"]}'),
    (25, 'ldg:msg:save', 'unsafe', 'Save a message (immutable, insert-only).',
     '{"type":"object","properties":{"message":{"type":"object","description":"Message entity to save"}},"required":["message"]}',
     '{"type":"object","properties":{"success":{"type":"boolean"},"messageId":{"type":"string"}},"required":["success","messageId"]}'),
    (26, 'ldg:msg:list', 'pure', 'List all messages for a task, ordered by timestamp.',
     '{"type":"object","properties":{"taskId":{"type":"string"},"limit":{"type":"number"},"offset":{"type":"number"}},"required":["taskId"]}',
     '{"type":"object","properties":{"messages":{"type":"array","items":{"type":"object"}},"total":{"type":"number"}},"required":["messages","total"]}'),
    (27, 'ldg:batch:save', 'unsafe', 'Save tasks, messages and calls in one transaction.',
     '{"type":"object","properties":{"entities":{"type":"array","description":"Entities in order, each {\"task\"}, {\"message\"} or {\"call\"}"}},"required":["entities"]}',
     '{"type":"object","properties":{"success":{"type":"boolean"},"saved":{"type":"number"}},"required":["success","saved"]}')
  ) as v(position, name, effect, description, input_schema, output_schema)
on conflict (name) do update
   set description = excluded.description, input_schema = excluded.input_schema, output_schema = excluded.output_schema, effect = excluded.effect,
       risk = excluded.risk, implementation = excluded.implementation, function_name = excluded.function_name, is_builtin = true, position = excluded.position;
