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
  v_answer record;
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
      select * into v_answer from _approval_settle(v_call, v_approval);
      if v_answer.refusal is not null then
        perform _call_settle(v_call, v_answer.refusal, true);
      elsif not v_answer.is_decided then
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
