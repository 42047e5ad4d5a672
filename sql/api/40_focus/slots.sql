-- Slots: at most max_concurrent work items of a faculty are under way at once, across all workers. An item takes a slot when
-- it is claimed, keeps it between iterations, and frees it when it ends, waits or pauses. An item that finds no free slot
-- stays queued, without a job; the transaction that frees a slot enqueues the most urgent queued item.

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
  -- The lock first, then the count in a new statement, so that it sees every slot already taken.
  perform _lock('slots', p_faculty);
  select count(*) into v_taken from work_items w where w.slot_faculty = p_faculty;
  -- A free slot belongs to the most urgent item, whose job may have run before the slot was free.
  select count(*) into v_urgent from _queued_for(p_faculty, p_item.id, greatest(v_max - v_taken, 0), p_item.priority);
  if v_taken + v_urgent >= v_max then
    lack := format('waits for %s of faculty "%s"', case v_max when 1 then 'the slot' else format('one of the %s slots', v_max) end, p_faculty);
    next_id := case when v_taken < v_max then _slot_next(p_faculty, p_item.id) end;
    return;
  end if;
  slot_faculty := p_faculty;
  if v_taken + 1 < v_max then
    next_id := _slot_next(p_faculty, p_item.id); -- two slots freed at once may have enqueued the same item
  end if;
end
$$;

comment on function _slot_take(work_items, text) is
  'Looks for a free slot of a faculty for an item that has none yet; the caller holds the item''s fence. A faculty without max_concurrent has no limit. slot_faculty: the caller stores it in the item, which takes the slot. lack: why there is no slot, as text; null: there is one. next_id: another item that can have a slot; the caller enqueues it. Until the transaction ends, no other transaction can take a slot of the faculty.';

create or replace function _slot_wanted(p_item work_items)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select f.name
    from faculties f
   where f.is_current and f.config ->> 'max_concurrent' is not null
     and f.name = _faculty_of(p_item);
$$;

comment on function _slot_wanted(work_items) is 'The faculty of an item, if it has slots: for a free one of them the item may have been enqueued.';
