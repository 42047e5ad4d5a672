-- Reserves the cost of a model call in the budgets of its item and of all ancestors, and in the daily budgets of its project and faculty, before the
-- call is made.

create or replace function _budget_reserve(
    p_item work_items, p_focus foci, p_config jsonb, p_turn turns, p_resources budget_resource[], p_input bigint,
    out lack text, out ends_at timestamptz, out is_held_by_others boolean)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_today date := _today();
  v_budgets budget_draw[];
  v_budget budget_draw;
  v_config json;
  v_model text;
  v_most integer;
  v_hour bigint;
  v_output numeric;
  v_room numeric;
  v_is_settled boolean;
begin
  if 'seconds' = any (p_resources) then
    -- A worker that continues keeps its lease: charge the seconds it has driven so far.
    update foci set leased_at = _now() where id = p_focus.id;
    perform _budget_spend(p_item.id, jsonb_build_object('spent', jsonb_build_object('seconds', _seconds_driven(p_focus))), v_today);
  end if;
  v_budgets := array(select b from _budgets_above(array[p_item.id], array[v_today]) b);
  select config into v_config from turn_configs where content_hash = p_turn.config_hash;
  v_model := v_config ->> 'model';
  v_most := (v_config ->> 'max_tokens')::integer;
  v_hour := case v_config #>> '{cache_control,ttl}' when '1h' then p_input else 0 end;
  -- First count the reservations of other calls as spent, then as if all of them were released.
  foreach v_is_settled in array array[false, true] loop
    v_output := v_most;
    lack := null;
    foreach v_budget in array v_budgets loop
      v_budget.spent := v_budget.spent + case when v_is_settled then 0 else v_budget.reserved end;
      v_room := _budget_room(v_budget, v_model, p_input, v_hour);
      v_output := least(v_output, v_room);
      -- A shorter response is acceptable, but not one under 1,000 tokens.
      if v_room is null or v_output < least(v_most, case p_turn.turn_type when 'normal' then 1000 else v_most end) then
        lack := _budget_lack(v_budget, case when v_room is null then v_model end, p_input);
        ends_at := coalesce(_day_ends_at(v_budget.day), 'infinity');
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
         reserved_money = coalesce(_price(v_model, 0, v_output::bigint, 0, p_input, v_hour), 0),
         reserved_on = v_today
   where id = p_turn.id
  returning * into p_turn;
  perform _budget_hold(v_budgets, jsonb_build_object('tokens', p_turn.reserved_tokens, 'money', p_turn.reserved_money, 'calls', 1));
end
$$;

comment on function _budget_reserve(work_items, foci, jsonb, turns, budget_resource[], bigint) is
  'Reserves the most that a turn''s request may use, in the budgets of its item and all ancestors and in those of this day, lowering its output limit to what is left. p_resources: the resources with budgets, see _resources_limited(). p_input: the estimated tokens of the request. lack: which budget is used up; null: none. ends_at: when that budget has more again by itself. is_held_by_others: there would be enough if other calls had not reserved it.';

create or replace function _budget_hold(p_budgets budget_draw[], p_amounts jsonb)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_budget budget_draw;
begin
  update budgets b
     set reserved = b.reserved + coalesce((p_amounts ->> b.resource)::numeric, 0)
    from unnest(p_budgets) a
   where (b.work_item_id, b.resource) = (a.work_item_id, a.resource);
  foreach v_budget in array p_budgets loop
    continue when v_budget.day is null;
    update daily_spending s
       set reserved = s.reserved + coalesce((p_amounts ->> s.resource)::numeric, 0)
     where (s.scope, s.name, s.resource, s.day) = (v_budget.scope, v_budget.name, v_budget.resource, v_budget.day);
  end loop;
end
$$;

comment on function _budget_hold(budget_draw[], jsonb) is 'Reserves these amounts, {resource: amount}, in budgets that the caller has locked.';

create or replace function _budget_lack(p_budget budget_draw, p_model text, p_input bigint)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case
    when p_model is not null
      then format('model %s has no price, and %s has a budget of money%s: set the price with model_price_save()', p_model, b.owner,
        case when p_budget.scope is not null then ' a day' else '' end)
    else format('the budget of %s %s%s of %s is used up: %s', trim_scale(p_budget.amount), p_budget.resource,
          case when p_budget.scope is not null then ' a day' else '' end, b.owner, trim_scale(round(p_budget.spent, 6)))
      || case when p_budget.resource in ('tokens', 'money') then format(', and the next request needs about %s tokens', p_input) else '' end
      || case when p_budget.scope is not null then '; it continues at midnight UTC' else '' end end
    from (select coalesce('work item ' || p_budget.work_item_id, format('%s "%s"', p_budget.scope, p_budget.name)) as owner) b;
$$;

comment on function _budget_lack(budget_draw, text, bigint) is
  'Why a budget has no room for a request, as a sentence. p_model: the model without a price, if that is the reason; null: the budget is used up. p_input: the estimated tokens of the request.';

create or replace function _budget_room(p_budget budget_draw, p_model text, p_input bigint, p_hour_write bigint)
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

comment on function _budget_room(budget_draw, text, bigint, bigint) is 'How many output tokens a budget has room for, after a request''s input; infinity: it does not limit output; null: it is a money budget and the model has no price.';
