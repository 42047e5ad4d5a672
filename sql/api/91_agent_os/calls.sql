-- Calls of tasks: tool calls that belong to the task's only turn.

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
  perform _check_key('the id of a call', v_id), _check_key('the name of an ability', v_ability),
          _check_word('the status of a call', v_status, '{pending,in_progress,completed,failed}');
  if v_start is null or (v_call ->> 'endMessageId' is not null and v_end is null) then
    raise exception using
      errcode = 'WL001',
      message = format('there is no message "%s"',
        coalesce(case when v_start is null then v_call ->> 'startMessageId' end, v_call ->> 'endMessageId'));
  end if;
  perform _check_submitter(t.work_item_id) from messages m join turns t on t.id = m.turn_id where m.id in (v_start, v_end) and t.id <> v_turn.id;
  begin
    perform v_parameters::json, v_details::json;
  exception when others then
    perform _raise_invalid('parameters and details must be JSON as text');
  end;
  insert into tool_calls (turn_id, ordinal, work_item_id, message_id, provider_id, tool_name, input, effect, status, external_id, created_at)
  values (v_turn.id, (select count(*) from tool_calls where turn_id = v_turn.id), v_turn.work_item_id, v_start, v_id, v_ability, v_parameters::json,
          coalesce((select effect from abilities where name = v_ability), 'unsafe'), 'pending', v_id, v_created)
  on conflict (external_id) where external_id is not null do nothing;
  select * into v_row from tool_calls where external_id = v_id;
  if (v_row.turn_id, v_row.tool_name) is distinct from (v_turn.id, v_ability) then
    perform _raise_invalid(format('call "%s" belongs to another task or ability', v_id));
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
   where id = v_row.id
  returning * into v_row;
  delete from touches where tool_call_id = v_row.id;
  perform _touches_store(v_row);
  perform _task_seal(v_turn);
  return '{"success": true}';
end
$$;

comment on function _ldg_call_save(jsonb) is 'Ability ldg:call:save: makes or changes a call. createdAt never changes, nor does the result of a call that has ended. Raises WL001 (task, message), WL002, WL007, 42501.';

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

comment on function _ldg_call_list(jsonb) is 'Ability ldg:call:list. A call that may or may not have happened (uncertain) is listed as failed.';
