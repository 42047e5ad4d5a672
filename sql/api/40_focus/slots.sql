-- Places: how many work items of a faculty are under way at once, exactly, across all workers. An item takes a place when
-- it is claimed without one and gives it back when it ends, waits or pauses; between iterations it keeps it. Whoever finds
-- no place stays queued, without a job; whoever gives one back enqueues the most urgent that is queued.

create or replace function _slot_take(p_item work_items, p_faculty text, out lack text, out slot_faculty text, out next_id uuid)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_max integer := (select (config ->> 'max_concurrent')::integer from faculties where name = p_faculty and is_current);
  v_taken integer;
  v_urgent integer;
begin
  slot_faculty := p_item.slot_faculty;
  if slot_faculty is not null or v_max is null then
    return;
  end if;
  -- The lock first, the count in a new statement: so it sees every place that was taken before.
  perform pg_advisory_xact_lock(hashtextextended(format('slot %s %s', _ledger_schema(), p_faculty), 0));
  select count(*) into v_taken from work_items w where w.slot_faculty = p_faculty;
  -- A place that is free is for the most urgent, whose job may have come before it was.
  select count(*) into v_urgent
    from (select from work_items w
            left join foci f on f.id = w.focus_id
           where w.state = 'queued' and w.run_at <= _now() and w.priority > p_item.priority and w.id <> p_item.id
             and coalesce(f.faculty, (_faculty_for(w.faculty, w.work_type)).name) = p_faculty
           limit greatest(v_max - v_taken, 0)) u;
  if v_taken + v_urgent >= v_max then
    lack := format('waits for one of the %s places of faculty "%s"', v_max, p_faculty);
    next_id := case when v_taken < v_max then _slot_next(p_faculty, p_item.id) end;
    return;
  end if;
  slot_faculty := p_faculty;
  if v_taken + 1 < v_max then
    next_id := _slot_next(p_faculty, p_item.id); -- two places given back at once may have enqueued the same item
  end if;
end
$$;

comment on function _slot_take(work_items, text) is
  'Looks for a place of a faculty for an item, whose row lock the caller holds, unless it has one; a faculty without max_concurrent has no end of places. slot_faculty: what the caller stores, so that the place is taken; lack: why there is none, in words; next_id: another item that finds a place, which the caller enqueues. Until the transaction ends nobody else takes a place of the faculty.';

create or replace function _without_place(p_item work_items, p_state text, p_reason text, p_run_at timestamptz default null)
  returns work_items
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  p_item.state := p_state;
  p_item.state_reason := p_reason;
  p_item.run_at := coalesce(p_run_at, p_item.run_at);
  p_item.slot_faculty := null;
  return p_item;
end
$$;

comment on function _without_place(work_items, text, text, timestamptz) is 'The row of an item as _lease_end() shall write it where its work stops for a time, and its place is for others.';
