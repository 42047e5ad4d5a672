-- The next request becomes a turn, with what it leaves out and what it tells the model.

create or replace function _turn_create(p_item work_items, p_focus foci, p_config jsonb, p_lease uuid, out turn turns, out reason text)
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
  v_stall text;
  v_config_hash text;
begin
  select * into v_next from _context_next(p_item, p_focus, p_config);
  reason := v_next.reason;
  if reason is not null then
    return;
  end if;
  perform _turns_seal(p_item.id, false);
  v_last := v_next.last;
  v_head := v_next.head;
  v_cuts := v_next.cuts;
  perform _elision_store(v_cuts[cardinality(v_cuts)]);
  if p_focus.compaction_trigger is not null then
    update foci set compaction_trigger = null, compaction_instructions = null where id = p_focus.id;
  end if;
  if (v_next.compaction).compaction_type is not null then
    v_last := _compaction_store(p_item, p_focus, v_engage, v_last, v_head, v_next.compaction);
    if v_last.status = 'pending' then
      turn := v_last;
      return;
    end if;
  end if;
  select * into v_nudge from _nudge(p_item, p_focus, v_head, (v_engage ->> 'ledger_nudge_interval')::integer, p_lease) where v_head.id is not null;
  if v_nudge.has_drafted then -- the drafted step closed a block
    v_cuts := _elision_due(p_item, p_focus, v_engage, v_head, v_cuts);
    perform _elision_store(v_cuts[cardinality(v_cuts)]);
  end if;
  v_config_hash := _turn_config(p_focus, p_config);
  insert into turns (
    parent_turn_id, fork_turn_id, depth, work_item_id, focus_id, iteration, config_hash, chain_tokens, block, elision_id, role, workspace_path, call_count)
  values (
    v_last.id, _fork_turn(v_last, p_item.id), coalesce(v_last.depth + 1, 0), p_item.id, p_focus.id, p_focus.iteration + 1, v_config_hash,
    coalesce(v_last.chain_tokens, 0), _next_block(v_head, p_focus.id), v_cuts[cardinality(v_cuts)].id,
    p_config ->> 'role', case v_engage ->> 'workspace' when 'host' then v_engage ->> 'workspace_dir' end,
    case when _may_be_held(p_item, p_config, v_config_hash) then 0 else 1 end)
  returning * into turn;
  if v_next.say is not null then
    insert into messages (turn_id, sequence, role, source, content, context, metadata)
    values (turn.id, 1, 'user', case when v_last.id is null then p_item.source else 'engine' end, ('[' || _text_block(v_next.say) || ']')::json,
            jsonb_strip_nulls(jsonb_build_object('work_item', p_item.id, 'attempts', nullif(p_focus.attempt - 1, 0), 'shown', v_next.shown,
              'hook_runs', (select jsonb_agg(r.id order by r.created_at) from hook_runs r where r.focus_id = p_focus.id and r.hook in ('recover', 'orient')))),
            case when v_last.id is null then '{"kind": "task"}'::jsonb end);
    if v_last.id is null and p_focus.attempt > 1 then
      perform _told_store(p_item.id, _earlier_head(p_focus.id), false, v_next.say);
    end if;
  end if;
  if v_next.digest is not null then
    perform _digest_store(p_focus, p_config, turn, v_next.digest, false);
  end if;
  perform _inbox_deliver(p_item, turn);
  perform _retractions_tell(p_item, p_focus, turn);
  perform _awareness_tell(p_item, p_focus, p_config, turn);
  v_stall := _stall_words(p_focus, v_head, (v_engage ->> 'stall_limit')::integer);
  if v_stall is not null then
    insert into messages (turn_id, sequence, role, source, content, metadata)
    values (turn.id, 890, 'user', 'engine', ('[' || _text_block(v_stall) || ']')::json, jsonb_build_object('kind', 'stall', 'count', p_focus.round_count));
  end if;
  if v_nudge.says is not null then
    insert into messages (turn_id, sequence, role, source, content, metadata)
    values (turn.id, 900, 'user', 'engine', ('[' || _text_block(v_nudge.says) || ']')::json, jsonb_build_object('kind', 'nudge', 'unheeded', v_nudge.unheeded));
  end if;
  perform _turn_sizes_store(turn);
end
$$;

comment on function _turn_create(work_items, foci, jsonb, uuid) is 'Makes the pending turn of the next iteration, a child of the session''s head; the request is fixed here, before it is sent. call_count 1: nothing can hold it, and it counts as begun. If a summary has to be written first: the turn that asks for it. If no further request is possible: null, and the reason.';

create or replace function _inbox_deliver(p_item work_items, p_turn turns)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if not exists (select from inbox where work_item_id = p_item.id and consumed_at is null) then
    return;
  end if;
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
    p_item.id, p_focus.id, p_last.chain_tokens, _next_block(p_head), coalesce(p_compaction.elision_id, p_compaction.base_elision_id),
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
