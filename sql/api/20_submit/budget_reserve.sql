-- A model call is reserved in the budgets of its item and all ancestors before it is made.

create or replace function _budget_reserve(
    p_item work_items, p_focus foci, p_config jsonb, p_turn turns, p_resources budget_resource[], p_input bigint,
    out lack text, out is_held_by_others boolean)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_budgets budgets[];
  v_budget budgets;
  v_config json;
  v_model text;
  v_most integer;
  v_hour bigint;
  v_output numeric;
  v_room numeric;
  v_is_settled boolean;
begin
  if 'seconds' = any (p_resources) then
    -- A worker that goes on keeps its lease: what it has driven until now counts now.
    update foci set leased_at = _now() where id = p_focus.id;
    perform _budget_spend(p_item.id, jsonb_build_object('seconds', _seconds_driven(p_focus)));
  end if;
  v_budgets := array(select b from _budgets_above(array[p_item.id]) b);
  select config into v_config from turn_configs where content_hash = p_turn.config_hash;
  v_model := v_config ->> 'model';
  v_most := (v_config ->> 'max_tokens')::integer;
  v_hour := case v_config #>> '{cache_control,ttl}' when '1h' then p_input else 0 end;
  -- First with the reservations of other calls counted as spent, then as if they were all released.
  foreach v_is_settled in array array[false, true] loop
    v_output := v_most;
    lack := null;
    foreach v_budget in array v_budgets loop
      v_budget.spent := v_budget.spent + case when v_is_settled then 0 else v_budget.reserved end;
      v_room := _budget_room(v_budget, v_model, p_input, v_hour);
      v_output := least(v_output, v_room);
      if v_room is null then
        lack := format('no price of model %s is known, and work item %s has a budget of money: model_price_save() sets one',
          v_model, v_budget.work_item_id);
      -- A shorter response is acceptable, but not one under 1,000 tokens.
      elsif v_output < least(v_most, case p_turn.turn_type when 'normal' then 1000 else v_most end) then
        lack := format('the budget of %s %s of work item %s is used up: %s',
            trim_scale(v_budget.amount), v_budget.resource, v_budget.work_item_id, trim_scale(round(v_budget.spent, 6)))
          || case when v_budget.resource in ('tokens', 'money') then format(', and the next request needs about %s tokens', p_input) else '' end;
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
    update turns set config_hash = _turn_config(p_focus, p_config, v_model, v_config -> 'thinking' is not null) where id = p_turn.id;
  end if;
  update turns
     set reserved_tokens = p_input + v_output,
         reserved_input_tokens = p_input,
         reserved_money = coalesce(_price(v_model, 0, v_output::bigint, 0, p_input, v_hour), 0)
   where id = p_turn.id
  returning * into p_turn;
  update budgets b
     set reserved = b.reserved + case b.resource
           when 'tokens' then p_turn.reserved_tokens
           when 'money' then p_turn.reserved_money
           when 'calls' then 1
           else 0
         end
    from unnest(v_budgets) a
   where (b.work_item_id, b.resource) = (a.work_item_id, a.resource);
end
$$;

comment on function _budget_reserve(work_items, foci, jsonb, turns, budget_resource[], bigint) is
  'Reserves the most that a turn''s request may use in the budgets of its item and all ancestors, lowering its output limit to what is left. p_resources: of which there are budgets, see _resources_limited(). p_input: the estimated tokens of the request. lack: which budget is used up; null: none. is_held_by_others: there would be enough, but other calls have reserved it.';

create or replace function _budget_room(p_budget budgets, p_model text, p_input bigint, p_hour_write bigint)
  returns numeric
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_left numeric := p_budget.amount - p_budget.spent;
  v_money numeric;
begin
  case p_budget.resource
    when 'tokens' then
      return v_left - p_input;
    when 'money' then
      v_money := _price(p_model, 0, 0, 0, p_input, p_hour_write);
      if v_money is null then
        return null;
      elsif _price(p_model, 0, 1000000) > 0 then
        return floor((v_left - v_money) * 1000000 / _price(p_model, 0, 1000000));
      end if;
      return case when v_money > v_left then 0 else numeric 'Infinity' end;
    when 'calls' then
      return case when v_left < 1 then 0 else numeric 'Infinity' end;
    when 'seconds' then
      return case when v_left <= 0 then 0 else numeric 'Infinity' end;
    else
      return 'Infinity';
  end case;
end
$$;

comment on function _budget_room(budgets, text, bigint, bigint) is 'How many output tokens a budget has room for, after a request''s input; infinity: it does not limit output; null: it is a budget of money, and the model has no price.';
