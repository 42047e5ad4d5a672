-- Records the summary that a model wrote. It is used if it frees enough.

create or replace function summary_record(
    p_work_item_id uuid,
    p_lease uuid,
    p_turn_id uuid,
    p_response json)
  returns boolean
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _fence(p_work_item_id, p_lease);
  v_focus foci;
  v_turn turns;
  v_head turns;
  v_compaction compactions;
  v_text text;
  v_cut elisions;
  v_cuts elisions[];
  v_before bigint;
  v_after bigint;
begin
  p_response := _storable(p_response);
  select * into v_focus from foci where id = v_item.focus_id for no key update;
  select * into v_turn from turns where id = p_turn_id and focus_id = v_item.focus_id and turn_type = 'compaction';
  if not found then
    perform _raise_not_found('compaction turn of this focus', p_turn_id);
  end if;
  select * into v_compaction from compactions where turn_id = v_turn.id;
  if v_compaction.is_applied is not null then
    return v_compaction.is_applied;
  end if;
  v_text := _summary_text(p_response);
  v_head := _asking_turn(v_turn.parent_turn_id);
  v_cuts := _elision_chain(v_compaction.base_elision_id);
  if v_text ~ '\S' then
    v_cut := _summary_cut(v_item, v_focus, v_compaction, v_head, v_cuts[cardinality(v_cuts)], v_text);
    v_cut.depth := v_turn.depth + 1;
    v_before := _request_chars(v_head, v_cuts, '');
    v_after := _request_chars(v_head, array[v_cut], '');
    v_compaction.is_applied := v_after <= 0.9 * v_before;
  end if;
  v_compaction.is_applied := coalesce(v_compaction.is_applied, false);
  v_compaction.error := case
    when v_cut.id is null then '{"message": "the summary is empty"}'::jsonb
    when not v_compaction.is_applied then jsonb_build_object('message', format(
      'the summary frees less than a tenth: %s of %s characters would remain', v_after, v_before)) end;
  if v_compaction.is_applied then
    v_cut.tokens_elided := greatest(0, v_compaction.tokens_before - v_after::numeric / v_before * v_compaction.tokens_before) + v_cut.stub_tokens;
    perform _elision_store(v_cut),
            _told_store(v_cut.work_item_id, v_cut.last_turn_id, true, v_cut.stubs::text);
  end if;
  update turns set elision_id = v_cut.id where id = v_turn.id and v_compaction.is_applied;
  v_turn := _turn_answered(v_turn.id, case when v_compaction.is_applied then 'completed' else 'failed' end, p_response, v_compaction.error);
  update compactions
     set is_applied = v_compaction.is_applied,
         elision_id = case when v_compaction.is_applied then v_cut.id end,
         messages_before = json_array_length(_messages(v_head.id, v_cuts, '')::json),
         messages_after = case when v_compaction.is_applied then json_array_length(_messages(v_head.id, array[v_cut], '')::json) end,
         tokens_after = v_after::numeric / v_before * tokens_before,
         summary_tokens = v_turn.output_tokens,
         provider = v_turn.provider,
         model = coalesce(v_turn.model, model),
         summarization_input_tokens = _input_total(v_turn),
         summarization_output_tokens = v_turn.output_tokens,
         duration_ms = _count('duration_ms', p_response ->> 'duration_ms'),
         error = v_compaction.error
   where turn_id = v_turn.id;
  update foci set model_error_count = 0 where id = v_focus.id and model_error_count > 0;
  if v_compaction.is_applied then
    insert into messages (turn_id, sequence, role, content)
    values (v_turn.id, 1000, 'assistant', ('[' || _text_block(btrim(v_text)) || ']')::json);
    perform _session_advance(v_focus.session_label, v_turn.id);
  else
    perform _summary_given_up(v_focus.id, v_compaction);
  end if;
  perform _turn_charge(v_turn);
  return v_compaction.is_applied;
end
$$;

comment on function summary_record(uuid, uuid, uuid, json) is
  'Stores the summary that iteration_begin() requested with {kind: summarize}; p_response as for turn_record(). Returns whether the summary is used. One that is empty or frees less than a tenth of the context is not, and the next iteration_begin() compacts without a summary. Recording again changes nothing. Raises WL001, WL002, WL003, WL004.';

create or replace function _summary_text(p_response json)
  returns text
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if json_typeof(p_response -> 'content') is distinct from 'array' then
    perform _raise_invalid('a response needs content, an array of blocks');
  end if;
  return (
    select string_agg(b.value ->> 'text', E'\n\n' order by b.n)
      from json_array_elements(p_response -> 'content') with ordinality as b(value, n)
     where b.value ->> 'type' = 'text');
end
$$;

comment on function _summary_text(json) is 'The text of a response; null: it has none. Raises WL002.';

create or replace function _summary_cut(
    p_item work_items,
    p_focus foci,
    p_compaction compactions,
    p_head turns,
    p_current elisions,
    p_text text)
  returns elisions
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_engage jsonb := _faculty_config(p_focus) -> 'engage';
  v_shown turns[] := _shown_turns(p_head, p_current);
begin
  return _with_kept(
    _compaction_cut(
      row(p_item, p_focus, v_engage, p_head, array[p_current], v_shown)::context_state,
      cardinality(v_shown) - p_compaction.turns_summarized, p_compaction.trigger,
      _ledger_block(p_item.id, char_length(p_text) + 4000),
      _window_part(v_engage, 0.15), btrim(p_text)),
    p_head, _keep_at(p_item.id), v_engage);
end
$$;

comment on function _summary_cut(work_items, foci, compactions, turns, elisions, text) is 'The cut (not stored yet) that replaces the summarized turns by the summary.';
