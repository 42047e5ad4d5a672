-- Work done, by the hour: the sweep adds up rows, each once; what has come since is counted on demand.

create or replace function _seconds_bucket(p_seconds double precision)
  returns integer
  language sql
  immutable
  parallel safe
  return case when p_seconds <= 0.001 then 0 else least(ceil(round((2 * ln(p_seconds / 0.001) / ln(2))::numeric, 6)), 45)::integer end;

comment on function _seconds_bucket(double precision) is 'In which of 46 buckets a time is counted: 0 up to a millisecond; each next one goes to the square root of two of that, the last takes what is longer than an hour and a half. Null for null.';

create or replace function _bucket_seconds(p_bucket double precision)
  returns double precision
  language sql
  immutable
  parallel safe
  return 0.001 * power(2, p_bucket / 2);

comment on function _bucket_seconds(double precision) is 'The longest time in a bucket of _seconds_bucket().';

create or replace function _bucket_counts(p_buckets integer[])
  returns bigint[]
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(array_agg(coalesce(c.times, 0) order by n), '{}')
    from generate_series(0, (select max(b) from unnest(p_buckets) b)) n
    left join (select b, count(*) as times from unnest(p_buckets) b group by 1) c on c.b = n;
$$;

comment on function _bucket_counts(integer[]) is 'How many of these are in bucket 0, 1, 2, …; nulls do not count.';

create or replace function _counts_add(p_counts bigint[], p_more bigint[])
  returns bigint[]
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(array_agg(coalesce(u.one, 0) + coalesce(u.other, 0) order by u.n), '{}')
    from unnest(p_counts, p_more) with ordinality u(one, other, n);
$$;

comment on function _counts_add(bigint[], bigint[]) is 'The counts of both, bucket by bucket.';

create or replace function _counts_quantile(p_counts bigint[], p_part double precision)
  returns double precision
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _bucket_seconds(c.bucket - 1 + (p_part * c.total - (c.up_to - c.times)) / c.times)
    from (
      select u.n - 1 as bucket, u.times, sum(u.times) over (order by u.n) as up_to, sum(u.times) over () as total
        from unnest(p_counts) with ordinality u(times, n)) c
   where c.times > 0 and c.up_to >= p_part * c.total
   order by c.bucket
   limit 1;
$$;

comment on function _counts_quantile(bigint[], double precision) is 'The time that this part of what was counted (0.5: half) did not exceed, as near as the buckets tell: by less than the square root of two. Null: nothing was counted.';

create or replace function _hours_of(p_from timestamptz, p_until timestamptz)
  returns setof work_hours
  language sql
  stable
  rows 100
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with done(at, kind, name, focus_id, work_item_id, model, is_failed, turn, seconds, first_seconds) as (
    select t.completed_at, 'model', case t.turn_type when 'compaction' then 'summary' else 'turn' end, t.focus_id, t.work_item_id, coalesce(c.model, t.model),
           false, t, t.duration_ms / 1000.0::double precision, t.first_token_ms / 1000.0::double precision
      from turns t
      left join turn_configs c on c.content_hash = t.config_hash
     where t.completed_at >= p_from and t.completed_at < p_until and t.external_id is null and t.total_tokens > 0
    union all
    select m.ended_at, 'failure', m.error_class, t.focus_id, t.work_item_id, m.model, true, null, extract(epoch from m.ended_at - m.started_at), null
      from model_calls m
      join turns t on t.id = m.turn_id
     -- A request that was lost with its worker is noticed only later; the lease that expired then is counted instead.
     where m.ended_at >= p_from and m.ended_at < p_until and m.error_class <> 'lost' and t.external_id is null
    union all
    select k.completed_at, 'tool', coalesce(a.tool_name, 'other'), t.focus_id, k.work_item_id, null, k.is_error, null,
           case when not _is_wait(k.tool_name) then extract(epoch from k.completed_at - k.started_at) end, null
      from tool_calls k
      join turns t on t.id = k.turn_id
      left join abilities a on a.tool_name = k.tool_name
     where k.completed_at > '-infinity' and k.completed_at >= p_from and k.completed_at < p_until and k.external_id is null and t.external_id is null
    union all
    select f.ended_at, 'attempt', f.outcome, f.id, f.work_item_id, null, false, null, extract(epoch from f.ended_at - f.created_at), null
      from foci f
     where f.ended_at >= p_from and f.ended_at < p_until
    union all
    select w.resolved_at, 'item', w.state, (select f.id from foci f where f.work_item_id = w.id order by f.attempt desc limit 1), w.id, null, false, null,
           extract(epoch from w.resolved_at - w.created_at), null
      from work_items w
     where w.resolved_at > '-infinity' and w.resolved_at >= p_from and w.resolved_at < p_until and w.work_type not in ('journal', 'import', 'ldg:task')
  )
  select date_trunc('hour', d.at, 'UTC'), d.kind, d.name, coalesce(_ref_of(d.focus_id), w.faculty, 'none'), coalesce(d.model, ''), coalesce(w.project, ''),
         count(*), count(*) filter (where d.is_failed),
         coalesce(sum((d.turn).input_tokens), 0), coalesce(sum((d.turn).cached_input_tokens), 0), coalesce(sum((d.turn).cache_write_tokens), 0),
         coalesce(sum((d.turn).cache_write_tokens) filter (where c.cache_ttl = '1h'), 0), coalesce(sum((d.turn).output_tokens), 0),
         coalesce(sum(d.seconds), 0), _bucket_counts(array_agg(_seconds_bucket(d.seconds))), _bucket_counts(array_agg(_seconds_bucket(d.first_seconds)))
    from done d
    join work_items w on w.id = d.work_item_id
    left join turn_configs c on c.content_hash = (d.turn).config_hash
   group by 1, 2, 3, 4, 5, 6;
$$;

comment on function _hours_of(timestamptz, timestamptz) is 'Rows of work_hours for what the ledger''s rows say of this time. Expired leases have no rows to be counted from: who ends one counts it. What calls a tool that is not registered is counted as other.';

create or replace function _ref_of(p_focus_id uuid)
  returns text
  language sql
  stable
begin atomic
  select concat_ws('@', f.faculty, c.project) from foci f join faculties c on c.content_hash = f.faculty_hash where f.id = p_focus_id; -- as _faculty_ref()
end;

comment on function _ref_of(uuid) is 'The reference of the faculty whose attempt this is; null: there is none.';

create or replace function work_hours_sum()
  returns timestamptz
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_from timestamptz;
  -- A role that cannot see who writes does not wait for anyone (_settled_until()): a minute is longer than any transaction here.
  v_until timestamptz := least(_settled_until(), _now() - interval '1 minute');
begin
  insert into sweep_walks (walk, run_at) values ('hours', '-infinity') on conflict do nothing;
  select run_at into v_from from sweep_walks where walk = 'hours' for no key update skip locked;
  if v_from is null or v_until < v_from + interval '1 minute' then
    return v_from;
  end if;
  -- Work from before counting began is counted a day at a time, from one day with work to the next.
  v_from := least(v_until,
    (select min(t.completed_at) from turns t where t.completed_at >= v_from),
    (select min(k.completed_at) from tool_calls k where k.completed_at > '-infinity' and k.completed_at >= v_from),
    (select min(m.ended_at) from model_calls m where m.ended_at >= v_from and m.error_class is not null),
    (select min(f.ended_at) from foci f where f.ended_at >= v_from),
    (select min(w.resolved_at) from work_items w where w.resolved_at > '-infinity' and w.resolved_at >= v_from));
  v_until := least(v_until, v_from + interval '1 day');
  update sweep_walks set run_at = v_until where walk = 'hours';
  insert into work_hours as h
  select * from _hours_of(v_from, v_until)
  on conflict (began_at, kind, name, faculty, model, project) do update
    set times = h.times + excluded.times, failures = h.failures + excluded.failures, input_tokens = h.input_tokens + excluded.input_tokens,
        cached_input_tokens = h.cached_input_tokens + excluded.cached_input_tokens,
        cache_write_tokens = h.cache_write_tokens + excluded.cache_write_tokens,
        hour_write_tokens = h.hour_write_tokens + excluded.hour_write_tokens, output_tokens = h.output_tokens + excluded.output_tokens,
        seconds = h.seconds + excluded.seconds, took = _counts_add(h.took, excluded.took), first_took = _counts_add(h.first_took, excluded.first_took);
  return v_until;
end
$$;

comment on function work_hours_sum() is
  'Adds what was done since the last call to work_hours, a day at most, up to the start of the oldest transaction that may still write, and never the last minute; each turn, call, attempt and item once, whoever calls at the same time. Every worker calls it twice a minute. Returns until when everything is in work_hours; null: another call adds just now.';

create or replace view v_work_hours with (security_invoker = true) as
  select h.began_at, h.kind, h.name, h.faculty, h.model, _project_now(nullif(h.project, '')) as project, h.project as stored_project, h.times, h.failures,
         h.input_tokens, h.cached_input_tokens, h.cache_write_tokens, h.output_tokens,
         case when h.kind = 'model'
              then _price(h.model, h.input_tokens, h.output_tokens, h.cached_input_tokens, h.cache_write_tokens, h.hour_write_tokens) end as cost,
         h.seconds, h.took, h.first_took
    from (
      select * from work_hours
      union all
      -- What no sweep has added yet.
      select h.* from _hours_of(coalesce((select s.run_at from sweep_walks s where s.walk = 'hours'), '-infinity'), 'infinity') h
    ) h;
comment on view v_work_hours is 'What was done in each hour, up to this moment: answered requests with their tokens and their money, failed requests, calls of tools, attempts and items that ended, leases that expired. An hour may have several rows of a kind: add them up, or ask work_totals(). Sessions of other programs are not in it.';
comment on column v_work_hours.began_at is 'When the hour began.';
comment on column v_work_hours.kind is 'model, failure, tool, attempt, item or lease: see work_hours.kind.';
comment on column v_work_hours.name is 'Which of the kind: see work_hours.name.';
comment on column v_work_hours.faculty is 'Its name, name@project of a project''s; none: it had none.';
comment on column v_work_hours.model is 'The model that was asked; empty: none was.';
comment on column v_work_hours.project is 'The project, by the name that it has today; null: none.';
comment on column v_work_hours.stored_project is 'The project as it was submitted with, see project_names(); empty: none.';
comment on column v_work_hours.times is 'How often.';
comment on column v_work_hours.failures is 'Of tool: how many of these ended with an error.';
comment on column v_work_hours.input_tokens is 'Outside of the provider''s cache.';
comment on column v_work_hours.cached_input_tokens is 'Read from the provider''s cache.';
comment on column v_work_hours.cache_write_tokens is 'Written to the provider''s cache.';
comment on column v_work_hours.output_tokens is 'Of the answers.';
comment on column v_work_hours.cost is 'At today''s prices, in their currency; null: the model has none, or no model was asked.';
comment on column v_work_hours.seconds is 'How long all of them took; a wait takes no time.';
comment on column v_work_hours.took is 'How many took how long, in buckets; work_totals() makes times of them.';
comment on column v_work_hours.first_took is 'The same, until the first token came.';

create or replace function work_totals(
    p_by text default 'total',
    p_from timestamptz default '-infinity',
    p_until timestamptz default 'infinity',
    p_step text default null,
    p_project text default null)
  returns table (
    at timestamptz, key text, requests bigint, iterations bigint, input_tokens bigint, cached_input_tokens bigint, cache_write_tokens bigint,
    output_tokens bigint, cost numeric, unpriced_requests bigint, request_p50 double precision, request_p95 double precision, first_token_p50 double precision,
    first_token_p95 double precision, failed_requests bigint, calls bigint, failed_calls bigint, call_seconds double precision, call_p50 double precision,
    call_p95 double precision, items bigint, completed_items bigint, expired_leases bigint)
  language plpgsql
  stable
  rows 50
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_names text[] := _project_and_none(p_project);
begin
  if p_by is null or p_by <> all (array['total', 'faculty', 'model', 'project', 'tool', 'failure', 'state']) then
    perform _raise_invalid(format('totals cannot be shown by %s', coalesce(p_by, 'null')), 'One of: total, faculty, model, project, tool, failure, state.');
  elsif p_step <> all (array['hour', 'day']) then
    perform _raise_invalid(format('totals cannot be shown in steps of %s', p_step), 'One of: hour, day; null: none.');
  end if;
  return query
    with hours as materialized (
      select case p_step when 'day' then date_trunc('day', h.began_at, 'UTC') when 'hour' then h.began_at end as at,
             case p_by when 'total' then '' when 'faculty' then h.faculty when 'model' then h.model when 'project' then coalesce(h.project, 'none')
                       else h.name end as key,
             h.*
        from v_work_hours h
       where h.began_at >= p_from and h.began_at < p_until and (p_project is null or h.stored_project = any (v_names))
         and case p_by when 'model' then h.kind in ('model', 'failure') when 'tool' then h.kind = 'tool' when 'failure' then h.kind = 'failure'
                       when 'state' then h.kind = 'item' else true end
    ),
    took as (
      select c.at, c.key, c.kind, array_agg(c.took order by c.n) as took, array_agg(c.first_took order by c.n) as first_took
        from (
          select h.at, h.key, h.kind, u.n, coalesce(sum(u.took), 0)::bigint as took, coalesce(sum(u.first_took), 0)::bigint as first_took
            from hours h cross join lateral unnest(h.took, h.first_took) with ordinality u(took, first_took, n)
           where h.kind in ('model', 'tool')
           group by 1, 2, 3, 4) c
       group by 1, 2, 3
    ),
    sums as (
      select h.at, h.key,
             coalesce(sum(h.times) filter (where h.kind = 'model'), 0)::bigint as requests,
             coalesce(sum(h.times) filter (where h.kind = 'model' and h.name = 'turn'), 0)::bigint as iterations,
             sum(h.input_tokens)::bigint as input_tokens, sum(h.cached_input_tokens)::bigint as cached_input_tokens,
             sum(h.cache_write_tokens)::bigint as cache_write_tokens, sum(h.output_tokens)::bigint as output_tokens, sum(h.cost) as cost,
             coalesce(sum(h.times) filter (where h.kind = 'model' and h.cost is null), 0)::bigint as unpriced_requests,
             coalesce(sum(h.times) filter (where h.kind = 'failure'), 0)::bigint as failed_requests,
             coalesce(sum(h.times) filter (where h.kind = 'tool'), 0)::bigint as calls,
             coalesce(sum(h.failures) filter (where h.kind = 'tool'), 0)::bigint as failed_calls,
             coalesce(sum(h.seconds) filter (where h.kind = 'tool'), 0) as call_seconds,
             coalesce(sum(h.times) filter (where h.kind = 'item'), 0)::bigint as items,
             coalesce(sum(h.times) filter (where h.kind = 'item' and h.name = 'completed'), 0)::bigint as completed_items,
             coalesce(sum(h.times) filter (where h.kind = 'lease'), 0)::bigint as expired_leases
        from hours h
       group by 1, 2
    )
    select s.at, s.key, s.requests, s.iterations, s.input_tokens, s.cached_input_tokens, s.cache_write_tokens, s.output_tokens, s.cost, s.unpriced_requests,
           _counts_quantile(m.took, 0.5), _counts_quantile(m.took, 0.95), _counts_quantile(m.first_took, 0.5), _counts_quantile(m.first_took, 0.95),
           s.failed_requests, s.calls, s.failed_calls, s.call_seconds, _counts_quantile(t.took, 0.5), _counts_quantile(t.took, 0.95),
           s.items, s.completed_items, s.expired_leases
      from sums s
      left join took m on m.at is not distinct from s.at and m.key = s.key and m.kind = 'model'
      left join took t on t.at is not distinct from s.at and t.key = s.key and t.kind = 'tool'
     order by s.at, s.cost desc nulls last, s.requests desc, s.calls desc, s.key;
end
$$;

comment on function work_totals(text, timestamptz, timestamptz, text, text) is
  'What was done in a time, added up: select * from work_totals(''faculty'', now() - interval ''7 days''). p_by: total, faculty, model, project, tool, failure (class of failed requests) or state (in which items ended). p_from, p_until: hours that begin in it. p_step: hour or day (of UTC): a row for each of them; default: one for all. p_project: as for project_has(). cost: at today''s prices, null without; unpriced_requests: of models that have none. request_p50, request_p95: median and 95th percentile of the seconds that answered requests took; first_token_p50, first_token_p95: until their first token; call_p50, call_p95: of tool calls, without waits. Each is within a factor of the square root of two. Sessions of other programs are not in it. Its cost goes with the hours, not with the items. Raises WL002.';
