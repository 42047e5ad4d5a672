-- The content of a session, piece by piece, in the form of the target program: blocks of the Messages API, calls under that program's names.

create or replace function _export_stream(p_format text, p_item work_items, p_turn turns, p_elision_id uuid)
  returns setof export_piece
  language plpgsql
  volatile
  rows 500
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_turn.id is null then
    return query
      select 1::bigint, 1::bigint, 'text', 'user', null::uuid, null::text, null::text, p_item.created_at, true,
             _text_block(export_for_resumption(p_item.id))::json, array['the conversation: it has no turns, so its packet is included instead'];
    return;
  end if;
  return query
    with block as materialized (
      select b.*, b.block ->> 'type' as type, coalesce(b.block ->> 'tool_use_id', b.block ->> 'id') as call_id,
             max(b.n) filter (where b.role = 'assistant') over (partition by b.turn_id) as response_end
        from _export_blocks(p_turn.id, p_elision_id) b
    ), answer as materialized (
      select distinct b.call_id as id from block b where b.type = 'tool_result'
    ), call as materialized (
      select b.n, b.response_end, b.at, b.call_id as id, b.block ->> 'name' as given, b.turn_id, c.*, a.id is not null as is_answered
        from block b
        cross join lateral _export_call(p_format, b.provider, b.block ->> 'name', b.block -> 'input') c
        left join answer a on a.id = b.call_id
       where b.type = 'tool_use'
    ), turn as materialized (
      select c.turn_id as id, bool_and(c.name is not null) as keeps_thinking from call c group by c.turn_id
    ), said as (
      select b.n, b.response_end, b.part, b.role, b.turn_id, b.external_id, b.model, b.at, b.is_by_people, b.block, b.type, b.call_id from block b
      union all
      -- The API accepts no call without a result.
      select c.n, c.response_end, 1000000000 + c.n, 'user', c.turn_id, null, null, c.at, false, json_build_object(
               'type', 'tool_result', 'tool_use_id', c.id, 'is_error', true,
               'content', '[work-ledger] No result was recorded for this call: it may or may not have run.'),
             'tool_result', c.id
        from call c
       where not c.is_answered
    ), piece as (
      -- After a response come first the results, then the texts for calls that the other program cannot represent as calls.
      select case when b.type = 'tool_result' then coalesce(b.response_end, b.n) else b.n end as place,
             case when b.type <> 'tool_result' then 0 when p.kind = 'result' then 1 else 2 end as step,
             b.n, b.part, b.role, b.turn_id, b.external_id, b.model, b.at, b.is_by_people, p.kind, p.block,
             p.left_out || case when not c.is_answered and b.role = 'user' then 'the result of a call, which was not recorded' end as left_out
        from said b
        left join call c on c.id = b.call_id
        left join turn t on t.id = b.turn_id
       cross join lateral _export_piece(p_format, b.block, c.name, c.input, c.given, c.given_input, c.left_out, coalesce(t.keeps_thinking, false)) p
    )
    select row_number() over w, p.part, p.kind, p.role, p.turn_id, p.external_id, p.model, p.at, p.is_by_people, p.block, array_remove(p.left_out, null)
      from piece p
    window w as (order by p.place, p.step, p.n);
end
$$;

comment on function _export_stream(text, work_items, turns, uuid) is
  'What the request after p_turn would hold, cut as p_elision_id says, in the order of the API: each piece one block. kind: text, image, thinking, call, result. block null: nothing but what was left out. A call of a tool that the program does not have is a text where its result would be.';

create or replace function _export_blocks(p_turn_id uuid, p_elision_id uuid)
  returns table (
    n bigint, part bigint, role text, turn_id uuid, external_id text, provider text, model text, at timestamptz, is_by_people boolean, block json)
  language sql
  stable
  rows 500
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select row_number() over (order by p.n, b.n), p.n, p.role, p.turn_id, case when p.role = 'assistant' then t.external_id end, t.provider, t.model,
         -- What replaces left-out turns has no time, and records must not go back in time.
         coalesce(max(case p.role when 'assistant' then t.completed_at else t.started_at end) over (order by p.n, b.n),
           (select h.started_at from turns h where h.id = p_turn_id)),
         p.n = 1 or (p.kind in ('said', 'task') and coalesce(m.source not in ('engine', 'event'), false)), b.value
    from _message_parts(p_turn_id, _elision_chain(p_elision_id), '') with ordinality
      as p(kind, turn_id, "position", rank, ordinal, role, blocks, chars, n)
    left join turns t on t.id = p.turn_id
    left join messages m on m.turn_id = p.turn_id and m.sequence = p.ordinal and m.role = 'user' and p.kind in ('said', 'task')
   cross join lateral json_array_elements(('[' || case p.role when 'user' then _with_images(p.blocks) else p.blocks end || ']')::json)
     with ordinality as b(value, n);
$$;

comment on function _export_blocks(uuid, uuid) is 'The blocks of the messages that the request after a turn would hold, each with the turn it comes from; part: the blocks of one message share it.';

create or replace function _export_piece(
    p_format text, p_block json, p_name text, p_input json, p_given text, p_given_input json, p_left_out text[],
    p_keeps_thinking boolean, out kind text, out block json, out left_out text[])
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_type text := p_block ->> 'type';
begin
  case
    when v_type = 'text' then
      kind := 'text';
      block := case when p_block ->> 'text' ~ '\S' then _text_block(p_block ->> 'text')::json end; -- without its cache breakpoint
    when v_type = 'image' then
      kind := v_type;
      block := p_block;
    when v_type = 'tool_use' and p_name is not null then
      kind := 'call';
      block := json_build_object('type', 'tool_use', 'id', p_block -> 'id', 'name', p_name, 'input', p_input);
      left_out := p_left_out;
    when v_type = 'tool_use' then
      left_out := array[format('calls of %s, a tool that the other program does not have: they are written as text', p_given)];
    when v_type = 'tool_result' and p_name is not null then
      kind := 'result';
      block := p_block;
    when v_type = 'tool_result' then
      kind := 'text';
      block := _text_block(_fenced(
        format('[work-ledger] A call of "%s", a tool of the program in which this conversation was before, with its input and %s',
          coalesce(p_given, 'a tool that is not recorded'),
          case when (p_block ->> 'is_error')::boolean then 'the error that it ended with' else 'its result' end),
        concat_ws(E'\n\n', p_given_input::text, _result_text(p_block -> 'content'))))::json;
      left_out := array(select 'an image in the result of a call that is written as text'::text
                          from json_array_elements(case json_typeof(p_block -> 'content') when 'array' then p_block -> 'content' else '[]' end) i
                         where i ->> 'type' = 'image');
    -- Signed thinking comes before the calls that it led to, or is left out.
    when v_type in ('thinking', 'redacted_thinking') and p_format = 'claude-code' and p_keeps_thinking then
      kind := 'thinking';
      block := p_block;
    when v_type in ('thinking', 'redacted_thinking') then
      left_out := array['thinking'];
    else
      left_out := array[format('a block of type %s', v_type)];
  end case;
end
$$;

comment on function _export_piece(text, json, text, json, text, json, text[], boolean) is
  'What becomes of one block of a request in a session for another program. p_name and p_input: the call as that program makes it (null: it has no such tool), p_given and p_given_input as it was made. p_keeps_thinking: its response ends with calls, all of tools that the program has.';
