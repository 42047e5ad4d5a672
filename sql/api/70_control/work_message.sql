-- Messages from people to the agent of a work item.

create or replace function work_message(p_work_item_id uuid, p_content text, p_is_interrupt boolean default false)
  returns inbox
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_person text := _person();
  v_item work_items;
  v_message inbox;
begin
  if coalesce(p_content, '') !~ '\S' or octet_length(p_content) > 60000 then
    perform _raise_invalid('a message needs content, of at most 60,000 bytes');
  end if;
  v_item := _item_locked(p_work_item_id);
  perform _check_submitter(p_work_item_id);
  if v_item.resolved_at is not null then
    raise exception using
      errcode = 'WL003',
      message = format('work item %s is %s and no longer accepts messages', v_item.id, v_item.state),
      hint = _how_to_go_on(v_item.state);
  end if;
  perform from foci where id = v_item.focus_id and p_is_interrupt for no key update;
  insert into inbox (work_item_id, kind, content, is_interrupt, person)
  values (v_item.id, 'message', p_content, coalesce(p_is_interrupt, false), v_person)
  returning * into v_message;
  if v_message.is_interrupt and v_item.focus_id is not null then
    perform _interrupt(v_item);
  end if;
  return v_message;
end
$$;

comment on function work_message(uuid, text, boolean) is
  'Sends a message to the agent of a work item: select work_message(''…'', ''Only the tests under src/, please''). It is delivered once, with the agent''s next request, and stays visible through every compaction. p_is_interrupt: deliver it now: a running model call is aborted, running tool calls are settled as stopped (unsafe ones as uncertain), and a wait for children ends with the results so far. Returns the inbox row. Its consumed_at says when the message was delivered, its person who sent it, see person_current(). Raises WL001, WL002, WL003 (finished: work_continue() and work_retry() continue such work), 42501.';

create or replace function _interrupt(p_item work_items)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_end record;
  v_due jsonb := '{}';
  v_free_slot text;
begin
  if p_item.state in ('claimed', 'running') then
    p_item.run_at := _now();
  end if;
  if _is_driven(p_item.id) then
    -- Only the holder of this lease stops, not the worker that claims the item next.
    perform pg_notify('work_lease_revoked', format('%s/%s', id, lease_generation)) from foci where id = p_item.focus_id;
    select * into v_end from _lease_end(p_item);
    v_due := v_end.due;
    v_free_slot := case when (v_end.item).slot_faculty is null then p_item.slot_faculty end; -- it was to pause
    -- Calls that wait for approval keep waiting, except calls made by code that is stopped here.
    perform _calls_stop(array(
        select k.id
          from turns t
          join tool_calls k on k.turn_id = t.id
         where t.focus_id = p_item.focus_id and t.status = 'completed' and k.status in ('pending', 'running')),
      '[engine] Stopped: a person interrupted.',
      '[engine] Stopped: a person interrupted while this call ran. Whether it took effect is unknown. Check the state of things before you try again.');
  else
    update work_items set run_at = p_item.run_at where id = p_item.id and run_at <> p_item.run_at;
  end if;
  -- The pending request does not contain the message yet.
  perform _turns_abandon(p_item.focus_id, '{"class": "interrupted", "message": "a person interrupted"}');
  perform _budget_charge(v_due);
  perform _enqueue_all(array[p_item.id], array_remove(array[v_free_slot], null));
end
$$;

comment on function _interrupt(work_items) is 'Ends the lease, the open calls and the pending request of an item, whose fence the caller holds, so that its next iteration begins at once or, if it was to pause, when it is resumed.';
