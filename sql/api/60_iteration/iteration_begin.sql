-- Begins an iteration: settles calls left by a crash, then returns a request to send, a command to run, or that there is nothing to do.

create or replace function iteration_begin(p_work_item_id uuid, p_lease uuid)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
  -- Applies to everything that it calls: one plan suits any turn, and planning each time would double the time. The other stages do the same.
  set plan_cache_mode = force_generic_plan
as $$
declare
  v_item work_items := _fence(p_work_item_id, p_lease);
  v_focus foci;
begin
  if v_item.state <> 'running' then
    v_item.state := 'running';
    v_item := _work_move(v_item, 'iteration_begin');
  end if;
  select * into v_focus from foci where id = v_item.focus_id for no key update;
  return _iteration_begin(v_item, v_focus, _faculty_config(v_focus), p_lease);
end
$$;

comment on function iteration_begin(uuid, uuid) is
  'First stage of an iteration: returns what the holder of the lease must do. {kind: call_model, turn_id, is_watched, early, request}: send the request and report with iteration_step() or turn_record(), or with iteration_fail(); if is_watched, pass what arrives meanwhile to turn_stream(). early: {name in the request: ability} of the tools whose calls may run before the response is recorded, see iteration_step(), provided the response calls no tool outside this list; null instead of the ability: the database can run calls of this tool with the record, whatever else is called. {kind: summarize, turn_id, is_watched, request}: the context is full; send the request, report with summary_record() or iteration_fail(), then call this stage again. {kind: run_hook, hook_run_id, command, timeout_seconds, input}: run the command with input as JSON on stdin, report with hook_record(), then call this stage again. {kind: run_tools, turn_id, calls}: the response is already stored; run the calls that a crash left open, then call iteration_finish(). {kind: retry, run_at, reason}: the provider asked not to be called before run_at, or the rest of a budget is reserved by other calls; the lease is released. {kind: parked, until, reason}: a budget is used up; budget_set(), or daily_budget_set() and midnight UTC, let the item continue; the lease is released. {kind: completed | failed | dead | queued | paused, reason}: no more turns. Raises WL001, WL003, WL004.';

create or replace function _iteration_begin(p_item work_items, p_focus foci, p_config jsonb, p_lease uuid, p_kept_turn_id uuid default null)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_turn turns;
  v_held jsonb;
begin
  select * into v_turn from turns where focus_id = p_focus.id and iteration = p_focus.iteration + 1 and status <> 'failed' for no key update;
  if v_turn.status = 'completed' then
    -- A worker died after the response was stored: no new model call, only the open tool calls.
    perform _recover_calls(v_turn.id), _calls_claim(p_item, p_config, v_turn.id); -- the lost lease's claims are gone; some calls were approved
    return json_build_object('kind', 'run_tools', 'turn_id', v_turn.id, 'calls', _open_calls(v_turn.id));
  end if;
  if v_turn.id is null and p_focus.iteration = 0 then
    v_held := _hooks_before_first_turn(p_item, p_focus, p_config, p_lease);
    if v_held is not null then
      return v_held::json;
    end if;
    select * into p_item from work_items where id = p_item.id; -- a recover command may have hidden the ledger
  end if;
  if v_turn.id is null and p_focus.iteration < (p_config #>> '{engage,max_turns}')::integer then
    select * into v_turn from turns where focus_id = p_focus.id and turn_type = 'compaction' and status in ('pending', 'streaming') for no key update;
  end if;
  if v_turn.id is null then
    return _request_make(p_item, p_focus, p_config, p_lease, _iteration_flags(p_item, p_focus, p_config), p_kept_turn_id);
  end if;
  return _request_begin(p_item, p_focus, p_config, v_turn, null, p_kept_turn_id);
end
$$;

comment on function _iteration_begin(work_items, foci, jsonb, uuid, uuid) is 'iteration_begin() of a running item, for a caller that holds the locks on its fence and its focus. p_kept_turn_id as for iteration_step().';

create or replace function _request_make(
    p_item work_items,
    p_focus foci,
    p_config jsonb,
    p_lease uuid,
    p_flags iteration_flags,
    p_kept_turn_id uuid)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_created record;
begin
  if p_focus.iteration >= (p_config #>> '{engage,max_turns}')::integer then
    p_item := _focus_end(p_item, 'failed', 'failed', format('reached max_turns (%s) before the work was done', p_focus.iteration), null);
    return _item_answer(p_item);
  end if;
  v_created := _turn_create(p_item, p_focus, p_config, p_lease, p_flags);
  if (v_created.turn).id is null then
    p_item := _focus_end(p_item, 'failed', 'failed', v_created.reason, null);
    return _item_answer(p_item);
  end if;
  if (v_created.turn).call_count > 0 then -- nothing can hold it back; a second write of its row would check all its references again
    return _request_sent(v_created.turn, p_flags.is_watched, p_flags, p_kept_turn_id, v_created.is_told, v_created.offered -> 'early');
  end if;
  return _request_begin(p_item, p_focus, p_config, v_created.turn, p_flags, p_kept_turn_id);
end
$$;

comment on function _request_make(work_items, foci, jsonb, uuid, iteration_flags, uuid) is
  'Makes the turn of the next iteration, of which there is none yet, and returns what its worker has to do, as iteration_begin() does.';

create or replace function _request_begin(
    p_item work_items, p_focus foci, p_config jsonb, p_turn turns, p_flags iteration_flags, p_kept_turn_id uuid)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_held jsonb := _request_obstacle(p_item, p_focus, p_config, p_turn);
begin
  if v_held is not null then
    return v_held::json;
  end if;
  -- A request that was begun under this lease was never sent: its worker did not get the answer.
  perform _request_unanswered(p_turn, _now(), 'lost');
  update turns set call_count = call_count + 1, status = 'pending' where id = p_turn.id returning * into p_turn;
  insert into model_calls (turn_id, attempt, model)
  values (p_turn.id, p_turn.call_count, (select model from turn_configs where content_hash = p_turn.config_hash));
  return _request_sent(p_turn, _is_watched(p_item.id), p_flags, p_kept_turn_id, true, _early_tools(p_config));
end
$$;

comment on function _request_begin(work_items, foci, jsonb, turns, iteration_flags, uuid) is
  'Begins the request of a turn that is made, if nothing holds it; what its worker has to do, as iteration_begin() returns it. p_flags: before it was made; null: not read yet.';

create or replace function _request_sent(
    p_turn turns, p_is_watched boolean, p_flags iteration_flags, p_kept_turn_id uuid, p_is_told boolean, p_early json)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_since json;
begin
  if p_turn.turn_type = 'normal' and p_turn.parent_turn_id = p_kept_turn_id then
    v_since := _messages_since(p_turn, p_flags, p_is_told);
  end if;
  return json_build_object('kind', case p_turn.turn_type when 'compaction' then 'summarize' else 'call_model' end,
                           'turn_id', p_turn.id, 'is_watched', p_is_watched,
                           -- Watchers should see a response before its calls have run.
                           'early', case when p_turn.turn_type = 'normal' and not p_is_watched then p_early else '{}' end,
                           'request', case when v_since is null then context_at(p_turn.id) end, 'since', v_since);
end
$$;

comment on function _request_sent(turns, boolean, iteration_flags, uuid, boolean, json) is
  'The {kind: call_model} or {kind: summarize} of a request that counts as sent from here on. p_flags and p_is_told as for _messages_since(), p_kept_turn_id as for iteration_step(). p_early: _early_tools().';

create or replace function _messages_since(p_turn turns, p_flags iteration_flags, p_is_told boolean)
  returns json
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_kept turns := p_flags.last;
  v_new exchange := p_flags.exchange;
  v_said text := case when p_is_told then _query_blocks(p_turn.id) else '' end;
begin
  if v_kept.id is distinct from p_turn.parent_turn_id then
    select * into v_kept from turns where id = p_turn.parent_turn_id;
  end if;
  if v_new.turn_id is distinct from v_kept.id then
    select * into v_new from _exchange(v_kept.id);
  end if;
  if v_kept.turn_type <> 'normal' or v_kept.config_hash <> p_turn.config_hash or v_kept.elision_id is distinct from p_turn.elision_id
    -- Without a response, what is said becomes part of the last message.
    or v_new.response = ''
    -- A breakpoint moves.
    or _is_far(v_new.block_count + case when v_said = '' then 0 else json_array_length(('[' || v_said || ']')::json) end)
    or not _is_near(v_kept) then
    return null;
  end if;
  return format('[{"role":"assistant","content":[%s]},{"role":"user","content":[%s]}]',
    v_new.response, _with_images(concat_ws(',', nullif(v_new.results, ''), nullif(v_said, ''))));
end
$$;

comment on function _messages_since(turns, iteration_flags, boolean) is
  'The messages that a turn''s request adds to that of the previous turn, for a caller that keeps that one (a request never changes once it is made). Null: it is not the same with more at its end, or may not be. p_flags: before it was made; null: not read yet. p_is_told: whether the turn may say anything besides results.';

create or replace function _is_near(p_turn turns)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(r.is_plain, true) and not _is_far(r.count + (
           select coalesce(sum(json_array_length(coalesce(m.sent_content, m.content))), 0)
             from messages m
            where m.turn_id = p_turn.parent_turn_id and m.role = 'assistant' or m.turn_id = p_turn.id and m.role = 'user'))
    from (select count(*) as count, bool_and(not k.is_error or json_typeof(k.result) <> 'array') as is_plain
            from tool_calls k
           where k.turn_id = p_turn.parent_turn_id and k.parent_call_id is null and k.completed_at is not null) r;
$$;

comment on function _is_near(turns) is 'Whether the request of a turn ended so close to the previous one that it has no breakpoint there; also false where images of a failed call would have to be counted.';

create or replace function _item_answer(p_item work_items)
  returns json
  language sql
  stable
  parallel safe
  return json_build_object('kind', p_item.state, 'reason', p_item.state_reason);

comment on function _item_answer(work_items) is 'What a stage answers when the item is no longer driven: {kind, reason}, its state and the reason.';

create or replace function _recover_calls(p_turn_id uuid)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  perform _calls_stop(array(select id from tool_calls where turn_id = p_turn_id and status = 'running' and effect = 'unsafe'),
    '[engine] Stopped: the worker running the code that called it died.',
    '[engine] The worker running this call died. Whether the call took effect is unknown: it may or may not have happened, '
    'wholly or in part. It was not repeated. Check the state of things before you try again.');
  update tool_calls set status = 'pending' where turn_id = p_turn_id and status = 'running';
end
$$;

comment on function _recover_calls(uuid) is 'After a crash: unsafe calls that were running become uncertain, the others become pending again.';
