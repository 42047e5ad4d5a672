-- Messages of tasks, batches of tasks, calls and messages, and the abilities themselves.

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
  v_content text := '[' || _text_block(_text_of(v_message, 'content')) || ']';
  v_at timestamptz := _from_ms(v_message, 'timestamp');
  v_turn turns := _task_turn(_text_of(v_message, 'taskId'));
begin
  perform _check_key('the id of a message', v_id), _check_word('the role of a message', v_role, '{system,user,assistant}');
  if octet_length(v_content) > 4194304 then
    perform _raise_invalid('the content of a message can have at most 4 MiB');
  end if;
  insert into messages (turn_id, sequence, role, source, content, external_id, created_at)
  values (v_turn.id, (select count(*) + 1 from messages where turn_id = v_turn.id), v_role, case v_role when 'user' then 'human' end,
          v_content::json, v_id, v_at);
  perform _task_seal(v_turn);
  return jsonb_build_object('success', true, 'messageId', v_id);
exception when unique_violation then
  raise exception using errcode = 'WL007', message = format('message "%s" already exists: a message is never changed', v_id);
end
$$;

comment on function _ldg_msg_save(jsonb) is 'Ability ldg:msg:save. Raises WL001 (task), WL002, WL007 (a message with that id exists).';

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
    select * from said order by created_at, turn_id, sequence limit _page(p_input, 'limit', null) offset _page(p_input, 'offset', 0)
  )
  select jsonb_build_object('messages', coalesce((select jsonb_agg(jsonb_build_object(
           'id', coalesce(p.external_id, p.id::text), 'taskId', p_input ->> 'taskId', 'role', case p.role when 'tool' then 'user' else p.role end,
           'content', coalesce(_result_text(p.content), ''), 'timestamp', _ms(p.created_at)) order by p.created_at, p.turn_id, p.sequence) from page p), '[]'),
         'total', (select count(*) from said));
$$;

comment on function _ldg_msg_list(jsonb) is 'Ability ldg:msg:list: ordered by time, then by the order of saving; all of them, if no limit is given.';

create or replace function _ldg_batch_save(p_input jsonb)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_one jsonb;
begin
  if jsonb_typeof(p_input -> 'entities') is distinct from 'array' then
    perform _raise_invalid('"entities" must be a list');
  end if;
  for v_one in select jsonb_array_elements(p_input -> 'entities') loop
    if v_one ? 'task' then
      perform _ldg_task_save(v_one);
    elsif v_one ? 'message' then
      perform _ldg_msg_save(v_one);
    elsif v_one ? 'call' then
      perform _ldg_call_save(v_one);
    else
      perform _raise_invalid('an entity must be {"task": …}, {"message": …} or {"call": …}');
    end if;
  end loop;
  return jsonb_build_object('success', true, 'saved', jsonb_array_length(p_input -> 'entities'));
end
$$;

comment on function _ldg_batch_save(jsonb) is 'Ability ldg:batch:save: saves tasks, messages and calls in the order given, all or none.';

insert into abilities (name, description, input_schema, output_schema, effect, risk, source, implementation, function_name, is_builtin, position)
select v.name, v.description, _json_compact(v.input_schema::json)::json, v.output_schema::json, v.effect, 'safe', 'other_agent', 'sql',
       format('%I.%I', _ledger_schema(), '_' || replace(v.name, ':', '_')), true, v.position
  from (values
    (20, 'ldg:task:save', 'idempotent', 'Save or update a task entity.',
     '{"type":"object","properties":{"task":{"type":"object","description":"Task entity to save"}},"required":["task"]}',
     '{"type":"object","properties":{"success":{"type":"boolean"}},"required":["success"]}'),
    (21, 'ldg:task:get', 'pure', 'Retrieve a task by ID.',
     '{"type":"object","properties":{"taskId":{"type":"string"}},"required":["taskId"]}',
     '{"type":"object","properties":{"task":{"type":["object","null"],"description":"Task entity or null if not found"}},"required":["task"]}'),
    (22, 'ldg:task:query', 'pure', 'Query tasks with filters and pagination.',
     '{"type":"object","properties":{'
       '"completionStatus":{"type":"string","description":"Filter by status, use ''null'' for active tasks"},'
       '"parentTaskId":{"type":"string","description":"Filter by parent task"},'
       '"fromTime":{"type":"number","minimum":0,"maximum":253402300799999,"description":"Start timestamp (Unix ms)"},'
       '"toTime":{"type":"number","minimum":0,"maximum":253402300799999,"description":"End timestamp (Unix ms)"},'
       '"limit":{"type":"number","minimum":0,"maximum":1000000000,"description":"Maximum results","default":100},'
       '"offset":{"type":"number","minimum":0,"maximum":1000000000,"description":"Pagination offset","default":0},'
       '"before":{"type":"string","description":"Only tasks behind this one: its ID"}}}',
     '{"type":"object","properties":{"tasks":{"type":"array","items":{"type":"object"}},'
       '"total":{"type":"number","description":"Total matching tasks"}},"required":["tasks","total"]}'),
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
     '{"type":"object","properties":{"taskId":{"type":"string"},"limit":{"type":"number","minimum":0,"maximum":1000000000},'
       '"offset":{"type":"number","minimum":0,"maximum":1000000000}},"required":["taskId"]}',
     '{"type":"object","properties":{"messages":{"type":"array","items":{"type":"object"}},"total":{"type":"number"}},"required":["messages","total"]}'),
    (27, 'ldg:batch:save', 'unsafe', 'Save tasks, messages and calls in one transaction.',
     '{"type":"object","properties":{'
       '"entities":{"type":"array","description":"Entities in order, each {\"task\"}, {\"message\"} or {\"call\"}"}},"required":["entities"]}',
     '{"type":"object","properties":{"success":{"type":"boolean"},"saved":{"type":"number"}},"required":["success","saved"]}')
  ) as v(position, name, effect, description, input_schema, output_schema)
on conflict (name) do update
   set description = excluded.description, input_schema = excluded.input_schema, output_schema = excluded.output_schema, effect = excluded.effect,
       risk = excluded.risk, implementation = excluded.implementation, function_name = excluded.function_name, is_builtin = true, position = excluded.position;
