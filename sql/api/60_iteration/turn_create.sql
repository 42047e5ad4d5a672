-- Creates the turn of the next request, with what it leaves out and what it tells the model.

create or replace function _turn_create(
    p_item work_items,
    p_focus foci,
    p_config jsonb,
    p_lease uuid,
    p_flags iteration_flags,
    out turn turns,
    out reason text,
    out is_told boolean,
    out offered json)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_engage jsonb := p_config -> 'engage';
  v_next record;
  v_last turns;
  v_head turns;
  v_cuts elisions[];
  v_nudge record;
begin
  v_next := _context_next(p_item, p_focus, p_config, p_flags);
  reason := v_next.reason;
  if reason is not null then
    return;
  end if;
  perform _turns_seal(p_item.id, false);
  v_last := v_next.last;
  v_head := v_next.head;
  v_cuts := v_next.cuts;
  if v_cuts[cardinality(v_cuts)].id is distinct from v_last.elision_id then
    perform _elision_store(v_cuts[cardinality(v_cuts)]);
  end if;
  if p_focus.compaction_trigger is not null then
    update foci set compaction_trigger = null, compaction_instructions = null where id = p_focus.id;
  end if;
  if (v_next.compaction).compaction_type is not null then
    v_last := _compaction_store(p_item, p_focus, v_engage, v_last, v_head, v_next.compaction);
    p_flags.last := v_last;
    if v_last.status = 'pending' then
      turn := v_last;
      return;
    end if;
  end if;
  v_nudge := _nudge(p_item, p_focus, v_head, p_flags.written_iteration, (v_engage ->> 'ledger_nudge_interval')::integer, p_lease);
  if v_nudge.has_drafted then -- the drafted step closed a block
    p_flags.boundary := _boundary(v_head.id);
    v_cuts := _elision_due(p_item, p_focus, v_engage, v_head, p_flags.boundary, v_cuts, null);
    perform _elision_store(v_cuts[cardinality(v_cuts)]);
  end if;
  offered := _offered(p_focus, p_config, p_flags.registry, _loop_thinks(v_engage, v_head, v_cuts));
  insert into turns (
    parent_turn_id, fork_turn_id, depth, work_item_id, focus_id, iteration, config_hash, chain_tokens, block, elision_id, role, workspace_path, call_count)
  values (
    v_last.id, _fork_turn(v_last, p_item.id), coalesce(v_last.depth + 1, 0), p_item.id, p_focus.id, p_focus.iteration + 1,
    offered ->> 'config',
    coalesce(v_last.chain_tokens, 0), case when v_head.id is null then _first_block(p_focus.id) else _next_block(v_head, p_flags.boundary) end,
    v_cuts[cardinality(v_cuts)].id,
    p_config ->> 'role', case v_engage ->> 'workspace' when 'host' then v_engage ->> 'workspace_dir' end,
    case when p_config #>> '{hooks,before_model_call}' is not null or p_flags.is_limited or p_flags.is_cooling then 0 else 1 end)
  returning * into turn;
  is_told := _turn_told(p_item, p_focus, p_config, turn, p_flags, v_next.say, v_next.shown, v_nudge.says, v_nudge.unheeded);
  if v_next.digest is not null then
    perform _digest_store(p_focus, p_config, turn, v_next.digest, false);
  end if;
  perform _turn_sizes_store(turn, p_flags, is_told);
end
$$;

comment on function _turn_create(work_items, foci, jsonb, uuid, iteration_flags) is 'Creates the pending turn of the next iteration, a child of the session''s head; the request is fixed here, before it is sent. call_count 1: nothing (a hook, a budget, a cooldown that may be over) can hold it, and it counts as begun. is_told: whether it says anything besides results. offered: foci.offered for it. If a summary must be written first: the turn that asks for it. If no further request is possible: null, and the reason.';

create or replace function _offered(p_focus foci, p_config jsonb, p_registry text, p_thinks boolean)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_offered json := p_focus.offered;
  v_mark text := concat_ws(' ', p_registry, p_thinks,
    case p_config #>> '{engage,thinking}' when 'off' then _model_takes(p_config #>> '{engage,model}') ->> 'thinking_off' end);
begin
  if v_offered ->> 'mark' is distinct from v_mark or v_offered ->> 'max_tokens' is distinct from p_focus.max_tokens::text then
    v_offered := json_build_object(
      'mark', v_mark, 'max_tokens', p_focus.max_tokens, 'config', _turn_config(p_focus, p_config, null, p_thinks), 'early', _early_tools(p_config));
    update foci set offered = v_offered where id = p_focus.id;
  end if;
  return v_offered;
end
$$;

comment on function _offered(foci, jsonb, text, boolean) is 'What the next request of a focus offers, as in foci.offered: as it was, or made anew. p_registry: iteration_flags.registry. p_thinks: see _loop_thinks().';

create or replace function _turn_told(
    p_item work_items,
    p_focus foci,
    p_config jsonb,
    p_turn turns,
    p_flags iteration_flags,
    p_say text,
    p_shown jsonb,
    p_nudge text,
    p_unheeded integer)
  returns boolean
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_is_first boolean := p_turn.parent_turn_id is null;
  v_stall text := _stall_words(p_focus, p_flags.head, (p_config #>> '{engage,stall_limit}')::integer);
  v_is_told boolean := p_say is not null or v_stall is not null or p_nudge is not null or p_flags.is_written_to;
begin
  if p_say is not null then
    insert into messages (turn_id, sequence, role, source, content, context, metadata)
    values (p_turn.id, 1, 'user', case when v_is_first then p_item.source else 'engine' end, ('[' || _text_block(p_say) || ']')::json,
            jsonb_strip_nulls(jsonb_build_object('work_item', p_item.id, 'attempts', nullif(p_focus.attempt - 1, 0), 'shown', p_shown,
              'hook_runs', (select jsonb_agg(r.id order by r.created_at) from hook_runs r where r.focus_id = p_focus.id and r.hook in ('recover', 'orient')))),
            case when v_is_first then '{"kind": "task"}'::jsonb end);
    if v_is_first and p_focus.attempt > 1 then
      perform _told_store(p_item.id, _earlier_head(p_focus.id), false, p_say);
    end if;
  end if;
  if p_flags.is_written_to then
    perform _inbox_deliver(p_item, p_turn);
  end if;
  v_is_told := _retractions_tell(p_item, p_focus, p_turn, p_flags.retracted_at) or v_is_told;
  v_is_told := _awareness_tell(p_item, p_focus, p_config, p_turn, p_flags.has_news) or v_is_told;
  if v_stall is not null then
    insert into messages (turn_id, sequence, role, source, content, metadata)
    values (p_turn.id, 890, 'user', 'engine', ('[' || _text_block(v_stall) || ']')::json, jsonb_build_object('kind', 'stall', 'count', p_focus.round_count));
  end if;
  if p_nudge is not null then
    insert into messages (turn_id, sequence, role, source, content, metadata)
    values (p_turn.id, 900, 'user', 'engine', ('[' || _text_block(p_nudge) || ']')::json, jsonb_build_object('kind', 'nudge', 'unheeded', p_unheeded));
  end if;
  return v_is_told;
end
$$;

comment on function _turn_told(work_items, foci, jsonb, turns, iteration_flags, text, jsonb, text, integer) is
  'Stores what a new turn says to the model besides results: what the engine says (p_say; in the first turn the task, with the entries that its digest shows), the inbox, retractions, what is new elsewhere, that the agent is going in circles, a reminder (p_nudge, p_unheeded). Returns whether it says anything.';

create or replace function _inbox_deliver(p_item work_items, p_turn turns)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  insert into messages (turn_id, sequence, role, source, content, context, metadata)
  select p_turn.id, 100 + w.n, 'user', case w.kind when 'message' then 'human' else 'agent' end, ('[' || w.block || ']')::json,
         jsonb_strip_nulls(jsonb_build_object('inbox', w.inbox_id, 'work_item', (select i.source_work_item_id from inbox i where i.id = w.inbox_id))),
         jsonb_build_object('kind', w.kind, 'inbox_id', w.inbox_id)
    from _inbox_waiting(p_item.id) w;
  update inbox i
     set consumed_at = _now(), turn_id = p_turn.id
    from messages m
   where m.turn_id = p_turn.id and i.id = (m.metadata ->> 'inbox_id')::uuid;
end
$$;

comment on function _inbox_deliver(work_items, turns) is 'Puts what waits in the item''s inbox into a turn, and marks it as delivered.';

create or replace function _elision_store(p_cut elisions)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_cut.id is null or exists (select from elisions where id = p_cut.id) then
    return;
  end if;
  insert into elisions select p_cut.*;
  perform _kept_store(p_cut);
end
$$;

comment on function _elision_store(elisions) is 'Stores a cut, if it is not null and new, and the artifacts that its handles name.';

create or replace function _compaction_store(p_item work_items, p_focus foci, p_engage jsonb, p_last turns, p_head turns, p_compaction compactions)
  returns turns
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_turn turns;
  v_model text := case p_compaction.compaction_type when 'summary' then coalesce(p_engage ->> 'compact_model', p_engage ->> 'model') end;
  v_cut elisions;
begin
  insert into turns (
    parent_turn_id, fork_turn_id, depth, turn_type, work_item_id, focus_id, chain_tokens, block, elision_id, config_hash)
  values (
    p_last.id, _fork_turn(p_last, p_item.id), p_last.depth + 1, 'compaction',
    p_item.id, p_focus.id, p_last.chain_tokens, _next_block(p_head, _boundary(p_head.id)), coalesce(p_compaction.elision_id, p_compaction.base_elision_id),
    case when v_model is not null then _summary_config(v_model, _context_window_of(p_engage)) end)
  returning * into v_turn;
  perform _turn_sizes_store(v_turn);
  p_compaction.turn_id := v_turn.id;
  p_compaction.focus_id := p_focus.id;
  p_compaction.iteration := p_focus.iteration + 1;
  p_compaction.created_at := _now();
  p_compaction.model := v_model;
  if v_model is not null then
    -- Half the summarizing model's window, by the ratio known now; stored, because the ratio changes.
    p_compaction.max_transcript_chars := _context_window_of(p_engage || jsonb_build_object('model', v_model,
      'context_window', case when v_model = p_engage ->> 'model' then (p_engage ->> 'context_window')::integer else 0 end))
      * 0.5 / (_tokens(10000, v_model) / 10000.0);
  end if;
  if p_compaction.is_applied then
    select * into v_cut from elisions where id = p_compaction.elision_id;
    p_compaction.messages_before := json_array_length(_messages(p_head.id, _elision_chain(p_last.elision_id), '')::json);
    p_compaction.messages_after := json_array_length(_messages(p_head.id, _elision_chain(v_cut.id), '')::json);
    perform _artifact_store(p_item.id, _result_text(k.result))
       from unnest(_shown_turns(p_head, v_cut)) t
       join tool_calls k on k.turn_id = t.id
      where t.depth < v_cut.max_result_depth and k.effect = coalesce(v_cut.max_result_effect, k.effect) and k.artifact_hash is null
        and _content_chars(k.result) > v_cut.max_result_chars;
    perform _told_store(p_item.id, v_cut.last_turn_id, true, v_cut.stubs::text);
    perform _session_advance(p_focus.session_label, v_turn.id);
  end if;
  insert into compactions select p_compaction.*;
  if p_compaction.is_applied then
    update turns set status = 'completed', completed_at = _now() where id = v_turn.id returning * into v_turn;
  end if;
  return v_turn;
end
$$;

comment on function _compaction_store(work_items, foci, jsonb, turns, turns, compactions) is 'Stores a compaction and its turn, a child of p_last, and returns the turn. An applied compaction moves the session''s head; one that waits for its summary does not.';
