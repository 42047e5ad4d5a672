-- Compaction, the net under the elisions, as a ladder: the ledger stands for old turns; where there is hardly any, a
-- model's summary does; where neither helps, what is left is task, ledger and the last exchange. Each rung has to free a
-- tenth at least, so nothing is compacted again and again.

create or replace function _compaction_due(
    p_item work_items,
    p_focus foci,
    p_engage jsonb,
    p_last turns,
    p_head turns,
    p_cuts elisions[],
    p_say text,
    p_may_summarize boolean,
    out compaction compactions,
    out cut elisions,
    out reason text)
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_started_at timestamptz := clock_timestamp();
  v_current elisions := p_cuts[cardinality(p_cuts)];
  v_window integer := _context_window_of(p_engage);
  v_limit integer := case (p_engage ->> 'compact_threshold')::numeric when 0 then v_window else v_window * (p_engage ->> 'compact_threshold')::numeric end;
  v_every integer := (p_engage ->> 'compact_every')::integer;
  v_is_periodic boolean := v_every > 0 and p_focus.iteration > 0 and p_focus.iteration % nullif(v_every, 0) = 0 and p_last.id = p_head.id;
  v_trigger text := coalesce(p_focus.compaction_trigger, 'context_limit');
  v_keep integer := greatest(1, ceil((p_engage ->> 'compact_keep_recent')::numeric / 2));
  v_config_chars integer;
  v_before bigint;
  v_after bigint;
  v_tokens integer;
  v_shown turns[];
  v_leaving turns[];
  v_leaving_chars bigint;
  v_is_kept_by_ledger boolean;
begin
  select char_length(config::text) into v_config_chars from turn_configs where content_hash = p_head.config_hash;
  if p_last.id <> p_head.id or _input_total(p_head) = 0 or p_focus.compaction_trigger is not null or v_is_periodic then
    v_before := _parts_chars(p_head.id, p_cuts, p_say) + v_config_chars;
  end if;
  v_tokens := _next_tokens(p_engage, p_last, p_head, v_current, p_say, v_before);
  if v_tokens <= v_limit and p_focus.compaction_trigger is null then
    if not v_is_periodic then
      return;
    end if;
    v_trigger := 'periodic';
  end if;
  v_before := coalesce(v_before, _parts_chars(p_head.id, p_cuts, p_say) + v_config_chars);
  if v_trigger = 'context_overflow' then
    -- The model refused what was estimated to fit: the estimate is wrong, so what it says is no limit either.
    v_window := least(v_window, v_tokens);
    v_limit := least(v_limit, v_tokens * 0.7);
  end if;
  v_shown := _shown_turns(p_head, v_current);
  v_leaving := v_shown[: cardinality(v_shown) - v_keep];
  select coalesce(sum(_exchange_chars(t.id)), 0) into v_leaving_chars from unnest(v_leaving) t;
  v_is_kept_by_ledger := 10 * (
      select count(*) from work_ledger l
       where l.work_item_id = p_item.id and l.seq > coalesce(v_current.last_seq, 0) and not l.is_auto
         and l.turn_id in (select t.id from unnest(v_leaving) t)) >= cardinality(v_leaving);

  compaction.work_item_id := p_item.id;
  compaction.trigger := v_trigger;
  compaction.instructions := p_focus.compaction_instructions;
  compaction.base_elision_id := p_last.elision_id;
  compaction.tokens_before := v_tokens;
  compaction.ledger_entries_used := p_item.ledger_count;
  compaction.metadata := jsonb_build_object('keep_recent', p_engage -> 'compact_keep_recent') || case v_trigger when 'periodic' then jsonb_build_object('every', v_every) else '{}' end;

  if p_focus.compaction_instructions is null then
    cut := _strategy_cut(p_item, p_focus, p_engage, p_head, p_cuts, v_shown, v_keep, v_trigger, least(v_limit * (v_before::numeric / v_tokens) * 0.2, 10000000)::integer);
    compaction.compaction_type := p_engage ->> 'compact_strategy';
  end if;
  if cut.id is not null then
    v_after := _parts_chars(p_head.id, _with_cut(p_cuts, cut), p_say) + v_config_chars;
  end if;
  if v_after <= 0.9 * v_before and v_after::numeric / v_before * v_tokens <= v_limit then
    null; -- the faculty's strategy is enough
  elsif v_is_kept_by_ledger and p_focus.compaction_instructions is null then
    cut := _compaction_cut(p_item, p_focus, p_head, v_current, v_shown, v_keep, v_trigger,
                           _ledger_block(p_item.id, least(v_limit * (v_before::numeric / v_tokens) * 0.4, 10000000)::integer),
                           least(v_limit * (v_before::numeric / v_tokens) * 0.2, 10000000)::integer, v_current.summary);
    v_after := _parts_chars(p_head.id, array[cut], p_say) + v_config_chars;
    compaction.compaction_type := 'ledger';
  elsif p_may_summarize and v_leaving_chars >= 0.2 * v_before then
    compaction.compaction_type := 'summary';
    compaction.summarized_through_turn_id := (v_leaving[cardinality(v_leaving)]).id;
    compaction.first_kept_turn_id := (v_shown[cardinality(v_leaving) + 1]).id;
    compaction.turns_summarized := cardinality(v_leaving);
    compaction.base_elision_id := v_current.id;
    cut := null;
    return;
  else
    cut := null;
  end if;

  if cut.id is null or v_after > 0.9 * v_before or v_after::numeric / v_before * v_tokens > v_limit then
    if v_tokens <= v_limit then
      compaction := null; -- asked for by hand or periodic, and there is nothing to gain
      cut := null;
      return;
    end if;
    cut := _floor_cut(p_item, p_focus, p_head, v_current, v_shown, v_trigger, p_say, least(v_limit * (v_before::numeric / v_tokens), 100000000)::integer - v_config_chars);
    v_after := _parts_chars(p_head.id, array[cut], p_say) + v_config_chars;
    compaction.compaction_type := 'floor';
    if v_after::numeric / v_before * v_tokens > v_window then
      reason := format('the conversation no longer fits the model''s context window: about %s tokens of %s when everything that can be left out is', (v_after::numeric / v_before * v_tokens)::integer, v_window);
    end if;
    if v_after > 0.9 * v_before and (v_tokens <= v_window or v_after >= v_before) or reason is not null then
      compaction := null;
      cut := null;
      return;
    end if;
  end if;
  compaction.is_applied := true;
  compaction.elision_id := cut.id;
  if compaction.compaction_type = 'selective' then
    compaction.summarized_through_turn_id := (v_leaving[cardinality(v_leaving)]).id;
    compaction.metadata := compaction.metadata || _selected(v_leaving, cut);
  else
    compaction.summarized_through_turn_id := cut.last_turn_id;
  end if;
  compaction.first_kept_turn_id := (select t.id from unnest(v_shown) t where t.depth > coalesce((select l.depth from turns l where l.id = compaction.summarized_through_turn_id), -1) order by t.depth limit 1);
  compaction.turns_summarized := (select count(*) from unnest(v_shown) t where t.depth <= (select l.depth from turns l where l.id = compaction.summarized_through_turn_id));
  compaction.tokens_after := v_after::numeric / v_before * v_tokens;
  compaction.duration_ms := extract(epoch from clock_timestamp() - v_started_at) * 1000;
  cut.tokens_elided := greatest(0, compaction.tokens_before - compaction.tokens_after) + cut.stub_tokens;
end
$$;

comment on function _compaction_due(work_items, foci, jsonb, turns, turns, elisions[], text, boolean) is
  'Whether the request after p_head, with the cuts p_cuts and saying p_say, has to be compacted, and how: a compaction with its cut (neither stored yet); of a summary, which is written first, no cut; or the reason why nothing helps. p_may_summarize: no summary was tried for this request.';
