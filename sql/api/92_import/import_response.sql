-- The response of a recorded exchange: its messages, its calls with their results, the subagents that they started.

create or replace function _import_response(p_turn turns, p_text text, p_thinking json, p_calls json, p_n integer, p_is_past boolean)
  returns integer
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_known integer := (select count(*) from tool_calls where turn_id = p_turn.id);
  v_parts integer;
  v_thoughts integer;
  v_text text;
  v_message uuid := _uuidv7();
  v_added integer;
begin
  select count(distinct m.id), count(*) filter (where b.value ->> 'type' = 'thinking'),
         string_agg(b.value ->> 'text', E'\n\n' order by m.sequence, b.n) filter (where b.value ->> 'type' = 'text')
    into v_parts, v_thoughts, v_text
    from messages m cross join json_array_elements(m.content) with ordinality as b(value, n)
   where m.turn_id = p_turn.id and m.role = 'assistant';
  with recorded as materialized (
    select * from _recorded_calls(p_calls, p_n)
  ), given as materialized (
    select r.*, w.ids[r.ordinal - v_known] as wire_id
      from recorded r, (select _wire_ids(p_turn, array_agg(n.id order by n.ordinal), v_known) as ids from recorded n where n.ordinal > v_known) w
  ), said as (
    -- What the model wrote: all of it, or only what is new. An input too large for a message is stored only with its call.
    select string_agg(b.block, ',' order by b.n, b.m) as blocks,
           string_agg(coalesce(b.sent, b.block), ',' order by b.n, b.m) || case max(b.n) when 1 then ',' || _thought_end(p_turn.stop_reason) else '' end as sent
      from (
        select 1 as n, t.m,
               json_build_object(
                 'type', 'thinking', 'thinking', t.value ->> 'thinking', 'signature', t.value ->> 'signature')::text as block,
               null as sent
          from json_array_elements(p_thinking) with ordinality as t(value, m)
         -- Thinking signed by another provider cannot be sent to this one.
         where t.m > v_thoughts and coalesce(t.value ->> 'signature', '') <> '' and p_turn.model like '%claude%' and octet_length(p_thinking::text) < 1000000
        union all
        select 2, 1, _text_block(t.text), null
          from (select case
                         when v_text is null then _cap_said(p_text, 1000000)
                         when starts_with(p_text, v_text) then ltrim(substr(p_text, char_length(v_text) + 1), E'\n')
                       end as text) t
         where t.text ~ '\S'
        union all
        select 3, c.ordinal, u.start || to_json(c.id)::text || ',"name":' || to_json(c.name)::text || u.rest,
               u.start || to_json(c.wire_id)::text || ',"name":' || to_json(_wire_name(c.name))::text || u.rest
          from (select *, (sum(octet_length(input::text)) over (order by ordinal)) > 1500000 as is_large from given where ordinal > v_known) c
          cross join lateral (select '{"type":"tool_use","id":' as start, ',"input":' || case when c.is_large then '{}' else c.input::text end || '}' as rest) u
      ) b
  ), message as (
    insert into messages (id, turn_id, sequence, role, content, sent_content, created_at)
    select v_message, p_turn.id, 1000 + v_parts, 'assistant', ('[' || said.blocks || ']')::json,
           nullif('[' || said.sent || ']', '[' || said.blocks || ']')::json, p_turn.started_at
      from said where said.blocks is not null
  ), made as (
    insert into tool_calls (
      turn_id, ordinal, work_item_id, message_id, provider_id, given_id, tool_name, input, effect, created_at, status, result, is_error,
      attempts, started_at, completed_at, artifact_hash, is_truncated)
    select p_turn.id, c.ordinal - 1, p_turn.work_item_id, v_message, c.wire_id, nullif(c.id, c.wire_id), c.name, c.input, 'unsafe',
           p_turn.started_at, e.status, e.result, e.is_error, e.attempts, e.at, e.at, e.artifact_hash, e.is_truncated
      from given c, _recorded_end(p_turn.work_item_id, c.result, c.images, c.is_error, p_is_past, p_turn.started_at) e
     where c.ordinal > v_known
  )
  select count(*) into v_added from given c where c.ordinal > v_known;
  if v_added > 0 then
    perform _touches_store(k, c.file)
       from _recorded_calls(p_calls, p_n) c join tool_calls k on k.turn_id = p_turn.id and k.ordinal = c.ordinal - 1
      where c.ordinal > v_known;
  end if;
  if v_known > 0 then
    update tool_calls k
       set status = e.status, result = e.result, is_error = e.is_error, attempts = e.attempts,
           started_at = e.at, completed_at = e.at, artifact_hash = e.artifact_hash, is_truncated = e.is_truncated
      from _recorded_calls(p_calls, p_n) c, _recorded_end(p_turn.work_item_id, c.result, c.images, c.is_error, p_is_past, p_turn.completed_at) e
     where k.turn_id = p_turn.id and k.ordinal = c.ordinal - 1 and k.completed_at is null and e.at is not null;
  end if;
  return v_added;
end
$$;

comment on function _import_response(turns, text, json, json, integer, boolean) is
  'Stores what is new of the response of a recorded exchange and its calls. A call without a result stays open in the newest exchange (p_is_past false), else it has failed. Returns how many calls were added.';

create or replace function _import_spawns(p_turn turns, p_format text, p_session text, p_calls json, p_n integer)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_spawn record;
begin
  if position('"spawns"' in p_calls::text) = 0 then
    return;
  end if;
  for v_spawn in
    select k.id, k.turn_id, k.created_at, c.input ->> 'description' as description, p_session || '#' || c.spawns as session
      from _recorded_calls(p_calls, p_n) c join tool_calls k on k.turn_id = p_turn.id and k.ordinal = c.ordinal - 1
     where c.spawns is not null
       -- A session that somebody else imported stays as it is.
       and not exists (
         select from work_items w join work_items own on own.id = p_turn.work_item_id and own.submitted_by <> w.submitted_by
          where w.external_id = 'import:' || p_format || ':' || p_session || '#' || c.spawns)
  loop
    perform _import_session(p_format, v_spawn.session, p_session, v_spawn.description, v_spawn.created_at);
    update sessions
       set spawn_tool_call_id = v_spawn.id, parent_turn_id = v_spawn.turn_id
     where label = concat_ws(':', p_format, v_spawn.session) and spawn_tool_call_id is null;
  end loop;
end
$$;

comment on function _import_spawns(turns, text, text, json, integer) is 'Links the subagents of a recorded session (p_session; nested ones are directly below it) to the calls that started them.';

create or replace function _recorded_calls(p_calls json, p_n integer)
  returns table(ordinal bigint, id text, name text, input json, result text, is_error boolean, spawns text, file text, images json)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select c.ordinality, coalesce(c.id, format('import_%s_%s', p_n, c.ordinality)), c.name, c.input, c.result, coalesce(c."isError", false),
         c.spawns, c.file, c.images
    from rows from (json_to_recordset(p_calls) as (
      id text, name text, input json, result text, "isError" boolean, spawns text, file text, images json)) with ordinality as c;
$$;

comment on function _recorded_calls(json, integer) is 'The calls of a recorded exchange, numbered from 1; a call without an id gets one made from its position.';

create or replace function _recorded_images(p_work_item_id uuid, p_images json)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if exists (select from json_array_elements(p_images) i
              where coalesce(i ->> 'media_type', '') !~ '^image/(png|jpeg|gif|webp)$'
                or coalesce(i ->> 'data', '') !~ '^[A-Za-z0-9+/]+=*$' or octet_length(i ->> 'data') > 5242880) then
    perform _raise_invalid('recorded images must be a list of {media_type, data}: image/png, jpeg, gif or webp, in base64 of at most 5 MiB');
  end if;
  return (select string_agg(_image_store(p_work_item_id, i.value ->> 'media_type', i.value ->> 'data'), ',' order by i.n)
            from json_array_elements(p_images) with ordinality as i(value, n));
end
$$;

comment on function _recorded_images(uuid, json) is 'Stores the images of a recorded message or result and returns the blocks that name them; null: none. Raises WL002.';

create or replace function _recorded_end(
    p_work_item_id uuid, p_result text, p_images json, p_is_error boolean, p_is_past boolean, p_at timestamptz,
    out status text, out result json, out is_error boolean, out attempts integer, out at timestamptz, out artifact_hash text, out is_truncated boolean)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_whole text;
begin
  p_result := _redact_text(p_result, 'tool_calls', '{}');
  v_whole := case when octet_length(p_result) > 33554000 then _cap_text(p_result, 33554000) end;
  is_truncated := v_whole is not null;
  if p_result is null and not p_is_past then
    status := 'pending';
    attempts := 0;
    return;
  end if;
  if v_whole is not null then
    artifact_hash := _artifact_store(p_work_item_id, v_whole);
    p_result := _excerpt(v_whole, 8000);
  end if;
  is_error := p_result is null or p_is_error;
  status := case when is_error then 'failed' else 'completed' end;
  result := to_json(coalesce(p_result, '[engine] The record has no result for this call.'));
  if p_images is not null then
    result := ('[' || concat_ws(',', case when p_result ~ '\S' then _text_block(p_result) end, _recorded_images(p_work_item_id, p_images)) || ']')::json;
  end if;
  attempts := 1;
  at := p_at;
end
$$;

comment on function _recorded_end(uuid, text, json, boolean, boolean, timestamptz) is 'How a recorded call ended. Without a result: open in the newest exchange (p_is_past false), else failed. Of a result over 32 MiB, head and tail become an artifact.';

create or replace function _cap_said(p_text text, p_max_bytes integer)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when octet_length(p_text) * 6 <= p_max_bytes then p_text
              else _cap_text(p_text, (p_max_bytes * least(1, octet_length(p_text)::numeric / octet_length(to_json(p_text)::text)))::integer) end;
$$;

comment on function _cap_said(text, integer) is 'The text shortened so that as JSON, where a line break takes two bytes and a control character six, it has at most about p_max_bytes.';
