create or replace function turn_record(
    p_work_item_id uuid,
    p_lease uuid,
    p_turn_id uuid,
    p_response json)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _fence(p_work_item_id, p_lease);
  v_turn turns;
begin
  perform from foci where id = v_item.focus_id for no key update;
  p_response := _storable(p_response);
  select * into v_turn from turns where id = p_turn_id and focus_id = v_item.focus_id and turn_type = 'normal';
  if not found then
    perform _raise_not_found('turn of this focus', p_turn_id);
  end if;
  if v_turn.status = 'completed' then
    return json_build_object('calls', _open_calls(v_turn.id));
  end if;
  if json_typeof(p_response -> 'content') is distinct from 'array' or p_response ->> 'stop_reason' is null then
    perform _raise_invalid('a response needs content, an array of blocks, and a stop_reason');
  end if;

  v_turn := _turn_answered(v_turn.id, 'completed', p_response, _try_json((p_response -> 'stop_details')::text));
  perform _turn_heard(v_turn);
  perform _response_store(v_turn, p_response -> 'content');
  update foci set model_error_count = 0, overflow_count = 0
   where id = v_item.focus_id and (model_error_count > 0 or overflow_count > 0);
  perform _session_advance((select session_label from foci where id = v_item.focus_id), v_turn.id);
  perform _turn_charge(v_turn);
  update models set cooldown_ends_at = null, cooldown_reason = null
   where name = (select config ->> 'model' from turn_configs where content_hash = v_turn.config_hash) and cooldown_ends_at <= _now();
  perform _calibrate(v_turn); -- after the other model's row, if it is another's: this one is not waited for
  perform _tell_watchers(v_item);
  return json_build_object('calls', _open_calls(v_turn.id));
end
$$;

comment on function turn_record(uuid, uuid, uuid, json) is
  'Stores a complete response of the model, its usage and its tool calls in one transaction, and moves the session''s head. p_response: {id, model, content: [blocks], stop_reason, stop_details, usage: {input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens}, request_id, duration_ms, first_token_ms}. Returns {calls: [{id, name, input, input_schema, implementation, behind}]}: those to be run now, side by side but for those that have to end first (behind); a call of an unknown tool, or one cut off by the output limit, is answered here and not among them. Recording the same turn again changes nothing. Raises WL001, WL002, WL003, WL004.';

create or replace function _turn_answered(p_turn_id uuid, p_status text, p_response json, p_error jsonb)
  returns turns
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_usage json := p_response -> 'usage';
  v_input integer := _count('usage.input_tokens', v_usage ->> 'input_tokens');
  v_output integer := _count('usage.output_tokens', v_usage ->> 'output_tokens');
  v_cached integer := _count('usage.cached_input_tokens', v_usage ->> 'cached_input_tokens');
  v_written integer := _count('usage.cache_write_tokens', v_usage ->> 'cache_write_tokens');
  v_turn turns;
begin
  update turns
     set status = p_status,
         completed_at = _now(),
         provider = coalesce(p_response ->> 'provider', 'anthropic'),
         model = p_response ->> 'model',
         stop_reason = p_response ->> 'stop_reason',
         response_id = p_response ->> 'id',
         request_id = p_response ->> 'request_id',
         duration_ms = _count('duration_ms', p_response ->> 'duration_ms'),
         first_token_ms = _count('first_token_ms', p_response ->> 'first_token_ms'),
         error = coalesce(nullif(p_error, 'null'), error),
         input_tokens = v_input,
         output_tokens = v_output,
         cached_input_tokens = v_cached,
         cache_write_tokens = v_written,
         reasoning_tokens = _count('usage.reasoning_tokens', v_usage ->> 'reasoning_tokens'),
         chain_tokens = chain_tokens + coalesce(v_input, 0) + coalesce(v_output, 0) + coalesce(v_cached, 0) + coalesce(v_written, 0)
   where id = p_turn_id
  returning * into v_turn;
  return v_turn;
end
$$;

comment on function _turn_answered(uuid, text, json, jsonb) is 'Writes what came with a response to its turn, once. The caller charges it: _turn_charge().';

create or replace function _turn_charge(p_turn turns)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _budget_spend(p_turn.work_item_id,
    jsonb_build_object('tokens', p_turn.total_tokens, 'money', coalesce(_turn_cost(p_turn), p_turn.reserved_money, 0), 'calls', 1),
    case when p_turn.reserved_tokens is null then '{}' else jsonb_build_object('tokens', p_turn.reserved_tokens, 'money', p_turn.reserved_money, 'calls', 1) end);
$$;

comment on function _turn_charge(turns) is 'Counts what an answered turn used in the budgets above, in place of what was reserved for it.';

create or replace function _turn_heard(p_turn turns)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  insert into awareness_shown (focus_id, work_item_id, seq, path, turn_id, shown_at)
  select p_turn.focus_id, (s.entry ->> 0)::uuid, (s.entry ->> 1)::integer, s.entry ->> 2, p_turn.id, m.created_at
    from messages m
    cross join lateral jsonb_array_elements(m.context -> 'shown') as s(entry)
   where m.turn_id = p_turn.id and m.role = 'user'
  on conflict do nothing;
  update foci f
     set nudge_iteration = p_turn.iteration, unheeded_nudge_count = (m.metadata ->> 'unheeded')::integer
    from messages m
   where f.id = p_turn.focus_id and m.turn_id = p_turn.id and m.metadata ->> 'kind' = 'nudge';
end
$$;

comment on function _turn_heard(turns) is
  'Notes what a turn that is answered told the model: entries of others, the reminder. A turn that was given up told nothing, and the next one says it again.';

create or replace function _response_store(p_turn turns, p_content json)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_message_id uuid := _uuidv7();
  v_block record;
  v_config jsonb := (select f.config from foci o join faculties f on f.content_hash = o.faculty_hash where o.id = p_turn.focus_id);
  v_call tool_calls;
  v_ability abilities;
  v_ids text[] := _wire_ids(p_turn, array(select b.value ->> 'id' from json_array_elements(p_content) with ordinality as b(value, n) where b.value ->> 'type' = 'tool_use' order by b.n));
  v_refusal text;
  v_ordinal integer := 0;
  v_given text[] := '{}';
  v_sent text[] := '{}';
  v_is_thought boolean := false;
begin
  for v_block in select value, n from json_array_elements(p_content) with ordinality as b(value, n) order by n loop
    v_given := v_given || v_block.value::text;
    -- The API refuses blank text when it is sent back.
    continue when v_block.value ->> 'type' = 'text' and coalesce(v_block.value ->> 'text', '') !~ '\S';
    v_is_thought := v_block.value ->> 'type' in ('thinking', 'redacted_thinking');
    if v_block.value ->> 'type' is distinct from 'tool_use' then
      v_sent := v_sent || v_block.value::text;
      continue;
    end if;
    v_sent := v_sent || _json_with_key(v_block.value, 'id', v_ids[v_ordinal + 1]);

    v_ability := null;
    select a.* into v_ability
      from turn_configs c, json_array_elements(c.config -> 'tools') t
      join abilities a on a.tool_name = t ->> 'name'
     where c.content_hash = p_turn.config_hash and t ->> 'name' = v_block.value ->> 'name';
    v_refusal := case
      when p_turn.stop_reason not in ('tool_use', 'end_turn', 'stop_sequence', 'pause_turn') then format(
        '[engine] Not executed: the response ended early (%s), so the call may be incomplete. Send it again%s.',
        p_turn.stop_reason, case p_turn.stop_reason when 'max_tokens' then ', in smaller parts if it is long' else '' end)
      when v_ability.name is null then format('[engine] There is no tool "%s". You have: %s.',
        _one_line(v_block.value ->> 'name', 64),
        (select string_agg(t ->> 'name', ', ') from turn_configs c, json_array_elements(c.config -> 'tools') t where c.content_hash = p_turn.config_hash))
    end;
    insert into tool_calls (
      turn_id, ordinal, work_item_id, message_id, provider_id, given_id, tool_name, input, effect, status, result, is_error, completed_at)
    values (
      p_turn.id, v_ordinal, p_turn.work_item_id, v_message_id, v_ids[v_ordinal + 1], nullif(v_block.value ->> 'id', v_ids[v_ordinal + 1]), coalesce(v_block.value ->> 'name', ''),
      coalesce(v_block.value -> 'input', '{}'), coalesce(v_ability.effect, 'pure'),
      case when v_refusal is null then 'pending' else 'failed' end, to_json(v_refusal),
      case when v_refusal is not null then true end, case when v_refusal is not null then _now() end)
    returning * into v_call;
    perform _touches_store(v_call);
    -- With a before_tool hook a person is asked for what the hook made of the call.
    if v_refusal is null and v_config #>> '{hooks,before_tool}' is null and _needs_approval(v_ability.risk, v_config -> 'engage') then
      perform _approval_ask(v_call, v_ability.risk, v_config -> 'engage');
    end if;
    v_ordinal := v_ordinal + 1;
  end loop;

  if v_is_thought then
    v_sent := v_sent || _thought_end(p_turn.stop_reason);
  end if;
  if v_given <> '{}' then
    insert into messages (id, turn_id, sequence, role, content, sent_content)
    values (v_message_id, p_turn.id, 1000, 'assistant', ('[' || array_to_string(v_given, ',') || ']')::json,
            case when v_sent <> v_given then ('[' || array_to_string(v_sent, ',') || ']')::json end);
  end if;
end
$$;

comment on function _response_store(turns, json) is 'Stores the assistant message of a turn as it came, unless it is empty, what requests will hold in its place where the API would refuse it, and one row for each call it makes.';

create or replace function _wire_ids(p_turn turns, p_ids text[], p_first integer default 0)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
  -- Some providers number the calls of each response anew. A conversation goes through one work item after the other:
  -- what it forked from is asked item by item, never turn by turn.
  with recursive lineage as (
    select p_turn.work_item_id, p_turn.fork_turn_id
    union all
    select t.work_item_id, t.fork_turn_id from lineage l join turns t on t.id = l.fork_turn_id
  )
  select array_agg(
           case when g.id ~ '^[a-zA-Z0-9_-]{1,64}$' and g.nth = 1
                 and not exists (select from lineage l join tool_calls k on k.work_item_id = l.work_item_id and k.provider_id = g.id) then g.id
                else format('call_%s_%s', replace(p_turn.id::text, '-', ''), p_first + g.n - 1)
           end order by g.n)
    from (select id, n, row_number() over (partition by id order by n) as nth from unnest(p_ids) with ordinality as i(id, n)) g;
$$;

comment on function _wire_ids(turns, text[], integer) is
  'The ids under which a turn''s calls, from the one with ordinal p_first on, stand in requests: as they came (p_ids) where the API takes them and the conversation does not have them yet, in forks and imports too; else one of the turn''s own.';

create or replace function _json_with_key(p_object json, p_key text, p_value text)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case
           when p_object ->> p_key = p_value then p_object::text
           when p_object -> p_key is null then left(p_object::text, -1) || ',' || to_json(p_key)::text || ':' || to_json(p_value)::text || '}'
           else (select '{' || string_agg(to_json(e.key)::text || ':' || case e.key when p_key then to_json(p_value)::text else e.value::text end, ',' order by e.n) || '}'
                   from json_each(p_object) with ordinality as e(key, value, n))
         end;
$$;

comment on function _json_with_key(json, text, text) is 'The object as text with one key set; everything else keeps its bytes and its order.';

create or replace function _session_advance(p_label text, p_turn_id uuid)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  update sessions set head_turn_id = p_turn_id, updated_at = _now() where label = p_label;
  insert into session_history (session_label, turn_id, changed_at) values (p_label, p_turn_id, _now());
end
$$;

comment on function _session_advance(text, uuid) is 'Moves the head of a session and logs the move.';
