create or replace function lease_renew(
    p_worker_id text,
    p_leases uuid[],
    p_host text default '',
    p_pid integer default 0,
    p_tree_id uuid default null)
  returns setof uuid
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_now timestamptz := _now();
begin
  if coalesce(p_worker_id, '') !~ '\S' then
    perform _raise_invalid('a worker has an id');
  end if;
  perform _check_key('the id of a worker', p_worker_id);
  insert into workers (id, host, pid, version, tree_id, started_at, seen_at)
  values (p_worker_id, coalesce(p_host, ''), coalesce(p_pid, 0), work_ledger_version(), p_tree_id, v_now, v_now)
  on conflict (id) do update set seen_at = v_now;
  -- It never waits: a focus that its holder is writing just now keeps what it has until the next beat, and is held.
  update foci f
     set lease_expires_at = v_now + make_interval(secs => f.lease_seconds)
   where f.id in (
     select o.id
       from foci o
       join work_items w on w.focus_id = o.id
      where o.lease_owner = p_worker_id and o.lease_expires_at > v_now and w.lease_token = any (p_leases)
        for no key update of o skip locked);
  return query
    select w.lease_token
      from foci f
      join work_items w on w.focus_id = f.id
     where f.lease_owner = p_worker_id and f.lease_expires_at > v_now and w.lease_token = any (p_leases);
end
$$;

comment on function lease_renew(text, uuid[], text, integer, uuid) is
  'A worker''s heartbeat: registers it (p_tree_id: as one that works on this tree only), renews those of p_leases that are still its own and returns them. A lease that does not come back is lost: its work item is cancelled, finished or taken over. A lease that is not named runs out: a worker names what it is working on, not what it once claimed. Raises WL002.';

create or replace function worker_stop(p_worker_id text)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_tree_id uuid;
begin
  delete from workers where id = p_worker_id returning tree_id into v_tree_id;
  perform _unlock_jobs(array[p_worker_id]);
  perform _tree_enqueue(v_tree_id) where v_tree_id is not null;
end
$$;

comment on function worker_stop(text) is 'Takes a worker that stopped off the list, frees the jobs that it still holds, and leaves the tree that it kept to the others.';

create or replace function _unlock_jobs(p_worker_ids text[])
  returns void
  language plpgsql
  volatile
  security definer -- as _enqueue(): graphile-worker's schema is open to its owner only
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_worker_ids <> '{}' and to_regnamespace('graphile_worker') is not null and has_schema_privilege('graphile_worker', 'usage') then
    -- graphile-worker alone would keep the jobs of a dead worker locked for four hours; its force_unlock_workers() waits for
    -- each in any order. One that somebody else is writing is enqueued anew by the next sweep.
    update graphile_worker._private_jobs
       set locked_at = null, locked_by = null
     where id in (select id from graphile_worker._private_jobs where locked_by = any (p_worker_ids) for no key update skip locked);
  end if;
end
$$;

comment on function _unlock_jobs(text[]) is 'Frees the jobs that these workers hold, and waits for none of them.';

revoke execute on function _unlock_jobs(text[]) from public;

create or replace function iteration_release(p_work_item_id uuid, p_lease uuid)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _fence(p_work_item_id, p_lease);
begin
  perform from foci where id = v_item.focus_id for no key update;
  perform _stream_break(v_item.focus_id);
  perform _lease_drop(v_item);
  perform _enqueue(v_item.id);
end
$$;

comment on function iteration_release(uuid, uuid) is
  'Gives an unfinished iteration back, for another worker to take up at once: what a worker does that is asked to stop. Raises WL001, WL003, WL004.';

create or replace function _lease_end(p_item work_items)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_focus foci := (select f from foci f where f.id = p_item.focus_id);
  v_due jsonb;
begin
  update foci set lease_owner = null, lease_expires_at = null where id = v_focus.id;
  v_due := _lease_due(v_focus);
  update work_items
     set lease_token = null, state = p_item.state, state_reason = p_item.state_reason, run_at = p_item.run_at, slot_faculty = p_item.slot_faculty
   where id = p_item.id;
  return v_due;
end
$$;

comment on function _lease_end(work_items) is
  'Frees an item from its driver and brings it into the state, with the reason, the time and the place, that p_item has; the caller holds the row lock and charges its budgets with what is returned.';

create or replace function _lease_drop(p_item work_items, p_due jsonb default '{}')
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _budget_charge(p_due || _lease_end(p_item));
$$;

comment on function _lease_drop(work_items, jsonb) is '_lease_end(), and what is due is charged: p_due, where the caller has ended the lease of the focus.';

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
