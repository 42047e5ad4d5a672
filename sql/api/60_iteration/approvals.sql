-- The life of an approval: which calls need one, requested once, shown, decided once, acted on, expired.

create or replace function _needs_approval(p_risk text, p_engage jsonb)
  returns boolean
  language sql
  immutable
  parallel safe
  return case p_engage ->> 'require_approval'
    when 'dangerous' then p_risk = 'dangerous'
    when 'moderate' then p_risk in ('moderate', 'dangerous')
    else false
  end;

comment on function _needs_approval(text, jsonb) is 'Whether calls of that risk need approval, by require_approval of a faculty''s [engage].';

create or replace function _approval_ask(p_call tool_calls, p_risk text, p_engage jsonb)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_expires_at timestamptz := _now() + make_interval(secs => (p_engage ->> 'approval_timeout')::integer);
begin
  insert into approvals (tool_call_id, work_item_id, input_hash, risk, expires_at)
  values (p_call.id, p_call.work_item_id, _content_hash(_call_input(p_call)::text), p_risk, v_expires_at);
  update tool_calls set status = 'waiting', wait_ends_at = v_expires_at where id = p_call.id;
  perform pg_notify('work_approval_requested', p_call.id::text);
end
$$;

comment on function _approval_ask(tool_calls, text, jsonb) is 'Requests approval for a call and makes it wait for the decision.';

create or replace view v_approvals with (security_invoker = true) as
  select a.tool_call_id, a.work_item_id, w.description, k.tool_name, a.risk, _call_input(k) as input, a.input_hash, a.requested_at, a.expires_at, k.effect,
         _response_text(k.turn_id) as said, _project_now(w.project) as project, coalesce(w.project, '') as stored_project
    from approvals a
    join tool_calls k on k.id = a.tool_call_id
    join work_items w on w.id = a.work_item_id
   where a.decision is null and k.status = 'waiting' and a.expires_at > _now() and w.resolved_at is null;
comment on view v_approvals is 'Tool calls that wait for approval, with their arguments. Decide with tool_call_approve(), passing the input_hash of the row you read, or with tool_call_reject().';
comment on column v_approvals.said is 'What the model said in the response that contains the call; null: nothing.';
comment on column v_approvals.project is 'The project of the work, by its current name; null: none.';
comment on column v_approvals.stored_project is 'The project under the name it was submitted with, see project_names(); empty: none.';
comment on column v_approvals.input is 'The arguments that the call will run with.';

create or replace function tool_call_approve(p_tool_call_id uuid, p_input_hash text default null)
  returns approvals
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _approval_decide(p_tool_call_id, 'approved', p_input_hash, null);
$$;

comment on function tool_call_approve(uuid, text) is
  'Approves a tool call that waits for approval (v_approvals), so that it runs, and returns the approvals row: select tool_call_approve(''CALL'', ''HASH''). p_input_hash: the input_hash of v_approvals, read together with the input that a person looked at. If the arguments have changed since, the approval is refused. Without it (null) the call is approved with whatever arguments it has, read or not, so pass it wherever a person decides. The decision records the logged-in role (decided_by) and the person it acts for (person, see person_current()). Approving again changes nothing. Raises WL001, WL008 (rejected, expired, other arguments, its work item is over), 42501 (a token or a name that person_current() refuses).';

create or replace function tool_call_reject(p_tool_call_id uuid, p_reason text default null)
  returns approvals
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _approval_decide(p_tool_call_id, 'rejected', null, p_reason);
$$;

comment on function tool_call_reject(uuid, text) is
  'Rejects a tool call that waits for approval, and returns the approvals row. The model is told, with p_reason, and continues. Who decided is recorded as in tool_call_approve(). Rejecting again changes nothing. Raises WL001, WL008 (approved, expired, its work item is over), 42501.';

create or replace function _approval_decide(p_tool_call_id uuid, p_decision text, p_input_hash text, p_reason text)
  returns approvals
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_now timestamptz := _now();
  v_person text := _person();
  v_item work_items;
  v_approval approvals;
  v_call tool_calls;
  v_problem text;
begin
  if not exists (select from approvals where tool_call_id = p_tool_call_id) then
    perform _raise_not_found('tool call that needs approval', p_tool_call_id);
  end if;
  v_item := _item_locked((select work_item_id from approvals where tool_call_id = p_tool_call_id));
  select * into v_approval from approvals where tool_call_id = p_tool_call_id for no key update;
  if v_approval.decision = p_decision then
    return v_approval;
  end if;
  select * into v_call from tool_calls where id = p_tool_call_id;
  v_problem := case
    when v_approval.decision <> 'expired' then format('it is already %s', v_approval.decision)
    when v_item.resolved_at is not null then format('its work item is %s', v_item.state)
    when v_call.completed_at is not null then format('it has ended: %s', _one_line(_result_text(v_call.result), 200))
    when v_approval.decision = 'expired' or v_approval.expires_at <= v_now then 'the time to decide has passed'
    when p_input_hash <> v_approval.input_hash then 'its arguments are not those that were reviewed'
  end;
  if v_problem is not null then
    raise exception using
      errcode = 'WL008',
      message = format('tool call %s cannot be %s: %s', p_tool_call_id, p_decision, v_problem);
  end if;
  update approvals
     set decision = p_decision, reason = nullif(btrim(p_reason), ''), decided_by = session_user, person = v_person, decided_at = v_now
   where tool_call_id = p_tool_call_id
  returning * into v_approval;
  perform _enqueue(v_item.id);
  return v_approval;
end
$$;

comment on function _approval_decide(uuid, text, text, text) is 'Records the decision on an approval, once, and enqueues the work item.';

create or replace function _approval_settle(p_call tool_calls, p_approval approvals, out is_decided boolean, out refusal text)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_approval.decision is null and p_approval.expires_at <= _now() then
    perform _approvals_expire(array[p_call.id]);
    p_approval.decision := 'expired';
  end if;
  if p_approval.decision = 'approved' and p_approval.input_hash = _content_hash(_call_input(p_call)::text) then
    update tool_calls set status = 'pending', wait_ends_at = null where id = p_call.id;
  elsif p_approval.decision is not null then
    refusal := format('[engine] Not executed: %s', case p_approval.decision
      when 'rejected' then 'a person rejected this call' || coalesce(': ' || p_approval.reason, '.')
      when 'expired' then 'nobody approved this call in time.'
      else 'its arguments are not those that were approved.' end);
  end if;
  is_decided := p_approval.decision is not null;
end
$$;

comment on function _approval_settle(tool_calls, approvals) is 'Acts on the decision on an approval: an approved call becomes pending; of one that is rejected or expired, refusal is the result with which the caller settles it. is_decided: false: neither decided yet nor expired.';

create or replace function _approvals_expire(p_call_ids uuid[])
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  update approvals set decision = 'expired', decided_at = _now() where tool_call_id = any (p_call_ids) and decision is null;
$$;

comment on function _approvals_expire(uuid[]) is 'Ends the approvals of calls on which nobody has decided: their time is over, or the calls are.';
