-- The spans of tool calls: work.tool.execute and, for the calls of an agent's code, sandbox.tool.call.

create or replace function _call_spans(p_item work_items, p_focus foci, p_first integer, p_last integer, p_with_content boolean)
  returns setof trace_span
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select s.*
    from _trace_turns(p_focus.id, p_first, p_last) t
    cross join lateral (select c from tool_calls c where c.turn_id = t.id and c.completed_at is not null offset 0) as called(call) -- in this order
    cross join lateral (select (called.call).*) k
    left join lateral (select p from approvals p where p.tool_call_id = k.id offset 0) as asked(approval) on true
    cross join lateral (select (asked.approval).*) a
    cross join lateral _span(
      case when k.parent_call_id is null then 'work.tool.execute' else 'sandbox.tool.call' end, _span_id('call', k.id::text),
      case when k.parent_call_id is null then _iteration_span_id(p_focus.id, t.iteration) else _span_id('call', k.parent_call_id::text) end,
      _call_began(called.call, asked.approval), k.completed_at, k.is_error,
      jsonb_build_object(
        'work.iteration', t.iteration, 'work.turn.id', t.id,
        'gen_ai.operation.name', 'execute_tool', 'gen_ai.tool.name', k.tool_name, 'gen_ai.tool.type', 'function', 'gen_ai.tool.call.id', k.provider_id,
        'work.tool.name', k.tool_name, 'work.tool.status', k.status, 'work.tool.effect', k.effect, 'work.tool.attempts', k.attempts,
        'work.tool.call.id', k.id,
        'error.type', case when k.is_error then k.status end)
      || _call_times(called.call, asked.approval) || _call_entry(called.call) || _call_code(called.call)
      || case when p_with_content then jsonb_build_object(
           'gen_ai.tool.call.arguments', _call_input(called.call)::text, 'gen_ai.tool.call.result', k.result::text) else '{}' end,
      (select jsonb_agg(e) from (values
         (_span_event('work.tool.approval_requested', a.requested_at, jsonb_build_object('work.tool.risk', a.risk))),
         (_span_event('work.tool.approval_decided', a.decided_at, jsonb_build_object('work.tool.approval', a.decision)))) as v(e) where e is not null),
      _call_children(p_item, called.call)) s;
$$;

comment on function _call_spans(work_items, foci, integer, integer, boolean) is
  'A span for each call of these iterations that is over: work.tool.execute of the model''s calls; sandbox.tool.call, below the execute_code call, of those of its code. It begins when approval was requested or the call began, the last time if it ran again after a crash, but not after the first call of its code.';

create or replace function _call_began(p_call tool_calls, p_approval approvals)
  returns timestamptz
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
  -- Interrupted code runs again from its start, so its first calls may be older.
  select coalesce(least(p_approval.requested_at, p_call.started_at, (
           select min(n.created_at) from tool_calls n
            where p_call.tool_name = 'execute_code' and n.turn_id = p_call.turn_id and n.parent_call_id = p_call.id)), p_call.created_at);
$$;

comment on function _call_began(tool_calls, approvals) is 'When a call began: when its approval was requested, or it ran, or the first call of its code.';

create or replace function _wait_kind(p_call tool_calls)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when p_call.wait_ends_at is not null then case p_call.tool_name when 'await_child_work' then 'child' when 'wait_for' then 'wait' end end;
$$;

comment on function _wait_kind(tool_calls) is 'What a call waited for: child, or wait: other work or a time. Null: it ran.';

create or replace function _call_times(p_call tool_calls, p_approval approvals)
  returns jsonb
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select jsonb_build_object(
           'work.tool.approval', p_approval.decision,
           'work.tool.approval_wait', _milliseconds(p_approval.requested_at, p_approval.decided_at),
           'work.tool.children_wait', case w.by when 'child' then _milliseconds(p_call.started_at, p_call.completed_at) end,
           'work.tool.wait', case w.by when 'wait' then _milliseconds(p_call.started_at, p_call.completed_at) end,
           'work.tool.run_time', case when w.by is null then _milliseconds(p_call.started_at, p_call.completed_at) end)
    from (select _wait_kind(p_call)) as w(by);
$$;

comment on function _call_times(tool_calls, approvals) is 'How long a call waited for approval, waited for children, waited for other work or a time, and ran, in milliseconds.';

create or replace function _call_entry(p_call tool_calls)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce((
    select jsonb_build_object('work.ledger.entry_type', l.entry_type, 'work.ledger.seq', l.seq, 'work.ledger.work_item_id', l.work_item_id)
      from work_ledger l
     where l.work_item_id = p_call.work_item_id and l.created_at between p_call.started_at and p_call.completed_at and l.tool_call_id = p_call.id
     order by l.created_at desc -- read by its index
     limit 1), '{}');
$$;

comment on function _call_entry(tool_calls) is 'The ledger entry that a call made; of several, the last.';

create or replace function _call_code(p_call tool_calls)
  returns jsonb
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when p_call.code_run is null then '{}' else jsonb_build_object(
           'work.sandbox.verdict', p_call.code_run -> 'verdict', 'work.sandbox.tool_calls', p_call.code_run -> 'calls',
           'work.sandbox.internal_bytes', p_call.code_run -> 'bytes_seen', 'work.sandbox.output_bytes', p_call.code_run -> 'bytes_returned',
           'work.sandbox.duration', p_call.code_run -> 'duration_ms') end;
$$;

comment on function _call_code(tool_calls) is 'How the code of an execute_code call ran.';

create or replace function _call_children(p_item work_items, p_call tool_calls)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
  select jsonb_agg(_span_link(c.root_id, _execute_span_id(c.id, 1), c.link) order by c.n)
    from (
      select w.root_id, w.id, 'spawned', row_number() over (order by w.id)
        from work_items w
       where p_call.spawned_work_item_id is not null and w.parent_id = p_item.id and w.spawn_tool_call_id = p_call.id
      union all
      select w.root_id, w.id, 'awaits', i.n
        from unnest(case when _is_wait(p_call.tool_name) and p_call.status = 'completed' then _awaits(p_call.input) end) with ordinality as i(id, n)
        join work_items w on w.id = i.id
    ) as c(root_id, id, link, n);
$$;

comment on function _call_children(work_items, tool_calls) is 'Links from a call to the first attempts of the work that it spawned or waited for. Null: none.';
