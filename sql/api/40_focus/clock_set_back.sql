-- The server's clock can be set back: by hand, by a time service, by a standby that takes over. Due times and leases of dead workers would then lie
-- far in the future, and hold work up until the clock reaches them again.

create or replace function _clock_set_back(p_now timestamptz, p_tolerance interval)
  returns interval
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_last sweep_walks := (select s from sweep_walks s where s.walk = 'clock');
  v_is_set_back boolean := coalesce(v_last.run_at > p_now + p_tolerance, false);
  v_rest uuid;
begin
  if v_is_set_back then
    v_rest := _waits_move(p_now, v_last.run_at - p_now, v_last.run_at + p_tolerance, v_last.work_item_id);
  end if;
  insert into sweep_walks (walk, run_at, work_item_id) values ('clock', p_now, null)
  on conflict (walk) do update
     set run_at = case when v_is_set_back and v_rest is null then p_now else greatest(sweep_walks.run_at, p_now) end, work_item_id = v_rest;
  return case when v_is_set_back and v_last.work_item_id is null then v_last.run_at - p_now end;
end
$$;

comment on function _clock_set_back(timestamptz, interval) is
  'Detects that the clock was set back by more than p_tolerance since the last sweep, and moves what items wait for, see _waits_move(). Returns by how much, once; null: it was not, or by less.';

create or replace function _waits_move(p_now timestamptz, p_by interval, p_was_due timestamptz, p_from uuid)
  returns uuid
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_found uuid[] := array(
    select w.id
      from work_items w
      join fences e on e.work_item_id = w.id
     where w.state in ('queued', 'claimed', 'running', 'waiting') and w.run_at > p_now and w.run_at < 'infinity'
       -- An item that was submitted for a later time keeps that time: it has neither an attempt nor a reason to wait.
       and (w.run_at <= p_was_due or w.focus_id is not null or w.state_reason is not null)
       and w.id >= coalesce(p_from, '00000000-0000-0000-0000-000000000000')
     order by w.id
     limit 1001);
  v_locked uuid[] := array(
    select e.work_item_id from fences e where e.work_item_id = any (v_found[:1000]) order by e.work_item_id for no key update skip locked);
  -- A time that was moved may still be in the future; only the item's place in the order shows that it has been moved.
  v_rest uuid := (select id from unnest(v_found) id where id <> all (v_locked) order by id limit 1);
  v_moved uuid[] := array(select id from unnest(v_locked) id where id < v_rest or v_rest is null);
begin
  update work_items set run_at = run_at - p_by where id = any (v_moved);
  with waiting as (
    update tool_calls set wait_ends_at = wait_ends_at - p_by where work_item_id = any (v_moved) and status = 'waiting' returning id
  )
  update approvals a set expires_at = a.expires_at - p_by from waiting k where a.tool_call_id = k.id and a.decision is null;
  return v_rest;
end
$$;

comment on function _waits_move(timestamptz, interval, timestamptz, uuid) is
  'Moves the times that unfinished items wait for closer to now, by p_by: of what was due until p_was_due, of waits for children or approval and of pauses before another try. The sweep enqueues the items when they are due. Goes in order of id, from p_from on, up to 1,000 items, and stops at the first that is being worked on; returns the one with which the next sweep continues, null: none is left.';

create or replace function _leases_begin_by_now()
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_driven uuid[] := array(select w.focus_id from work_items w where w.state in ('claimed', 'running'));
begin
  update foci f
     set lease_expires_at = _now() + make_interval(secs => f.lease_seconds)
   where f.id in (
     select o.id from foci o where o.id = any (v_driven) and o.lease_expires_at > _now() + make_interval(secs => o.lease_seconds)
        for no key update skip locked);
end
$$;

comment on function _leases_begin_by_now() is
  'A lease begins when it is given or renewed, which is never in the future. One that seems to begin later, because the clock was set back, ends when it would if it were renewed now.';
