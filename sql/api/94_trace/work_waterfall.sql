-- The waterfall of work: where its time went, as a tree with a row for each thing that took time, and which of them the end waited for. The rows are built
-- as spans whose kind is what the waterfall draws.

create or replace function _fall_row(
    p_kind text, p_name text, p_span_id text, p_parent text, p_started_at timestamptz, p_ended_at timestamptz, p_is_error boolean, p_more jsonb)
  returns trace_span
  language sql
  immutable
  parallel safe
  return row(null, p_span_id, p_parent, p_name, p_kind, p_started_at, case when p_ended_at is not null then greatest(p_ended_at, p_started_at) end,
             case when p_is_error then 'error' else 'unset' end, jsonb_strip_nulls(p_more), null, null)::trace_span;

comment on function _fall_row(text, text, text, text, timestamptz, timestamptz, boolean, jsonb) is 'A row of a waterfall. p_ended_at null: under way.';

create or replace function _fall_attempts(p_item work_items)
  returns setof trace_span
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _fall_row('item', 'work.item ' || p_item.work_type, _span_id('work.item', p_item.id::text), _spawning_span_id(p_item),
                   p_item.created_at, p_item.resolved_at, p_item.state in ('failed', 'dead'), jsonb_build_object('says', p_item.state))
  union all
  select _fall_row('agent', 'invoke_agent ' || f.faculty, _execute_span_id(p_item.id, f.attempt), _span_id('work.item', p_item.id::text),
                   f.created_at, f.ended_at, f.outcome in ('failed', 'crashed'), jsonb_build_object('attempt', f.attempt, 'says', f.outcome))
    from foci f where f.work_item_id = p_item.id
  union all
  -- Until its first attempt, and between attempts.
  select _fall_row('queue', 'queue', _span_id('queue', p_item.id || '/' || q.attempt), _span_id('work.item', p_item.id::text), q.since, q.until, false,
                   jsonb_build_object('attempt', q.attempt))
    from (
      select f.attempt, coalesce(b.ended_at, p_item.created_at), f.created_at
        from foci f left join foci b on b.work_item_id = f.work_item_id and b.attempt = f.attempt - 1
       where f.work_item_id = p_item.id
      union all
      select coalesce(f.attempt, 0) + 1, coalesce(f.ended_at, p_item.created_at), p_item.resolved_at
        from (select) one left join lateral (select * from foci where work_item_id = p_item.id order by attempt desc limit 1) f on true
       where (f.id is null or f.ended_at is not null) and (p_item.resolved_at is null or f.id is null)) q(attempt, since, until)
   where q.until is null or q.until > q.since
  union all
  select _fall_row('hook', 'hook ' || h.hook, _span_id('hook', h.id::text), _execute_span_id(p_item.id, f.attempt), h.created_at, h.completed_at,
                   h.status <> 'completed' and h.status <> 'pending', jsonb_build_object('turn', h.turn_id, 'call', h.tool_call_id, 'says', h.status))
    from foci f join hook_runs h on h.focus_id = f.id
   where f.work_item_id = p_item.id;
$$;

comment on function _fall_attempts(work_items) is 'Of a waterfall: the item, its attempts, how long it waited for each, and the runs of hooks.';

create or replace function _fall_requests(p_item work_items)
  returns setof trace_span
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _fall_row('model', concat_ws(' ', 'chat', c.model), _span_id('gen_ai.chat', t.id || '/' || c.attempt),
                   coalesce(_execute_span_id(p_item.id, f.attempt), _span_id('work.item', p_item.id::text)), c.started_at, c.ended_at,
                   c.error_class is not null, jsonb_build_object('turn', t.id, 'attempt', c.attempt, 'says', concat_ws(' ', c.error_class, c.status),
                     'cost', case when c.error_class is null and c.ended_at is not null then _turn_cost(t) end))
    from turns t
    left join foci f on f.id = t.focus_id
    cross join lateral _asked(t) c
   where t.work_item_id = p_item.id;
$$;

comment on function _fall_requests(work_items) is 'Of a waterfall: each request to a model; what it cost, if it was answered.';

create or replace function _fall_calls(p_item work_items)
  returns setof trace_span
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with called as (
    select k as call, a as approval, k.id, t.id as turn_id, _span_id('call', k.id::text) as span_id,
           case when k.parent_call_id is not null then _span_id('call', k.parent_call_id::text)
                else coalesce(_execute_span_id(p_item.id, f.attempt), _span_id('work.item', p_item.id::text)) end as parent
      from turns t
      join tool_calls k on k.turn_id = t.id
      left join foci f on f.id = t.focus_id
      left join approvals a on a.tool_call_id = k.id
     where t.work_item_id = p_item.id
  )
  select _fall_row(coalesce(_wait_kind(c.call), 'tool'), 'execute_tool ' || (c.call).tool_name, c.span_id, c.parent, _call_began(c.call, c.approval),
                   (c.call).completed_at, coalesce((c.call).is_error, false), jsonb_build_object('turn', c.turn_id, 'call', c.id,
                     'attempt', nullif((c.call).attempts, 0), 'says', (c.call).status, 'ran', (c.call).started_at,
                     'is_below', (c.call).parent_call_id is not null,
                     'awaits', case when _wait_kind(c.call) = 'child' then to_jsonb(_awaits((c.call).input)) end))
    from called c
  union all
  select _fall_row('person', 'approval of ' || (c.call).tool_name, _span_id('approval', c.id::text), c.span_id, (c.approval).requested_at,
                   coalesce((c.approval).decided_at, (c.call).completed_at), false, jsonb_build_object('turn', c.turn_id, 'call', c.id,
                     'says', concat_ws(' by ', (c.approval).decision, coalesce((c.approval).person, (c.approval).decided_by::text))))
    from called c where (c.approval).tool_call_id is not null;
$$;

comment on function _fall_calls(work_items) is 'Of a waterfall: each call of a tool, those of code below the call that ran it, and how long a person was waited for.';

create or replace function _fall_path(p_rows trace_span[], p_work_item_id uuid)
  returns table (span_id text, critical_from timestamptz, critical_until timestamptz)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive taken as (
    select (r.attributes ->> 'item')::uuid as item, r.span_id, r.kind, coalesce((r.attributes ->> 'ran')::timestamptz, r.started_at) as began,
           coalesce(r.ended_at, _now()) as ended, r.attributes -> 'awaits' as awaits
      from unnest(p_rows) r
     where r.kind not in ('item', 'agent') and coalesce(r.attributes ->> 'is_below', 'false') = 'false'
  ),
  -- Walks back from the end: next on the path is whatever ended last before the current part began. A wait for children leads into the child that
  -- ended last.
  path as (
    select p.* from (
      select t.*, null::text as by, '-infinity'::timestamptz as since,
             least(t.ended, min(t.began) over (order by t.ended desc, t.began rows between unbounded preceding and 1 preceding)) as until
        from taken t where t.item = p_work_item_id) p
     where p.began < p.until
    union all
    select p.* from (
      select t.item, t.span_id, t.kind, t.began, t.ended, t.awaits, w.span_id, w.since,
             least(t.ended, w.until, min(t.began) over (partition by w.span_id order by t.ended desc, t.began
                                                        rows between unbounded preceding and 1 preceding)) as until
        from (select v.span_id, greatest(v.began, v.since) as since, v.until, v.awaits from path v where v.kind = 'child') w
        cross join lateral (
          select i.id from jsonb_array_elements_text(w.awaits) a(id) join work_items i on i.id = a.id::uuid
           order by least(coalesce(i.resolved_at, _now()), w.until) desc, i.resolved_at limit 1) last
        join taken t on t.item = last.id and t.began < w.until and t.ended > w.since) p
     where p.began < p.until and p.until > p.since
  )
  select p.span_id, min(greatest(p.began, p.since)), max(p.until) from path p
   where p.kind <> 'child' or not exists (select from path below where below.by = p.span_id)
   group by p.span_id;
$$;

comment on function _fall_path(trace_span[], uuid) is 'Which rows of a waterfall are on the critical path of an item, and from when until when.';

create or replace function work_waterfall(p_work_item_id uuid)
  returns table (
    n bigint, depth integer, span_id text, parent_span_id text, kind text, name text, work_item_id uuid, turn_id uuid, call_id uuid, attempt integer,
    started_at timestamptz, ended_at timestamptz, seconds double precision, is_error boolean, says text, cost numeric,
    critical_from timestamptz, critical_until timestamptz, own_seconds double precision)
  language plpgsql
  stable
  rows 1000
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_rows trace_span[];
begin
  if not exists (select from work_items where id = p_work_item_id) then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  v_rows := (
    select array_agg(row(null, r.span_id, r.parent_span_id, r.name, r.kind, r.started_at, r.ended_at, r.status,
                         r.attributes || jsonb_build_object('item', w.id), null, null)::trace_span)
      from _traced_items(p_work_item_id) i
      join work_items w on w.id = i
      cross join lateral (
        select * from _fall_attempts(w) union all select * from _fall_requests(w) union all select * from _fall_calls(w)) r);
  return query
    with recursive spans as materialized (
      select r.*, _fall_place(r) as place, r.attributes ->> 'item' as item, (r.attributes ->> 'cost')::numeric as own_cost,
             greatest(extract(epoch from coalesce(r.ended_at, _now()) - r.started_at), 0)::double precision as seconds, exists (
               select from unnest(case r.kind when 'item' then v_rows end) p where p.span_id = r.parent_span_id) as is_below_another
        from unnest(v_rows) r
    ),
    tree as (
      select s.span_id, 0 as depth, array[s.place] as place from spans s where s.kind = 'item' and not s.is_below_another
      union all
      select s.span_id, t.depth + 1, t.place || s.place from tree t join spans s on s.parent_span_id = t.span_id
    ),
    below(item, under) as (
      select s.item, s.item from spans s where s.kind = 'item'
      union all
      select b.item, w.id::text from below b join work_items w on w.parent_id = b.under::uuid
    ),
    asked(span_id, seconds) as (
      select s.parent_span_id, sum(s.seconds) from spans s where s.kind = 'person' group by 1
    ),
    costs(span_id, cost) as (
      select s.parent_span_id, sum(s.own_cost) from spans s where s.kind = 'model' group by 1
      union all
      select _span_id('work.item', b.item), sum(s.own_cost) from below b join spans s on s.item = b.under and s.kind = 'model' group by 1
    )
    select row_number() over (order by t.place), t.depth, s.span_id, s.parent_span_id, s.kind, s.name, s.item::uuid, (s.attributes ->> 'turn')::uuid,
           (s.attributes ->> 'call')::uuid, (s.attributes ->> 'attempt')::integer, s.started_at, s.ended_at,
           s.seconds, s.status = 'error',
           nullif(s.attributes ->> 'says', ''),
           coalesce(s.own_cost, c.cost), p.critical_from, p.critical_until, greatest(s.seconds - coalesce(a.seconds, 0), 0)
      from tree t
      join spans s on s.span_id = t.span_id
      left join asked a on a.span_id = s.span_id
      left join (select c.span_id, max(c.cost) as cost from costs c group by 1) c on c.span_id = s.span_id
      left join _fall_path(v_rows, p_work_item_id) p on p.span_id = s.span_id
     order by t.place;
end
$$;

comment on function work_waterfall(uuid) is
  'Where the time of a work item went, of everything below it and of what was forked from them: a row for each thing that took some, in the order of the tree. n: its place in it, from 1; depth: how deep. span_id, name, started_at, ended_at: as in work_trace(); but also of what is under way (ended_at null; seconds: until now), so that the root is there from the start. kind: item, agent (an attempt), queue (waits for a worker), model (a request; attempt: which of its turn''s), tool, child (a call that waits for children), wait (a call that waits for other work or a time), person (an approval is waited for), hook. is_error, says: whether it failed, and how it stands or ended. cost: of an answered request, at today''s prices; of an attempt and an item with all below it, the sum. critical_from, critical_until: the part that is on the critical path: from the end back, always what ended last before it; in place of a wait for children the child that came last. Null: the end did not wait for it. own_seconds: of a call without those in which a person was waited for, which have a row below it; else seconds. What went where: select kind, count(*), sum(own_seconds), sum(critical_until - critical_from) from work_waterfall(''…'') group by kind. Of a long one read a window: select … from work_waterfall(''…'') where started_at < … limit …. Its cost is linear in what was done. Raises WL001.';

create or replace function _fall_place(p_row trace_span)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select concat(to_char((p_row).started_at at time zone 'UTC', 'YYYYMMDDHH24MISSUS'), (p_row).attributes ->> 'call', (p_row).span_id);
$$;

comment on function _fall_place(trace_span) is 'Orders the rows of a waterfall below the same row: by when they began, calls in the model''s order.';
