-- Waiting for other work, or for a time. The results of waiting calls, including those for children, are in waits.sql.

create or replace function wait_for(p_work_item_id uuid, p_work_item_ids uuid[], p_until timestamptz default null, p_claim text default null)
  returns jsonb
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_ids uuid[] := array(select unnest(p_work_item_ids));
  v_item work_items := (select w from work_items w where w.id = p_work_item_id);
  v_holder uuid;
  v_cycle text;
begin
  if v_ids = '{}' and p_until is null and p_claim is null then
    perform _raise_invalid('there is nothing to wait for', 'Pass ids of work items, a claim, a time, or several of these.');
  end if;
  perform _check_time('until', p_until);
  perform _visible(v_item, p_work_item_id || v_ids);
  v_holder := _claim_held_by(v_item, p_claim, null);
  v_cycle := _wait_cycle(p_work_item_id, v_ids || v_holder);
  if v_cycle is not null then
    raise exception using
      errcode = 'WL008',
      message = format('this work item would wait for itself: %s', v_cycle),
      hint = 'Do other work, or continue without the result.';
  end if;
  return case when p_until <= _now() or (v_ids <> '{}' or p_claim is not null) and v_holder is null
                   and not exists (select from work_items where id = any (v_ids) and resolved_at is null)
              then _work_states_of(v_ids, false) end;
end
$$;

comment on function wait_for(uuid, uuid[], timestamptz, text) is
  'The states of work items, whoever works on them, [{work_item_id, work_type, state, reason, outcome}], once the wait is over; null before. The wait is over at p_until, or when all of the items are over and no one else holds the claim p_claim (a key as for claim_take()) or has waited for it longer. p_work_item_id: who waits. p_work_item_ids: null or empty: no items to wait for. On null, the tool of this name parks its work item, without a worker or a job, until then, or until a person interrupts. Raises WL001 (also for work of another project), WL002 (nothing to wait for, an invalid time), WL008 (one of the items, or the holder of the claim, waits for this one, or is above it and may: the message shows the cycle).';

create or replace function _wait_cycle(p_work_item_id uuid, p_work_item_ids uuid[])
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_new uuid[] := array(select distinct w.id from work_items w where w.id = any (p_work_item_ids) and w.resolved_at is null);
  v_seen uuid[] := v_new;
  v_from jsonb := (select coalesce(jsonb_object_agg(i, p_work_item_id), '{}') from unnest(v_new) i); -- for each item, the one that waits for it
  v_found jsonb;
begin
  while v_new <> '{}' and p_work_item_id <> all (v_new) loop
    select coalesce(jsonb_object_agg(e.id, e.waits), '{}')
      into v_found
      from (select c.id, c.parent_id as waits from work_items c where c.parent_id = any (v_new) and c.resolved_at is null
            union all
            select o.id, k.work_item_id
              from _waits_of(v_new) k
              join work_items i on i.id = k.work_item_id
              join work_items o on o.id = any (_awaits(k.input) || _claim_held_by(i, k.input ->> 'claim', k.id)) and o.resolved_at is null
             where k.tool_name = 'wait_for') e
     where e.id <> all (v_seen);
    v_new := array(select jsonb_object_keys(v_found)::uuid);
    v_seen := v_seen || v_new;
    v_from := v_found || v_from;
  end loop;
  if p_work_item_id <> all (v_new) then
    return null;
  end if;
  return (
    with recursive way(id, n) as (
      select p_work_item_id, 0
      union all
      select (v_from ->> way.id::text)::uuid, n + 1 from way where n = 0 or way.id <> p_work_item_id
    )
    select string_agg(format('%s (%s)', w.id, _one_line(w.work_type, 60)), ' -> ' order by way.n desc) from way join work_items w using (id));
end
$$;

comment on function _wait_cycle(uuid, uuid[]) is
  'The cycle by which an item would wait for itself, if it waited for p_work_item_ids: each waits for the next, or is above it and may wait for it. Null: there is none.';

create or replace function _claim_held_by(p_item work_items, p_key text, p_call_id uuid)
  returns uuid
  language plpgsql
  stable -- readers may wait for work, too
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_claim claims;
  v_found record;
  v_other record;
  v_same claims;
begin
  if p_key is null then
    return null;
  end if;
  v_claim := _claim_new(p_item, _config_of(p_item), p_key, '0');
  select * into v_found from _claim_look(v_claim);
  if (v_found.taken_by).key is not null or (v_found.own).key is not null then
    return (v_found.taken_by).work_item_id;
  end if;
  for v_other in
    select w as item, k.input ->> 'claim' as key
      from _claim_waiters(p_key) k
      join work_items w on w.id = k.work_item_id
     where w.id <> p_item.id and w.state <> 'paused' -- a paused item keeps no place in the queue
       and not exists (select from tool_calls o where o.id = p_call_id and (o.started_at, o.id) < (k.started_at, k.id))
     order by k.started_at, k.id
  loop
    v_same := _claim_new(v_other.item, _config_of(v_other.item), v_other.key, '0');
    if v_same.place = v_claim.place or v_same.name = v_claim.name and v_same.scope = v_claim.scope then
      return v_same.work_item_id;
    end if;
  end loop;
  return null;
end
$$;

comment on function _claim_held_by(work_items, text, uuid) is
  'Which item must end its claim or its wait before another item can have what a key names: the holder or, if there is none, one that began to wait for it before that item''s call p_call_id (null: it has not begun to wait). Null: it is free for the item; null for a null key.';

create or replace function _claim_awaited(p_item work_items, p_turn_id uuid)
  returns uuid
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _claim_held_by(p_item, k.input ->> 'claim', k.id)
    from tool_calls k
   where k.turn_id = p_turn_id and k.tool_name = 'wait_for' and k.completed_at is null and k.status = 'waiting' and k.input ->> 'claim' is not null
   order by k.input ->> 'claim', k.id
   limit 1;
$$;

comment on function _claim_awaited(work_items, uuid) is 'Which item an item that waits for a claim waits for: the holder, or the first in the queue. Null: it waits for no claim, or the claim is free.';

create or replace function _work_states_of(p_work_item_ids uuid[], p_with_ledger boolean)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
           'work_item_id', w.id,
           'work_type', w.work_type,
           'state', w.state,
           'reason', w.state_reason,
           'outcome', w.outcome_data,
           'ledger', case
             when not p_with_ledger then null
             when w.resolved_at is not null then _ledger_block(w.id, 8000)
             when ledger_count(w) > 0 then ledger_read_lines(w.id, null, 5)
           end)) order by i.n), '[]')
    from (select u.id, min(u.n) as n from unnest(p_work_item_ids) with ordinality as u(id, n) group by u.id) i
    join work_items w on w.id = i.id;
$$;

comment on function _work_states_of(uuid[], boolean) is 'The states of work items, as check_child_work() and wait_for() return them; with the ledger only for own children.';

create or replace function _wait_ends_at(p_input json)
  returns timestamptz
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_until timestamptz := _time_given('until', p_input ->> 'until');
  v_seconds integer := coalesce(_count('timeout_seconds', p_input ->> 'timeout_seconds'), case when v_until is null then 300 end);
begin
  return least(v_until, _now() + make_interval(secs => least(v_seconds, 2592000)));
end
$$;

comment on function _wait_ends_at(json) is 'The deadline of a call that waits from now on, by its input: until, or timeout_seconds from now (300), whichever comes first; 30 days at most.';

create or replace function _time_given(p_what text, p_text text)
  returns timestamptz
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
  set timezone = 'UTC' -- agents are told times of UTC
as $$
begin
  if p_text !~ '^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?(Z|[+-]\d\d(:?\d\d)?))?)?$' then
    raise invalid_datetime_format;
  end if;
  return p_text::timestamptz;
exception
when invalid_datetime_format or datetime_field_overflow or invalid_time_zone_displacement_value or invalid_parameter_value then
  perform _raise_invalid(format('%s must be a time such as 2030-01-31T09:00:00Z, not %s', p_what, _as_given(p_text)));
end
$$;

comment on function _time_given(text, text) is 'A time given as text, from JSON, of UTC unless it names a zone; null for null. Raises WL002.';
