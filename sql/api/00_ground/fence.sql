-- The fence: every function that changes a work item locks the item's fence first, then reads the item in a new statement. Nobody locks
-- work_items, so a transaction that only refers to an item never waits for a writer.

create or replace function _fence(p_work_item_id uuid, p_lease uuid)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_fence fences;
begin
  select * into v_fence from fences where work_item_id = p_work_item_id for no key update;
  if not found then
    perform _raise_not_found('work item', p_work_item_id);
  elsif v_fence.is_over then
    perform _raise_over(p_work_item_id);
  end if;
  if v_fence.lease_hash is distinct from sha256(uuid_send(p_lease)) then
    raise exception using
      errcode = case when p_lease is null then 'WL005' else 'WL004' end,
      message = case
                  when p_lease is null then format('an attempt at work item %s is running', p_work_item_id)
                  else format('the lease on work item %s is lost', p_work_item_id)
                end,
      detail = 'Only the holder of the current lease can write to a running work item.',
      hint = 'A worker that has lost its lease must stop; another worker continues.';
  end if;
  if p_lease is null and v_fence.focus_id is not null then
    raise exception using
      errcode = 'WL005',
      message = format('an attempt at work item %s is running', p_work_item_id),
      detail = 'Only the holder of the current lease can write to a running work item.';
  end if;
  if p_lease is null then
    perform _check_submitter(p_work_item_id);
  end if;
  return (select w from work_items w where w.id = p_work_item_id);
end
$$;

comment on function _fence(uuid, uuid) is
  'First statement of every function that writes for a work item: locks its fence, refuses every caller except the holder of the current lease, and returns the item. p_lease null: the caller has none, which is enough while no attempt is under way. Raises WL001, WL003, WL004, WL005, 42501.';

create or replace function _item_locked(p_work_item_id uuid)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  perform from fences where work_item_id = p_work_item_id for no key update;
  if not found then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  -- A new statement, which sees what the previous holder of the lock committed.
  return (select w from work_items w where w.id = p_work_item_id);
end
$$;

comment on function _item_locked(uuid) is 'Locks the fence of a work item and returns the item, whoever drives it. Raises WL001.';

create or replace function _open_item(p_work_item_id uuid)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _item_locked(p_work_item_id);
begin
  perform _check_submitter(p_work_item_id);
  if v_item.resolved_at is not null then
    perform _raise_over(p_work_item_id);
  end if;
  return v_item;
end
$$;

comment on function _open_item(uuid) is '_item_locked() of an unfinished work item to which the caller may write. Raises WL001, WL003, 42501.';

create or replace function _raise_over(p_work_item_id uuid)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := (select w from work_items w where w.id = p_work_item_id);
begin
  if coalesce(v_item.state_reason, '') = '' then
    raise exception using errcode = 'WL003', message = format('work item %s is %s', v_item.id, v_item.state);
  end if;
  raise exception using
    errcode = 'WL003',
    message = format('work item %s is %s', v_item.id, v_item.state),
    detail = v_item.state_reason;
end
$$;

comment on function _raise_over(uuid) is 'Raises WL003: the work item has reached a final state.';

create or replace function _fence_create(p_item work_items)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  insert into fences (work_item_id, submitted_by, is_child, is_journal, project, salt)
  values (p_item.id, p_item.submitted_by, p_item.depth > 0, p_item.work_type = 'journal', p_item.project, case when _is_chained() then gen_random_uuid() end);
$$;

comment on function _fence_create(work_items) is
  'The fence of an item that was just inserted. Every function that inserts an item calls it; a trigger would also fire while a dump is restored, which brings the fences itself.';

create or replace function _fence_follow()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  update fences
     set focus_id = new.focus_id,
         attempt = new.attempts,
         is_over = new.resolved_at is not null,
         lease_hash = case when new.focus_id is not distinct from focus_id and new.resolved_at is null then lease_hash end
   where work_item_id = new.id and (focus_id, attempt, is_over) is distinct from (new.focus_id, new.attempts, new.resolved_at is not null);
  perform _item_seal(new) where new.resolved_at is not null and old.resolved_at is null;
  return null;
end
$$;

comment on function _fence_follow() is 'Trigger: the fence follows its item. A lease ends with the attempt for which it was taken; an item that ends is sealed.';

create or replace function _is_driven(p_work_item_id uuid)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select exists (select from fences where work_item_id = p_work_item_id and lease_hash is not null);
$$;

comment on function _is_driven(uuid) is 'Whether a worker holds the lease of a work item.';

create or replace function ledger_count(p_item work_items)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select ledger_count from fences where work_item_id = p_item.id;
$$;

comment on function ledger_count(work_items) is
  'How many entries the ledger of a work item has: select w.id, w.ledger_count from work_items w. It reads like a column of work_items, where the table has a name before it.';

create or replace function _refuse_erased(p_work_item_id uuid)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_at timestamptz := (select erased_at from work_items where id = p_work_item_id);
begin
  if v_at is not null then
    raise exception using
      errcode = 'WL003',
      message = format('work item %s was erased at %s', p_work_item_id, to_char(v_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')),
      hint = 'Nothing can be added to it or continued from it.';
  end if;
end
$$;

comment on function _refuse_erased(uuid) is 'For functions that write for finished work: raises WL003 where it is erased.';

create or replace function _hold_off_erasing(p_work_item_id uuid)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  -- Whoever erases takes this lock, too: it waits for what this transaction writes, or has left its tombstone by the next statement.
  perform _lock_shared('trees', w.root_id::text) from work_items w where w.id = p_work_item_id;
  perform _refuse_erased(p_work_item_id);
end
$$;

comment on function _hold_off_erasing(uuid) is
  'For functions that write words for a work item without its fence: it is not erased before the transaction ends, so that what they write goes with the rest. Raises WL003 where it is erased already.';

create or replace trigger fence_follow after update of focus_id, attempts, resolved_at on work_items
  for each row
  when (old.focus_id is distinct from new.focus_id or old.attempts is distinct from new.attempts or old.resolved_at is distinct from new.resolved_at)
  execute function _fence_follow();
