-- The states of a work item: what they mean, which function moves an item between which states, and what else a change of state changes.
-- docs/states.md is generated from this.

create or replace function _work_states()
  returns table (state text, is_final boolean, says text)
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  values
    ('created', false, 'Another program drives it: a journal session, a task of Agent OS, a recorded run. No worker claims it.'),
    ('queued', false, 'It waits for a worker, for its time (run_at), for a slot of its faculty, or for a faculty that accepts it.'),
    ('claimed', false, 'A worker has taken it; the first iteration under this claim has not begun.'),
    ('running', false, 'Its iterations are running, or the next one has a job. The fence shows whether a worker holds it now.'),
    ('waiting', false, 'It waits without a job: for child work, other work, a time, an approval, a budget, or a worker on its host (is_stranded). state_reason says for what, run_at until when.'),
    ('paused', false, 'It waits until a person resumes it: work_resume().'),
    ('completed', true, 'The work is done; outcome_data has the result.'),
    ('failed', true, 'It ended with a failure that no retry would change, or with work_fail().'),
    ('dead', true, 'All attempts failed, or too many workers died while driving it.'),
    ('cancelled', true, 'A person cancelled it or an item above it.');
$$;

comment on function _work_states() is 'The states of a work item, in the order in which it meets them. is_final: it stays in it.';

create or replace function _work_transitions()
  returns table (mover text, from_states text[], to_state text, says text)
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  values
    ('work_submit', '{}'::text[], 'queued', 'new work'),
    ('journal_session_create', '{}', 'created', 'a session of another program begins'),
    ('_ldg_task_save', '{}', 'created', 'a task of Agent OS is saved for the first time'),
    ('_import_item', '{}', 'created', 'a recorded run is imported'),

    ('_claim', '{queued,waiting}', 'claimed', 'a worker takes it: it is due, or its wait is over, and a slot is free'),
    ('_claim', '{waiting,claimed,running}', 'queued', 'its wait is over, or nobody drives it, but it cannot run right now: no slot is free, no faculty accepts it, or its worker is on another host'),
    ('_claim', '{queued,claimed,running}', 'waiting', 'no worker is alive where it may run: it is stranded'),
    ('iteration_begin', '{claimed}', 'running', 'the first iteration under a claim begins'),
    ('_lease_end', '{claimed,running}', 'waiting', 'its calls wait for children, for other work, for a time or for approval, or a budget is used up'),
    ('_lease_end', '{claimed,running}', 'paused', 'work_pause() asked for it; or a person has to step in: the same calls again and again, a rejected key or directory, a hook that refuses'),

    ('_focus_close', '{claimed,running}', 'queued', 'the attempt failed, and the next one may succeed'),
    ('_focus_close', '{claimed,running}', 'paused', 'the attempt failed, the next one may succeed, and work_pause() asked for a pause'),
    ('_focus_close', '{claimed,running}', 'dead', 'the last attempt failed, the recover command gave up, or the same iteration killed max_attempts workers'),
    ('_focus_close', '{created,queued,claimed,running,waiting,paused}', 'completed', 'its agent says that it is done, and no check failed; or work_complete()'),
    ('_focus_close', '{created,queued,claimed,running,waiting,paused}', 'failed', 'no retry would help: a refusal, an invalid request, max_turns, a check that failed twice, the orient command; or work_fail()'),
    ('_focus_close', '{created,queued,claimed,running,waiting,paused}', 'cancelled', 'work_cancel() of it or of an item above it'),

    ('work_pause', '{created,queued,claimed,running,waiting}', 'paused', 'no worker drives it; one that is driven pauses when its lease ends'),
    ('work_resume', '{paused}', 'queued', 'a person resumes it'),
    ('workspace_abandon', '{waiting}', 'queued', 'it is stranded, and its files are given up'),

    ('journal_session_status', '{created}', 'paused', 'its program says so'),
    ('journal_session_status', '{paused}', 'created', 'its program continues'),
    ('_recorded_rest', '{created}', 'paused', 'a followed session is no longer heard from'),
    ('journal_session_status', '{created,paused}', 'completed', 'its program says so'),
    ('_retention_take', '{created,paused}', 'completed', 'its program was not heard from for as long as a policy says'),
    ('_ldg_task_save', '{paused}', 'created', 'its client continues'),
    ('_ldg_task_save', '{created,paused}', 'completed', 'its client says so'),
    ('_ldg_task_save', '{created,paused}', 'failed', 'its client says so: failed or error'),
    ('_ldg_task_save', '{created,paused}', 'cancelled', 'its client says so'),
    ('_session_import', '{created,queued,claimed,running,waiting,paused}', 'completed', 'the recorded run has been read to its end');
$$;

comment on function _work_transitions() is 'Each way from state to state, and there is no other: the function that moves the item, from which states ({}: it makes the item), to which, and when.';

create or replace function _work_move(p_item work_items, p_mover text)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_from text;
  v_is_changed boolean;
  v_is_final boolean;
begin
  select w.state,
         (w.state_reason, w.is_pausing, w.run_at, w.focus_id, w.slot_faculty, w.heartbeat_ends_at, w.started_at, w.workspace_daemon, w.is_stranded)
           is distinct from
         (p_item.state_reason, p_item.is_pausing, p_item.run_at, p_item.focus_id, p_item.slot_faculty, p_item.heartbeat_ends_at, p_item.started_at,
           p_item.workspace_daemon, p_item.is_stranded)
    into v_from, v_is_changed
    from work_items w
   where w.id = p_item.id;
  if p_item.state <> v_from then
    if not exists (select from _work_transitions() t where t.mover = p_mover and v_from = any (t.from_states) and t.to_state = p_item.state) then
      raise exception using
        errcode = 'WL008',
        message = format('work item %s is %s, and %s() does not make it %s', p_item.id, v_from, p_mover, p_item.state);
    end if;
    v_is_final := (select s.is_final from _work_states() s where s.state = p_item.state);
    p_item.resolved_at := case when v_is_final then coalesce(p_item.resolved_at, _now()) end;
    p_item.outcome_data := case when v_is_final then p_item.outcome_data end;
    p_item.is_stranded := p_item.is_stranded and p_item.state = 'waiting';
    if p_item.state not in ('claimed', 'running') then
      p_item.is_pausing := false;
      p_item.slot_faculty := null;
    end if;
  elsif not v_is_changed then
    return p_item;
  end if;
  with ended as (
    -- An attempt releases its claims when it ends or stops, and so does a session that ends or is paused.
    delete from claims c
     where c.work_item_id = p_item.id and (v_is_final or p_item.state = 'paused' or c.focus_id is distinct from p_item.focus_id)
  )
  update work_items
     set state = p_item.state, state_reason = p_item.state_reason, is_pausing = p_item.is_pausing, attempts = p_item.attempts, run_at = p_item.run_at,
         focus_id = p_item.focus_id, slot_faculty = p_item.slot_faculty, heartbeat_ends_at = p_item.heartbeat_ends_at, outcome_data = p_item.outcome_data,
         started_at = p_item.started_at, resolved_at = p_item.resolved_at, workspace_daemon = p_item.workspace_daemon,
         workspace_host = p_item.workspace_host, is_stranded = p_item.is_stranded
   where id = p_item.id
  returning * into p_item;
  return p_item;
end
$$;

comment on function _work_move(work_items, text) is
  'Stores the state of an item and what goes with it, and returns its row: no other function changes work_items.state. p_item: the row as it is to be, read under its fence, which the caller holds. p_mover: the calling function. An item that stays as it was is not written. A final state sets resolved_at, where the caller has not; only driven items have a slot or are to pause, only waiting ones are stranded. Raises WL008 for a way that _work_transitions() does not have.';
