-- Compaction, the net under the elisions, as a ladder: the ledger stands for old turns; where there is hardly any, a
-- model's summary does; where neither helps, what is left is task, ledger and the last exchange. Each rung has to free a
-- tenth at least, so nothing is compacted again and again.

create or replace function _context_window_of(p_engage jsonb)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(nullif((p_engage ->> 'context_window')::integer, 0),
                  (select context_window from models where name = p_engage ->> 'model'),
                  (_family(p_engage ->> 'model')).context_window);
$$;

comment on function _context_window_of(jsonb) is 'Tokens that the model of a faculty''s [engage] takes: as the faculty says, else as models says.';

create or replace function _parts_chars(p_parent_turn_id uuid, p_cuts elisions[], p_query_blocks text)
  returns bigint
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(sum(chars), 0) from _message_parts(p_parent_turn_id, p_cuts, p_query_blocks);
$$;

comment on function _parts_chars(uuid, elisions[], text) is 'Characters of a request''s messages; the arguments are those of _message_parts().';

create or replace function _next_tokens(p_engage jsonb, p_last turns, p_head turns, p_cut elisions, p_say text, p_chars bigint default null)
  returns integer
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_model text := p_engage ->> 'model';
begin
  if p_last.id <> p_head.id or _input_total(p_head) = 0 then
    return _tokens(p_chars, v_model); -- nothing to begin with: a compaction came between, or the provider does not count
  end if;
  return _input_total(p_head) + coalesce(p_head.output_tokens, 0) + _tokens(_results_chars(p_head.id) + char_length(p_say), v_model)
       + case when p_cut.id is distinct from p_head.elision_id then p_cut.stub_tokens + p_cut.kept_tokens - p_cut.tokens_elided else 0 end;
end
$$;

comment on function _next_tokens(jsonb, turns, turns, elisions, text, bigint) is
  'Tokens of the next request: what the provider counted for the last one and its response, and an estimate of what came since. p_chars: the characters of the whole request, for where the provider counted nothing.';

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

create or replace function _compaction_cut(
    p_item work_items,
    p_focus foci,
    p_head turns,
    p_current elisions,
    p_shown turns[],
    p_keep integer,
    p_trigger text,
    p_ledger text,
    p_told_chars integer,
    p_summary text)
  returns elisions
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_cut elisions;
  v_engage jsonb := (select config -> 'engage' from faculties where content_hash = p_focus.faculty_hash);
  v_model text := v_engage ->> 'model';
  v_leaving turns[] := p_shown[: greatest(0, cardinality(p_shown) - p_keep)];
  v_kept turns[] := p_shown[cardinality(v_leaving) + 1 :];
begin
  if cardinality(v_leaving) = 0 and p_current.id is null then
    return null; -- nothing would leave
  end if;
  v_cut.id := _uuidv7();
  v_cut.ordinal := 0;
  v_cut.work_item_id := p_item.id;
  v_cut.focus_id := p_focus.id;
  v_cut.iteration := p_focus.iteration + 1;
  v_cut.depth := p_head.depth + 1;
  v_cut.root_turn_id := coalesce(p_current.root_turn_id, (p_shown[1]).id);
  v_cut.last_turn_id := coalesce((v_leaving[cardinality(v_leaving)]).id, p_current.last_turn_id);
  v_cut.first_block := (select block from turns where id = v_cut.root_turn_id);
  v_cut.last_block := greatest(p_current.last_block, case when cardinality(v_kept) > 0 then _block_of(v_kept[1]) else _next_block(p_head) end - 1);
  select coalesce(max(l.seq), p_current.last_seq, 0)
    into v_cut.last_seq
    from unnest(v_leaving) t
    join work_ledger l on l.work_item_id = t.work_item_id and l.seq > coalesce(p_current.last_seq, 0) and l.turn_id = t.id;
  v_cut.kept := _kept(p_head, v_cut.last_turn_id, (
    select l.keep from work_ledger l where l.work_item_id = p_item.id and l.entry_type = 'step' order by l.seq desc limit 1), v_engage);
  v_cut.kept_tokens := coalesce(_tokens(char_length(_kept_block(v_cut)), v_model), 0);
  v_cut.stubs := '[' || concat_ws(',',
    _text_block(format('[engine] The conversation before this point was left out, because %s. %s; recall_block(n, query) brings the calls and results of completed step [n] back.',
      case p_trigger when 'context_overflow' then 'the model refused it for its length' when 'manual' then 'somebody asked for it' when 'periodic' then 'this is done every so many turns' else 'the context was nearly full' end,
      case when p_ledger is null then 'ledger_read has your ledger' else 'Your ledger stands for it' end)),
    _text_block(p_ledger), _text_block(_told_block(v_cut.last_turn_id, p_told_chars)),
    _text_block(E'[engine] A summary of your work up to here, written when the context was full:\n\n  ' || _indent(p_summary, '  '))) || ']';
  v_cut.summary := p_summary;
  v_cut.max_result_chars := p_current.max_result_chars;
  v_cut.max_result_depth := p_current.max_result_depth;
  v_cut.max_result_effect := p_current.max_result_effect;
  v_cut.stub_tokens := _tokens(char_length(v_cut.stubs::text), v_model);
  select _tokens(coalesce(sum(_exchange_chars(t.id)), 0), v_model) into v_cut.tokens_kept from unnest(v_kept) t;
  v_cut.tokens_elided := 0;
  v_cut.created_at := _now();
  return v_cut;
end
$$;

comment on function _compaction_cut(work_items, foci, turns, elisions, turns[], integer, text, text, integer, text) is
  'The cut (not stored yet) that leaves of the turns shown the newest p_keep, and in place of everything before them why (p_trigger), a ledger block, what people and other agents said in p_told_chars, and a summary, where there are such; null: nothing would leave.';

create or replace function _floor_cut(
    p_item work_items,
    p_focus foci,
    p_head turns,
    p_current elisions,
    p_shown turns[],
    p_trigger text,
    p_say text,
    p_max_chars integer)
  returns elisions
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_task integer := (select coalesce(sum(char_length(content::text)), 0) from messages
                      where turn_id = coalesce(p_current.root_turn_id, (p_shown[1]).id) and role = 'user');
  v_room integer := greatest(2000, p_max_chars - v_task - char_length(p_say));
  v_calls integer := (select greatest(1, count(*)) from tool_calls where turn_id = p_head.id and parent_call_id is null);
  v_said integer := _exchange_chars(p_head.id) - _results_chars(p_head.id);
  v_cut elisions;
begin
  for v_keep in reverse 1 .. 0 loop
    v_cut := _compaction_cut(p_item, p_focus, p_head, p_current, p_shown, v_keep, p_trigger,
      concat_ws(E'\n\n', _ledger_block(p_item.id, v_room * 3 / 10),
        case v_keep when 0 then '[engine] Your last response and its results did not fit into the context any more and are not shown. recall_block and ledger_read bring back what you need; ask for less at a time.' end),
      v_room * 2 / 10, _cap_text(p_current.summary, v_room / 10));
    continue when v_cut.id is null;
    v_cut.kept := null; -- what is read again then fits
    v_cut.kept_tokens := 0;
    v_cut.max_result_chars := greatest(200, (v_room * 4 / 10 - v_said) / v_calls);
    v_cut.max_result_depth := p_head.depth + 1;
    v_cut.max_result_effect := null;
    exit when _parts_chars(p_head.id, array[v_cut], p_say) <= p_max_chars;
  end loop;
  if v_cut.id is null then
    -- The very first exchange is all there is.
    v_cut := _compaction_cut(p_item, p_focus, p_head, p_current, p_shown, 0, p_trigger, _ledger_block(p_item.id, v_room * 3 / 10), v_room * 2 / 10, null);
    v_cut.kept := null;
    v_cut.kept_tokens := 0;
  end if;
  return v_cut;
end
$$;

comment on function _floor_cut(work_items, foci, turns, elisions, turns[], text, text, integer) is
  'The cut (not stored yet) that leaves the task, the ledger and the last exchange, its results shortened so that all fits into p_max_chars; where even that does not, without the last exchange.';

create or replace function _ledger_block(p_work_item_id uuid, p_max_chars integer, p_until_seq integer default 2147483647)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_block text := _ledger_format(p_work_item_id, p_until_seq => p_until_seq, p_is_numbered => true);
  v_since integer;
begin
  if char_length(v_block) <= p_max_chars then
    return v_block;
  end if;
  -- The newest entries that fit; the plan always, if need be its beginning.
  select min(e.seq) into v_since
    from (select seq, sum(char_length(content) + 10) over (order by seq desc) as chars
            from work_ledger
           where work_item_id = p_work_item_id and entry_type <> 'plan' and seq <= p_until_seq
             and seq > (select ledger_epoch from work_items where id = p_work_item_id)) e
   where e.chars <= p_max_chars * 3 / 4 - 500;
  return _ledger_format(p_work_item_id, coalesce(v_since, 2147483647), p_max_chars / 4, p_until_seq, true);
end
$$;

comment on function _ledger_block(uuid, integer, integer) is 'ledger_read_formatted() in at most about so many characters, its steps with the numbers of their blocks: the newest entries, and how many older ones ledger_read() has.';
