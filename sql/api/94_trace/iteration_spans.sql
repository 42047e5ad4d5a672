-- The spans of iterations: work.engage.iteration with the blocks that it closed; its compactions, its digests, its model calls.

create or replace function _iteration_spans(p_item work_items, p_focus foci, p_first integer, p_last integer)
  returns setof trace_span
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with asked as (
    -- For an iteration whose request was given up and created again: the turn that stayed, otherwise the last. For one that ended while its context
    -- was being compacted: the compaction's turn.
    select t.iteration, min(t.started_at) as started_at, max(t.completed_at) as ended_at,
           (array_agg(t.turn order by (t.turn).turn_type = 'compaction', (t.turn).status = 'failed', (t.turn).id desc))[1] as turn
      from (
        select t as turn, t.iteration, t.started_at, t.completed_at from _trace_turns(p_focus.id, p_first, p_last) t
        union all
        select t, c.iteration, x.started_at, x.ended_at
          from compactions c
          join turns t on t.id = c.turn_id
          cross join lateral _compaction_times(c, t) x
         where c.focus_id = p_focus.id and c.iteration between p_first and p_last) t
     group by t.iteration
  )
  select s.*
    from asked a
    cross join lateral (
      select min(k.completed_at) as first_at, max(k.completed_at) as ended_at, count(*) filter (where k.parent_call_id is null) as calls
        from tool_calls k where k.turn_id = (a.turn).id) k
    cross join lateral (
      select max(h.completed_at) as ended_at from hook_runs h where h.focus_id = p_focus.id and h.hook = 'check' and h.turn_id = (a.turn).id) h
    cross join lateral (select (a.turn).status <> 'completed' or (a.turn).turn_type = 'compaction' as is_failed) f
    cross join lateral _span(
      'work.engage.iteration', _iteration_span_id(p_focus.id, a.iteration), _span_id('work.engage', p_focus.id::text),
      a.started_at, greatest(a.ended_at, k.ended_at, h.ended_at), f.is_failed,
      jsonb_build_object(
        'work.iteration', a.iteration, 'work.turn.id', (a.turn).id, 'work.context.block', (a.turn).block, 'work.engage.parallel_tools', k.calls,
        'error.type', case when f.is_failed then coalesce((a.turn).error ->> 'class', 'given_up') end),
      _blocks_closed(p_item.id, a.turn)) s;
$$;

comment on function _iteration_spans(work_items, foci, integer, integer) is
  'A work.engage.iteration span for each of these iterations: from its first compaction or request to the end of its last call or check.';

create or replace function _blocks_closed(p_work_item_id uuid, p_turn turns)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select jsonb_agg(_span_event('work.context.block_closed', b.at, jsonb_build_object(
           'work.context.block', b.block, 'work.ledger.seq', b.seq, 'work.ledger.is_auto', b.is_auto)) order by b.seq)
    from (
      select max(l.created_at) as at, max(l.seq) as seq, t.block, l.is_auto
        from (values (p_turn.id, false), ((_asking_turn(p_turn.parent_turn_id)).id, true)) as closed(turn_id, is_auto)
        join work_ledger l on l.turn_id = closed.turn_id and l.entry_type = 'step' and l.is_auto = closed.is_auto and l.work_item_id = p_work_item_id
        join turns t on t.id = l.turn_id
       where not l.is_inherited
       group by t.id, t.block, l.is_auto) b;
$$;

comment on function _blocks_closed(uuid, turns) is
  'The blocks that closed in an iteration, as events: by steps of its turn, or by one that the engine drafted for the turn before when this one was made. Null: none.';

create or replace function _compaction_spans(p_focus foci, p_first integer, p_last integer)
  returns setof trace_span
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select s.*
    from compactions c
    join turns t on t.id = c.turn_id
    cross join lateral _compaction_times(c, t) x
    cross join lateral _span(
      'work.context.compaction', _span_id('work.context.compaction', c.turn_id::text), _iteration_span_id(p_focus.id, c.iteration),
      x.started_at, x.ended_at, not coalesce(c.is_applied, false),
      jsonb_build_object(
        'work.iteration', c.iteration, 'work.turn.id', c.turn_id,
        'trigger', _telemetry_trigger(c.trigger),
        'messages_before', c.messages_before, 'messages_after', c.messages_after, 'ledger_entries_used', c.ledger_entries_used,
        'work.context.compaction.type', c.compaction_type, 'work.context.compaction.is_applied', coalesce(c.is_applied, false),
        'work.context.compaction.tokens_before', c.tokens_before, 'work.context.compaction.tokens_after', c.tokens_after,
        'error.type', case when not coalesce(c.is_applied, false) then 'not_applied' end)) s
   where c.focus_id = p_focus.id and c.iteration between p_first and p_last;
$$;

comment on function _compaction_spans(foci, integer, integer) is 'A work.context.compaction span for each compaction made for these iterations.';

create or replace function _compaction_times(p_compaction compactions, p_turn turns, out started_at timestamptz, out ended_at timestamptz)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when p_turn.config_hash is null then p_compaction.created_at - make_interval(secs => coalesce(p_compaction.duration_ms, 0) / 1000.0)
              else p_turn.started_at end,
         greatest(coalesce(p_turn.completed_at, p_compaction.created_at), (select max(m.ended_at) from model_calls m where m.turn_id = p_turn.id));
$$;

comment on function _compaction_times(compactions, turns) is 'When a compaction began and ended; p_turn: its turn. One whose summary was never written ends with the last request for it.';

create or replace function _digest_spans(p_focus foci, p_first integer, p_last integer)
  returns setof trace_span
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select s.*
    from awareness_digests d
    -- The first request's digest is made before its turn, and stored with it.
    cross join lateral (
      select case when d.is_delta then d.created_at else least(d.created_at, (select t.started_at from turns t where t.id = d.turn_id)) end,
             not d.is_delta and d.turn_id = (select t.id from _trace_turns(p_focus.id, 1, 1) t order by t.started_at, t.id limit 1)) as e(ended_at, is_first)
    cross join lateral _span(
      'work.awareness.digest', _span_id('work.awareness.digest', d.turn_id::text),
      case when e.is_first then _span_id('work.orient', p_focus.id::text) else _iteration_span_id(p_focus.id, d.iteration) end,
      e.ended_at - make_interval(secs => d.duration_ms / 1000), e.ended_at, false,
      jsonb_build_object(
        'work.iteration', d.iteration, 'work.turn.id', d.turn_id, 'work.awareness.is_delta', d.is_delta, 'work.awareness.entries', d.entries,
        'work.awareness.digest_size', d.tokens, 'work.awareness.digest_chars', d.chars, 'work.awareness.digest_latency', d.duration_ms)) s
   where d.focus_id = p_focus.id and d.iteration between p_first and p_last;
$$;

comment on function _digest_spans(foci, integer, integer) is 'A work.awareness.digest span for each digest made for these iterations: that of the first request within work.orient, the others (also of a first request that is made anew) within their iteration.';
