-- The cut that a compaction makes: which turns stay, and what replaces the others.

create or replace function _compaction_cut(
    p_state context_state,
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
  v_current elisions := p_state.cuts[cardinality(p_state.cuts)];
  v_model text := p_state.engage ->> 'model';
  v_leaving turns[] := p_state.shown[: greatest(0, cardinality(p_state.shown) - p_keep)];
  v_kept turns[] := p_state.shown[cardinality(v_leaving) + 1 :];
begin
  if cardinality(v_leaving) = 0 and v_current.id is null then
    return null; -- nothing to leave out
  end if;
  v_cut.id := _uuidv7();
  v_cut.ordinal := 0;
  v_cut.work_item_id := (p_state.item).id;
  v_cut.focus_id := (p_state.focus).id;
  v_cut.iteration := (p_state.focus).iteration + 1;
  v_cut.depth := (p_state.head).depth + 1;
  v_cut.thinking_depth := _thinking_depth(p_state.head, p_state.engage);
  v_cut.root_turn_id := coalesce(v_current.root_turn_id, (p_state.shown[1]).id);
  v_cut.last_turn_id := coalesce((v_leaving[cardinality(v_leaving)]).id, v_current.last_turn_id);
  v_cut.first_block := (select block from turns where id = v_cut.root_turn_id);
  v_cut.last_block := greatest(
    v_current.last_block, case when cardinality(v_kept) > 0 then _block_of(v_kept[1]) else _next_block(p_state.head, _boundary((p_state.head).id)) end - 1);
  select coalesce(max(l.seq), v_current.last_seq, 0)
    into v_cut.last_seq
    from unnest(v_leaving) t
    join work_ledger l on l.work_item_id = t.work_item_id and l.seq > coalesce(v_current.last_seq, 0) and l.turn_id = t.id;
  v_cut.kept_tokens := 0;
  v_cut.stubs := '[' || concat_ws(',',
    _text_block(format('[engine] The conversation before this point was left out because %s. %s; '
      'recall_block(n, query) brings back the calls and results of completed step [n].',
      case p_trigger
        when 'context_overflow' then 'the model rejected it as too long'
        when 'manual' then 'someone asked for it'
        when 'periodic' then 'it is compacted at regular intervals'
        else 'the context was nearly full' end,
      case when p_ledger is null then 'ledger_read returns your ledger' else 'Your ledger takes its place' end)),
    _text_block(p_ledger), _text_block(_told_block(v_cut.last_turn_id, p_told_chars)),
    _text_block(E'[engine] A summary of your work up to here, written when the context was full:\n\n  ' || _indent(p_summary, '  '))) || ']';
  v_cut.summary := p_summary;
  v_cut.max_result_chars := v_current.max_result_chars;
  v_cut.max_result_depth := v_current.max_result_depth;
  v_cut.max_result_effect := v_current.max_result_effect;
  v_cut := _with_standing(
    v_cut, p_state.item, v_current, v_leaving, v_kept, case when p_ledger is not null then 'ledger' end, _standing_room(p_state.engage));
  v_cut.stub_tokens := _tokens(char_length(v_cut.stubs::text) + char_length(v_cut.standing ->> 'text'), v_model);
  select _tokens(coalesce(sum(_exchange_chars(t.id)), 0), v_model) into v_cut.tokens_kept from unnest(v_kept) t;
  v_cut.tokens_elided := 0;
  v_cut.created_at := _now();
  return v_cut;
end
$$;

comment on function _compaction_cut(context_state, integer, text, text, integer, text) is
  'The cut (not stored yet) that keeps the newest p_keep of the turns shown. Everything before them is replaced by the reason (p_trigger), the ledger p_ledger, the messages of people and other agents in about p_told_chars characters, and p_summary; each if not null; then by where the agent stands. Of what leaves it keeps nothing, see _with_kept(). Null: there is nothing to leave out.';

create or replace function _floor_cut(
    p_state context_state,
    p_trigger text,
    p_say text,
    p_max_chars integer)
  returns elisions
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_current elisions := p_state.cuts[cardinality(p_state.cuts)];
  v_task integer := (select coalesce(sum(char_length(content::text)), 0) from messages
                      where turn_id = coalesce(v_current.root_turn_id, (p_state.shown[1]).id) and role = 'user');
  v_room integer := greatest(2000, p_max_chars - v_task - char_length(p_say));
  v_calls integer := (select greatest(1, count(*)) from tool_calls where turn_id = (p_state.head).id and parent_call_id is null);
  v_said integer := _exchange_chars((p_state.head).id) - _results_chars((p_state.head).id);
  v_cut elisions;
begin
  for v_keep in reverse 1 .. 0 loop
    v_cut := _compaction_cut(p_state, v_keep, p_trigger,
      concat_ws(E'\n\n', _ledger_block((p_state.item).id, v_room * 2 / 10),
        case v_keep
          when 0 then '[engine] Your last response and its results no longer fit into the context and are not shown. '
            'recall_block and ledger_read bring back what you need; ask for less at a time.' end),
      v_room * 2 / 10, _cap_text(v_current.summary, v_room / 10));
    continue when v_cut.id is null;
    v_cut.max_result_chars := greatest(200, (v_room * 4 / 10 - v_said) / v_calls);
    v_cut.max_result_depth := (p_state.head).depth + 1;
    v_cut.max_result_effect := null;
    exit when _parts_chars((p_state.head).id, array[v_cut], p_say) <= p_max_chars;
  end loop;
  if v_cut.id is null then
    -- The conversation has only its first exchange.
    v_cut := _compaction_cut(p_state, 0, p_trigger, _ledger_block((p_state.item).id, v_room * 2 / 10), v_room * 2 / 10, null);
  end if;
  return v_cut;
end
$$;

comment on function _floor_cut(context_state, text, text, integer) is
  'The cut (not stored yet) that keeps only the task, the ledger, where the agent stands and the last exchange, with results shortened so that all fits into p_max_chars, and room for what the agent reads again; if even that does not fit, without the last exchange.';
