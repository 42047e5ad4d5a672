-- What an item waits for (children, approvals) and whether the wait is over; checked under the item's own lock.

create or replace function _waits_settle(p_item work_items)
  returns timestamptz
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_now timestamptz := _now();
  v_is_interrupted boolean := exists (select from inbox where work_item_id = p_item.id and is_interrupt and consumed_at is null);
  v_call tool_calls;
  v_approval approvals;
  v_ids uuid[];
  v_children jsonb;
  v_next timestamptz;
begin
  for v_call in
    select k.* from turns t join tool_calls k on k.turn_id = t.id
     where t.focus_id = p_item.focus_id and t.iteration = (select iteration + 1 from foci where id = p_item.focus_id)
       and t.status = 'completed' and k.status = 'waiting'
     order by k.parent_call_id is null, k.ordinal -- calls from code first: the code waits for them
  loop
    if v_call.tool_name = 'execute_code' then
      if _code_waits(v_call) then
        v_next := least(v_next, v_call.wait_ends_at);
      else
        update tool_calls set status = 'pending', wait_ends_at = null where id = v_call.id;
      end if;
      continue;
    end if;
    select * into v_approval from approvals where tool_call_id = v_call.id;
    if found then
      if not _approval_settle(v_call, v_approval) then
        v_next := least(v_next, v_approval.expires_at);
      end if;
      continue;
    end if;
    v_ids := _uuids('work_item_ids', v_call.input::jsonb -> 'work_item_ids');
    v_children := await_child_work(p_item.id, v_ids);
    if v_children is null and v_call.wait_ends_at > v_now and not v_is_interrupted then
      v_next := least(v_next, v_call.wait_ends_at);
      continue;
    end if;
    update inbox set consumed_at = v_now, tool_call_id = v_call.id
     where work_item_id = p_item.id and kind = 'child_result' and source_work_item_id = any (v_ids) and consumed_at is null;
    perform _call_settle(v_call, concat_ws(' ',
      case
        when v_children is null then format(
          '[engine] %s; some children are not over.',
          case when v_is_interrupted then 'The wait was interrupted' else 'The timeout is over' end) end,
      _child_words(coalesce(v_children, check_child_work(p_item.id, v_ids))::text)), false);
  end loop;
  return case when not exists (
    select from turns t join tool_calls k on k.turn_id = t.id
     where t.focus_id = p_item.focus_id and t.iteration = (select iteration + 1 from foci where id = p_item.focus_id)
       and t.status = 'completed' and k.parent_call_id is null and k.status = 'pending' and k.id <> all (_calls_held(t.id))) then v_next end;
end
$$;

comment on function _waits_settle(work_items) is
  'Settles the calls of a focus whose wait, for children or approval, is over; approved calls become pending. The caller holds the item''s fence. Returns when the first of the calls that still wait times out; null: none waits, or other calls can run meanwhile.';

create or replace function _waits_for(p_turn_id uuid)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select 'waits for ' || string_agg(distinct case when a.tool_call_id is null then 'child work' else 'approval of ' || k.tool_name end, ' and ')
    from tool_calls k
    left join approvals a on a.tool_call_id = k.id
   where k.turn_id = p_turn_id and k.status = 'waiting' and k.tool_name <> 'execute_code';
$$;

comment on function _waits_for(uuid) is 'What the calls of a turn wait for, as text.';

create or replace function _approval_settle(p_call tool_calls, p_approval approvals)
  returns boolean
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_approval.decision is null and p_approval.expires_at <= _now() then
    update approvals set decision = 'expired', decided_at = _now() where tool_call_id = p_call.id returning * into p_approval;
  end if;
  if p_approval.decision = 'approved' and p_approval.input_hash = _content_hash(_call_input(p_call)::text) then
    update tool_calls set status = 'pending', wait_ends_at = null where id = p_call.id;
  elsif p_approval.decision is not null then
    perform _call_settle(p_call, format('[engine] Not executed: %s', case p_approval.decision
      when 'rejected' then 'a person rejected this call' || coalesce(': ' || p_approval.reason, '.')
      when 'expired' then 'nobody approved this call in time.'
      else 'its arguments are not those that were approved.' end), true);
  end if;
  return p_approval.decision is not null;
end
$$;

comment on function _approval_settle(tool_calls, approvals) is 'Acts on the decision on an approval: an approved call becomes pending, a rejected or expired one is settled. False: not decided yet, and not expired.';
