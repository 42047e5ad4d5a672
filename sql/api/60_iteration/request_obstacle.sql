-- Reasons why a request cannot be sent now: the model's cooldown, a command to run first, an exhausted budget.

create or replace function _request_obstacle(p_item work_items, p_focus foci, p_config jsonb, p_turn turns)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_fallback text := p_config #>> '{engage,fallback_model}';
  v_cooldown models;
  v_hook hook_runs;
  v_resources budget_resource[];
  v_budget record;
begin
  select m.* into v_cooldown
    from turn_configs c
    join models m on m.name = c.config ->> 'model'
   where c.content_hash = p_turn.config_hash and m.cooldown_ends_at > _now();
  if found and p_turn.turn_type = 'normal' and v_fallback <> v_cooldown.name
    and not exists (select from models where name = v_fallback and cooldown_ends_at > _now()) then
    update turns set config_hash = _turn_config(p_focus, p_config, v_fallback, _is_thinking(p_turn)) where id = p_turn.id returning * into p_turn;
  elsif v_cooldown.name is not null then
    -- Spread over a quarter of the cooldown, so that items do not all retry at once.
    return _iteration_again(p_item, v_cooldown.cooldown_reason,
      v_cooldown.cooldown_ends_at + random() * 0.25 * (v_cooldown.cooldown_ends_at - _now()));
  end if;

  if p_turn.turn_type = 'normal' then
    v_hook := _hook(p_item, p_focus, p_config, 'before_model_call', p_turn.id);
    if v_hook.status = 'refused' or (v_hook.status = 'failed' and p_config #>> '{hooks,on_failure}' = 'refuse') then
      -- The item was paused for it and has been resumed: run the hook again.
      update hook_runs set status = 'pending', completed_at = null where id = v_hook.id returning * into v_hook;
    end if;
    if v_hook.status = 'pending' then
      return _hook_order(p_item, p_focus, p_config, v_hook, jsonb_build_object('iteration', p_turn.iteration, 'request', context_at(p_turn.id)));
    end if;
  end if;

  -- A request is reserved once under one lease.
  v_resources := case when p_turn.reserved_tokens is null then _resources_limited(p_item.id) else '{}' end;
  if v_resources <> '{}' then
    v_budget := _budget_reserve(p_item, p_focus, p_config, p_turn, v_resources, _turn_tokens(p_turn));
    if v_budget.lack is not null then
      return _budget_park(p_item, v_budget.lack, v_budget.ends_at);
    elsif v_budget.is_held_by_others then
      return _iteration_again(p_item, 'the rest of a budget is reserved by running model calls', _now() + make_interval(secs => 1 + random()));
    end if;
  end if;
  return null;
end
$$;

comment on function _request_obstacle(work_items, foci, jsonb, turns) is
  'What has to happen before a turn''s request can be sent, as iteration_begin() returns it: wait for the end of the model''s cooldown (the faculty''s fallback_model, if there is one, is asked instead), run the before_model_call hook, wait for a budget. Null: nothing.';

create or replace function _turn_tokens(p_turn turns)
  returns bigint
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_chars bigint := (select _sizes_chars(s) from turn_sizes s where s.turn_id = p_turn.id and p_turn.turn_type = 'normal') + _config_chars(p_turn);
begin
  if v_chars is null then -- a request for a summary
    v_chars := char_length(context_at(p_turn.id)::text);
  end if;
  return _tokens(v_chars, (select model from turn_configs where content_hash = p_turn.config_hash));
end
$$;

comment on function _turn_tokens(turns) is 'Estimated tokens of a turn''s whole request.';

create or replace function _budget_park(p_item work_items, p_reason text, p_until timestamptz)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  p_item := _lease_drop(_set_aside(p_item, 'waiting', p_reason, p_until), p_item.slot_faculty);
  return case
    when p_item.state = 'paused' then jsonb_build_object('kind', p_item.state, 'reason', p_item.state_reason)
    else jsonb_build_object('kind', 'parked', 'until', p_until, 'reason', p_reason) end;
end
$$;

comment on function _budget_park(work_items, text, timestamptz) is 'Parks an item until a budget is raised, or until p_until at the latest, when the sweep enqueues it like anything that waits for a time: no worker, no job.';
