-- Charges budgets with what was used, or with what a request without an answer must have cost, and gives its reservation back.

create or replace function _today()
  returns date
  language sql
  stable
begin atomic
  select (_now() at time zone 'UTC')::date;
end;

comment on function _today() is 'The current day for daily budgets: the UTC day, wherever people and servers are.';

create or replace function _day_ends_at(p_day date)
  returns timestamptz
  language sql
  immutable
  parallel safe
  return (p_day + 1)::timestamp at time zone 'UTC';

comment on function _day_ends_at(date) is 'When a UTC day ends.';

create or replace function _daily_owners(p_work_item_ids uuid[])
  returns table (scope text, name text)
  language plpgsql
  stable
  rows 2
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return query
    select 'project', _project_now(w.project) from work_items w where w.id = any (p_work_item_ids) and w.project is not null
    union
    -- The faculty of the newest attempt: when an attempt that has just ended is charged, no other has begun yet.
    select 'faculty', _faculty_ref(c)
      from unnest(p_work_item_ids) i(id)
     cross join lateral (select f.faculty_hash from foci f where f.work_item_id = i.id order by f.attempt desc limit 1) f
      join faculties c on c.content_hash = f.faculty_hash;
end
$$;

comment on function _daily_owners(uuid[]) is 'Whose daily budgets the items may draw on: their projects, by their current names, and the faculties of their newest attempts.';

create or replace function _daily_budgets_of(p_work_item_ids uuid[])
  returns setof daily_budgets
  language plpgsql
  stable
  rows 2
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if not exists (select from daily_budgets) then
    return;
  end if;
  return query
    select d.*
      from _daily_owners(p_work_item_ids) o
      join daily_budgets d on (d.scope, d.name) = (o.scope, o.name)
     order by d.scope, d.name, d.resource;
end
$$;

comment on function _daily_budgets_of(uuid[]) is 'The daily budgets that items draw on, see _daily_owners().';

create or replace function _resources_limited(p_work_item_id uuid)
  returns budget_resource[]
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return array(
    with recursive line as (
      select id, parent_id from work_items where id = p_work_item_id and exists (select from budgets)
      union
      select w.id, w.parent_id from line l join work_items w on w.id = l.parent_id
    )
    select b.resource from line l join budgets b on b.work_item_id = l.id
    union
    select d.resource from _daily_budgets_of(array[p_work_item_id]) d);
end
$$;

comment on function _resources_limited(uuid) is 'The resources of the budgets that an item draws on. Locks nothing.';

create or replace function _budgets_above(p_work_item_ids uuid[], p_days date[] default '{}')
  returns setof budget_draw
  language plpgsql
  volatile
  rows 5
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_of daily_budgets;
  v_day date;
begin
  return query
    with recursive line as (
      select id, parent_id from work_items where id = any (p_work_item_ids) and exists (select from budgets)
      union
      select w.id, w.parent_id from line l join work_items w on w.id = l.parent_id
    )
    select b.work_item_id, null::text, null::text, b.resource, null::date, b.amount, b.spent, b.reserved
      from budgets b
     where b.work_item_id in (select id from line)
     order by b.work_item_id, b.resource
       for no key update;
  if p_days = '{}' or not exists (select from daily_budgets) then
    return;
  end if;
  -- From here on, no project can be renamed: see _daily_rename().
  perform _lock_shared('renames', pg_backend_pid()::text);
  -- Lock every possible owner, even those without a budget: a transaction that gets here again may find a budget that is new.
  perform _lock_all('days', array(select concat_ws(' ', o.scope, o.name) from _daily_owners(p_work_item_ids) o));
  -- One row at a time, including rows created as the first of their day, so that everyone locks them in the same order.
  for v_of in select d.* from _daily_budgets_of(p_work_item_ids) d loop
    for v_day in select distinct d from unnest(p_days) d where d is not null order by d loop
      insert into daily_spending (scope, name, resource, day) values (v_of.scope, v_of.name, v_of.resource, v_day) on conflict do nothing;
      perform from daily_spending s where (s.scope, s.name, s.resource, s.day) = (v_of.scope, v_of.name, v_of.resource, v_day) for no key update;
      -- Reads with the lock held, so it sees what the previous holder left.
      return query
        select null::uuid, d.scope, d.name, d.resource, s.day, d.amount, s.spent, s.reserved
          from daily_budgets d join daily_spending s on (s.scope, s.name, s.resource) = (d.scope, d.name, d.resource)
         where (d.scope, d.name, d.resource, s.day) = (v_of.scope, v_of.name, v_of.resource, v_day);
    end loop;
  end loop;
end
$$;

comment on function _budgets_above(uuid[], date[]) is
  'Locks and returns the budgets that items draw on: their own and their ancestors'', oldest items first; then the daily budgets of their projects and faculties for p_days.';

create or replace function _budget_spend(p_work_item_id uuid, p_due jsonb, p_today date default null)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_spent jsonb := coalesce(p_due -> 'spent', '{}');
  v_released jsonb := coalesce(p_due -> 'released', '{}');
  v_day date := coalesce((p_due ->> 'day')::date, p_today);
  v_draws budget_draw[] := array(select b from _budgets_above(array[p_work_item_id], array_remove(array[v_day, p_today], null)) b);
  v_draw budget_draw;
begin
  update budgets b
     set spent = b.spent + coalesce((v_spent ->> b.resource)::numeric, 0),
         reserved = greatest(b.reserved - coalesce((v_released ->> b.resource)::numeric, 0), 0)
   where b.work_item_id = any (array(select d.work_item_id from unnest(v_draws) d where d.work_item_id is not null))
     and (v_spent ? b.resource or v_released ? b.resource);
  foreach v_draw in array v_draws loop
    continue when v_draw.day is null;
    update daily_spending s
       set spent = s.spent + coalesce((v_spent ->> s.resource)::numeric, 0),
           reserved = greatest(s.reserved - coalesce((v_released ->> s.resource)::numeric, 0), 0)
     where (s.scope, s.name, s.resource, s.day) = (v_draw.scope, v_draw.name, v_draw.resource, v_draw.day)
       and s.day = case s.resource when 'seconds' then p_today else v_day end
       and (v_spent ? s.resource or v_released ? s.resource);
  end loop;
end
$$;

comment on function _budget_spend(uuid, jsonb, date) is
  'Adds p_due''s spent, {resource: amount}, to what is spent, and returns its released, in every budget that an item draws on. In daily budgets it uses the day of p_due (for seconds, p_today); without p_today it leaves daily budgets alone.';

create or replace function _turn_charge(p_turn turns)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_turn.reserved_tokens is null and _resources_limited(p_turn.work_item_id) = '{}' then
    return;
  end if;
  perform _budget_charge(jsonb_build_object(p_turn.work_item_id, jsonb_build_object(
    'day', p_turn.reserved_on,
    'spent', jsonb_build_object('tokens', p_turn.total_tokens, 'money', coalesce(_turn_cost(p_turn), p_turn.reserved_money, 0), 'calls', 1),
    'released', case
      when p_turn.reserved_tokens is null then '{}'
      else jsonb_build_object('tokens', p_turn.reserved_tokens, 'money', p_turn.reserved_money, 'calls', 1) end)));
end
$$;

comment on function _turn_charge(turns) is 'Charges the budgets with what an answered turn used, and releases its reservation.';

create or replace function _lease_due(p_focus foci, p_is_refused boolean default false)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_turn turns;
  v_spent jsonb;
  v_released jsonb := '{}';
begin
  if p_focus.lease_owner is null then
    return '{}';
  end if;
  perform _request_unanswered(t, least(_now(), p_focus.lease_expires_at), 'lost')
     from turns t
    where t.focus_id = p_focus.id and t.status in ('pending', 'streaming');
  v_spent := jsonb_build_object('seconds', _seconds_driven(p_focus));
  select * into v_turn from turns where focus_id = p_focus.id and status in ('pending', 'streaming') and reserved_tokens is not null;
  if found then
    update turns set reserved_tokens = null, reserved_input_tokens = null, reserved_money = null, reserved_on = null where id = v_turn.id;
    v_released := jsonb_build_object('tokens', v_turn.reserved_tokens, 'money', v_turn.reserved_money, 'calls', 1);
    -- A request without an answer: the provider charges at least for the input, unless it rejected the request.
    if not p_is_refused then
      v_spent := v_spent || jsonb_build_object('tokens', v_turn.reserved_input_tokens, 'calls', 1,
        'money', coalesce((
          select _price(c.model, 0, 0, 0, v_turn.reserved_input_tokens, case c.cache_ttl when '1h' then v_turn.reserved_input_tokens else 0 end)
            from turn_configs c where c.content_hash = v_turn.config_hash), 0));
    end if;
  end if;
  return jsonb_build_object(p_focus.work_item_id, jsonb_build_object('day', v_turn.reserved_on, 'spent', v_spent, 'released', v_released));
end
$$;

comment on function _lease_due(foci, boolean) is
  'What a lease that ends costs, for _budget_charge(): {work_item_id: {day, spent, released}}. It charges the seconds during which the worker drove the item and, unless p_is_refused, the request that was never answered, whose reservation is released. A running request is marked as lost. p_focus: the focus as it was under the lease. {}: there was no lease.';

create or replace function _seconds_driven(p_focus foci)
  returns numeric
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select greatest(extract(epoch from least(_now(), p_focus.lease_expires_at) - p_focus.leased_at), 0);
$$;

comment on function _seconds_driven(foci) is 'Seconds the lease was driven since they were last counted: never beyond the lease''s end, and never negative, even if the clock was set back.';

create or replace function _budget_charge(p_due jsonb)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_today date := _today();
begin
  if p_due = '{}' then
    return;
  end if;
  -- Locks the budgets of all items before it writes to any.
  perform from _budgets_above(array(select k::uuid from jsonb_object_keys(p_due) k),
    v_today || array(select (d.value ->> 'day')::date from jsonb_each(p_due) d));
  perform _budget_spend(d.key::uuid, d.value, v_today) from jsonb_each(p_due) d;
end
$$;

comment on function _budget_charge(jsonb) is 'Charges the budgets with results of _lease_due(), of one item or of several joined by ||: {work_item_id: {day, spent, released}}. day: the day on which the released amount was reserved; null: nothing was.';
