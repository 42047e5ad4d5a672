-- Imports the response of a recorded exchange: its messages, messages that were missed before, and the subagents that its calls started.

create or replace function _import_response(p_turn turns, p_exchange record, p_n integer, p_is_past boolean)
  returns integer
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_part record;
  v_added integer := 0;
begin
  for v_part in select * from _response_missing(p_turn, p_exchange) loop
    v_added := v_added + _import_part(p_turn, p_exchange, v_part, p_n, p_is_past);
  end loop;
  update tool_calls k
     set status = e.status, result = e.result, is_error = e.is_error, attempts = e.attempts,
         started_at = e.at, completed_at = e.at, artifact_hash = e.artifact_hash, is_truncated = e.is_truncated
    from _import_results(p_turn, p_exchange, p_n) c, _recorded_end(p_turn.work_item_id, c.result, c.images, c.is_error, p_is_past, p_turn.completed_at) e
   where k.id = c.call_id and k.completed_at is null and e.at is not null;
  return v_added;
end
$$;

comment on function _import_response(turns, record, integer, boolean) is
  'Stores what is new of the response of a recorded exchange and its calls. A call without a result stays open in the newest exchange (p_is_past false), else it has failed. Returns how many calls were added.';

create or replace function _import_missed(p_turn turns, p_exchange record, p_n integer, out calls_added integer, out is_filled boolean)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_before exchange;
  v_after exchange;
begin
  calls_added := 0;
  is_filled := false;
  if not exists (select from _response_missing(p_turn, p_exchange) m where m.records is not null) then
    return;
  end if;
  v_before := (select e from _exchange(p_turn.id) e);
  calls_added := _import_response(p_turn, p_exchange, p_n, true);
  v_after := (select e from _exchange(p_turn.id) e);
  is_filled := v_after is distinct from v_before;
  -- Later requests grow by as much; those after a compaction grow only in what was said until then.
  update turn_sizes z
     set said = z.said + v_after.word_chars + v_after.result_chars - v_before.word_chars - v_before.result_chars,
         words = z.words + case when t.elision_id is not distinct from p_turn.elision_id and t.turn_type = 'normal'
                                then v_after.word_chars - v_before.word_chars else 0 end,
         results = z.results + case when t.elision_id is not distinct from p_turn.elision_id and t.turn_type = 'normal'
                                    then v_after.result_chars - v_before.result_chars else 0 end
    from _turns_behind(p_turn.id) b join turns t on t.id = b
   where is_filled and z.turn_id = t.id;
end
$$;

comment on function _import_missed(turns, record, integer) is
  'Stores what whoever kept a session missed of a response that others follow: is_filled says whether there was anything. Nothing is added to what an agent was shown.';

create or replace function _response_missing(p_turn turns, p_exchange record)
  returns table (
    records jsonb, previous jsonb, text text, first_thought bigint, last_thought bigint, first_call bigint, last_call bigint)
  language plpgsql
  stable
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
begin
  if p_exchange.records is null or exists (
      select from messages m where m.turn_id = p_turn.id and m.role = 'assistant' and not coalesce(m.metadata ? 'records', false)) then
    -- It is not known which record contained what: it has grown at its end.
    return query
      select null::jsonb, null::jsonb,
             case when s.text is null then p_exchange.text
                  when starts_with(p_exchange.text, s.text) then ltrim(substr(p_exchange.text, char_length(s.text) + 1), E'\n') end,
             s.thoughts + 1, null::bigint, (select count(*) + 1 from tool_calls where turn_id = p_turn.id), null::bigint
        from (select count(*) filter (where b.value ->> 'type' = 'thinking') as thoughts,
                     string_agg(b.value ->> 'text', E'\n\n' order by m.sequence, b.n) filter (where b.value ->> 'type' = 'text') as text
                from messages m cross join json_array_elements(m.content) with ordinality as b(value, n)
               where m.turn_id = p_turn.id and m.role = 'assistant') s;
    return;
  end if;
  return query
    with recorded as (
      select r.n, r.value ->> 'id' as id, r.value ->> 'text' as text, r.value ->> 'after' as after,
             sum(coalesce((r.value -> 'thoughts')::integer, 0)) over w as thoughts, sum(coalesce((r.value -> 'calls')::integer, 0)) over w as calls,
             coalesce((r.value -> 'thoughts')::integer, 0) as own_thoughts, coalesce((r.value -> 'calls')::integer, 0) as own_calls,
             not exists (select from messages m where m.turn_id = p_turn.id and m.role = 'assistant' and m.metadata -> 'records' ? (r.value ->> 'id'))
               as is_missing
        from jsonb_array_elements(p_exchange.records) with ordinality as r(value, n)
      window w as (order by r.n)
    ), parts as (
      -- Consecutive records become one message; between two messages there is room for records that were missed.
      select *, count(*) filter (where after is not null or not follows) over (order by n) as part
        from (select *, lag(is_missing, 1, false) over (order by n) as follows from recorded) r
    )
    select jsonb_agg(p.id order by p.n),
           (select coalesce(jsonb_agg(e.id), '[]')
              from recorded b
             cross join lateral (values (b.after, 0), (b.id, 1)) as e(id, n)
             where b.n + e.n <= min(p.n) and e.id is not null),
           string_agg(p.text, E'\n\n' order by p.n), min(p.thoughts - p.own_thoughts) + 1, max(p.thoughts), min(p.calls - p.own_calls) + 1, max(p.calls)
      from parts p
     where p.is_missing
     group by p.part
     order by p.part;
end
$$;

comment on function _response_missing(turns, record) is
  'What of a recorded response is not stored with its turn, message by message: its text, thoughts and calls from the first to the last (null: all that follow), and its records, with those before them (previous). Null records: the record, or the ledger of an earlier version, does not tell them apart, and what is new is at the end.';

create or replace function _import_part(p_turn turns, p_exchange record, p_part record, p_n integer, p_is_past boolean)
  returns integer
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_known integer := (select count(*) from tool_calls where turn_id = p_turn.id);
  v_place record;
  v_message record;
  v_added integer;
begin
  select * into v_place from _import_place(p_turn.id, p_part.previous);
  select _uuidv7() as id, string_agg(b.block, ',' order by b.n, b.m) as blocks,
         string_agg(coalesce(b.sent, b.block), ',' order by b.n, b.m)
           || case when v_place.is_last and max(b.n) = 1 then ',' || _thought_end(p_turn.stop_reason) else '' end as sent
    into v_message
    from _import_blocks(p_turn, p_exchange, p_part, p_n, v_known) b;
  if v_message.blocks is null then
    return 0;
  elsif v_place.is_grown and _is_asked_about(p_turn.id) then
    perform _import_left_out(f.session_label, to_json(p_exchange), 'response that had more than an agent was shown')
       from foci f where f.id = p_turn.focus_id;
    return 0;
  end if;
  insert into messages (id, turn_id, sequence, role, content, sent_content, metadata, created_at)
  values (v_message.id, p_turn.id, v_place.sequence, 'assistant', ('[' || v_message.blocks || ']')::json,
          nullif('[' || v_message.sent || ']', '[' || v_message.blocks || ']')::json,
          case when p_part.records is not null then jsonb_build_object('records', p_part.records) end, p_turn.started_at);
  insert into tool_calls (
    turn_id, ordinal, work_item_id, message_id, provider_id, given_id, tool_name, input, effect, created_at, status, result, is_error,
    attempts, started_at, completed_at, artifact_hash, is_truncated)
  select p_turn.id, c.place, p_turn.work_item_id, v_message.id, c.wire_id, nullif(c.id, c.wire_id), c.name, c.input, 'unsafe',
         p_turn.started_at, e.status, e.result, e.is_error, e.attempts, e.at, e.at, e.artifact_hash, e.is_truncated
    from _import_new_calls(p_turn, p_exchange.calls, p_part, p_n, v_known) c,
         _recorded_end(p_turn.work_item_id, c.result, c.images, c.is_error, p_is_past, p_turn.started_at) e;
  get diagnostics v_added = row_count;
  perform _touches_store(k, c.file)
     from _import_new_calls(p_turn, p_exchange.calls, p_part, p_n, v_known) c join tool_calls k on k.turn_id = p_turn.id and k.ordinal = c.place
    where v_added > 0;
  return v_added;
end
$$;

comment on function _import_part(turns, record, record, integer, boolean) is
  'Stores a part of a recorded response (p_part, see _response_missing()) as a message, with its calls, which are numbered in the order in which they became known. What came after an agent had been shown the turn, in a fork, is kept as it came: what it was shown stays. Returns how many calls were added.';

create or replace function _import_place(p_turn_id uuid, p_previous jsonb, out sequence integer, out is_last boolean, out is_grown boolean)
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_before integer;
  v_said integer;
  v_next integer;
begin
  select max(m.sequence) filter (where m.metadata -> 'records' ?| array(select jsonb_array_elements_text(p_previous))),
         coalesce(max(m.sequence), 0), coalesce(max(m.sequence) filter (where m.role = 'user'), 0), coalesce(bool_or(m.role = 'assistant'), false)
    into v_before, sequence, v_said, is_grown
    from messages m
   where m.turn_id = p_turn_id;
  v_before := coalesce(v_before, case when p_previous = '[]' then v_said end);
  v_next := (select min(m.sequence) from messages m where m.turn_id = p_turn_id and m.sequence > v_before);
  is_last := v_next is null;
  -- If there is no room, it comes last.
  sequence := case when v_next > v_before + 1 then v_before + (v_next - v_before) / 2 else (sequence / 1000 + 1) * 1000 end;
end
$$;

comment on function _import_place(uuid, jsonb) is
  'Where in a turn the next part of its response goes: behind the records p_previous, before what follows them; none: at its beginning; null, or where they are not stored: at the end. is_grown: there is a part of it already.';

create or replace function _import_blocks(p_turn turns, p_exchange record, p_part record, p_n integer, p_known integer)
  returns table (n integer, m bigint, block text, sent text)
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return query
    select 1, t.m,
           json_build_object('type', 'thinking', 'thinking', t.value ->> 'thinking', 'signature', t.value ->> 'signature')::text,
           null::text
      from json_array_elements(p_exchange.thinking) with ordinality as t(value, m)
     -- Thinking signed by another provider cannot be sent to this one.
     where t.m between p_part.first_thought and coalesce(p_part.last_thought, t.m) and coalesce(t.value ->> 'signature', '') <> ''
       and p_turn.model like '%claude%' and octet_length(p_exchange.thinking::text) < 1000000;
  return query select 2, 1::bigint, _text_block(_cap_said(p_part.text, 1000000)), null::text where not _is_blank(p_part.text);
  return query
    select 3, c.ordinal, u.start || to_json(c.id)::text || ',"name":' || to_json(c.name)::text || u.rest,
           u.start || to_json(c.wire_id)::text || ',"name":' || to_json(_wire_name(c.name))::text || u.rest
      -- An input too large for a message is stored only with its call.
      from (select *, (sum(octet_length(input::text)) over (order by ordinal)) > 1500000 as is_large
              from _import_new_calls(p_turn, p_exchange.calls, p_part, p_n, p_known)) c
      cross join lateral (select '{"type":"tool_use","id":' as start, ',"input":' || case when c.is_large then '{}' else c.input::text end || '}' as rest) u;
end
$$;

comment on function _import_blocks(turns, record, record, integer, integer) is
  'The content blocks of a part of a recorded response, in order (n, m), and as requests send them (null: as they are): thoughts, text, calls. p_known: how many calls the turn has.';

create or replace function _import_new_calls(p_turn turns, p_calls json, p_part record, p_n integer, p_known integer)
  returns table (
    ordinal bigint, id text, name text, input json, result text, is_error boolean, spawns text, file text, images json, place integer, wire_id text)
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return query
    with given as materialized (
      select c.*, (p_known + row_number() over (order by c.ordinal))::integer - 1 as place
        from _recorded_calls(p_calls, p_n) c
       where c.ordinal between p_part.first_call and coalesce(p_part.last_call, c.ordinal)
    )
    select g.*, w.ids[g.place - p_known + 1]
      from given g, (select _wire_ids(p_turn, array_agg(o.id order by o.place), p_known) as ids from given o) w;
end
$$;

comment on function _import_new_calls(turns, json, record, integer, integer) is
  'The calls of a part of a recorded response, each with the ordinal that it gets behind p_known others (place), and the id by which requests name it.';

create or replace function _import_calls(p_turn turns, p_exchange record, p_n integer)
  returns table (call_id uuid, result text, is_error boolean, spawns text, images json, input json)
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return query
    select k.id, c.result, c.is_error, c.spawns, c.images, c.input
      from (select r.*, row_number() over (partition by r.id order by r.ordinal) as nth from _recorded_calls(p_exchange.calls, p_n) r) c
      join (select t.*, row_number() over (partition by coalesce(t.given_id, t.provider_id) order by t.ordinal) as nth
              from tool_calls t where t.turn_id = p_turn.id) k
        -- If some were missed, their numbers differ.
        on case when p_exchange.records is null then k.ordinal = c.ordinal - 1 else coalesce(k.given_id, k.provider_id) = c.id and k.nth = c.nth end;
end
$$;

comment on function _import_calls(turns, record, integer) is 'The calls of a recorded exchange that are stored with its turn, each with its row.';

create or replace function _import_results(p_turn turns, p_exchange record, p_n integer)
  returns table (call_id uuid, result text, is_error boolean, images json)
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return query
    select k.id, coalesce(c.result, r.result), coalesce(c.is_error, r."isError", false), coalesce(c.images, r.images)
      from tool_calls k
      left join _import_calls(p_turn, p_exchange, p_n) c on c.call_id = k.id
      left join (
        select distinct on (s.id) *
          from rows from (json_to_recordset(p_exchange.results) as (id text, result text, "isError" boolean, images json)) with ordinality as s
         order by s.id, s.ordinality) r
        on c.call_id is null and r.id = coalesce(k.given_id, k.provider_id)
     where k.turn_id = p_turn.id and k.completed_at is null;
end
$$;

comment on function _import_results(turns, record, integer) is 'The open calls of a turn with what a recorded exchange says of them; a null result: nothing. Their own record may have been missed.';

create or replace function _turns_behind(p_turn_id uuid)
  returns setof uuid
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive behind as (
    select t.id from turns t where t.parent_turn_id = p_turn_id
    union all
    select t.id from behind b join turns t on t.parent_turn_id = b.id
  )
  select id from behind;
$$;

comment on function _turns_behind(uuid) is 'The turns whose conversation goes through this one.';

create or replace function _is_asked_about(p_turn_id uuid)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select exists (select from _turns_behind(p_turn_id) b(id) join turns t on t.id = b.id join foci f on f.id = t.focus_id where f.faculty <> 'imported');
$$;

comment on function _is_asked_about(uuid) is 'Whether an agent of this ledger was sent a request with this turn in it.';

create or replace function _import_spawns(p_turn turns, p_format text, p_session text, p_exchange record, p_n integer)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_spawn record;
begin
  if position('"spawns"' in p_exchange.calls::text) = 0 then
    return;
  end if;
  for v_spawn in
    select k.id, k.turn_id, k.created_at, c.input ->> 'description' as description, p_session || '#' || c.spawns as session
      from _import_calls(p_turn, p_exchange, p_n) c join tool_calls k on k.id = c.call_id
     where c.spawns is not null
       -- A session that another role imported is left alone.
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

comment on function _import_spawns(turns, text, text, record, integer) is 'Links the subagents of a recorded session (p_session; nested ones are directly below it) to the calls that started them.';
