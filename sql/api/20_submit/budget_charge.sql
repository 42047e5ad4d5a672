-- Budgets are charged with what was used, or with what a request that nobody answered must have cost; its reservation is given back.

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
    select distinct b.resource from line l join budgets b on b.work_item_id = l.id);
end
$$;

comment on function _resources_limited(uuid) is 'The resources of the budgets that an item draws on, which are not locked.';

create or replace function _budgets_above(p_work_item_ids uuid[])
  returns setof budgets
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive line as (
    select id, parent_id from work_items where id = any (p_work_item_ids) and exists (select from budgets)
    union
    select w.id, w.parent_id from line l join work_items w on w.id = l.parent_id
  )
  select b.* from budgets b
   where b.work_item_id in (select id from line)
   order by b.work_item_id, b.resource
     for no key update;
$$;

comment on function _budgets_above(uuid[]) is 'Locks and returns the budgets that items draw on: their own and those of their ancestors, the oldest items first.';

create or replace function _budget_spend(p_work_item_id uuid, p_deltas jsonb, p_released jsonb default '{}')
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  update budgets b
     set spent = b.spent + coalesce((p_deltas ->> b.resource)::numeric, 0),
         reserved = greatest(b.reserved - coalesce((p_released ->> b.resource)::numeric, 0), 0)
   where b.work_item_id = any (array(select work_item_id from _budgets_above(array[p_work_item_id])))
     and (p_deltas ? b.resource or p_released ? b.resource);
$$;

comment on function _budget_spend(uuid, jsonb, jsonb) is 'Adds p_deltas, {resource: amount}, to what is spent and releases the reservation p_released in every budget that an item draws on.';

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
  perform _budget_spend(p_turn.work_item_id,
    jsonb_build_object('tokens', p_turn.total_tokens, 'money', coalesce(_turn_cost(p_turn), p_turn.reserved_money, 0), 'calls', 1),
    case
      when p_turn.reserved_tokens is null then '{}'
      else jsonb_build_object('tokens', p_turn.reserved_tokens, 'money', p_turn.reserved_money, 'calls', 1) end);
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
  update model_calls c
     set ended_at = least(_now(), p_focus.lease_expires_at), error_class = 'lost'
    from turns t
   where t.focus_id = p_focus.id and t.status in ('pending', 'streaming') and c.turn_id = t.id and c.ended_at is null;
  v_spent := jsonb_build_object('seconds', _seconds_driven(p_focus));
  select * into v_turn from turns where focus_id = p_focus.id and status in ('pending', 'streaming') and reserved_tokens is not null;
  if found then
    update turns set reserved_tokens = null, reserved_input_tokens = null, reserved_money = null where id = v_turn.id;
    v_released := jsonb_build_object('tokens', v_turn.reserved_tokens, 'money', v_turn.reserved_money, 'calls', 1);
    -- A request without an answer: the provider charges at least for the input. It does not charge for a request it refused.
    if not p_is_refused then
      v_spent := v_spent || jsonb_build_object('tokens', v_turn.reserved_input_tokens, 'calls', 1,
        'money', coalesce((
          select _price(c.model, 0, 0, 0, v_turn.reserved_input_tokens, case c.cache_ttl when '1h' then v_turn.reserved_input_tokens else 0 end)
            from turn_configs c where c.content_hash = v_turn.config_hash), 0));
    end if;
  end if;
  return jsonb_build_object(p_focus.work_item_id, jsonb_build_object('spent', v_spent, 'released', v_released));
end
$$;

comment on function _lease_due(foci, boolean) is
  'What to charge the budgets for a lease that ends, for _budget_charge(): {work_item_id: {spent, released}}. Charged are the seconds during which the worker drove the item and, unless p_is_refused, the request that was never answered; its reservation is released. p_focus: the focus as it was under the lease. {}: there was no lease. A request that is under way is marked as lost.';

create or replace function _seconds_driven(p_focus foci)
  returns numeric
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select greatest(extract(epoch from least(_now(), p_focus.lease_expires_at) - p_focus.leased_at), 0);
$$;

comment on function _seconds_driven(foci) is 'For how long the lease was driven since its seconds were last counted: never beyond its end, nor, where the clock was set back, less than nothing.';

create or replace function _budget_charge(p_due jsonb)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_due = '{}' then
    return;
  end if;
  -- The budgets of all items are locked before the first is written.
  perform from _budgets_above(array(select k::uuid from jsonb_object_keys(p_due) k));
  perform _budget_spend(d.key::uuid, d.value -> 'spent', d.value -> 'released') from jsonb_each(p_due) d;
end
$$;

comment on function _budget_charge(jsonb) is 'Charges the budgets with results of _lease_due(), of one item or of several joined by ||.';
