-- Rebuilds requests as they were sent, and the next one as it would be sent.

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
                  case v_turn.turn_type
                    when 'compaction' then _summary_messages((select c from compactions c where c.turn_id = v_turn.id))
                    else _messages(v_turn.parent_turn_id, _elision_chain(v_turn.elision_id), _query_blocks(v_turn.id),
                      (select cache_ttl from turn_configs where content_hash = v_turn.config_hash))
                  end);
end
$$;

comment on function context_at(uuid) is
  'The request of a turn, rebuilt from rows: byte for byte the JSON body that was sent to the model''s API. Raises WL001 (no such turn, or it made no request).';

create or replace function context_window(p_focus_id uuid)
  returns table (system json, messages json, tools json, request json)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_focus foci;
  v_turn_id uuid;
  v_item work_items;
  v_config jsonb;
  v_next record;
  v_request json;
begin
  -- It writes nothing. It calls functions that are volatile, because they make random markers, and therefore granted to nobody, so it runs as the owner.
  select * into v_focus from foci where id = p_focus_id;
  if not found then
    perform _raise_not_found('focus', p_focus_id);
  end if;
  -- The current turn: requested; or answered, with its iteration unfinished; or asking for a summary. If the focus has ended, its last turn.
  select t.id into v_turn_id
    from (select * from turns
           where focus_id = p_focus_id and status <> 'failed'
             and (v_focus.ended_at is not null or iteration = v_focus.iteration + 1 or status in ('pending', 'streaming'))
          union all
          select * from turns where focus_id = p_focus_id and status = 'failed' and v_focus.ended_at is not null) t
   where t.config_hash is not null
   order by t.depth desc, t.started_at desc
   limit 1;
  if found then
    v_request := context_at(v_turn_id);
  elsif v_focus.ended_at is not null then
    return;
  else
    v_config := _faculty_config(v_focus);
    select * into v_item from work_items where id = v_focus.work_item_id;
    select * into v_next from _context_next(v_item, v_focus, v_config, _iteration_flags(v_item, v_focus, v_config));
    v_request := _request(
      _config_of(v_focus, v_config, null, _loop_thinks(v_config -> 'engage', v_next.head, v_next.cuts))::json,
      _messages((v_next.head).id, v_next.cuts,
        concat_ws(',', _text_block(v_next.say), (select string_agg(w.block, ',' order by w.n) from _inbox_waiting(v_focus.work_item_id) w)),
        v_config #>> '{engage,cache_ttl}'));
  end if;
  return query select v_request -> 'system', v_request -> 'messages', v_request -> 'tools', v_request;
end
$$;

comment on function context_window(uuid) is
  'The current or next request of a focus, one row: system, messages, tools, and request, the whole body. From when a request is made until its iteration is finished: that request. While a summary is being written: the request for the summary. Before the first request and between two iterations: the request that would come next, without what is decided only when it is made (news for the digest, a reminder); its random markers differ on every call; if a summary is due first, the request that it will shorten. For a focus that is over: its last request; no row if it made none. Writes nothing. Raises WL001.';

create or replace function _request(p_config json, p_messages text)
  returns json
  language sql
  immutable
  parallel safe
  return (left(p_config::text, -1) || ',"messages":' || p_messages || '}')::json;

comment on function _request(json, text) is 'A whole request body: the stored config with the messages.';
