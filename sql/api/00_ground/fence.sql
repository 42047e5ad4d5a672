-- Who may write: every function that changes a work item calls the fence first, which locks the item's row.

create or replace function _fence(p_work_item_id uuid, p_lease uuid)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _open_item(p_work_item_id);
begin
  if v_item.lease is distinct from p_lease then
    raise exception using
      errcode = case when p_lease is null then 'WL005' else 'WL004' end,
      message = case
                  when p_lease is null then format('work item %s is driven by a focus', v_item.id)
                  else format('the lease on work item %s is lost', v_item.id)
                end,
      detail = 'Only the holder of the current lease writes for a work item that is being worked on.',
      hint = 'A worker that has lost its lease stops; another worker continues.';
  end if;
  if p_lease is null and v_item.focus_id is not null then
    raise exception using
      errcode = 'WL005',
      message = format('work item %s is driven by a focus', v_item.id),
      detail = 'Only the holder of the current lease writes for a work item that is being worked on.';
  end if;
  return v_item;
end
$$;

comment on function _fence(uuid, uuid) is
  'First statement of every function that writes for a work item: locks its row and refuses every caller except the holder of the current lease. p_lease null: the caller has none, which is enough while no attempt is under way. Raises WL001, WL003, WL004, WL005.';

create or replace function _open_item(p_work_item_id uuid)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
begin
  select * into v_item from work_items where id = p_work_item_id for no key update;
  if not found then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  if v_item.resolved_at is not null then
    if coalesce(v_item.state_reason, '') = '' then
      raise exception using errcode = 'WL003', message = format('work item %s is %s', v_item.id, v_item.state);
    end if;
    raise exception using
      errcode = 'WL003',
      message = format('work item %s is %s', v_item.id, v_item.state),
      detail = v_item.state_reason;
  end if;
  return v_item;
end
$$;

comment on function _open_item(uuid) is 'Locks the row of an unfinished work item and returns it. Raises WL001, WL003.';
