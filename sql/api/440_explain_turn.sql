create or replace function explain_turn(p_turn_id uuid)
  returns table (block integer, shown text, turns integer, estimated_tokens integer, why text)
  language plpgsql
  stable
  rows 20
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_turn turns;
  v_elision elisions;
  v_model text;
begin
  select * into v_turn from turns where id = p_turn_id;
  if not found then
    perform _raise_not_found('turn', p_turn_id);
  end if;
  select * into v_elision from elisions where id = v_turn.elision_id;
  select c.config ->> 'model' into v_model from turn_configs c where c.content_hash = v_turn.config_hash;
  return query
    with recursive chain(turn) as (
      select h from turns h where h.id = v_turn.parent_turn_id
      union all
      select p from chain c join turns p on p.id = (c.turn).parent_turn_id
    ),
    blocks as (
      select _block_of(c.turn) as block, count(*)::integer as turns, sum(_exchange_chars((c.turn).id)) as chars
        from chain c
       group by 1
    ),
    stubs as (
      select e.last_block, e.first_block, e.iteration, e.tokens_elided, e.tokens_kept, e.stubs
        from (with recursive x as (
                select * from elisions where id = v_turn.elision_id
                union all
                select e.* from x join elisions e on e.id = x.previous_id)
              select * from x) e
    )
    select b.block,
           case when s.last_block is not null then 'stub' else 'verbatim' end,
           b.turns,
           _tokens(b.chars, v_model),
           case
             when s.last_block is not null then format('closed; elided in iteration %s, when the closed blocks held %s tokens and %s stood behind them', s.iteration, s.tokens_elided, s.tokens_kept)
             when b.block = v_turn.block then 'open'
             else 'closed; the closed blocks are under elide_budget, or eliding is off'
           end
      from blocks b
      left join stubs s on b.block between s.first_block and s.last_block
     order by b.block;
end
$$;

comment on function explain_turn(uuid) is
  'What became of each block in a turn''s request: shown verbatim or as its stub, how many turns and about how many tokens it holds, and why. Raises WL001.';

create or replace function context_cost(p_work_item_id uuid)
  returns table (
    attempt integer, iteration integer, blocks text, tokens_elided integer, stub_tokens integer, tokens_kept integer,
    breaks_even_after integer, requests_since integer, input_before bigint, input_after bigint)
  language plpgsql
  stable
  rows 20
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if not exists (select from work_items where id = p_work_item_id) then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  return query
    select f.attempt, e.iteration,
           case when e.first_block = e.last_block then e.first_block::text else format('%s-%s', e.first_block, e.last_block) end,
           e.tokens_elided, e.stub_tokens, e.tokens_kept,
           -- What stands behind the stubs is written to the cache again (1.25 instead of 0.1), what left it is not read any more (0.1).
           ceil((e.tokens_kept + e.stub_tokens) * 1.15 / greatest((e.tokens_elided - e.stub_tokens) * 0.1, 0.01))::integer,
           (select count(*)::integer from turns t where t.focus_id = e.focus_id and t.elision_id = e.id),
           (select coalesce(t.input_tokens, 0)::bigint + coalesce(t.cached_input_tokens, 0) + coalesce(t.cache_write_tokens, 0)
              from turns t where t.focus_id = e.focus_id and t.iteration = e.iteration - 1 and t.status = 'completed'),
           (select coalesce(t.input_tokens, 0)::bigint + coalesce(t.cached_input_tokens, 0) + coalesce(t.cache_write_tokens, 0)
              from turns t where t.focus_id = e.focus_id and t.iteration = e.iteration and t.status = 'completed')
      from elisions e
      join foci f on f.id = e.focus_id
     where e.work_item_id = p_work_item_id
     order by f.attempt, e.iteration;
end
$$;

comment on function context_cost(uuid) is
  'Each elision of a work item: the forecast (tokens that left the context, of their stubs, kept behind them; after how many requests it pays) and what came of it (requests with it, input tokens that the provider counted in the request before and in the first one with it). Raises WL001.';
