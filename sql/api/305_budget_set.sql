-- Budgets: what an item and everything below it may use together. A model call reserves in every budget above it before it
-- is made and is settled by what the provider counted, so that no number of children can use more than there is.

create or replace function _budget_amount(p_resource text, p_amount jsonb)
  returns numeric
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_resource is null or p_resource not in ('tokens', 'money', 'seconds', 'calls', 'children') then
    perform _raise_invalid(format('there is no budget of "%s"', p_resource), 'One of: tokens, money, seconds, calls, children.');
  end if;
  if jsonb_typeof(p_amount) is distinct from 'number' or p_amount::numeric < 0 then
    perform _raise_invalid(format('a budget of %s is a number from 0, not %s', p_resource, p_amount));
  end if;
  return p_amount::numeric;
end
$$;

comment on function _budget_amount(text, jsonb) is 'The amount, if it is one of such a resource. Raises WL002.';

create or replace function _budget_store(p_work_item_id uuid, p_resource text, p_amount numeric)
  returns budgets
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  insert into budgets (work_item_id, resource, amount)
  values (p_work_item_id, p_resource, p_amount)
  on conflict (work_item_id, resource) do update set amount = p_amount
  returning *;
$$;

comment on function _budget_store(uuid, text, numeric) is 'Writes the amount of a budget.';

create or replace function budget_set(p_work_item_id uuid, p_resource text, p_amount numeric)
  returns budgets
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_root_id uuid := (select root_id from work_items where id = p_work_item_id);
  v_parked uuid[];
  v_budget budgets;
begin
  if v_root_id is null then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  perform _budget_amount(p_resource, to_jsonb(p_amount));
  -- Items first, then budgets, as everybody locks them.
  v_parked := array(select id from work_items where root_id = v_root_id and state = 'waiting' and run_at = 'infinity' order by id for update);
  v_budget := _budget_store(p_work_item_id, p_resource, p_amount);
  update work_items set run_at = _now() where id = any (v_parked);
  -- In a new statement, and so with those that parked just before the new amount was theirs to see.
  perform _enqueue(id) from work_items where root_id = v_root_id and state = 'waiting' and (run_at = 'infinity' or id = any (v_parked));
  return v_budget;
end
$$;

comment on function budget_set(uuid, text, numeric) is
  'Sets how much a work item and everything below it may use together: select budget_set(''…'', ''tokens'', 200000). Resources: tokens, money (in the currency of model_price_save()), seconds (of workers driving it), calls (of models), children. What was used already counts. Work that would exceed it is parked (state waiting) and goes on by itself when the budget is raised. Returns the budgets row. Raises WL001, WL002.';

create or replace function _budgets_above(p_work_item_id uuid)
  returns setof budgets
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive line as (
    select id, parent_id from work_items where id = p_work_item_id
    union all
    select w.id, w.parent_id from line l join work_items w on w.id = l.parent_id
  )
  select b.* from budgets b
   where b.work_item_id in (select id from line)
   order by b.work_item_id, b.resource
     for update;
$$;

comment on function _budgets_above(uuid) is 'Locks the budgets that an item draws on: its own and those of its ancestors, the oldest first.';

create or replace function _budget_spend(p_work_item_id uuid, p_deltas jsonb, p_released jsonb default '{}')
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  update budgets b
     set spent = b.spent + coalesce((p_deltas ->> b.resource)::numeric, 0),
         reserved = greatest(b.reserved - coalesce((p_released ->> b.resource)::numeric, 0), 0)
    from _budgets_above(p_work_item_id) a
   where (b.work_item_id, b.resource) = (a.work_item_id, a.resource) and (p_deltas ? b.resource or p_released ? b.resource);
$$;

comment on function _budget_spend(uuid, jsonb, jsonb) is 'Counts what was used, and lets go of what was reserved, in every budget that an item draws on.';

create or replace function _budget_child(p_parent_id uuid)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_budget budgets;
begin
  select * into v_budget from _budgets_above(p_parent_id) where resource = 'children' and spent >= amount limit 1;
  if found then
    raise exception using
      errcode = 'WL009',
      message = format('the budget of %s children of work item %s is used up', trim_scale(v_budget.amount), v_budget.work_item_id),
      hint = 'Do the rest without children; a person can raise it with budget_set().';
  end if;
  perform _budget_spend(p_parent_id, '{"children": 1}');
end
$$;

comment on function _budget_child(uuid) is 'Counts a child that is being submitted. Raises WL009 where a budget above has no room for it.';

create or replace function _budget_reserve(p_item work_items, p_focus foci, p_turn turns, out lack text, out is_held_by_others boolean)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_budgets budgets[];
  v_budget budgets;
  v_config json;
  v_model text;
  v_input bigint;
  v_most integer;
  v_output numeric;
  v_money numeric;
  v_is_settled boolean;
begin
  if p_turn.reserved_tokens is not null then
    return; -- asked once more under the same lease
  end if;
  v_budgets := array(select b from _budgets_above(p_item.id) b);
  if v_budgets = '{}' then
    return;
  end if;
  select config into v_config from turn_configs where content_hash = p_turn.config_hash;
  v_model := v_config ->> 'model';
  v_most := (v_config ->> 'max_tokens')::integer;
  -- An image has about as many tokens whatever its bytes.
  v_input := _tokens(char_length(regexp_replace(context_at(p_turn.id)::text, '"data":"[A-Za-z0-9+/=]{200,}"', repeat('x', 4700), 'g')), v_model);
  -- With what others hold counted as used, and then as if they let go of all of it.
  foreach v_is_settled in array array[false, true] loop
    v_output := v_most;
    lack := null;
    foreach v_budget in array v_budgets loop
      v_budget.spent := v_budget.spent + case when v_is_settled then 0 else v_budget.reserved end;
      case v_budget.resource
        when 'tokens' then
          v_output := least(v_output, v_budget.amount - v_budget.spent - v_input);
        when 'money' then
          v_money := _price(v_model, 0, 0, 0, v_input);
          if v_money is null then
            lack := format('no price of model %s is known, and work item %s has a budget of money: model_price_save() sets one', v_model, v_budget.work_item_id);
          elsif _price(v_model, 0, 1000000) > 0 then
            v_output := least(v_output, floor((v_budget.amount - v_budget.spent - v_money) * 1000000 / _price(v_model, 0, 1000000)));
          elsif v_budget.spent + v_money > v_budget.amount then
            v_output := 0;
          end if;
        when 'calls' then
          v_output := case when v_budget.spent + 1 > v_budget.amount then 0 else v_output end;
        when 'seconds' then
          v_output := case when v_budget.spent >= v_budget.amount then 0 else v_output end;
        else
          null;
      end case;
      -- A shorter answer will do, if it is an answer.
      if lack is null and v_output < least(v_most, case p_turn.turn_type when 'normal' then 1000 else v_most end) then
        lack := format('the budget of %s %s of work item %s is used up: %s', trim_scale(v_budget.amount), v_budget.resource, v_budget.work_item_id, trim_scale(round(v_budget.spent, 6)))
          || case when v_budget.resource in ('tokens', 'money') then format(', and the next request needs about %s tokens', v_input) else '' end;
      end if;
      exit when lack is not null;
    end loop;
    exit when lack is null;
  end loop;
  is_held_by_others := lack is null and v_is_settled;
  if lack is not null or is_held_by_others then
    return;
  end if;
  if v_output < v_most then
    p_focus.max_tokens := v_output;
    update turns set config_hash = _turn_config(p_focus, v_model) where id = p_turn.id;
  end if;
  update turns
     set reserved_tokens = v_input + v_output, reserved_money = coalesce(_price(v_model, 0, v_output::bigint, 0, v_input), 0)
   where id = p_turn.id
  returning * into p_turn;
  update budgets b
     set reserved = b.reserved + case b.resource when 'tokens' then p_turn.reserved_tokens when 'money' then p_turn.reserved_money when 'calls' then 1 else 0 end
    from unnest(v_budgets) a
   where (b.work_item_id, b.resource) = (a.work_item_id, a.resource);
end
$$;

comment on function _budget_reserve(work_items, foci, turns) is
  'Holds what a turn''s request may use at most in every budget above, its output limit cut to what is left. lack: what is used up; is_held_by_others: there is enough, but others hold it.';

create or replace function _budget_settle(p_turn turns, p_tokens bigint, p_money numeric, p_calls integer)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_turn.id is null then
    return;
  end if;
  perform _budget_spend(p_turn.work_item_id,
    jsonb_build_object('tokens', p_tokens, 'money', coalesce(p_money, 0), 'calls', p_calls),
    case when p_turn.reserved_tokens is null then '{}' else jsonb_build_object('tokens', p_turn.reserved_tokens, 'money', p_turn.reserved_money, 'calls', 1) end);
  update turns set reserved_tokens = null, reserved_money = null where id = p_turn.id and status = 'pending' and reserved_tokens is not null;
end
$$;

comment on function _budget_settle(turns, bigint, numeric, integer) is 'Counts what a turn''s request used, in place of what was reserved for it.';

create or replace function _budget_close(p_work_item_id uuid, p_focus foci)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_turn turns;
begin
  if p_focus.lease_owner is null then
    return;
  end if;
  select * into v_turn from turns where focus_id = p_focus.id and status = 'pending' and reserved_tokens is not null;
  if found then
    -- Asked, and the answer never came: the provider charges at least for what it read.
    perform _budget_settle(v_turn, v_turn.reserved_tokens - (select (config ->> 'max_tokens')::integer from turn_configs where content_hash = v_turn.config_hash),
      v_turn.reserved_money - coalesce((select _price(config ->> 'model', 0, (config ->> 'max_tokens')::bigint) from turn_configs where content_hash = v_turn.config_hash), 0), 1);
  end if;
  perform _budget_spend(p_work_item_id, jsonb_build_object('seconds', extract(epoch from least(_now(), p_focus.lease_expires_at) - p_focus.leased_at)));
end
$$;

comment on function _budget_close(uuid, foci) is 'Counts the seconds that a worker drove an item, whose lease ends now, and a request that it made and never saw answered.';

create or replace function _budget_park(p_item work_items, p_reason text)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  perform _lease_drop(p_item);
  update work_items set state = 'waiting', state_reason = p_reason, run_at = 'infinity', slot_faculty = null where id = p_item.id;
  perform _slot_ring(p_item.slot_faculty);
  return jsonb_build_object('kind', 'parked', 'until', 'infinity', 'reason', p_reason);
end
$$;

comment on function _budget_park(work_items, text) is 'Parks an item until a budget is raised: no worker, no job.';

create or replace view v_budgets with (security_invoker = true) as
  select work_item_id, resource, amount, spent, reserved, greatest(amount - spent - reserved, 0) as remaining
    from budgets;
comment on view v_budgets is 'What each work item and everything below it may use, has used, and holds for model calls under way.';
