-- Slots: at most max_concurrent work items of a faculty run at once, across all workers. An item takes a slot when it is claimed, keeps it
-- between iterations, and frees it when it ends, waits or pauses. An item that finds no free slot stays queued, without a job; the transaction that frees
-- a slot enqueues the most urgent queued item.

create or replace function _slot_take(p_item work_items, p_faculty faculties, out lack text, out slot_faculty text, out next_id uuid)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_max integer := (p_faculty.config ->> 'max_concurrent')::integer;
  v_ref text := _faculty_ref(p_faculty);
  v_taken integer;
  v_urgent integer;
begin
  slot_faculty := p_item.slot_faculty;
  if slot_faculty is not null or v_max is null then
    return;
  end if;
  -- Lock first, then count in a new statement, which sees every slot that is already taken.
  perform _lock('slots', v_ref);
  v_taken := _slots_used(p_faculty);
  -- A free slot belongs to the most urgent item, whose job may have run before the slot was free.
  select count(*) into v_urgent from _queued_for(v_ref, p_item.id, greatest(v_max - v_taken, 0), p_item.priority);
  if v_taken + v_urgent >= v_max then
    lack := format('waits for %s of faculty "%s"', case v_max when 1 then 'the slot' else format('one of the %s slots', v_max) end, v_ref);
    next_id := case when v_taken < v_max then _slot_next(v_ref, p_item.id) end;
    return;
  end if;
  slot_faculty := v_ref;
  if v_taken + 1 < v_max then
    next_id := _slot_next(v_ref, p_item.id); -- two slots that were freed at once may have enqueued the same item
  end if;
end
$$;

comment on function _slot_take(work_items, faculties) is
  'Looks for a free slot of a faculty, as it is configured now, for an item that has none yet; the caller holds the item''s fence. A faculty without max_concurrent has no limit. slot_faculty: the caller stores it in the item, which takes the slot. lack: why there is no slot, as text; null: there is one. next_id: another item that can have a slot; the caller enqueues it. Until the transaction ends, no other transaction can take a slot of the faculty.';

create or replace function _slots_used(p_faculty faculties)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select count(*)::integer from work_items w where w.slot_faculty = any (_faculty_refs(_faculty_ref(p_faculty)));
$$;

comment on function _slots_used(faculties) is 'How many items hold a slot of a faculty.';

create or replace function _slot_wanted(p_item work_items)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _faculty_ref(f) from _faculty_now(p_item) f where f.config ->> 'max_concurrent' is not null;
$$;

comment on function _slot_wanted(work_items) is 'The reference of an item''s faculty, if it has slots: the item may have been enqueued for a free one.';
