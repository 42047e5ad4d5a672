-- What a model call may use, held before it is made and settled after.

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
  v_budgets := array(select b from _budgets_above(array[p_item.id]) b);
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
  v_spent := jsonb_build_object('seconds', extract(epoch from least(_now(), p_focus.lease_expires_at) - p_focus.leased_at));
  select * into v_turn from turns where focus_id = p_focus.id and status in ('pending', 'streaming') and reserved_tokens is not null;
  if found then
    update turns set reserved_tokens = null, reserved_money = null where id = v_turn.id;
    v_released := jsonb_build_object('tokens', v_turn.reserved_tokens, 'money', v_turn.reserved_money, 'calls', 1);
    -- Asked, and the answer never came: the provider charges at least for what it read. What it refused it does not charge.
    v_spent := v_spent || coalesce((
      select jsonb_build_object('tokens', v_turn.reserved_tokens - (config ->> 'max_tokens')::bigint, 'calls', 1,
               'money', v_turn.reserved_money - coalesce(_price(config ->> 'model', 0, (config ->> 'max_tokens')::bigint), 0))
        from turn_configs where content_hash = v_turn.config_hash and not p_is_refused), '{}');
  end if;
  return jsonb_build_object(p_focus.work_item_id, jsonb_build_object('spent', v_spent, 'released', v_released));
end
$$;

comment on function _lease_due(foci, boolean) is
  'What a lease that ends, p_focus as it was under it, costs the budgets above, for _budget_charge(): {work_item_id: {spent, released}}; the seconds that a worker drove the item, and a request that it made and never saw answered, unless the provider refused it. {}: there was no lease.';

create or replace function _budget_park(p_item work_items, p_reason text)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  perform _lease_drop(_without_place(p_item, 'waiting', p_reason, 'infinity'));
  perform _enqueue_all('{}', array[p_item.slot_faculty]);
  return jsonb_build_object('kind', 'parked', 'until', 'infinity', 'reason', p_reason);
end
$$;

comment on function _budget_park(work_items, text) is 'Parks an item until a budget is raised: no worker, no job.';
