-- Decides whether the next request needs a compaction: because the context is nearly full, or because one was requested.

create or replace function _compaction_due(
    p_state context_state,
    p_last turns,
    p_say text,
    p_may_summarize boolean,
    p_raw_chars integer,
    out compaction compactions,
    out cut elisions,
    out reason text)
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_started_at timestamptz := clock_timestamp();
  v_limit integer := _compaction_limit(p_state.engage);
  v_every integer := (p_state.engage ->> 'compact_every')::integer;
  v_iteration integer := (p_state.focus).iteration;
  v_is_periodic boolean := v_every > 0 and v_iteration > 0 and v_iteration % nullif(v_every, 0) = 0 and p_last.id = (p_state.head).id;
  v_trigger text := coalesce((p_state.focus).compaction_trigger, 'context_limit');
  v_chars bigint;
  v_tokens integer;
  v_rung record;
begin
  if p_last.id <> (p_state.head).id or _input_total(p_state.head) = 0 or (p_state.focus).compaction_trigger is not null or v_is_periodic then
    v_chars := _request_chars(p_state.head, p_state.cuts, p_say);
  end if;
  v_tokens := _next_tokens(p_state.engage, p_last, p_state.head, p_state.cuts[cardinality(p_state.cuts)], p_say, p_raw_chars, v_chars);
  if v_tokens > v_limit then
    v_chars := coalesce(v_chars, _request_chars(p_state.head, p_state.cuts, p_say));
  end if;
  -- Some gateways count what they like. What no text of this length has is not believed: the work would fail, or a refused request be sent again
  -- as it is.
  if v_tokens not between v_chars / 20 and v_chars * 4 then
    v_tokens := _tokens(v_chars, p_state.engage ->> 'model');
  end if;
  if v_tokens <= v_limit and (p_state.focus).compaction_trigger is null then
    if not v_is_periodic then
      return;
    end if;
    v_trigger := 'periodic';
  end if;
  select * into v_rung
    from _compaction_ladder(p_state, p_say, p_may_summarize, v_trigger, v_tokens, v_chars);
  compaction := v_rung.compaction;
  cut := v_rung.cut;
  reason := v_rung.reason;
  if compaction.is_applied then
    compaction.base_elision_id := p_last.elision_id;
    compaction.duration_ms := extract(epoch from clock_timestamp() - v_started_at) * 1000;
  end if;
end
$$;

comment on function _compaction_due(context_state, turns, text, boolean, integer) is
  'Whether the next request, with the text p_say, has to be compacted, and how. compaction and cut (not stored yet); both null: not needed. Without a cut: a summary has to be written first. reason: why nothing helps; null otherwise. p_may_summarize: no summary has been tried for this request. p_raw_chars: _results_chars() of the newest turn that is not a compaction.';
