-- Ends a focus: an attempt ends, for whatever reason, and leaves nothing open.

create or replace function _focus_end(
    p_item work_items,
    p_outcome text,
    p_state text,
    p_reason text,
    p_outcome_data jsonb,
    p_due jsonb default '{}')
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_end record := _focus_close(p_item, p_outcome, p_state, p_reason, p_outcome_data);
  v_item work_items := v_end.item;
begin
  perform _budget_charge(p_due || v_end.due);
  perform _enqueue_all(_to_wake(v_item), array[p_item.slot_faculty]);
  return v_item;
end
$$;

comment on function _focus_end(work_items, text, text, text, jsonb, jsonb) is
  'Ends the focus of an item, whose fence the caller holds, and puts the item into p_state; retry: queued again (paused, if that was asked for) or, after the last attempt, dead. Open calls and requests of the focus are ended. Charges the budgets and enqueues whatever waited: see _to_wake(), and the next item for its slot. p_due: budget charges, if the caller has already ended the lease.';

create or replace function _focus_close(
    p_item work_items,
    p_outcome text,
    p_state text,
    p_reason text,
    p_outcome_data jsonb,
    out item work_items,
    out due jsonb)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_now timestamptz := _now();
  v_state text := p_state;
  v_driven foci := (select f from foci f where f.id = p_item.focus_id);
  v_focus foci;
begin
  update foci
     set outcome = p_outcome,
         error = case when p_reason is not null then jsonb_build_object('message', p_reason) end,
         awaited_by = (select array_agg(k.id) from _awaited_by(p_item.id) k),
         ended_at = v_now, lease_owner = null, lease_expires_at = null
   where id = p_item.focus_id
  returning * into v_focus;
  due := _lease_due(v_driven);
  perform _turns_abandon(v_focus.id, null);
  perform _calls_stop(
    array(select k.id
            from turns t join tool_calls k on k.turn_id = t.id
           where t.focus_id = v_focus.id and t.status = 'completed' and k.completed_at is null),
    format('[engine] Stopped: %s.', _one_line(coalesce(p_reason, p_outcome), 500)));
  if v_state = 'retry' then
    v_state := case when v_focus.attempt >= _max_attempts(p_item, v_focus) then 'dead' else 'queued' end;
  end if;
  p_item.state := v_state;
  p_item.state_reason := p_reason;
  p_item.focus_id := null;
  if v_state = 'queued' then
    p_item.run_at := v_now + _retry_delay(v_focus);
    p_item := _paused_if_asked(p_item); -- the next attempt begins when the item is resumed
  else
    p_item.outcome_data := coalesce(p_outcome_data, jsonb_build_object('error', p_reason));
  end if;
  item := _work_move(p_item, '_focus_close');
  if item.parent_id is not null and item.resolved_at is not null then
    perform _child_ended(item);
  end if;
end
$$;

comment on function _focus_close(work_items, text, text, text, jsonb) is
  '_focus_end() without its last steps: the caller charges the budgets with due and then enqueues; of several items, when all are closed.';

create or replace function _turns_abandon(p_focus_id uuid, p_error jsonb)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_turn_id uuid;
begin
  -- A request for a summary contains nothing for the agent, so while the focus is alive it is not abandoned but sent again.
  update turns t set status = 'failed', completed_at = _now(), error = coalesce(p_error, t.error)
    from foci f
   where t.focus_id = p_focus_id and t.status in ('pending', 'streaming') and f.id = t.focus_id and (t.turn_type = 'normal' or f.ended_at is not null)
  returning t.id into v_turn_id;
  perform _stream_break(p_focus_id);
  update compactions set is_applied = false, error = coalesce(p_error, '{"message": "abandoned"}') where turn_id = v_turn_id and is_applied is null;
  update inbox set consumed_at = null, turn_id = null where turn_id = v_turn_id;
end
$$;

comment on function _turns_abandon(uuid, jsonb) is
  'Gives up the pending request of a focus; it counts as never made. Its inbox messages wait again; a digest or reminder in it does not count as told (see _turn_heard()); hooks run again for the next request. A compaction made for it is a separate turn and stays. p_error: stored with the turn.';

create or replace function _max_attempts(p_item work_items, p_focus foci)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(p_item.max_attempts, (config -> 'recover' ->> 'max_attempts')::integer)
    from faculties
   where content_hash = p_focus.faculty_hash;
$$;

comment on function _max_attempts(work_items, foci) is 'How often a work item is tried: its max_attempts, else its faculty''s recover.max_attempts.';

create or replace function _retry_delay(p_focus foci)
  returns interval
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select make_interval(secs => case config -> 'recover' ->> 'backoff'
           when 'exponential' then least(5 * power(2, least(p_focus.attempt - 1, 10)), 600) -- power() would overflow after a thousand attempts
           else 5
         end)
    from faculties
   where content_hash = p_focus.faculty_hash;
$$;

comment on function _retry_delay(foci) is 'How long to wait before the next attempt: 5 s, doubled with each attempt up to 10 minutes; always 5 s if the faculty''s recover.backoff is constant.';

create or replace function _pause_until_resumed(p_item work_items, p_reason text, p_due jsonb default '{}')
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return _lease_drop(_set_aside(p_item, 'paused', p_reason), p_item.slot_faculty, p_due);
end
$$;

comment on function _pause_until_resumed(work_items, text, jsonb) is 'Pauses an item, whose fence the caller holds, until a person resumes it. p_due: budget charges, if the caller has already ended the lease.';
