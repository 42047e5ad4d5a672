-- Leases: which worker drives an item, and for how long.

create or replace function lease_renew(
    p_worker_id text,
    p_work_item_ids uuid[],
    p_leases uuid[],
    p_host text default '',
    p_pid integer default 0,
    p_tree_id uuid default null,
    p_concurrency integer default null,
    p_version text default null,
    p_daemon text default null,
    p_project text default null)
  returns setof uuid
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_now timestamptz := _now();
begin
  if coalesce(p_worker_id, '') !~ '\S' then
    perform _raise_invalid('a worker needs an id');
  elsif p_concurrency not between 0 and 10000 then
    perform _raise_invalid(format('a worker drives 0 to 10,000 items at once, not %s', p_concurrency));
  end if;
  perform _check_key('the id of a worker', p_worker_id), _check_key('the id of a Docker daemon', p_daemon), _project_check(p_project);
  if p_version is not null then
    perform _check_program(p_version);
  end if;
  insert into workers (id, host, pid, version, tree_id, concurrency, started_at, seen_at, daemon, project)
  values (p_worker_id, coalesce(p_host, ''), coalesce(p_pid, 0), coalesce(p_version, work_ledger_version()), p_tree_id, p_concurrency, v_now, v_now,
          p_daemon, p_project)
  on conflict (id) do update set seen_at = v_now, daemon = p_daemon;
  -- Never waits: fences are only read, as of the statement's start. A focus whose row is locked at the moment keeps its current expiry until the
  -- next heartbeat, and counts as held.
  update foci f
     set lease_expires_at = v_now + make_interval(secs => f.lease_seconds)
   where f.id in (
     select o.id
       from unnest(p_work_item_ids, p_leases) as l(work_item_id, lease)
       join fences e on e.work_item_id = l.work_item_id and e.lease_hash = sha256(uuid_send(l.lease))
       join foci o on o.id = e.focus_id
      where o.lease_owner = p_worker_id and o.lease_expires_at > v_now
        for no key update of o skip locked);
  return query
    select l.lease
      from unnest(p_work_item_ids, p_leases) as l(work_item_id, lease)
      join fences e on e.work_item_id = l.work_item_id and e.lease_hash = sha256(uuid_send(l.lease))
      join foci f on f.id = e.focus_id
     where f.lease_owner = p_worker_id and f.lease_expires_at > v_now;
end
$$;

comment on function lease_renew(text, uuid[], uuid[], text, integer, uuid, integer, text, text, text) is
  'A worker''s heartbeat: registers the worker, renews those of p_leases that it still holds, and returns them. p_work_item_ids: the items, in the order of their leases. A lease that is not returned is lost: its work item was cancelled, finished or taken over. A lease that is not passed expires, so a worker passes only the leases it is working under, not all it ever claimed. p_host: the name of its host, which faculties may require (hosts). p_daemon: identifies the Docker daemon that it uses, see workspace_bind(); null: it has none. p_tree_id: the worker works on this tree only, see work_keep(). p_concurrency: how many items it drives at once, at most, for v_workers. p_version: the worker''s version. One that the ledger does not serve, see work_ledger_serves(), is rejected with WL010, and the worker must give back what it holds; null: not checked, assumed to be the ledger''s. p_project: the worker drives only work of this project and of none; null: of all. Raises WL002, WL010.';

create or replace function _check_program(p_version text)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if not work_ledger_serves(p_version) then
    raise exception using
      errcode = 'WL010',
      message = format('this ledger has version %s and serves programs of versions %s to %s; this one is %s',
        work_ledger_version(), _oldest_program(), work_ledger_version(), p_version),
      hint = format('Use work-ledger %s.', work_ledger_version());
  end if;
end
$$;

comment on function _check_program(text) is 'Raises WL010 if the ledger does not serve programs of this version.';

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
  perform _lease_drop(v_item, v_item.slot_faculty);
end
$$;

comment on function iteration_release(uuid, uuid) is
  'Gives up the lease in the middle of an iteration, so that another worker can continue at once. A worker that is asked to stop calls it. Raises WL001, WL003, WL004.';

create or replace function _lease_end(p_item work_items, out item work_items, out due jsonb)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_focus foci := (select f from foci f where f.id = p_item.focus_id);
begin
  item := _paused_if_asked(p_item);
  update foci set lease_owner = null, lease_expires_at = null where id = v_focus.id;
  due := _lease_due(v_focus);
  update fences set lease_hash = null where work_item_id = item.id;
  item := _work_move(item, '_lease_end');
end
$$;

comment on function _lease_end(work_items) is
  'Ends the lease on an item and stores state, state_reason, run_at and slot_faculty of p_item, or pauses it, if that was asked for. item: its row as it is then. The caller holds the fence, charges the budgets with due, see _lease_due(), and enqueues.';

create or replace function _lease_drop(p_item work_items, p_slot text, p_due jsonb default '{}')
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_end record := _lease_end(p_item);
begin
  perform _budget_charge(p_due || v_end.due);
  if p_slot is null or (v_end.item).slot_faculty is not null then
    perform _enqueue(p_item.id) where (v_end.item).state in ('queued', 'claimed', 'running');
  else
    perform _enqueue_all('{}', array[p_slot]); -- an item that gave up its slot waits or is paused
  end if;
  return v_end.item;
end
$$;

comment on function _lease_drop(work_items, text, jsonb) is 'Ends the lease on an item, as _lease_end() does, charges the budgets, and enqueues what can run: the item or, if it gave up p_slot (the slot that it had under the lease), the next item for that slot. Returns its row. p_due: budget charges, if the caller has already ended the lease.';

create or replace function _set_aside(p_item work_items, p_state text, p_reason text, p_run_at timestamptz default null)
  returns work_items
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  p_item.state := p_state;
  p_item.state_reason := p_reason;
  p_item.run_at := coalesce(p_run_at, p_item.run_at);
  return p_item;
end
$$;

comment on function _set_aside(work_items, text, text, timestamptz) is 'The row of an item whose work stops for a time, for _lease_end() to store: with this state, reason and time.';

create or replace function _paused_if_asked(p_item work_items)
  returns work_items
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_asked text;
begin
  if p_item.is_pausing and p_item.resolved_at is null then
    v_asked := (select state_reason from work_items where id = p_item.id);
    p_item := _set_aside(p_item, 'paused', concat_ws('; ', v_asked, nullif(p_item.state_reason, v_asked)));
  end if;
  p_item.is_pausing := false;
  return p_item;
end
$$;

comment on function _paused_if_asked(work_items) is 'The row of an item whose lease ends: paused, if work_pause() asked for that, whatever else would follow; the reason of the person comes first. Any other row as it is.';

create or replace function _lease_lost(p_item work_items, p_focus foci, out item work_items, out due jsonb)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_end record;
begin
  p_focus.crash_count := p_focus.crash_count + 1;
  -- Expired leases share a row for their count, so a transaction that waited for it while holding an item could cause a deadlock. A claim that takes
  -- over a lease while a sweep is running does not count it.
  if _lock_try('sweep') then
    insert into work_hours as h (began_at, kind, name, faculty, model, project, times)
    values (date_trunc('hour', _now(), 'UTC'), 'lease', 'expired', p_focus.faculty, '', coalesce(p_item.project, ''), 1)
    on conflict (began_at, kind, name, faculty, model, project) do update set times = h.times + 1;
  end if;
  -- Each finished iteration resets the count, so crashes end an item only if it makes no progress.
  if p_focus.crash_count >= _max_attempts(p_item, p_focus) then
    update foci set crash_count = p_focus.crash_count where id = p_focus.id;
    select * into v_end from _focus_close(p_item, 'crashed', 'dead',
      format('its worker died %s times in iteration %s', p_focus.crash_count, p_focus.iteration + 1), null);
    item := v_end.item;
    due := v_end.due;
  else
    update foci set crash_count = p_focus.crash_count where id = p_focus.id;
    delete from claims where work_item_id = p_item.id; -- for others they had already lapsed with the lease
    perform _stream_break(p_focus.id);
    select * into v_end from _lease_end(p_item);
    item := v_end.item;
    due := v_end.due;
  end if;
end
$$;

comment on function _lease_lost(work_items, foci) is
  'Ends an expired lease and counts the crash. A work item whose iteration has killed max_attempts workers becomes dead; one that was to pause is paused. The caller holds the item''s fence, charges the budgets with due and enqueues what waits for the item or for the slot that it gave up.';

create or replace function _unlock_jobs(p_worker_ids text[])
  returns void
  language plpgsql
  volatile
  security definer -- as in _enqueue(): only its owner has access to graphile-worker's schema
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_worker_ids <> '{}' and to_regnamespace('graphile_worker') is not null and has_schema_privilege('graphile_worker', 'usage') then
    -- graphile-worker itself would keep a dead worker's jobs locked for four hours, and its force_unlock_workers() waits for row locks in no fixed order. A
    -- job whose row is locked is skipped here; the next sweep enqueues its item again.
    update graphile_worker._private_jobs
       set locked_at = null, locked_by = null
     where id in (select id from graphile_worker._private_jobs where locked_by = any (p_worker_ids) for no key update skip locked);
  end if;
end
$$;

comment on function _unlock_jobs(text[]) is 'Unlocks the jobs that these workers hold, without waiting for row locks.';

revoke execute on function _unlock_jobs(text[]) from public;
