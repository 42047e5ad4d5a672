-- The waits of an item (for children, other work, a time, approvals), and whether they have ended; checked under the item's own lock.

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
  v_answer record;
  v_said text;
  v_next timestamptz;
begin
  for v_call in
    select k.* from turns t join tool_calls k on k.turn_id = t.id
     where t.focus_id = p_item.focus_id and t.iteration = (select iteration + 1 from foci where id = p_item.focus_id)
       and t.status = 'completed' and k.status = 'waiting'
     order by k.parent_call_id is null, k.ordinal -- calls made by code first, since the code waits for them
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
      select * into v_answer from _approval_settle(v_call, v_approval);
      if v_answer.refusal is not null then
        perform _call_settle(v_call, v_answer.refusal, true);
      elsif not v_answer.is_decided then
        v_next := least(v_next, v_approval.expires_at);
      end if;
      continue;
    end if;
    v_said := _wait_said(p_item, v_call.id, v_call.tool_name, v_call.input, v_call.wait_ends_at, v_is_interrupted);
    if v_said is null then
      v_next := least(v_next, v_call.wait_ends_at);
      continue;
    end if;
    update inbox set consumed_at = v_now, tool_call_id = v_call.id
     where work_item_id = p_item.id and kind = 'child_result' and source_work_item_id = any (_awaits(v_call.input)) and consumed_at is null;
    perform _call_settle(v_call, v_said, false);
  end loop;
  return case when not exists (
    select from turns t join tool_calls k on k.turn_id = t.id
     where t.focus_id = p_item.focus_id and t.iteration = (select iteration + 1 from foci where id = p_item.focus_id)
       and t.status = 'completed' and k.parent_call_id is null and k.status = 'pending' and k.id <> all (_calls_held(t.id))) then v_next end;
end
$$;

comment on function _waits_settle(work_items) is
  'Settles the calls of a focus whose wait, for work, a time or approval, is over; approved calls become pending. The caller holds the item''s fence. Returns when the first call that still waits times out; null: none waits, or other calls can run meanwhile.';

create or replace function _wait_said(
    p_item work_items, p_call_id uuid, p_tool_name text, p_input json, p_ends_at timestamptz, p_is_interrupted boolean)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_ids uuid[] := _awaits(p_input);
  v_claim text := case p_tool_name when 'wait_for' then p_input ->> 'claim' end;
  v_are_over boolean := not exists (select from work_items where id = any (v_ids) and resolved_at is null);
  v_holder uuid := _claim_held_by(p_item, v_claim, p_call_id);
  v_is_timed boolean := v_ids = '{}' and v_claim is null;
begin
  if p_ends_at > _now() and not p_is_interrupted and (not v_are_over or v_holder is not null or v_is_timed) then
    return null;
  end if;
  return concat_ws(' ',
    case
      when v_is_timed then format('[engine] %sIt is %s.', case when p_is_interrupted then 'The wait was interrupted. ' else '' end,
        _time_said(_now()))
      when not v_are_over or v_holder is not null then format('[engine] %s; %s not ended.',
        case when p_is_interrupted then 'The wait was interrupted' else 'The wait timed out' end,
        case when v_are_over then 'work item ' || v_holder || ', which holds ' || _one_line(v_claim, 200) || ' or is ahead of you in waiting for it, has'
             when p_tool_name = 'wait_for' then 'some of that work has' else 'some children have' end)
    end,
    case when v_claim is not null and v_holder is null then format('[engine] %s is free: claim it before you continue.', _one_line(v_claim, 200)) end,
    case when v_ids <> '{}' then _child_words(_work_states_of(v_ids, p_tool_name = 'await_child_work')::text) end);
end
$$;

comment on function _wait_said(work_items, uuid, text, json, timestamptz, boolean) is
  'The result of a call with this input that waits until p_ends_at, including what there is at its deadline or when a person interrupts; null: it keeps waiting. p_call_id: the call, which has its place among those that wait for a claim; null: it has none yet.';

create or replace function _waits_for(p_turn_id uuid)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select 'waits for ' || string_agg(distinct case
           when a.tool_call_id is not null then 'approval of ' || k.tool_name
           when k.tool_name = 'await_child_work' then 'child work'
           when _awaits(k.input) <> '{}' then 'other work'
           when k.input ->> 'claim' is not null then 'a claim'
           else 'a time' end, ' and ')
    from tool_calls k
    left join approvals a on a.tool_call_id = k.id
   where k.turn_id = p_turn_id and k.status = 'waiting' and k.tool_name <> 'execute_code';
$$;

comment on function _waits_for(uuid) is 'What the calls of a turn wait for, as text.';
