-- Explains why a request shows each block the way it does, and what cuts cost and save.

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
  v_cuts elisions[];
  v_cut elisions;
  v_last_depth integer;
  v_from_depth integer;
  v_model text;
begin
  select * into v_turn from turns where id = p_turn_id;
  if not found then
    perform _raise_not_found('turn', p_turn_id);
  end if;
  select c.config ->> 'model' into v_model from turn_configs c where c.content_hash = v_turn.config_hash;
  v_cuts := _elision_chain(v_turn.elision_id);
  v_cut := v_cuts[cardinality(v_cuts)];
  v_last_depth := coalesce((select t.depth from turns t where t.id = v_cut.last_turn_id), -1);
  v_from_depth := case (v_cuts[1]).ordinal when 0 then (v_cuts[1]).depth else 0 end; -- a compaction replaces everything before it
  return query
    with recursive chain(turn, next) as (
      select h, v_turn from turns h where h.id = v_turn.parent_turn_id
      union all
      select p, c.turn from chain c join turns p on p.id = (c.turn).parent_turn_id
    ),
    parts as (
      -- If the next turn is in the same block, no step closed the block. A turn's exchange was added to the context after that turn, and before the next
      -- turn's own messages.
      select case when (c.next).block = (c.turn).block and (c.next).focus_id = (c.turn).focus_id then (c.turn).block
                  else _block_of(c.turn) end as block,
             (c.turn).depth > v_last_depth as is_shown,
             bool_or((c.turn).depth < v_cut.max_result_depth and v_cut.max_result_effect is not null) as is_shortened,
             count(*)::integer as turns, sum(n.said - s.said - o.chars)::bigint as chars
        from chain c
        left join turn_sizes s on s.turn_id = (c.turn).id
        left join turn_sizes n on n.turn_id = (c.next).id
        cross join lateral (
          select coalesce(sum(_blocks_chars(_blocks(m.content))), 0) as chars
            from messages m
           where m.turn_id = (c.next).id and m.role = 'user') o
       where (c.turn).turn_type = 'normal'
       group by 1, 2
    )
    select p.block,
           case
             when p.is_shown and p.is_shortened then 'selective'
             when p.is_shown then 'verbatim'
             when k.compaction_type is null then 'stub'
             else k.compaction_type end,
           p.turns,
           _tokens(p.chars, v_model),
           case
             when not p.is_shown
               and k.compaction_type is null then format(
                 'closed; elided in iteration %s, when the closed blocks held %s tokens and %s tokens came after them', e.iteration,
                 e.tokens_elided, e.tokens_kept)
             when not p.is_shown then format('compacted in iteration %s (%s), when the request had %s tokens', e.iteration, k.trigger, k.tokens_before)
             when p.is_shortened then format('results of %s calls have been shortened since iteration %s', v_cut.max_result_effect, v_cut.iteration)
             when p.block = v_turn.block then 'open'
             else 'closed; the closed blocks are under elide_budget, eliding them would not pay off yet, or eliding is off'
           end
      from parts p
      left join lateral (
        select c.* from elisions c
         where not p.is_shown and c.focus_id in (select (h.turn).focus_id from chain h) and c.depth between v_from_depth and v_turn.depth
         order by not p.block between c.first_block and c.last_block, c.depth limit 1) e on true
      left join compactions k on k.work_item_id = e.work_item_id and k.elision_id = e.id
    union all
    select f.block, 'kept', f.turns, _tokens(f.chars, v_model), f.why from _explain_kept(v_cut) f
     order by 1, 2, 5;
end
$$;

comment on function explain_turn(uuid) is
  'How a turn''s request shows each block, one row each. block; shown: verbatim, stub, the type of compaction that replaced it (ledger, summary, sliding_window, selective, floor), or kept for the parts that stay verbatim after the stubs; turns and estimated_tokens: what the block contains; why. A block that a compaction split has a row for each part. Raises WL001.';

create or replace function _explain_kept(p_cut elisions)
  returns table (block integer, turns integer, chars bigint, why text)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select c.block, c.turns, char_length(_kept_text(o))::bigint,
         format('%s: %s', o ->> 'target',
           case when (p_cut.kept ->> 'is_named')::boolean then 'named by a step' else 'read recently and not changed since' end)
    from json_array_elements(p_cut.kept -> 'kept') o
   cross join lateral (
     select min(_block_of(t)) as block, count(distinct t.id)::integer as turns
       from json_array_elements_text(o -> 'calls') c
       join tool_calls k on k.id = c.value::uuid
       join turns t on t.id = k.turn_id) c
   where c.turns > 0;
$$;

comment on function _explain_kept(elisions) is 'What of the blocks that left stays verbatim after a cut, by what it is about.';

create or replace function context_cost(p_work_item_id uuid)
  returns table (
    attempt integer, iteration integer, cut text, blocks text, tokens_elided integer, stub_tokens integer, tokens_kept integer,
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
    select f.attempt, e.iteration, coalesce(k.compaction_type, 'elision'),
           case when e.first_block >= e.last_block then e.first_block::text else format('%s-%s', e.first_block, e.last_block) end,
           e.tokens_elided, e.stub_tokens, e.tokens_kept,
           _breaks_even_after(e, (select c.config -> 'engage' ->> 'model' from faculties c where c.content_hash = f.faculty_hash)),
           u.requests,
           (select _input_total(t)::bigint
              from turns t
             where t.focus_id = e.focus_id and t.iteration = e.iteration - 1 and t.status = 'completed'
               and t.provider is distinct from 'replay'),
           (select _input_total(t)::bigint
              from turns t
             where t.focus_id = e.focus_id and t.iteration = e.iteration and t.status = 'completed'
               and t.provider is distinct from 'replay')
      from elisions e
      join foci f on f.id = e.focus_id
      -- A request that was given up may have left a cut that no other request uses.
      join (select t.focus_id, t.elision_id, count(*)::integer as requests
              from turns t
             where t.work_item_id = p_work_item_id
             group by 1, 2
            having bool_or(t.status <> 'failed')) u on (u.focus_id, u.elision_id) = (e.focus_id, e.id)
      left join compactions k on k.work_item_id = e.work_item_id and k.elision_id = e.id
     where e.work_item_id = p_work_item_id
     order by f.attempt, e.iteration;
end
$$;

comment on function context_cost(uuid) is
  'Each cut of a work item, with its forecast and its outcome. cut: elision, or the type of compaction. blocks: those it left out. Forecast: tokens_elided (that left the context), stub_tokens, tokens_kept (after the stubs), breaks_even_after (requests). Outcome: requests_since (that use the cut), input_before and input_after (input tokens, as counted by the provider, of the last request without and the first request with the cut; null for a replayed run, whose counts belong to its recorded requests). Raises WL001.';
