-- Usage of work items: updated with each answered turn, so that views do not have to read the turns.

create or replace function _usage_add(p_turn turns)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- The item's fence is held, so nobody else can add the row; "on conflict do update" would also log a lock of the row.
  merge into work_usage u
  using (
    select p_turn.work_item_id, coalesce(c.model, p_turn.model, 'unknown') as model,
           coalesce(p_turn.input_tokens, 0) as input_tokens, coalesce(p_turn.output_tokens, 0) as output_tokens,
           coalesce(p_turn.cached_input_tokens, 0) as cached_input_tokens, coalesce(p_turn.cache_write_tokens, 0) as cache_write_tokens,
           case c.cache_ttl when '1h' then coalesce(p_turn.cache_write_tokens, 0) else 0 end as hour_write_tokens
      from (values (1)) one
      left join turn_configs c on c.content_hash = p_turn.config_hash) s
  on u.work_item_id = s.work_item_id and u.model = s.model
  when matched then update
    set model_calls = u.model_calls + 1,
        input_tokens = u.input_tokens + s.input_tokens,
        output_tokens = u.output_tokens + s.output_tokens,
        cached_input_tokens = u.cached_input_tokens + s.cached_input_tokens,
        cache_write_tokens = u.cache_write_tokens + s.cache_write_tokens,
        hour_write_tokens = u.hour_write_tokens + s.hour_write_tokens
  when not matched then insert
         (work_item_id, model, model_calls, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, hour_write_tokens)
    values (s.work_item_id, s.model, 1, s.input_tokens, s.output_tokens, s.cached_input_tokens, s.cache_write_tokens, s.hour_write_tokens);
$$;

comment on function _usage_add(turns) is 'Adds what an answered turn used to the sums of its work item. Once for each turn.';

create or replace function _usage_of(p_work_item_ids uuid[], out tokens bigint, out cost numeric, out model_calls bigint)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
  select coalesce(sum(u.input + u.output + u.cache_read + u.cache_write), 0)::bigint,
         sum(_price(u.model, u.input, u.output, u.cache_read, u.cache_write, u.hour_write)),
         coalesce(sum(u.calls), 0)::bigint
    from (
      select model, sum(input_tokens)::bigint as input, sum(output_tokens)::bigint as output, sum(cached_input_tokens)::bigint as cache_read,
             sum(cache_write_tokens)::bigint as cache_write, sum(hour_write_tokens)::bigint as hour_write, sum(model_calls) as calls
        from work_usage
       where work_item_id = any (p_work_item_ids)
       group by model) u;
$$;

comment on function _usage_of(uuid[]) is 'What these work items used together: tokens, cost at today''s prices (null: no price of their models is known), answered turns.';
