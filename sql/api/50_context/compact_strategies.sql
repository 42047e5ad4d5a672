-- Other compaction strategies, for faculties that name one in compact_strategy. They are tried first; if they free too little, the ladder in
-- compaction_ladder.sql follows.

create or replace function _strategy_cut(p_state context_state, p_keep integer, p_trigger text, p_told_chars integer, p_names text[])
  returns elisions
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case p_state.engage ->> 'compact_strategy'
           when 'sliding_window' then _with_kept(
             _compaction_cut(p_state, p_keep, p_trigger, null, p_told_chars, (p_state.cuts[cardinality(p_state.cuts)]).summary),
             p_state.head, p_names, p_state.engage)
           when 'selective' then _selective_cut(p_state, p_keep)
         end;
$$;

comment on function _strategy_cut(context_state, integer, text, integer, text[]) is
  'The cut (not stored yet) that the faculty''s compact_strategy makes; null: it names none, or there is nothing to leave out. sliding_window: the newest p_keep of the turns shown stay; of the others only the messages of people and other agents, and what p_names or keep_auto keep. selective: all turns stay, but results of pure calls before the newest p_keep turns are shortened.';

create or replace function _selective_cut(p_state context_state, p_keep integer)
  returns elisions
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_current elisions := p_state.cuts[cardinality(p_state.cuts)];
  v_cut elisions := v_current; -- the new cut replaces it: what it left out stays out
begin
  if cardinality(p_state.shown) <= p_keep or v_current.max_result_depth is not null and v_current.max_result_effect is null then
    return null; -- no turn is old, or all results are already shortened
  end if;
  v_cut.id := _uuidv7();
  v_cut.ordinal := coalesce(v_current.ordinal, 0);
  v_cut.work_item_id := (p_state.item).id;
  v_cut.focus_id := (p_state.focus).id;
  v_cut.iteration := (p_state.focus).iteration + 1;
  v_cut.depth := (p_state.head).depth + 1;
  v_cut.thinking_depth := _thinking_depth(p_state.head, p_state.engage);
  v_cut.root_turn_id := coalesce(v_current.root_turn_id, (p_state.shown[1]).id);
  v_cut.first_block := coalesce(v_current.first_block, (p_state.shown[1]).block);
  v_cut.last_block := coalesce(v_current.last_block, v_cut.first_block - 1);
  v_cut.last_seq := coalesce(v_current.last_seq, 0);
  v_cut.stubs := coalesce(v_current.stubs, '[]');
  v_cut.max_result_chars := 300;
  v_cut.max_result_depth := (p_state.shown[cardinality(p_state.shown) - p_keep + 1]).depth;
  v_cut.max_result_effect := 'pure';
  v_cut.stub_tokens := coalesce(v_current.stub_tokens, 0);
  v_cut.kept_tokens := coalesce(v_current.kept_tokens, 0);
  select coalesce(sum(_tokens(_exchange_chars(t.id), p_state.engage ->> 'model')), 0)
    into v_cut.tokens_kept from unnest(p_state.shown) t;
  v_cut.tokens_elided := 0;
  v_cut.created_at := _now();
  return v_cut;
end
$$;

comment on function _selective_cut(context_state, integer) is
  'The newest cut (or a first one), with results of pure calls before the newest p_keep turns shortened to head, tail and handle.';

create or replace function _selected(p_turns turns[], p_cut elisions)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select jsonb_build_object('effect', p_cut.max_result_effect, 'max_result_chars', p_cut.max_result_chars, 'results', count(*))
    from unnest(p_turns) t
    join tool_calls k on k.turn_id = t.id
   where k.parent_call_id is null and k.effect = p_cut.max_result_effect and _content_chars(k.result) > p_cut.max_result_chars;
$$;

comment on function _selected(turns[], elisions) is 'Parameters of a selective compaction, and how many results of these turns it shortened: {effect, max_result_chars, results}.';
