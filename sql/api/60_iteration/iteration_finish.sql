-- Ends an iteration: the focus continues, waits, completes or fails.

create or replace function iteration_finish(
    p_work_item_id uuid,
    p_lease uuid,
    p_iteration integer default null,
    p_driven_seconds double precision default null)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
declare
  v_item work_items := _fence(p_work_item_id, p_lease);
  v_focus foci;
begin
  select * into v_focus from foci where id = v_item.focus_id for no key update;
  return _iteration_finish(v_item, v_focus, _faculty_config(v_focus), p_lease, p_iteration, p_driven_seconds);
end
$$;

comment on function iteration_finish(uuid, uuid, integer, double precision) is
  'Last stage of an iteration, when all its calls are settled: decides what follows. {kind: continued, iteration}: the next iteration is enqueued, and the lease is released. {kind: continued, iteration, next}: the caller keeps the lease and continues; next is what iteration_begin() would return for that iteration. This happens only if the caller passes which iteration is over (p_iteration) and how long it has driven the item (p_driven_seconds), and not if the item is to pause, if something more urgent waits for a worker, or, after 10 seconds, something equally urgent. {kind: parked, until}: calls wait for children or approval; the lease is released, and the iteration continues when the wait is over. {kind: run_hook, ...}: the agent says that the work is done; run the faculty''s check or consolidate command as for iteration_begin(), report with hook_record(), then call this stage again. {kind: paused, reason}: work_pause() requested it, or the same calls had the same results for stall_limit iterations in a row; work_resume() lets the item continue. {kind: completed | failed | queued | dead, reason}: the item''s new state; completed if the model called work_complete or ended its turn with text, and no check failed. Raises WL001, WL003, WL004, WL008 (the response is not recorded, or calls are open).';

create or replace function _iteration_finish(
    p_item work_items,
    p_focus foci,
    p_config jsonb,
    p_lease uuid,
    p_iteration integer,
    p_driven_seconds double precision,
    p_kept_turn_id uuid default null,
    p_flags iteration_flags default null)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_turn turns := p_flags.last;
  v_call_count integer;
  v_waits record;
  v_done jsonb;
  v_answer jsonb;
  v_stalled text;
begin
  if p_focus.iteration >= p_iteration then
    -- The answer got lost: the lease was kept, and the next iteration has begun.
    return _went_on(p_focus, _iteration_begin(p_item, p_focus, p_config, p_lease, p_kept_turn_id));
  end if;
  if v_turn.id is null then
    select * into v_turn from turns where focus_id = p_focus.id and iteration = p_focus.iteration + 1 and status = 'completed';
    if not found then
      perform _raise_not_over(p_focus, 'Its response is not recorded.');
    end if;
    p_flags := _iteration_flags(p_item, p_focus, p_config, v_turn);
  end if;
  if p_flags.waiting_count > 0 then
    v_waits := _waits_over(p_item, v_turn.id);
    if v_waits.is_approved then
      -- Calls were approved while others ran: the same iteration continues and runs them, while the others wait.
      return _continued(p_item, p_focus);
    elsif v_waits.waits_until is not null and v_waits.open_count = 0 then
      return _parked(p_item, v_turn.id, v_waits.waits_until);
    end if;
    p_flags := _iteration_flags(p_item, p_focus, p_config, v_turn);
    p_flags.open_count := v_waits.open_count;
  end if;
  if p_flags.open_count > 0 then
    perform _raise_not_over(p_focus, format('%s tool calls are open.', p_flags.open_count));
  end if;
  v_call_count := p_flags.call_count;
  v_done := _said_done(v_turn, v_call_count, p_flags.done_call_id);
  if v_done ->> 'summary' is not null or _result_refused(p_item, v_turn) then
    v_answer := case when _result_refused(p_item, v_turn) then _result_failed(p_item, p_focus) else _finish(p_item, p_focus, p_config, v_turn.id, v_done) end;
    if v_answer is not null then
      return v_answer;
    end if;
    v_call_count := v_call_count + 1; -- the output of the check, or what is wrong with the result, counts as something to work on
  end if;

  p_focus := _iteration_counted(p_focus.id, v_turn, v_call_count);
  -- After a refusal the model refuses again, also in the middle of its calls.
  if (v_call_count > 0 and v_turn.stop_reason <> 'refusal')
    or (p_focus.stall_count < 4 and v_turn.stop_reason in (
          'end_turn', 'stop_sequence', 'tool_use', 'max_tokens', 'pause_turn', 'model_context_window_exceeded')) then
    perform _checkpoint_due(p_item, v_turn);
    v_stalled := _stalled(p_focus, v_turn.id, (p_config #>> '{engage,stall_limit}')::integer);
    p_focus := _focus_widen(p_focus, v_turn, (p_config #>> '{engage,max_output_tokens}')::integer);
    if v_stalled is not null then
      return _stopped_stalled(p_item, p_focus, v_stalled);
    end if;
    if not _goes_on(p_item, p_focus, p_driven_seconds) then
      return _continued(p_item, p_focus);
    end if;
    return _went_on(p_focus, case
      when p_flags.is_head then _request_make(p_item, p_focus, p_config, p_lease, p_flags, p_kept_turn_id)
      else _iteration_begin(p_item, p_focus, p_config, p_lease, p_kept_turn_id) end); -- the session was moved to another turn
  end if;
  p_item := _focus_end(p_item, 'failed', 'failed', _stopped_because(p_focus, v_turn), null);
  return _item_answer(p_item);
end
$$;

comment on function _iteration_finish(work_items, foci, jsonb, uuid, integer, double precision, uuid, iteration_flags) is
  'iteration_finish() for a caller that holds the locks on the item''s fence and its focus. p_kept_turn_id as for iteration_step(). p_flags: after the response; null: not read yet.';

create or replace function _waits_over(p_item work_items, p_turn_id uuid, out waits_until timestamptz, out open_count integer, out is_approved boolean)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_is_settled boolean := not exists (
    select from tool_calls
     where turn_id = p_turn_id and parent_call_id is null and status in ('pending', 'running') and id <> all (_calls_held(p_turn_id)));
begin
  waits_until := _waits_settle(p_item);
  select count(*)
    into open_count
    from tool_calls
   where turn_id = p_turn_id and parent_call_id is null and completed_at is null and status <> 'waiting' and id <> all (_calls_held(p_turn_id));
  is_approved := v_is_settled and open_count > 0;
end
$$;

comment on function _waits_over(work_items, uuid) is
  'Settles the calls of a turn whose wait is over. waits_until: as _waits_settle() says; open_count: calls that can run now; is_approved: all of these waited until now.';

create or replace function _parked(p_item work_items, p_turn_id uuid, p_until timestamptz)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  p_item := _lease_drop(_set_aside(p_item, 'waiting', _waits_for(p_turn_id), p_until), p_item.slot_faculty);
  return case p_item.state when 'paused' then _item_answer(p_item)
                           else json_build_object('kind', 'parked', 'until', p_until) end;
end
$$;

comment on function _parked(work_items, uuid, timestamptz) is
  'Parks an item until calls of a turn no longer wait: no worker, no job; whatever ends the wait enqueues the next job. Returns {kind: parked, until}, or {kind: paused, reason}.';

create or replace function _stopped_stalled(p_item work_items, p_focus foci, p_reason text)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  update foci set round_hash = null, round_count = 0 where id = p_focus.id;
  p_item := _pause_until_resumed(p_item, p_reason);
  return _item_answer(p_item);
end
$$;

comment on function _stopped_stalled(work_items, foci, text) is
  'Pauses an item whose calls achieve nothing, until someone resumes it; its rounds are then counted from zero. Returns {kind: paused, reason}.';

create or replace function _raise_not_over(p_focus foci, p_detail text)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  raise exception using
    errcode = 'WL008',
    message = format('iteration %s of work item %s has not ended', p_focus.iteration + 1, p_focus.work_item_id),
    detail = p_detail;
end
$$;

comment on function _raise_not_over(foci, text) is 'Raises WL008: the response is not recorded, or calls are open.';

create or replace function _stopped_because(p_focus foci, p_turn turns)
  returns text
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return case
    when p_turn.stop_reason = 'refusal'
      then concat_ws(': ', 'the model refused', p_turn.error ->> 'category', p_turn.error ->> 'explanation')
    when p_focus.stall_count >= 4
      then format('the model neither worked nor finished in %s responses (%s)', p_focus.stall_count, p_turn.stop_reason)
    else format('the model stopped for an unknown reason: %s', p_turn.stop_reason)
  end;
end
$$;

comment on function _stopped_because(foci, turns) is 'Why an attempt fails after a response that no other can follow.';

create or replace function _continued(p_item work_items, p_focus foci)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  p_item := _lease_drop(p_item, p_item.slot_faculty);
  return case
    when p_item.state = 'paused' then _item_answer(p_item)
    else json_build_object('kind', 'continued', 'iteration', p_focus.iteration + 1) end;
end
$$;

comment on function _continued(work_items, foci) is 'Releases the lease on an item and enqueues its next iteration; returns {kind: continued, iteration}, or {kind: paused, reason}.';

create or replace function _went_on(p_focus foci, p_next json)
  returns json
  language sql
  stable
  parallel safe
  return json_build_object('kind', 'continued', 'iteration', p_focus.iteration + 1, 'next', p_next);

comment on function _went_on(foci, json) is
  'The answer when the next iteration (p_next) has begun under the same lease: {kind: continued, iteration, next}. No job is needed: if the worker dies, its lease expires, and the sweep enqueues the item.';

create or replace function _said_done(p_turn turns, p_call_count integer, p_done_call_id uuid)
  returns jsonb
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_done_call_id is not null then
    return (select k.input::jsonb from tool_calls k where k.id = p_done_call_id);
  elsif p_call_count = 0 and p_turn.stop_reason in ('end_turn', 'stop_sequence', 'tool_use') then
    return jsonb_build_object('summary', _response_text(p_turn.id));
  end if;
  return null;
end
$$;

comment on function _said_done(turns, integer, uuid) is 'The outcome, if a response says that the work is done: the input of its work_complete call, or its text if it has no calls. Null: it does not.';

create or replace function _iteration_counted(p_focus_id uuid, p_turn turns, p_call_count integer)
  returns foci
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_round text := _round_hash(p_turn.id);
  v_focus foci;
begin
  update foci
     set iteration = iteration + 1,
         crash_count = 0,
         round_hash = v_round,
         round_count = case when v_round = round_hash then round_count + 1 when v_round is not null then 1 else 0 end,
         stall_count = case
           when p_call_count > 0 or (p_turn.stop_reason = 'pause_turn' and _response_text(p_turn.id) is not null) then 0
           else stall_count + 1
         end
   where id = p_focus_id
  returning * into v_focus;
  return v_focus;
end
$$;

comment on function _iteration_counted(uuid, turns, integer) is 'Counts a finished iteration: how many in a row had the same calls and results (round_count), and how many neither called a tool nor ended the work (stall_count). Returns the focus.';

create or replace function _focus_widen(p_focus foci, p_turn turns, p_own integer)
  returns foci
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_turn.stop_reason = 'max_tokens' and p_focus.max_tokens < 2 * p_own and p_own < 64000 then
    update foci set max_tokens = least(2 * p_own, 64000) where id = p_focus.id returning * into p_focus;
  elsif p_turn.stop_reason = 'model_context_window_exceeded' then
    update foci set compaction_trigger = 'context_overflow' where id = p_focus.id returning * into p_focus;
  end if;
  return p_focus;
end
$$;

comment on function _focus_widen(foci, turns, integer) is 'Makes room for the next response: after one cut off at the output limit, with twice p_own (the faculty''s max_output_tokens); after one that ended because the window was full, by compacting the context. Returns the focus.';

create or replace function _result_refused(p_item work_items, p_turn turns)
  returns boolean
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_calls record;
  v_schema jsonb;
begin
  select count(*) as count, array_agg(k.input) filter (where k.tool_name = 'work_complete' and k.status = 'failed') as refused
    into v_calls
    from tool_calls k
   where k.turn_id = p_turn.id;
  if p_turn.status <> 'completed' or p_turn.turn_type <> 'normal' or v_calls.count > 0 and v_calls.refused is null then
    return false;
  end if;
  v_schema := _result_schema_of(p_item);
  if v_schema is null then
    return false;
  elsif v_calls.count > 0 then
    return exists (select from unnest(v_calls.refused) i where exists (select _result_errors(v_schema, i::jsonb -> 'result')));
  end if;
  -- A response that ends the work without a call has no result.
  return p_turn.stop_reason in ('end_turn', 'stop_sequence', 'tool_use') and _response_text(p_turn.id) is not null;
end
$$;

comment on function _result_refused(work_items, turns) is 'Whether a response ended the work with a result that does not fit its schema, or without one.';

create or replace function _result_failed(p_item work_items, p_focus foci)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_schema jsonb := _result_schema_of(p_item);
  v_errors jsonb;
begin
  if (select count(*) from turns t where t.focus_id = p_focus.id and _result_refused(p_item, t)) <= 3 then
    return null;
  end if;
  select coalesce(jsonb_agg(e), '["the work ended without work_complete, so it has no result"]')
    into v_errors
    from (select k.input from turns t join tool_calls k on k.turn_id = t.id
           where t.focus_id = p_focus.id and t.iteration = p_focus.iteration + 1 and k.tool_name = 'work_complete' limit 1) k
   cross join lateral _result_errors(v_schema, k.input::jsonb -> 'result') e;
  p_item := _result_unfit(p_item, 'failed', 'its result did not fit the schema, four times: ', v_errors);
  return jsonb_build_object('kind', p_item.state, 'reason', p_item.state_reason);
end
$$;

comment on function _result_failed(work_items, foci) is 'Fails an item whose result was wrong more than three times in this attempt; null: it may try again.';

create or replace function _result_unfit(p_item work_items, p_next text, p_because text, p_errors jsonb)
  returns work_items
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _focus_end(p_item, 'failed', p_next, p_because || _one_line(p_errors ->> 0, 300),
    jsonb_build_object('error', 'the result does not fit its schema', 'result_errors', p_errors));
$$;

comment on function _result_unfit(work_items, text, text, jsonb) is 'Ends an attempt whose result does not fit its schema, as _focus_end() does: with the first error in the reason and all of them in the outcome.';
