create or replace function work_sweep(p_worker_timeout interval default '30 seconds')
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_now timestamptz := _now();
  v_id uuid;
  v_item work_items;
  v_focus foci;
  v_expired integer := 0;
  v_enqueued integer := 0;
  v_dead_workers text[];
begin
  perform _check_span('how long a worker may be silent', p_worker_timeout);
  -- One sweeper at a time is enough; the others go home.
  if not pg_try_advisory_xact_lock(hashtextextended('work_sweep ' || _ledger_schema(), 0)) then
    return jsonb_build_object('expired', 0, 'enqueued', 0, 'dead_workers', '[]'::jsonb);
  end if;

  for v_id in
    select work_item_id from foci where lease_owner is not null and lease_expires_at <= v_now order by work_item_id
  loop
    select * into v_item from work_items where id = v_id for update skip locked;
    continue when not found or v_item.lease_token is null;
    select * into v_focus from foci where id = v_item.focus_id;
    continue when v_focus.lease_expires_at > v_now;
    v_item := _lease_lost(v_item, v_focus);
    v_expired := v_expired + 1;
  end loop;

  with gone as (
    delete from workers where seen_at < v_now - p_worker_timeout returning id
  )
  select coalesce(array_agg(id), '{}') into v_dead_workers from gone;
  perform _unlock_jobs(v_dead_workers);
  v_enqueued := _enqueue_forgotten(v_now);
  return jsonb_build_object('expired', v_expired, 'enqueued', v_enqueued, 'dead_workers', to_jsonb(v_dead_workers));
end
$$;

comment on function work_sweep(interval) is
  'Makes good what died: takes expired leases away, frees the jobs of workers not heard of for p_worker_timeout, and rings for every due work item that has no job. Every worker runs it at its start and every few seconds. Returns {expired, enqueued, dead_workers}.';

create or replace function _enqueue_forgotten(p_now timestamptz)
  returns integer
  language plpgsql
  volatile
  security definer -- as _enqueue(): reads graphile-worker's jobs
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_count integer;
  v_full text[] := array(
    select f.name from faculties f
     where f.is_current and f.config ->> 'max_concurrent' is not null
       and (select count(*) from work_items w where w.slot_faculty = f.name) >= (f.config ->> 'max_concurrent')::integer);
begin
  if to_regnamespace('graphile_worker') is null or not has_schema_privilege('graphile_worker', 'usage') then
    return 0;
  end if;
  select count(*) filter (where _enqueue(w.id))
    into v_count
    from (
      select w.id
        from work_items w
        left join foci f on f.id = w.focus_id
       where w.state in ('queued', 'claimed', 'running', 'waiting')
         -- A wait that is over, or that a doorbell lost on the way would have ended.
         and (w.run_at <= p_now or (w.state = 'waiting' and exists (select from inbox i where i.work_item_id = w.id and i.consumed_at is null))
           or (w.state = 'waiting' and exists (
             select from tool_calls k join approvals a on a.tool_call_id = k.id where k.work_item_id = w.id and k.status = 'waiting' and a.decision is not null)))
         and w.lease_token is null
         and (w.focus_id is not null or (_faculty_for(w.faculty, w.work_type)).name is not null)
         and (w.state <> 'queued' or coalesce(f.faculty, (_faculty_for(w.faculty, w.work_type)).name) <> all (v_full))
         and not exists (
           select
             from graphile_worker.jobs j
            where j.key = format('%s:%s:%s:%s', _job_task(), w.id, coalesce(f.attempt, w.attempts + 1), coalesce(f.iteration, 0) + 1)
              -- A job that is used up, or held by a worker that died before its first heartbeat, rings no more.
              and case when j.locked_by is null then j.attempts < j.max_attempts
                       else exists (select from workers k where k.id = j.locked_by) end)
       order by w.priority desc, w.run_at
       limit 1000
    ) w;
  return v_count;
end
$$;

comment on function _enqueue_forgotten(timestamptz) is 'Rings for due work items without a job that will run: submitted before graphile-worker was there, unroutable until now, or left behind by a dead worker.';

revoke execute on function _enqueue_forgotten(timestamptz) from public;
