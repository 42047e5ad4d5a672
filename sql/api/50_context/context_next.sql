-- Decides what the next request of a focus contains. It writes nothing, so that both the loop and context_window() can use it.

create or replace function _context_next(
    p_item work_items,
    p_focus foci,
    p_config jsonb,
    p_flags iteration_flags,
    out last turns,
    out head turns,
    out cuts elisions[],
    out say text,
    out shown jsonb,
    out digest jsonb,
    out compaction compactions,
    out reason text)
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_engage jsonb := p_config -> 'engage';
  v_attempt compactions;
  v_rung record;
begin
  last := p_flags.last;
  if last.id is null then
    select o.said, o.shown, o.digest into say, shown, digest from _orient_text(p_item, p_focus, p_config) o;
    return;
  end if;
  head := p_flags.head;
  say := case when head.focus_id = p_focus.id then _engine_message(p_flags) else _branch_message(p_item, head, v_engage) end;
  if p_flags.is_continued then
    v_attempt := _summary_attempt(last.id, p_item.id);
  end if;
  if coalesce(v_attempt.base_elision_id, last.elision_id) is not null then
    cuts := _elision_chain(coalesce(v_attempt.base_elision_id, last.elision_id));
  end if;
  if p_flags.boundary is not null then
    cuts := _elision_due(p_item, p_focus, v_engage, head, p_flags.boundary, cuts, null);
  end if;
  v_rung := _compaction_due(row(p_item, p_focus, v_engage, head, cuts, null)::context_state, last, coalesce(_text_block(say), ''),
    v_attempt.turn_id is null,
    -- While calls are open the flags have no exchange; context_compact() may ask even then.
    coalesce((p_flags.exchange).raw_chars, _results_chars(head.id)));
  compaction := v_rung.compaction;
  reason := v_rung.reason;
  if (v_rung.cut).id is not null then
    cuts := _with_cut(cuts, v_rung.cut);
  end if;
end
$$;

comment on function _context_next(work_items, foci, jsonb, iteration_flags) is
  'The next request of a focus. last: the newest turn of its session. head: the newest turn that is not a compaction. cuts: those that apply (the newest may not be stored yet). say: what the engine says; shown: the entries of the digest in it; digest: its measure. compaction: not null if one is due; if it needs a summary first, cuts are those before it. reason: why no request is possible; null: it is.';
