-- The messages of a request, rebuilt from the chain of turns. Per turn: its user part (the results of its parent's calls,
-- then what was said to the model besides), then the response. A turn without a response (it was empty) lets two user
-- parts meet: they become one message. Of what was elided stay the first message, which says what is to be done, and the
-- stubs; the last stub carries a cache breakpoint.

create or replace function _blocks(p_content json)
  returns text
  language sql
  immutable
  parallel safe
  return substr(p_content::text, 2, length(p_content::text) - 2);

comment on function _blocks(json) is 'A list of blocks as text, without its brackets.';

create or replace function _messages(p_parent_turn_id uuid, p_elision elisions, p_query_blocks text)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive chain as (
    select id, parent_turn_id, depth from turns where id = p_parent_turn_id and id is distinct from p_elision.last_turn_id
    union all
    select t.id, t.parent_turn_id, t.depth
      from chain c
      join turns t on t.id = c.parent_turn_id
     where t.id is distinct from p_elision.last_turn_id
  ),
  elided as (
    select id, previous_id, depth, stubs from elisions where id = p_elision.previous_id
    union all
    select e.id, e.previous_id, e.depth, e.stubs from elided x join elisions e on e.id = x.previous_id
  ),
  part as (
    select c.depth * 2 + case m.role when 'assistant' then 1 else 0 end as position,
           1 as rank, m.sequence as ordinal, m.role,
           case when m.role = 'assistant' and c.depth < p_elision.depth then _without_thinking(m.content)
                else _blocks(m.content) end as blocks
      from chain c
      join messages m on m.turn_id = c.id
    union all
    select -3, 0, m.sequence, 'user', _blocks(m.content)
      from messages m
     where m.turn_id = p_elision.root_turn_id and m.role = 'user'
    union all
    select -2, 0, depth, 'user', _blocks(stubs) from elided
    union all
    select -1, 0, 0, 'user', left(_blocks(p_elision.stubs), -1) || ',"cache_control":{"type":"ephemeral"}}'
     where p_elision.id is not null
    union all
    select c.depth * 2 + 2, 0, k.ordinal, 'user',
           '{"type":"tool_result","tool_use_id":' || to_json(k.provider_id)::text || ',"content":' || k.result::text
             || case when k.is_error then ',"is_error":true}' else '}' end
      from chain c
      join tool_calls k on k.turn_id = c.id and k.parent_call_id is null and k.completed_at is not null
    union all
    select 2147483647, 1, 0, 'user', p_query_blocks
     where p_query_blocks <> ''
  ),
  numbered as (
    select *, count(*) filter (where role = 'assistant') over (order by position, rank, ordinal) as message
      from part
     where blocks <> ''
  ),
  message as (
    select message, role, string_agg(blocks, ',' order by position, rank, ordinal) as blocks
      from numbered
     group by message, role
  )
  select '[' || coalesce(string_agg('{"role":"' || role || '","content":[' || blocks || ']}', ',' order by message, role = 'user'), '') || ']'
    from message;
$$;

comment on function _messages(uuid, elisions, text) is 'The messages of a request that follows the given turn, with the stubs of an elision (or null) in place of what lies before; p_query_blocks is what it says to the model besides the tool results.';

create or replace function _query_blocks(p_turn_id uuid)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(string_agg(_blocks(content), ',' order by sequence), '')
    from messages
   where turn_id = p_turn_id and role = 'user';
$$;

comment on function _query_blocks(uuid) is 'The content blocks that a turn said to the model besides tool results.';

create or replace function context_at(p_turn_id uuid)
  returns json
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_turn turns;
begin
  select * into v_turn from turns where id = p_turn_id;
  if not found or v_turn.config_hash is null then
    perform _raise_not_found('turn with a request', p_turn_id);
  end if;
  return _request((select config from turn_configs where content_hash = v_turn.config_hash),
                  _messages(v_turn.parent_turn_id, (select e from elisions e where e.id = v_turn.elision_id), _query_blocks(v_turn.id)));
end
$$;

comment on function context_at(uuid) is
  'The request of a turn, rebuilt from rows: byte for byte the JSON body that was sent to the model''s API. Raises WL001.';

create or replace function _request(p_config json, p_messages text)
  returns json
  language sql
  immutable
  parallel safe
  return (left(p_config::text, -1) || ',"messages":' || p_messages || '}')::json;

comment on function _request(json, text) is 'A whole request body.';

create or replace function context_window(p_focus_id uuid)
  returns table (system json, messages json, tools json, request json)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_focus foci;
  v_turn_id uuid;
  v_head turns;
  v_say text;
  v_request json;
begin
  select * into v_focus from foci where id = p_focus_id;
  if not found then
    perform _raise_not_found('focus', p_focus_id);
  end if;
  select id into v_turn_id from turns where focus_id = p_focus_id and iteration = v_focus.iteration + 1 and status = 'pending';
  if found then
    v_request := context_at(v_turn_id);
  else
    select t.* into v_head from sessions s join turns t on t.id = s.head_turn_id where s.label = v_focus.session_label;
    v_say := case when v_head.id is null
               then (select _orient(w, v_focus) from work_items w where w.id = v_focus.work_item_id)
               else _engine_message(v_head)
             end;
    v_request := _request((select config from turn_configs where content_hash = _turn_config(v_focus)),
                          _messages(v_head.id, _elision_due((select w from work_items w where w.id = v_focus.work_item_id), v_focus, v_head), coalesce(_text_block(v_say), '')));
  end if;
  return query select v_request -> 'system', v_request -> 'messages', v_request -> 'tools', v_request;
end
$$;

comment on function context_window(uuid) is
  'What the model is shown next in a focus: system, messages and tools, and the whole request body around them. With a model call under way, its request; else the one that would come next. Raises WL001.';
