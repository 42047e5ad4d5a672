-- Moves of session heads: fork, rollback, next turn. Nothing is copied, and every move is logged.

create or replace function session_fork(p_session text, p_turn_id uuid, p_new_label text)
  returns sessions
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_session sessions := _session(p_session);
begin
  perform _turn_of_session(v_session, p_turn_id);
  perform _hold_off_erasing((select work_item_id from turns where id = p_turn_id));
  v_session := _session(p_session);
  perform session_create(p_new_label, p_turn_id, v_session.persona_id, v_session.origin, null);
  update sessions
     set parent_session_label = v_session.label, parent_turn_id = p_turn_id, task_description = v_session.task_description
   where label = p_new_label
  returning * into v_session;
  return v_session;
end
$$;

comment on function session_fork(text, uuid, text) is
  'Creates a session that begins at a turn that another session has or once had, and returns its row. Both share the turns up to there; nothing is copied. To let an agent continue from a turn, use work_fork(). Raises WL001 (session, turn), WL002 (the turn was never in that session; label), WL003 (erased), WL006 (label taken).';

create or replace function session_rollback(p_session text, p_turn_id uuid)
  returns sessions
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_session sessions := _session(p_session);
  v_fence fences;
begin
  -- Lock the fence of the session's item first, then the session: the one order of locks.
  select e.* into v_fence
    from foci f join fences e on e.work_item_id = f.work_item_id and e.focus_id = f.id
   where f.session_label = v_session.label
     for no key update of e;
  v_session := _session(v_session.label, true);
  if v_fence.lease_hash is not null or exists (select from turns where focus_id = v_fence.focus_id and status in ('pending', 'streaming')) then
    raise exception using errcode = 'WL008', message = format('a worker is driving session "%s"', v_session.label),
      hint = 'work_pause() the work item first, or work_fork() the turn.';
  end if;
  perform _turn_of_session(v_session, p_turn_id);
  perform _turn_settled(p_turn_id);
  if v_fence.focus_id is not null and (select focus_id from turns where id = p_turn_id) is distinct from v_fence.focus_id then
    perform _raise_invalid('that turn belongs to another attempt', 'work_fork() continues from any turn.');
  end if;
  perform _session_advance(v_session.label, p_turn_id);
  return _session(v_session.label);
end
$$;

comment on function session_rollback(text, uuid) is
  'Moves a session back (or forward again) to a turn that it contained before, and returns its row. Later turns stay in the tree and in session_history, the ledger keeps its entries, and neither files nor the outside world are reverted. Raises WL001, WL002, WL008 (it is being driven; calls of the turn are open).';

create or replace function session_head_at(p_session text, p_at timestamptz)
  returns uuid
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select turn_id from session_history where session_label = (session_find(p_session)).label and changed_at <= p_at order by id desc limit 1;
$$;

comment on function session_head_at(text, timestamptz) is 'The turn that was a session''s head at a given time; null before its first turn.';

create or replace function _session_advance(p_label text, p_turn_id uuid)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  with moved as (
    update sessions set head_turn_id = p_turn_id, updated_at = _now() where label = p_label
  )
  insert into session_history (session_label, turn_id, changed_at) values (p_label, p_turn_id, _now());
end
$$;

comment on function _session_advance(text, uuid) is 'Moves the head of a session and logs the move.';

create or replace function _turn_of_session(p_session sessions, p_turn_id uuid)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if not exists (select from turns where id = p_turn_id) then
    perform _raise_not_found('turn', p_turn_id);
  end if;
  if not exists (select from sessions_with_turn(p_turn_id) w where w.session_label = p_session.label) then
    perform _raise_invalid(format('turn %s was never in session "%s"', p_turn_id, p_session.label));
  end if;
end
$$;

comment on function _turn_of_session(sessions, uuid) is 'Raises WL001 if there is no such turn, WL002 if it was never in the session.';
