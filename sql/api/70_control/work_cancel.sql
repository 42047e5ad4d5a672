-- Cancels a whole tree of work.

create or replace function work_cancel(p_work_item_id uuid, p_reason text default null)
  returns setof work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_ids uuid[] := '{}';
  v_more uuid[];
  v_items work_items[];
  v_item work_items;
  v_end record;
  v_due jsonb := '{}';
  v_wake uuid[] := '{}';
  v_reason text := _signed(coalesce(nullif(p_reason, ''), 'cancelled'));
begin
  perform _check_submitter(p_work_item_id);
  -- Locks all items before it ends the first, in order of id, as every function that locks several items does; then again for children submitted
  -- in the meantime.
  loop
    v_more := array(
      select w.id from _items_below(p_work_item_id) b(id) join work_items w on w.id = b.id
       where w.resolved_at is null and w.id <> all (v_ids)
       order by w.id);
    exit when v_more = '{}';
    perform from fences where work_item_id = any (v_more) order by work_item_id for no key update;
    v_ids := v_ids || v_more;
  end loop;
  v_items := array(select w from work_items w where id = any (v_ids) and resolved_at is null order by id);
  perform from foci where id = any (array(select i.focus_id from unnest(v_items) i)) order by id for no key update;
  foreach v_item in array v_items loop
    select * into v_end from _focus_close(v_item, 'cancelled', 'cancelled', v_reason, null);
    v_due := v_due || v_end.due;
    v_wake := v_wake || _to_wake(v_end.item); -- items that are being cancelled as well get no job
    return next v_end.item;
  end loop;
  perform _budget_charge(v_due);
  perform _enqueue_all(v_wake, array(select i.slot_faculty from unnest(v_items) i));
end
$$;

comment on function work_cancel(uuid, text) is
  'Cancels a work item and everything below it, and returns the items that it ended (none if all were finished). Nothing more is written for them afterwards: a worker that drives one is notified on channel work_item_completed, and its next write is refused. state_reason contains the reason and the person, see person_current(). Raises WL001, 42501.';
