-- Writes a session as Codex stores its own: a rollout, with response items, which are the conversation, and events, which the screen shows.

create or replace function _export_codex(p_pieces export_piece[], p_session uuid, p_cwd text)
  returns table (n bigint, record json)
  language sql
  stable
  rows 500
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select 0::bigint, json_build_object('timestamp', _export_at(p_pieces[1].at), 'type', 'session_meta', 'payload', json_build_object(
           'id', p_session, 'timestamp', _export_at(p_pieces[1].at), 'cwd', coalesce(p_cwd, '/'),
           'originator', 'work-ledger', 'cli_version', '0.171.0', 'source', 'cli'))
   where cardinality(p_pieces) > 0
  union all
  select p.n, json_build_object('timestamp', _export_at(p.at), 'type', i.type, 'payload', i.payload)
    from (select q as piece, bool_or(_export_is_custom(q)) over (partition by coalesce(q.block ->> 'id', q.block ->> 'tool_use_id', q.n::text)) as is_custom
            from unnest(p_pieces) q) c
   cross join lateral (select (c.piece).*) p
   cross join lateral _export_codex_items(c.piece, c.is_custom) with ordinality as i(type, payload, m);
$$;

comment on function _export_codex(export_piece[], uuid, text) is 'The lines of a Codex rollout that says these pieces.';

create or replace function _export_codex_items(p_piece export_piece, p_is_custom boolean)
  returns table (type text, payload json)
  language plpgsql
  stable
  rows 2
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_block json := p_piece.block;
  v_images json;
begin
  type := 'response_item';
  case p_piece.kind
    when 'call' then
      payload := case
        when p_is_custom then json_build_object(
          'type', 'custom_tool_call', 'status', 'completed', 'call_id', v_block -> 'id', 'name', v_block -> 'name', 'input', v_block #> '{input,input}')
        else json_build_object('type', 'function_call', 'name', v_block -> 'name', 'arguments', (v_block -> 'input')::text, 'call_id', v_block -> 'id') end;
    when 'result' then
      payload := json_build_object(
        'type', case when p_is_custom then 'custom_tool_call_output' else 'function_call_output' end, 'call_id', v_block -> 'tool_use_id',
        'output', _result_text(v_block -> 'content'));
    when 'text' then
      payload := json_build_object('type', 'message', 'role', p_piece.role, 'content', json_build_array(json_build_object(
        'type', case p_piece.role when 'user' then 'input_text' else 'output_text' end, 'text', v_block -> 'text')));
    else
      payload := json_build_object('type', 'message', 'role', 'user', 'content', json_build_array(_export_codex_image(v_block)));
  end case;
  return next;
  if p_piece.kind = 'text' and (p_piece.role = 'assistant' or p_piece.is_by_people) then
    type := 'event_msg';
    payload := json_build_object('type', case p_piece.role when 'user' then 'user_message' else 'agent_message' end, 'message', v_block -> 'text');
    return next;
  end if;
  if p_piece.kind = 'result' and json_typeof(v_block -> 'content') = 'array' then
    v_images := (select json_agg(_export_codex_image(b.value) order by b.n)
                   from json_array_elements(v_block -> 'content') with ordinality as b(value, n) where b.value ->> 'type' = 'image');
    if v_images is not null then
      payload := json_build_object('type', 'message', 'role', 'user', 'content', v_images);
      return next;
    end if;
  end if;
end
$$;

comment on function _export_codex_items(export_piece, boolean) is 'The lines of a Codex rollout for one piece: the item, and what the screen shows of it.';

create or replace function _export_is_custom(p_piece export_piece)
  returns boolean
  language sql
  stable
  parallel safe
  return p_piece.kind = 'call' and json_typeof(p_piece.block #> '{input,input}') = 'string'
    and (select count(*) from json_object_keys(p_piece.block -> 'input')) = 1;

comment on function _export_is_custom(export_piece) is 'Whether a call is one of Codex''s tools that take a text and no JSON: it has this one input.';

create or replace function _export_codex_image(p_block json)
  returns json
  language sql
  stable
  parallel safe
  return json_build_object('type', 'input_image', 'image_url', concat('data:', p_block #>> '{source,media_type}', ';base64,', p_block #>> '{source,data}'));

comment on function _export_codex_image(json) is 'An image as Codex says it to the model.';
