-- The reason why an item waits, in the same words for people, other agents, the console and the queue.

create or replace function _why_waiting(p_item work_items, p_turn_id uuid, out waits_for text, out why text)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
  select v.waits_for,
         case v.waits_for
           when 'approval' then 'waits for approval of ' || a.tool_name
           when 'children' then format('waits for %s of its children', (
             select count(*) from work_items c where c.id = any (b.ids) and c.resolved_at is null))
           when 'claim' then format('waits for the claim on %s%s', _one_line(b.claim, 200), (
             select format(', behind %s (%s)', _claim_by(h), h.id) from work_items h where h.id = _claim_awaited(p_item, p_turn_id)))
           when 'work' then (
             select 'waits for ' || case count(*) when 1 then format('%s (%s)', min(_one_line(c.work_type, 60)), min(c.id::text))
                                                  else count(*) || ' other work items' end
               from work_items c where c.id = any (b.others) and c.resolved_at is null)
           else coalesce(case when l.lost_at is not null then format('lost its worker %s seconds ago: %s', extract(epoch from _now() - l.lost_at)::integer,
             case when exists (select from workers k where k.seen_at > _now() - interval '1 minute' and not _has_lapsed_lease(k.id))
                  then 'another worker''s next sweep recovers it' else 'no other worker is alive to recover it' end) end,
             case when not s.is_due then p_item.state_reason end, case v.waits_for
             when 'time' then format('not before %s', _time_said(p_item.run_at))
             when 'worker' then 'ready for the next free worker' end)
         end
    from (select _worker_lost_at(p_item) as lost_at) l
    -- Calls made by code wait as well.
    left join lateral (
      select k.tool_name from approvals o join tool_calls k on k.id = o.tool_call_id
       where p_item.state = 'waiting' and o.work_item_id = p_item.id and o.decision is null
       order by o.requested_at, k.ordinal
       limit 1) a on true
    cross join lateral (
      select array_agg(i.id) filter (where k.tool_name = 'await_child_work') as ids,
             array_agg(i.id) filter (where k.tool_name = 'wait_for' and i.id is not null) as others,
             min(k.input ->> 'claim') filter (where k.tool_name = 'wait_for') as claim,
             count(k.id) > 0 as is_wait,
             coalesce(bool_or(i.id is null or exists (select from work_items c where c.id = i.id and c.resolved_at is null)), false) as is_open
        from tool_calls k
        left join lateral unnest(_awaits(k.input)) i(id) on true
       where p_item.state = 'waiting' and k.turn_id = p_turn_id and k.completed_at is null and k.status = 'waiting'
         and _is_wait(k.tool_name)) b
    -- The awaited event has happened, and no worker has looked yet.
    cross join lateral (
      select p_item.state = 'waiting' and not p_item.is_stranded and (p_item.run_at <= _now() or a.tool_name is null and not b.is_open and (
               b.is_wait or exists (
                 select from tool_calls k
                  where k.turn_id = p_turn_id and k.status = 'waiting' and (select o.decision from approvals o where o.tool_call_id = k.id) is not null)))
               as is_due
       offset 0) s -- evaluated once, however often it is used
    cross join lateral (select case
             when p_item.state = 'paused' then 'person'
             when p_item.state = 'waiting' and p_item.is_stranded then 'host'
             when s.is_due then 'worker'
             when a.tool_name is not null then 'approval'
             when b.ids is not null then 'children'
             when b.others is not null then 'work'
             when b.claim is not null then 'claim'
             when b.is_wait then 'time'
             when p_item.state = 'waiting' then 'budget'
             when l.lost_at is not null then 'worker'
             when _is_driven(p_item.id) then null
             when p_item.run_at > _now() and p_item.state_reason is not null then 'retry'
             when p_item.run_at > _now() then 'time'
             when p_item.state_reason ~ '^waits for (the slot|one of the \d+ slots) of faculty ' then 'slot'
             when p_item.state in ('queued', 'claimed', 'running') then 'worker' end as waits_for) v;
$$;

comment on function _why_waiting(work_items, uuid) is 'What an item waits for and why, as a sentence: approval, children, work (of others), claim, budget, person, host, retry, time, slot, worker (also if it lost one, or if what it waited for has happened); null: a worker drives it. p_turn_id: its newest turn.';

create or replace function _has_lapsed_lease(p_worker_id text)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select exists (
    select from work_items w join foci f on f.id = w.focus_id
     where w.state in ('claimed', 'running') and f.lease_owner = p_worker_id and f.lease_expires_at <= _now());
$$;

comment on function _has_lapsed_lease(text) is 'Whether a lease of a worker has run out; a live worker renews all of its leases.';
