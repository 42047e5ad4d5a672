-- A response is stored as it came; if the API would refuse it in a later request, what is sent instead is stored beside it.

create or replace function _response_store(p_turn turns, p_content json, p_begins boolean default false)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_message_id uuid := _uuidv7();
  v_block record;
  v_config jsonb := _faculty_config(p_turn.focus_id);
  v_call tool_calls;
  v_ability abilities;
  v_ids text[] := _wire_ids(p_turn, array(
    select b.value ->> 'id' from json_array_elements(p_content) with ordinality as b(value, n) where b.value ->> 'type' = 'tool_use' order by b.n));
  v_refusal text;
  v_is_begun boolean;
  v_ordinal integer := 0;
  v_given text[] := '{}';
  v_sent text[] := '{}';
  v_is_thought boolean := false;
begin
  for v_block in select value, n from json_array_elements(p_content) with ordinality as b(value, n) order by n loop
    v_given := v_given || v_block.value::text;
    -- The API refuses blank text in a request.
    continue when v_block.value ->> 'type' = 'text' and coalesce(v_block.value ->> 'text', '') !~ '\S';
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
      when v_ability.name is null then format('[engine] There is no tool "%s". You have: %s.',
        _one_line(v_block.value ->> 'name', 64),
        (select string_agg(t ->> 'name', ', ') from turn_configs c, json_array_elements(c.config -> 'tools') t where c.content_hash = p_turn.config_hash))
    end;
    -- The only call of a response waits for no other: it is stored as begun, see _calls_begin().
    v_is_begun := p_begins and v_refusal is null and cardinality(v_ids) = 1 and _may_begin(v_ability, v_config);
    insert into tool_calls (
      turn_id, ordinal, work_item_id, message_id, provider_id, given_id, tool_name, input, effect, status, attempts, started_at, result, is_error, completed_at)
    values (
      p_turn.id, v_ordinal, p_turn.work_item_id, v_message_id, v_ids[v_ordinal + 1],
        nullif(v_block.value ->> 'id', v_ids[v_ordinal + 1]), coalesce(v_block.value ->> 'name', ''),
      coalesce(v_block.value -> 'input', '{}'), coalesce(v_ability.effect, 'pure'),
      case when v_is_begun then 'running' when v_refusal is null then 'pending' else 'failed' end,
      case when v_is_begun then 1 else 0 end, case when v_is_begun then _now() end, to_json(v_refusal),
      case when v_refusal is not null then true end, case when v_refusal is not null then _now() end)
    returning * into v_call;
    perform _touches_store(v_call);
    -- With a before_tool hook, approval is requested later, for the input as the hook rewrote it.
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

comment on function _response_store(turns, json, boolean) is 'Stores the assistant message of a turn as it came (unless it is empty), what later requests send in its place if the API would refuse it, and a row for each call. p_begins: as for turn_record().';

create or replace function _wire_ids(p_turn turns, p_ids text[], p_first integer default 0)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- Some providers number the calls of each response anew. A forked conversation runs through several work items: they are
  -- searched item by item, never turn by turn.
  with recursive lineage as (
    select p_turn.work_item_id, p_turn.fork_turn_id
    union all
    select t.work_item_id, t.fork_turn_id from lineage l join turns t on t.id = l.fork_turn_id
  )
  select array_agg(
           case when g.id ~ '^[a-zA-Z0-9_-]{1,64}$' and g.nth = 1
                 and (_may_hold_secret(g.id) and g.id <> _redacted(g.id)) is not true
                 and not exists (select from lineage l join tool_calls k on k.work_item_id = l.work_item_id and k.provider_id = g.id) then g.id
                else format('call_%s_%s', replace(p_turn.id::text, '-', ''), p_first + g.n - 1)
           end order by g.n)
    from (select id, n, row_number() over (partition by id order by n) as nth from unnest(p_ids) with ordinality as i(id, n)) g;
$$;

comment on function _wire_ids(turns, text[], integer) is
  'The ids under which requests name a turn''s calls, from ordinal p_first on: those that came (p_ids), if the API accepts them, they hold no secret and the conversation has not used them yet (also in what it was forked or imported from); else new ones made from the turn''s id.';

create or replace function _wire_name(p_name text)
  returns text
  language sql
  immutable
  parallel safe
  return coalesce(
    nullif(left(regexp_replace(case when _may_hold_secret(p_name) then _redacted(p_name) else p_name end, '[^a-zA-Z0-9_-]', '_', 'g'), 128), ''),
    'unnamed');

comment on function _wire_name(text) is
  'The name under which requests show a call: the one that came (p_name), if the API accepts it and it holds no secret; else what of it can stand; unnamed if nothing came.';
