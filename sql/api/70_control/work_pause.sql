-- Pausing and resuming work.

create or replace function work_pause(p_work_item_id uuid, p_reason text default null)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _open_item(p_work_item_id);
  v_slot text := v_item.slot_faculty;
begin
  v_item.state_reason := _signed(coalesce(nullif(btrim(p_reason), ''), 'paused by hand'));
  v_item.is_pausing := _is_driven(v_item.id);
  if v_item.is_pausing then
    return _work_move(v_item, 'work_pause');
  end if;
  v_item.state := 'paused';
  v_item := _work_move(v_item, 'work_pause');
  perform _enqueue_all('{}', array[v_slot]);
  return v_item;
end
$$;

comment on function work_pause(uuid, text) is
  'Pauses a work item until work_resume(), and returns its row. It pauses at once or, if a worker drives it, when that worker gives up its lease (is_pausing): at the end of the iteration, or earlier if the attempt fails, crashes or is interrupted. A paused item does not use a slot. Its children continue. state_reason contains the reason and the person, see person_current(). Raises WL001, WL003, 42501.';

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
      'That program resumes it: journal_session_status(…, ''active''), or ldg:task:save for a task of Agent OS.');
  elsif v_item.state = 'paused' or v_item.is_pausing then
    v_item.state := case v_item.state when 'paused' then 'queued' else v_item.state end;
    v_item.state_reason := null;
    v_item.is_pausing := false;
    v_item.run_at := _now();
    v_item := _work_move(v_item, 'work_resume');
    perform _enqueue(v_item.id);
  end if;
  return v_item;
end
$$;

comment on function work_resume(uuid) is 'Resumes a paused work item where it stopped, and returns its row; any other unfinished item is not changed. Items driven by another program (journal sessions, tasks of Agent OS) are resumed by that program. Raises WL001, WL002 (another program drives it), WL003.';
