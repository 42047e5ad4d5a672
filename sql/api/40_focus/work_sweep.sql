-- The sweep: recovers what dead workers and lost jobs left behind.

create or replace function work_sweep(p_worker_timeout interval default '30 seconds', p_call_timeout interval default '1 hour')
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_now timestamptz := _now();
  v_ids uuid[];
  v_item work_items;
  v_focus foci;
  v_lost record;
  v_due jsonb := '{}';
  v_free_slots text[] := '{}';
  v_expired integer := 0;
  v_given_up integer;
  v_enqueued integer;
  v_dead_workers text[];
  v_dead_trees uuid[];
  v_set_back_by interval;
begin
  perform _check_span('p_worker_timeout', p_worker_timeout);
  perform _check_span('p_call_timeout', p_call_timeout);
  -- One sweep at a time is enough; the others return immediately.
  if not _lock_try('sweep') then
    return jsonb_build_object('expired', 0, 'enqueued', 0, 'calls_given_up', 0, 'dead_workers', '[]'::jsonb);
  end if;
  v_set_back_by := _clock_set_back(v_now, p_worker_timeout);

  v_ids := array(
    select e.work_item_id
      from work_items w
      join foci f on (f.work_item_id, f.id) = (w.id, w.focus_id)
      join fences e on e.work_item_id = w.id
     where w.state in ('claimed', 'running') and f.lease_owner is not null and f.lease_expires_at <= v_now
     order by e.work_item_id
       for no key update of e skip locked);
  perform _leases_begin_by_now();
  foreach v_focus in array array(
    select f
      from fences e
      join foci f on f.id = e.focus_id
     where e.work_item_id = any (v_ids) and e.lease_hash is not null and f.lease_expires_at <= v_now
     order by f.id
       for no key update of f)
  loop
    v_item := (select w from work_items w where w.id = v_focus.work_item_id);
    select * into v_lost from _lease_lost(v_item, v_focus);
    v_due := v_due || v_lost.due;
    v_free_slots := v_free_slots || case when (v_lost.item).slot_faculty is null then v_item.slot_faculty end;
    v_expired := v_expired + 1;
  end loop;
  v_given_up := _calls_give_up(p_call_timeout);
  perform _claims_lapse();
  perform _budget_charge(v_due);

  update workers set seen_at = _now() where id in (select id from workers where seen_at > _now() for no key update skip locked);
  with gone as (
    delete from workers where seen_at < v_now - p_worker_timeout returning id, tree_id
  )
  select coalesce(array_agg(id), '{}'), array_agg(tree_id) into v_dead_workers, v_dead_trees from gone;
  if v_set_back_by is not null then
    update models set cooldown_ends_at = cooldown_ends_at - v_set_back_by where cooldown_ends_at > v_now;
  end if;
  v_enqueued := _enqueue_forgotten(v_now, v_dead_workers, v_dead_trees, v_free_slots, p_worker_timeout);
  perform _unlock_jobs(v_dead_workers);
  perform _jobs_tidy(p_worker_timeout);
  return jsonb_build_object('expired', v_expired, 'enqueued', v_enqueued, 'calls_given_up', v_given_up, 'dead_workers', to_jsonb(v_dead_workers));
end
$$;

comment on function work_sweep(interval, interval) is
  'Recovers from dead workers and lost jobs: ends expired leases, unlocks the jobs of workers not seen for p_worker_timeout, fails calls of Agent OS clients that have been in flight for longer than p_call_timeout, enqueues due work items that have no job, including those that waited for a worker on another host, and deletes jobs that will never run. If the server''s clock was set back, leases and waits are measured from now on. Each sweep takes the next 1,000 items of a long backlog. Every worker runs it at startup and every few seconds; while one sweep runs, others return at once. Returns {expired, enqueued, calls_given_up, dead_workers}: three counts and a list of ids. Raises WL002.';

create or replace function _enqueue_forgotten(p_now timestamptz, p_dead_workers text[], p_dead_trees uuid[], p_free_slots text[], p_worker_timeout interval)
  returns integer
  language plpgsql
  volatile
  security definer -- as in _enqueue(): reads graphile-worker's jobs
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_count integer;
  v_task text := _job_task();
  v_ids uuid[];
  v_full text[] := array(
    select _faculty_ref(f) from faculties f
     where f.is_current and f.config ->> 'max_concurrent' is not null
       and _slots_used(f) >= (f.config ->> 'max_concurrent')::integer);
begin
  if to_regnamespace('graphile_worker') is null or not has_schema_privilege('graphile_worker', 'usage') then
    return 0;
  end if;
  v_ids := _sweep_items('due', p_now) || _sweep_items('waiting', p_now) || array(select id from work_items where root_id = any (p_dead_trees))
    || array(select _slot_next(f) from unnest(p_free_slots) f where f is not null);
  with looked_at as materialized (
    select w.id, w.state, w.focus_id, w as item,
           format('%s:%s:%s:%s', v_task, w.id, coalesce(f.attempt, w.attempts + 1), coalesce(f.iteration, 0) + 1) as job_key
      from work_items w
      left join foci f on f.id = w.focus_id
     where w.id = any (v_ids) and w.state in ('queued', 'claimed', 'running', 'waiting') and f.lease_owner is null
       -- Due, or waiting for something that has happened: a worker came to its host or for its project, or the job that would have woken it was lost.
       and (w.run_at <= p_now or (w.state = 'waiting' and case
         when w.is_stranded then (_worker_for(w, _item_hosts(w))).id is not null
         else exists (select from inbox i where i.work_item_id = w.id and i.is_interrupt and i.consumed_at is null) or exists (
           select from approvals a join tool_calls k on k.id = a.tool_call_id
            where a.work_item_id = w.id and k.status = 'waiting' and a.decision is not null)
           -- Checked only if a call waits at all, since it looks through everything that the calls wait for.
           or case when exists (select from tool_calls k where k.work_item_id = w.id and k.completed_at is null and k.status = 'waiting')
                   then _has_come(w.id) end end))
  ),
  -- All keys as one array: the planner assumes that an array built here is short, so it uses the index, however many jobs there are.
  jobs as materialized (
    select j.* from graphile_worker.jobs j where j.key = any (array(select l.job_key from looked_at l))
  ),
  forgotten as materialized (
    select l.*
      from looked_at l
     where not exists (
       select
         from jobs j
        where j.key = l.job_key
          -- Jobs that will not run do not count: out of attempts; under a task identifier that no worker that may drive the item looks for (a worker began
          -- or stopped keeping the tree, the last worker of a host is gone, the first one of a project has come); due at a time from before the clock was set
          -- back, later than graphile-worker pauses after a failure; locked by a dead worker, or for too long by a live one.
          and case when j.locked_by is null or j.locked_by = any (p_dead_workers)
                   then j.attempts < j.max_attempts and j.run_at <= p_now + greatest(p_worker_timeout, make_interval(secs => exp(least(j.attempts, 10))))
                        and _will_be_seen(l.item, j.task_identifier)
                   else j.locked_at > p_now - p_worker_timeout and exists (select from workers k where k.id = j.locked_by) end)
  )
  select array_agg(l.id) into v_ids
    from forgotten l
    join work_items w on w.id = l.id
    cross join lateral (select nullif(_faculty_ref(_faculty_now(w)), '') as ref) f
   where (l.focus_id is not null or f.ref is not null) and (l.state <> 'queued' or f.ref <> all (v_full));
  select count(*) filter (where _enqueue(i.id)) into v_count from (select unnest(v_ids) as id order by id) i;
  return v_count;
end
$$;

comment on function _enqueue_forgotten(timestamptz, text[], uuid[], text[], interval) is 'Enqueues due work items that have no job that will run, and returns how many: items submitted before graphile-worker was installed, unroutable or stranded until now, left behind by a worker that died or hangs, or whose wake-up was lost. It looks at those of _sweep_items(), at p_dead_trees, which dead workers kept, and at the next one for each of p_free_slots. The jobs of p_dead_workers are about to be unlocked and count as runnable.';

revoke execute on function _enqueue_forgotten(timestamptz, text[], uuid[], text[], interval) from public;

create or replace function _sweep_items(p_walk text, p_now timestamptz)
  returns uuid[]
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_from sweep_walks := (select s from sweep_walks s where s.walk = p_walk);
  v_ids uuid[];
  v_run_at timestamptz;
begin
  v_from.run_at := greatest(v_from.run_at, case p_walk when 'due' then '-infinity' else p_now end);
  v_from.work_item_id := coalesce(v_from.work_item_id, '00000000-0000-0000-0000-000000000000');
  select array_agg(i.id), max(i.run_at) into v_ids, v_run_at
    from (select w.id, w.run_at
            from work_items w
           where w.state in ('queued', 'claimed', 'running', 'waiting') and (w.run_at, w.id) > (v_from.run_at, v_from.work_item_id)
             and (p_walk = 'waiting' or w.run_at <= p_now)
           order by w.run_at, w.id
           limit 1000) i;
  insert into sweep_walks (walk, run_at, work_item_id)
  values (p_walk, case when v_ids[1000] is not null then v_run_at end, v_ids[1000])
  on conflict (walk) do update set run_at = excluded.run_at, work_item_id = excluded.work_item_id;
  return v_ids;
end
$$;

comment on function _sweep_items(text, timestamptz) is 'The next 1,000 unfinished work items by run_at, starting over after the last, so a sweep costs the same however many there are. p_walk: due: those whose time has come; waiting: the others, among them those that wait for something that may have happened.';

create or replace function _calls_give_up(p_after interval)
  returns integer
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with lost as (
    select k.id from tool_calls k join work_items w on w.id = k.work_item_id
     where k.external_id is not null and k.completed_at is null and coalesce(k.started_at, k.created_at) < _now() - p_after and w.work_type = 'ldg:task'
     order by k.id
       for no key update of k skip locked
  ), failed as (
    update tool_calls k
       set status = 'failed', is_error = true, value = to_json(said.words), result = to_json(said.words), completed_at = _now()
      from lost, (select format('[engine] Given up: its client reported nothing about it for %s.', p_after) as words) said
     where k.id = lost.id
    returning 1
  )
  select count(*)::integer from failed;
$$;

comment on function _calls_give_up(interval) is 'Fails calls of Agent OS tasks whose client has reported nothing about them for p_after; returns how many.';
