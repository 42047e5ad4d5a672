-- Pausing and resuming work.

create or replace function work_pause(p_work_item_id uuid, p_reason text default null)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _open_item(p_work_item_id);
  v_is_driven boolean := _is_driven(p_work_item_id);
begin
  update work_items
     set state = case when v_is_driven then state else 'paused' end,
         is_pausing = v_is_driven,
         slot_faculty = case when v_is_driven then slot_faculty end,
         state_reason = _signed(coalesce(nullif(btrim(p_reason), ''), 'paused by hand'))
   where id = v_item.id;
  if not v_is_driven then
    perform _enqueue_all('{}', array[v_item.slot_faculty]);
  end if;
  select * into v_item from work_items where id = v_item.id;
  return v_item;
end
$$;

comment on function work_pause(uuid, text) is
  'Pauses a work item until work_resume(), and returns its row: at once, or when the worker that drives it gives up its lease (is_pausing): when the iteration is over, or with whatever ends it, an attempt that failed, a crash or an interruption. A paused item has no slot. Its children continue. state_reason has the reason and the person, see person_current(). Raises WL001, WL003, 42501.';

create or replace function work_resume(p_work_item_id uuid)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _open_item(p_work_item_id);
begin
  if v_item.work_type in ('journal', 'ldg:task') then
    perform _raise_invalid(format('work item %s is driven by another program', v_item.id),
      'That program goes on with it: journal_session_status(…, ''active''), or ldg:task:save for a task of Agent OS.');
  elsif v_item.state = 'paused' or v_item.is_pausing then
    update work_items
       set state = case state when 'paused' then 'queued' else state end,
           is_pausing = false, state_reason = null, run_at = _now()
     where id = v_item.id
    returning * into v_item;
    perform _enqueue(v_item.id);
  end if;
  return v_item;
end
$$;

comment on function work_resume(uuid) is 'Resumes a paused work item where it stopped, and returns its row; any other unfinished item is not changed. What another program drives (journal sessions, tasks of Agent OS) is resumed by that program. Raises WL001, WL002 (another program drives it), WL003.';
