-- The state of the ledger: gauges and totals, the same whichever worker reports them. OTLP and /metrics both come from here.

create or replace function work_gauges()
  returns table (metric text, labels jsonb, value double precision)
  language sql
  stable
  rows 100
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select * from _gauges_of_the_queue()
  union all
  select * from _gauges_of_workers()
  union all
  select v.metric, jsonb_strip_nulls(jsonb_build_object('project', a.project)), v.value
    from (select a.project, count(*)::double precision as waiting, extract(epoch from _now() - min(a.requested_at))::double precision as age
            from v_approvals a group by rollup (a.project) having grouping(a.project) = 0 or count(*) = 0) a
    cross join lateral (values ('work.approvals.waiting', a.waiting), ('work.approvals.oldest_age', coalesce(a.age, 0))) v(metric, value)
  union all
  select 'work.retention.lag', '{}', coalesce(extract(epoch from _retention_lag()), 0)
  union all
  select * from _gauges_of_standbys()
  union all
  select * from _totals();
$$;

comment on function work_gauges() is
  'How the ledger stands now: select * from work_gauges(). A row for each gauge and total of v_metrics and set of labels. It is the same whoever asks, so of several processes that report it one counts: max, not sum. Totals are of everything that was ever done (of sessions of other programs nothing) and stay when work is erased. Its cost goes with what is queued and with the hours, not with all items.';

create or replace function _gauges_of_the_queue()
  returns table (metric text, labels jsonb, value double precision)
  language sql
  stable
  rows 100
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with due as (
    select coalesce(nullif(
             _faculty_ref(_faculty_for(case when n.is_asked_for then n.name end, n.name, _project_now(nullif(n.project, '')))), ''), 'none') as faculty,
           _project_now(nullif(n.project, '')) as project, d.items, d.since
      from _names_queued() n
      cross join lateral (
        select count(*) as items, min(greatest(w.run_at, w.created_at)) as since
          from work_items w
         where w.state = 'queued' and w.focus_id is null and coalesce(w.project, '') = n.project and (w.faculty is not null) = n.is_asked_for
           and coalesce(w.faculty, w.work_type) = n.name and w.run_at <= _now()) d
    union all
    select concat_ws('@', f.faculty, c.project), _project_now(w.project), count(*), min(w.run_at)
      from work_items w
      join foci f on f.id = w.focus_id
      join faculties c on c.content_hash = f.faculty_hash
     where w.state = 'queued' and w.focus_id is not null and w.run_at <= _now()
     group by 1, 2
    union all
    -- Items between two iterations, since when is not recorded, and those whose worker died, whether a sweep has ended its lease or none could.
    select concat_ws('@', f.faculty, c.project), _project_now(w.project), count(*), min(case when f.lease_owner is not null then f.lease_expires_at end)
      from work_items w
      join foci f on f.id = w.focus_id
      join faculties c on c.content_hash = f.faculty_hash
     where w.state in ('claimed', 'running') and case when f.lease_owner is null then w.run_at <= _now() else f.lease_expires_at <= _now() end
     group by 1, 2
    union all
    select coalesce(nullif(n.driven_by, ''), nullif(_faculty_ref(_faculty_for(n.faculty, n.work_type, _project_now(n.project))), ''), 'none'),
           _project_now(n.project), n.items, n.since
      from (
        -- The time of a wait has come, or no living worker may drive the item: at the earliest since it was submitted or driven last.
        select concat_ws('@', f.faculty, c.project) as driven_by, w.faculty, w.work_type, w.project, count(*) as items,
               min(case when w.is_stranded then greatest(w.created_at, f.leased_at) else w.run_at end) as since
          from work_items w
          left join foci f on f.id = w.focus_id
          left join faculties c on c.content_hash = f.faculty_hash
         where w.state = 'waiting' and (w.is_stranded or w.run_at <= _now())
         group by 1, 2, 3, 4) n
  )
  select v.metric, jsonb_strip_nulls(jsonb_build_object('faculty', d.faculty, 'project', d.project)), v.value
    from (
      select d.faculty, d.project, sum(d.items) as items, min(d.since) as since from due d group by 1, 2
      -- A faculty with an empty queue is reported too: a gauge that disappears is not 0.
      union all
      select _faculty_ref(f), null, 0, null from faculties f
       where f.is_current and not exists (select from due d where d.faculty = _faculty_ref(f) and d.project is null)
    ) d
    cross join lateral (values
      ('work.queue.due', d.items::double precision),
      ('work.queue.oldest_age', coalesce(extract(epoch from _now() - d.since), 0)::double precision)) v(metric, value)
  union all
  select v.metric, _faculty_labels(f.name, f.project), v.value::double precision
    from faculties f
    cross join lateral (select (f.config ->> 'max_concurrent')::integer as most, _slots_used(f) as used) s
    cross join lateral (values ('work.slots.taken', s.used), ('work.slots.free', greatest(s.most - s.used, 0))) v(metric, value)
   where f.is_current and s.most is not null;
$$;

comment on function _gauges_of_the_queue() is 'What is due and for how long, and the slots of faculties that have a number of them, see work_gauges().';

create or replace function _gauges_of_workers()
  returns table (metric text, labels jsonb, value double precision)
  language sql
  stable
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select v.metric, '{}'::jsonb, v.value
    from (select count(*)::double precision as alive, coalesce(sum(k.free), 0)::double precision as free from v_workers k where k.is_alive) k
    cross join lateral (values ('work.workers.alive', k.alive), ('work.workers.free', k.free)) v(metric, value)
  union all
  select 'work.leases.overdue', '{}', count(*) filter (where l.is_expired) from v_leases l;
$$;

comment on function _gauges_of_workers() is 'Workers that are alive, what they can take, and leases that no sweep has ended, see work_gauges().';

create or replace function _retention_lag()
  returns interval
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select greatest(
    (select max(_now() - d.resolved_at - p.age) from _retention_due(1) d join retention_policies p on p.id = d.policy_id),
    -- Those that cannot be exported are due all the time, not only when they are tried again.
    (select d.lag
       from (select r.root_id from retention_runs r join work_items o on o.id = r.root_id where o.erased_at is null order by o.resolved_at) r
      cross join lateral (
        select _now() - d.resolved_at - p.age as lag
          from work_items i
         cross join lateral _retention_of(
           i, case when i.resolved_at is null then 'completed' else i.state end, coalesce(i.resolved_at, _silent_since(i))) d
          join retention_policies p on p.id = d.policy_id
         where i.id = r.root_id
        offset 0) d -- one after another
      limit 1), -- the oldest: a function that fails for one usually fails for all
    (select max(_now() - e.began_at) from erasures e where e.erased_at is null));
$$;

comment on function _retention_lag() is 'How long ago a policy should have erased what it has not: trees that are due, whose export failed, or whose erasure has begun and not ended. Null: nothing.';

create or replace function _gauges_of_standbys()
  returns table (metric text, labels jsonb, value double precision)
  language sql
  stable
  rows 2
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select 'work.standby.lag', jsonb_build_object('standby', coalesce(nullif(r.application_name, ''), 'standby')),
         extract(epoch from max(r.replay_lag))::double precision
    from pg_stat_replication r
   where r.state is not null
   group by 2
  having max(r.replay_lag) is not null
  union all
  -- If nothing is written, there is nothing to replay.
  select 'work.standby.lag', '{"standby": "this"}',
         case when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() then 0
              else coalesce(extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()), 0) end
   where pg_is_in_recovery();
$$;

comment on function _gauges_of_standbys() is 'How far standbys are behind, as the primary hears of them or as the one that is asked says of itself, see work_gauges().';

create or replace function _totals()
  returns table (metric text, labels jsonb, value double precision)
  language sql
  stable
  rows 100
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with totals as materialized (
    select h.kind, h.name, h.faculty, nullif(h.model, '') as model, h.project,
           sum(h.times) as times, sum(h.failures) as failures, sum(h.seconds) as seconds, sum(h.input_tokens) as input_tokens,
           sum(h.cached_input_tokens) as cached_input_tokens, sum(h.cache_write_tokens) as cache_write_tokens,
           sum(h.output_tokens) as output_tokens, sum(h.cost) as cost
      from (select case h.kind when 'model' then '' else h.name end as name, h.kind, h.faculty, h.model, h.project, h.times, h.failures, h.seconds,
                   h.input_tokens, h.cached_input_tokens, h.cache_write_tokens, h.output_tokens, h.cost
              from v_work_hours h) h
     group by 1, 2, 3, 4, 5
  )
  select v.metric, jsonb_strip_nulls(jsonb_build_object('faculty', t.faculty, 'model', t.model, 'project', t.project) || v.labels), v.value::double precision
    from totals t
    cross join lateral (values
      ('item', 'work.items.ended', jsonb_build_object('state', t.name), t.times),
      ('attempt', 'work.attempts.ended', jsonb_build_object('outcome', t.name), t.times),
      ('lease', 'work.leases.expired', '{}', t.times),
      ('model', 'work.model.requests', '{}', t.times),
      ('failure', 'work.model.failures', jsonb_build_object('class', t.name), t.times),
      ('model', 'work.model.tokens', '{"kind": "input"}', t.input_tokens),
      ('model', 'work.model.tokens', '{"kind": "cache_read"}', t.cached_input_tokens),
      ('model', 'work.model.tokens', '{"kind": "cache_write"}', t.cache_write_tokens),
      ('model', 'work.model.tokens', '{"kind": "output"}', t.output_tokens),
      ('model', 'work.model.cost', '{}', t.cost),
      ('tool', 'work.tool.calls', jsonb_build_object('tool', t.name), t.times),
      ('tool', 'work.tool.failures', jsonb_build_object('tool', t.name), t.failures),
      ('tool', 'work.tool.time', jsonb_build_object('tool', t.name), t.seconds::numeric)) v(kind, metric, labels, value)
   where v.kind = t.kind and v.value is not null;
$$;

comment on function _totals() is 'Everything that was ever done, see work_gauges().';
