-- Stores a response as it came. If the API would reject it in a later request, what is sent instead is stored next to it.

create or replace function _response_store(p_turn turns, p_config jsonb, p_content json, p_begins boolean, p_results json default null)
  returns text[]
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_message_id uuid := _uuidv7();
  v_block record;
  v_call tool_calls;
  v_ability abilities;
  v_ids text[] := _wire_ids(p_turn, array(
    select b.value ->> 'id' from json_array_elements(p_content) with ordinality as b(value, n) where b.value ->> 'type' = 'tool_use' order by b.n));
  v_refusal text;
  v_ordinal integer := 0;
  v_given text[] := '{}';
  v_sent text[] := '{}';
  v_is_thought boolean := false;
  v_kinds text[] := '{}';
begin
  for v_block in select value, n from json_array_elements(p_content) with ordinality as b(value, n) order by n loop
    v_given := v_given || v_block.value::text;
    -- The API rejects blank text in a request.
    continue when v_block.value ->> 'type' = 'text' and _is_blank(coalesce(v_block.value ->> 'text', ''));
    v_is_thought := v_block.value ->> 'type' in ('thinking', 'redacted_thinking');
    if v_block.value ->> 'type' is distinct from 'tool_use' then
      v_sent := v_sent || v_block.value::text;
      continue;
    end if;
    v_sent := v_sent || _json_with_key(_json_with_key(v_block.value, 'id', v_ids[v_ordinal + 1])::json, 'name', _wire_name(v_block.value ->> 'name'));

    v_ability := null;
    select a.* into v_ability
      from turn_configs c, json_array_elements(c.config -> 'tools') t
      join abilities a on a.tool_name = t ->> 'name'
     where c.content_hash = p_turn.config_hash and t ->> 'name' = v_block.value ->> 'name';
    v_refusal := case
      when p_turn.stop_reason not in ('tool_use', 'end_turn', 'stop_sequence', 'pause_turn') then format(
        '[engine] Not executed: the response ended early (%s), so the call may be incomplete. Send it again%s.',
        p_turn.stop_reason, case p_turn.stop_reason when 'max_tokens' then ', in smaller parts if it is long' else '' end)
      when v_ability.name is null then _no_such_tool(p_turn, v_block.value ->> 'name')
    end;
    v_call := _call_new(p_turn, v_ordinal, v_block.value, v_ability);
    v_call.message_id := v_message_id;
    v_call.provider_id := v_ids[v_ordinal + 1];
    v_call.given_id := nullif(v_block.value ->> 'id', v_call.provider_id);
    if v_refusal is not null then
      v_call.status := 'failed';
      v_call.is_error := true;
      v_call.result := to_json(v_refusal);
      v_call.completed_at := v_call.created_at;
    elsif p_results is not null and _may_precede(v_ability, p_config) then
      v_call := _call_begun_early(v_call, p_results, _max_result_chars(p_config));
    end if;
    -- A response's only call waits for no other, so it is stored as already begun; see _calls_begin().
    if v_call.status = 'pending' and p_begins and cardinality(v_ids) = 1 and _may_begin(v_ability, p_config) then
      v_call.status := 'running';
      v_call.attempts := 1;
      v_call.started_at := v_call.created_at;
    end if;
    insert into tool_calls values (v_call.*) returning * into v_call; -- returns the row without secrets
    v_kinds := v_kinds || _touches_store(v_call);
    -- With a before_tool hook, approval is requested later, for the input as the hook rewrote it.
    if v_refusal is null and p_config #>> '{hooks,before_tool}' is null and _needs_approval(v_ability.risk, p_config -> 'engage') then
      perform _approval_ask(v_call, v_ability.risk, p_config -> 'engage');
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
  return v_kinds;
end
$$;

comment on function _response_store(turns, jsonb, json, boolean, json) is 'Stores the assistant message of a turn as it came (unless it is empty), what later requests send in its place if the API would refuse it, and a row for each call. p_begins: as for turn_record(). p_results: calls that began before they were stored, see _may_precede(), as for iteration_step(). Returns the kinds of what its calls change, see _touches_store().';

create or replace function _no_such_tool(p_turn turns, p_name text)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return format('[engine] There is no tool "%s". You have: %s.', _one_line(p_name, 64),
    (select string_agg(t ->> 'name', ', ') from turn_configs c, json_array_elements(c.config -> 'tools') t where c.content_hash = p_turn.config_hash));
end
$$;

comment on function _no_such_tool(turns, text) is 'What a model is told when it called a tool that its request did not offer.';

create or replace function _call_new(p_turn turns, p_ordinal integer, p_block json, p_ability abilities)
  returns tool_calls
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_call tool_calls;
begin
  v_call.id := _uuidv7();
  v_call.turn_id := p_turn.id;
  v_call.ordinal := p_ordinal;
  v_call.work_item_id := p_turn.work_item_id;
  v_call.tool_name := coalesce(p_block ->> 'name', '');
  v_call.input := coalesce(p_block -> 'input', '{}');
  v_call.effect := coalesce(p_ability.effect, 'pure');
  v_call.status := 'pending';
  v_call.is_truncated := false;
  v_call.attempts := 0;
  v_call.created_at := _now();
  return v_call;
end
$$;

comment on function _call_new(turns, integer, json, abilities) is 'The row of a call, from its block in a response; p_ability null: there is no such tool.';

create or replace function _call_begun_early(p_call tool_calls, p_results json, p_max_chars integer)
  returns tool_calls
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_result record;
  v_images jsonb;
begin
  select r.*, exists (select from tool_calls k where k.id = r.id) as is_taken
    into v_result
    from json_to_recordset(p_results) as r(ordinal text, id uuid, content text, is_error boolean, images json)
   where r.ordinal = p_call.ordinal::text
   limit 1;
  if not found then
    return p_call;
  end if;
  p_call.id := v_result.id;
  if v_result.is_taken then
    perform _raise_invalid(format('%s is the id of another call', p_call.id));
  end if;
  p_call.status := 'running';
  p_call.attempts := 1;
  p_call.started_at := p_call.created_at;
  if v_result.content is null then
    return p_call;
  end if;
  if v_result.images is not null then
    v_images := nullif(_jsonb_of(v_result.images), 'null');
    perform _check_images(v_images);
  end if;
  return _call_ended(p_call, v_result.content, v_result.is_error, v_images, null, p_max_chars);
end
$$;

comment on function _call_begun_early(tool_calls, json, integer) is 'A call as its worker began it before it was stored, with its result if there is one; unchanged if the worker did not begin it. p_max_chars as for _call_ended().';

create or replace function _wire_ids(p_turn turns, p_ids text[], p_first integer default 0)
  returns text[]
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_items uuid[] := array[p_turn.work_item_id];
begin
  -- Some providers reuse call ids in each response. A forked conversation runs through several work items: they are searched item by item, never turn
  -- by turn.
  if p_turn.fork_turn_id is not null then
    v_items := v_items || array(select f.work_item_id from _forked_at(p_turn.fork_turn_id) f);
  end if;
  return (
    select array_agg(
           case when g.id ~ '^[a-zA-Z0-9_-]{1,64}$' and g.nth = 1
                 and g.id = _redacted(g.id)
                 and not exists (select from tool_calls k where k.work_item_id = any (v_items) and k.provider_id = g.id) then g.id
                else format('call_%s_%s', replace(p_turn.id::text, '-', ''), p_first + g.n - 1)
           end order by g.n)
    from (select id, n, row_number() over (partition by id order by n) as nth from unnest(p_ids) with ordinality as i(id, n)) g);
end
$$;

comment on function _wire_ids(turns, text[], integer) is
  'The ids that requests use for a turn''s calls, from ordinal p_first on: the original ones (p_ids), if the API accepts them, they hold no secret and the conversation has not used them yet (nor the one it was forked or imported from); else new ones made from the turn''s id.';

create or replace function _wire_name(p_name text)
  returns text
  language sql
  immutable
  parallel safe
  return coalesce(
    nullif(left(regexp_replace(_redacted(p_name), '[^a-zA-Z0-9_-]', '_', 'g'), 128), ''),
    'unnamed');

comment on function _wire_name(text) is
  'The name that requests show for a call: the original one (p_name), if the API accepts it and it holds no secret; else what remains of it after cleaning; unnamed if there was none.';
