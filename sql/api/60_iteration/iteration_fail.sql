-- A model call failed: decides whether and when it is repeated, or what ends.

create or replace function iteration_fail(
    p_work_item_id uuid,
    p_lease uuid,
    p_error jsonb)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _fence(p_work_item_id, p_lease);
  v_class text := coalesce(p_error ->> 'class', 'unknown');
  v_message text := _one_line(concat_ws(': ', v_class, p_error ->> 'message'), 500);
  v_focus foci;
  v_turn turns;
  v_due jsonb;
  v_delay double precision;
begin
  select * into v_focus from foci where id = v_item.focus_id for no key update;
  select * into v_turn from turns where focus_id = v_focus.id and status in ('pending', 'streaming');
  update turns set error = p_error, status = 'pending' where id = v_turn.id;
  perform _request_unanswered(v_turn, _now(), left(v_class, 100),
    case when p_error ->> 'status' ~ '^\d{3}$' then (p_error ->> 'status')::integer end, left(p_error ->> 'request_id', 200));
  v_due := _lease_due(v_focus, true);
  update foci set model_error_count = model_error_count + 1, lease_owner = null, lease_expires_at = null where id = v_focus.id returning * into v_focus;

  if v_turn.turn_type = 'compaction' and v_class not in ('authentication', 'workspace', 'hook')
    and (v_turn.call_count >= 3 or v_class not in ('rate_limited', 'overloaded', 'server_error', 'timeout', 'transport')) then
    -- The work does not depend on a summary: the next request is compacted without one.
    update turns set status = 'failed', completed_at = _now() where id = v_turn.id;
    update compactions set is_applied = false, error = p_error where turn_id = v_turn.id;
    perform _summary_given_up(v_focus.id, (select c from compactions c where c.turn_id = v_turn.id));
    return _iteration_again(v_item, v_message, p_due => v_due);
  elsif v_class = 'context_overflow' and v_focus.overflow_count < 3 then
    perform _turns_abandon(v_focus.id, null);
    update foci set overflow_count = overflow_count + 1, compaction_trigger = 'context_overflow' where id = v_focus.id;
    return _iteration_again(v_item, v_message, p_due => v_due);
  elsif v_class in ('invalid_request', 'context_overflow') then
    v_item := _focus_end(v_item, 'failed', 'failed', v_message, null, v_due);
  elsif v_class in ('authentication', 'workspace', 'hook') then
    -- Retrying cannot help until a person changes something: the item stays paused until someone resumes it.
    v_item := _pause_until_resumed(v_item, v_message, v_due);
  elsif v_focus.model_error_count >= (case v_class when 'malformed_response' then 4 else 20 end) then
    v_item := _focus_end(v_item, 'failed', 'retry', v_message, null, v_due);
  else
    perform _budget_charge(v_due);
    -- 1, 2, 4 ... 60 seconds, randomized by a quarter so that many items do not retry at once.
    v_delay := greatest(
      least(power(2, v_focus.model_error_count - 1), 60) * (0.75 + random() / 2),
      case
        when p_error ->> 'retry_after_seconds' ~ '^\d{1,4}(\.\d+)?$'
          and (p_error ->> 'retry_after_seconds')::double precision <= 3600 then (p_error ->> 'retry_after_seconds')::double precision end);
    if v_class in ('rate_limited', 'overloaded') then
      -- For all workers: none of them calls the model before the cooldown ends.
      perform _cooldown(v_turn, v_message, _now() + make_interval(secs => v_delay));
      if exists (select from faculties f join turn_configs c on c.content_hash = v_turn.config_hash
                  where f.content_hash = v_focus.faculty_hash and v_turn.turn_type = 'normal' and f.config #>> '{engage,fallback_model}' <> c.config ->> 'model'
                    and not exists (select from models where name = f.config #>> '{engage,fallback_model}' and cooldown_ends_at > _now())) then
        return _iteration_again(v_item, v_message);
      end if;
    end if;
    return _iteration_again(v_item, v_message, _now() + make_interval(secs => v_delay));
  end if;
  return jsonb_build_object('kind', v_item.state, 'reason', v_item.state_reason);
end
$$;

comment on function iteration_fail(uuid, uuid, jsonb) is
  'Reports that the model call failed, or could not be started: p_error = {class, message, status, retry_after_seconds, request_id}. Classes: rate_limited, overloaded, server_error, timeout, transport, malformed_response, unknown: the same request is sent again later (exponential backoff, or as long as the provider asks for), up to 20 failures in a row (malformed_response: 4); then the attempt fails. authentication, workspace (the worker refuses the directory) and hook (the worker lacks a function that the faculty specifies as a hook): the item pauses until work_resume(). context_overflow: the context is compacted and the model asked again, at most three times; then the item fails. invalid_request: the item fails. For a summary request: after three failures, or one that cannot be retried, the context is compacted without a summary. Returns {kind: retry, run_at, reason} or the item''s new state, {kind, reason}; the lease is released. Raises WL001, WL003, WL004.';

create or replace function _iteration_again(p_item work_items, p_reason text, p_run_at timestamptz default _now(), p_due jsonb default '{}')
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  p_item.run_at := p_run_at;
  p_item.state_reason := p_reason;
  p_item := _lease_drop(p_item, p_item.slot_faculty, p_due);
  return case
    when p_item.state = 'paused' then jsonb_build_object('kind', p_item.state, 'reason', p_item.state_reason)
    else jsonb_build_object('kind', 'retry', 'run_at', p_run_at, 'reason', p_reason) end;
end
$$;

comment on function _iteration_again(work_items, text, timestamptz, jsonb) is 'Releases the lease, as _lease_drop() does, and enqueues the same iteration for p_run_at; returns {kind: retry, run_at, reason}, or {kind: paused, reason}.';

create or replace function _cooldown(p_turn turns, p_reason text, p_ends_at timestamptz)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_model text := (select config ->> 'model' from turn_configs where content_hash = p_turn.config_hash);
begin
  if v_model is not null then
    perform model_save(v_model);
    update models
       set cooldown_ends_at = greatest(cooldown_ends_at, p_ends_at), cooldown_reason = p_reason
     where name = v_model;
  end if;
end
$$;

comment on function _cooldown(turns, text, timestamptz) is 'Keeps all workers from calling the model of a turn until p_ends_at.';
