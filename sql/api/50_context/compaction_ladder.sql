-- Compaction, for when elisions are not enough, is a ladder. First rung: the ledger replaces old turns. If the ledger has hardly any entries: a
-- model's summary does. If neither helps: only the task, the ledger and the last exchange stay. Each rung has to free at least a tenth, so that
-- the context is not compacted over and over.

create or replace function _compaction_ladder(
    p_state context_state,
    p_say text,
    p_may_summarize boolean,
    p_trigger text,
    p_tokens integer,
    p_chars bigint,
    out compaction compactions,
    out cut elisions,
    out reason text)
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_current elisions := p_state.cuts[cardinality(p_state.cuts)];
  -- If the model rejected a request that was estimated to fit, the estimate is wrong and cannot serve as the limit.
  v_is_refused boolean := p_trigger = 'context_overflow';
  v_window integer := least(_context_window_of(p_state.engage), case when v_is_refused then p_tokens end);
  v_limit integer := least(_compaction_limit(p_state.engage), case when v_is_refused then p_tokens * 0.7 end);
  v_limit_chars numeric := v_limit * (p_chars::numeric / p_tokens);
  v_keep integer := greatest(1, ceil((p_state.engage ->> 'compact_keep_recent')::numeric / 2));
  v_leaving turns[];
  v_names text[] := _keep_at((p_state.item).id);
  v_after bigint;
begin
  p_state.shown := _shown_turns(p_state.head, v_current);
  v_leaving := p_state.shown[: cardinality(p_state.shown) - v_keep];
  compaction := _compaction_begun(p_state, p_trigger, p_tokens);
  if (p_state.focus).compaction_instructions is null then
    cut := _strategy_cut(p_state, v_keep, p_trigger, least(v_limit_chars * 0.2, 10000000)::integer, v_names);
    v_after := case when cut.id is not null then _request_chars(p_state.head, _with_cut(p_state.cuts, cut), p_say) end;
  end if;
  if v_after <= 0.9 * p_chars and v_after::numeric / p_chars * p_tokens <= v_limit then
    null; -- the faculty's strategy frees enough
  elsif (p_state.focus).compaction_instructions is null and _is_kept_by_ledger((p_state.item).id, v_current.last_seq, v_leaving) then
    cut := _with_kept(_ledger_cut(p_state, v_keep, p_trigger, v_limit_chars), p_state.head, v_names, p_state.engage);
    v_after := _request_chars(p_state.head, array[cut], p_say);
    compaction.compaction_type := 'ledger';
  elsif p_may_summarize and (select coalesce(sum(_exchange_chars(t.id)), 0) from unnest(v_leaving) t) >= 0.2 * p_chars then
    compaction := _summary_begun(compaction, v_current.id, p_state.shown, v_leaving);
    cut := null;
    return;
  else
    cut := null;
  end if;

  if cut.id is null or v_after > 0.9 * p_chars or v_after::numeric / p_chars * p_tokens > v_limit then
    if p_tokens > v_limit then
      cut := _floor_cut(p_state, p_trigger, p_say, least(v_limit_chars, 100000000)::integer - _config_chars(p_state.head));
      v_after := _request_chars(p_state.head, array[cut], p_say);
      compaction.compaction_type := 'floor';
      reason := _no_longer_fits(v_after::numeric / p_chars * p_tokens, v_window);
    end if;
    -- It was requested or periodic and would gain nothing, or nothing helps.
    if p_tokens <= v_limit or reason is not null or v_after > 0.9 * p_chars and (p_tokens <= v_window or v_after >= p_chars) then
      compaction := null;
      cut := null;
      return;
    end if;
  end if;
  compaction := _compaction_applied(compaction, cut, p_state.shown, v_leaving, (v_after::numeric / p_chars * p_tokens)::integer);
  cut.tokens_elided := greatest(0, compaction.tokens_before - compaction.tokens_after) + cut.stub_tokens;
end
$$;

comment on function _compaction_ladder(context_state, text, boolean, text, integer, bigint) is
  'How a request of p_tokens tokens and p_chars characters is compacted, by the first rung that frees enough: the faculty''s strategy, the ledger, a summary, the floor. Returns the same as _compaction_due(); all null: nothing would be gained, and the request fits as it is.';

create or replace function _compaction_begun(p_state context_state, p_trigger text, p_tokens integer)
  returns compactions
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_compaction compactions;
begin
  v_compaction.work_item_id := (p_state.item).id;
  v_compaction.trigger := p_trigger;
  v_compaction.compaction_type := case when (p_state.focus).compaction_instructions is null then p_state.engage ->> 'compact_strategy' end;
  v_compaction.instructions := (p_state.focus).compaction_instructions;
  v_compaction.tokens_before := p_tokens;
  v_compaction.ledger_entries_used := ledger_count(p_state.item);
  v_compaction.metadata := jsonb_build_object('keep_recent', p_state.engage -> 'compact_keep_recent')
    || case p_trigger when 'periodic' then jsonb_build_object('every', (p_state.engage ->> 'compact_every')::integer) else '{}' end;
  return v_compaction;
end
$$;

comment on function _compaction_begun(context_state, text, integer) is 'A compaction (not stored yet) with the reason why it is due, but not yet what it does.';

create or replace function _is_kept_by_ledger(p_work_item_id uuid, p_after_seq integer, p_turns turns[])
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select 10 * count(*) >= cardinality(p_turns)
    from work_ledger l
   where l.work_item_id = p_work_item_id and l.seq > coalesce(p_after_seq, 0) and not l.is_auto
     and l.turn_id in (select t.id from unnest(p_turns) t);
$$;

comment on function _is_kept_by_ledger(uuid, integer, turns[]) is 'Whether the agent recorded at least one entry for every ten of these turns, so that its ledger can replace them.';

create or replace function _ledger_cut(p_state context_state, p_keep integer, p_trigger text, p_limit_chars numeric)
  returns elisions
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _compaction_cut(
    p_state, p_keep, p_trigger,
    _ledger_block((p_state.item).id, least(p_limit_chars * 0.4, 10000000)::integer),
    least(p_limit_chars * 0.2, 10000000)::integer, (p_state.cuts[cardinality(p_state.cuts)]).summary);
$$;

comment on function _ledger_cut(context_state, integer, text, numeric) is
  'The cut (not stored yet) that keeps the newest p_keep of the turns shown, and replaces everything before them by the ledger, in a size that fits a request of p_limit_chars characters.';

create or replace function _summary_begun(p_compaction compactions, p_base_elision_id uuid, p_shown turns[], p_leaving turns[])
  returns compactions
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  p_compaction.compaction_type := 'summary';
  p_compaction.base_elision_id := p_base_elision_id;
  p_compaction.summarized_through_turn_id := (p_leaving[cardinality(p_leaving)]).id;
  p_compaction.first_kept_turn_id := (p_shown[cardinality(p_leaving) + 1]).id;
  p_compaction.turns_summarized := cardinality(p_leaving);
  return p_compaction;
end
$$;

comment on function _summary_begun(compactions, uuid, turns[], turns[]) is 'The compaction with the turns of which a summary has to be written first, and the cut in force.';

create or replace function _compaction_applied(p_compaction compactions, p_cut elisions, p_shown turns[], p_leaving turns[], p_tokens_after integer)
  returns compactions
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_depth integer;
begin
  p_compaction.is_applied := true;
  p_compaction.elision_id := p_cut.id;
  p_compaction.tokens_after := p_tokens_after;
  if p_compaction.compaction_type = 'selective' then
    p_compaction.summarized_through_turn_id := (p_leaving[cardinality(p_leaving)]).id;
    p_compaction.metadata := p_compaction.metadata || _selected(p_leaving, p_cut);
  else
    p_compaction.summarized_through_turn_id := p_cut.last_turn_id;
  end if;
  v_depth := (select l.depth from turns l where l.id = p_compaction.summarized_through_turn_id);
  p_compaction.first_kept_turn_id := (select t.id from unnest(p_shown) t where t.depth > coalesce(v_depth, -1) order by t.depth limit 1);
  p_compaction.turns_summarized := (select count(*) from unnest(p_shown) t where t.depth <= v_depth);
  return p_compaction;
end
$$;

comment on function _compaction_applied(compactions, elisions, turns[], turns[], integer) is 'The compaction with the effect of its cut: which turns it replaces, which stay.';

create or replace function _no_longer_fits(p_tokens numeric, p_window integer)
  returns text
  language sql
  immutable
  parallel safe
  return case when p_tokens > p_window then format(
    'the conversation no longer fits the model''s context window: about %s tokens remain after leaving out everything possible, and the window has %s',
    p_tokens::integer, p_window) end;

comment on function _no_longer_fits(numeric, integer) is 'Why work cannot continue if its shortest possible request has this many tokens; null: it fits.';

create or replace function _compaction_limit(p_engage jsonb)
  returns integer
  language sql
  stable
  return (_context_window_of(p_engage) * coalesce(nullif((p_engage ->> 'compact_threshold')::numeric, 0), 1))::integer;

comment on function _compaction_limit(jsonb) is 'How many tokens a request may have before it is compacted, from a faculty''s [engage].';
