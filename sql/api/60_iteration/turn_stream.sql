-- The current activity of a running work item: a response as it arrives, its calls as they begin and end. Written only while someone watches
-- (ledger_watch), and at most one row for each turn.

create or replace function turn_stream(p_work_item_id uuid, p_lease uuid, p_turn_id uuid, p_content json)
  returns boolean
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _fence(p_work_item_id, p_lease);
begin
  if json_typeof(p_content) is distinct from 'array' or octet_length(p_content::text) > 4194304 then
    perform _raise_invalid('p_content must be an array of content blocks of at most 4 MiB');
  end if;
  if not _is_watched(v_item.id) then
    return false;
  end if;
  update turns set status = 'streaming' where id = p_turn_id and focus_id = v_item.focus_id and status = 'pending';
  insert into turn_streams (turn_id, content, updated_at)
  select t.id, p_content, _now() from turns t where t.id = p_turn_id and t.focus_id = v_item.focus_id and t.status = 'streaming'
  on conflict (turn_id) do update set content = excluded.content, updated_at = excluded.updated_at;
  perform _tell_watchers(v_item);
  return true;
end
$$;

comment on function turn_stream(uuid, uuid, uuid, json) is
  'Shows watchers of the work item the part of a response that has arrived. p_content: all blocks so far, every time. Call it once a second. Returns whether anyone is watching; if false, stop until a notification on channel work_watched carries the item''s id. Does nothing for a turn already answered. Raises WL001, WL002, WL003, WL004.';

create or replace function work_activity(p_work_item_id uuid, p_from_turn_id uuid default null)
  returns table (turn_id uuid, iteration integer, status text, thinking text, said text, calls jsonb, updated_at timestamptz)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select t.id, t.iteration, t.status,
         (select string_agg(b ->> 'thinking', E'\n\n') from json_array_elements(c.content) b where b ->> 'type' = 'thinking'),
         (select string_agg(b ->> 'text', E'\n\n') from json_array_elements(c.content) b where b ->> 'type' = 'text'),
         (select jsonb_agg(jsonb_build_object(
           'id', k.id, 'parent_call_id', k.parent_call_id, 'name', k.tool_name, 'input', _one_line(_call_input(k)::text, 200),
           'status', k.status,
           'error', case when k.status = 'failed' then _one_line(_result_text(k.result), 200) end,
           'started_at', k.started_at, 'completed_at', k.completed_at) order by k.created_at, k.ordinal)
            from tool_calls k where k.turn_id = t.id),
         coalesce(s.updated_at, t.completed_at, t.started_at)
    from turns t
    left join lateral _stream_of(t.id) s on true
    -- A recorded response may be several messages.
    left join lateral (
      select json_agg(b.value order by m.sequence, b.n) as content
        from messages m cross join lateral json_array_elements(m.content) with ordinality as b(value, n)
       where s.turn_id is null and m.turn_id = t.id and m.role = 'assistant') m on true
    cross join lateral (select coalesce(s.content, m.content)) as c(content)
   where t.work_item_id = p_work_item_id
     and t.id >= coalesce(p_from_turn_id, (select n.id from turns n where n.work_item_id = p_work_item_id order by n.id desc limit 1))
   order by t.id
   limit 100;
$$;

comment on function work_activity(uuid, uuid) is
  'What the agent of a work item thinks, says and calls: select * from work_activity(''…''). The newest turn, or the turns from p_from_turn_id on, oldest first, at most 100. While someone watches (ledger_watch), a streaming turn shows the part of its response that has arrived, at most a second old. said and thinking only grow until the turn is completed, or start over if the request is sent again. calls: [{id, parent_call_id, name, input (one line of at most 200 characters), status, error (what a failed one returned, likewise), started_at, completed_at}]; null before the response is stored. A standby shows a response only when it is complete. Each change of a watched item is notified on channel work_activity (payload: its id).';

-- Not part of work_activity(): a standby rejects even planning a query on an unlogged table.
create or replace function _stream_of(p_turn_id uuid)
  returns setof turn_streams
  language plpgsql
  stable
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if not pg_is_in_recovery() then
    return query select * from turn_streams where turn_id = p_turn_id;
  end if;
end
$$;

comment on function _stream_of(uuid) is 'The part of a response that has arrived, if it is not stored yet; nothing on a standby.';

create or replace function _tell_watchers(p_item work_items)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _watchers_told(p_item) where _is_watched(p_item.id);
$$;

comment on function _tell_watchers(work_items) is 'Notifies channel work_activity that work_activity() has news of a watched item.';

create or replace function _watchers_told(p_item work_items)
  returns void
  language sql
  volatile
  return pg_notify('work_activity', p_item.id::text);

comment on function _watchers_told(work_items) is '_tell_watchers() of an item that is watched.';

create or replace function _stream_over()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  delete from turn_streams where turn_id = new.id;
  return null;
end
$$;

comment on function _stream_over() is 'Trigger: deletes the partial response of a turn that no longer streams: the response is stored, or the request is sent again.';

create or replace function _stream_break(p_focus_id uuid)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  update turns set status = 'pending' where focus_id = p_focus_id and status = 'streaming';
$$;

comment on function _stream_break(uuid) is 'Ends the streaming of a focus''s response, because no worker receives it any longer; the request will be sent again.';

create or replace trigger stream_over after update of status on turns
  for each row when (old.status = 'streaming' and new.status <> 'streaming') execute function _stream_over();
