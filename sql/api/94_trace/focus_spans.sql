-- The spans of a whole attempt: work.item, the root; work.execute and, below it, work.recover, work.orient, work.engage, work.consolidate.

create or replace function _focus_spans(p_item work_items, p_focus foci, p_first integer, p_is_end boolean, p_with_content boolean)
  returns setof trace_span
  language plpgsql
  stable
  rows 5
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_execute text := _execute_span_id(p_item.id, p_focus.attempt);
  v_recover hook_runs := (select h from hook_runs h where h.focus_id = p_focus.id and h.hook = 'recover');
  v_external hook_runs := (select h from hook_runs h where h.focus_id = p_focus.id and h.hook = 'engage');
  v_consolidate hook_runs := (select h from hook_runs h where h.focus_id = p_focus.id and h.hook = 'consolidate');
  -- A compaction may come before the first request.
  v_engaged_at timestamptz := coalesce(
    least(
      (select min(t.started_at) from _trace_turns(p_focus.id, 1, 1) t),
      (select min(x.started_at) from compactions c join turns t on t.id = c.turn_id cross join lateral _compaction_times(c, t) x
        where c.focus_id = p_focus.id and c.iteration = 1)),
    v_external.created_at);
  v_oriented_at timestamptz := coalesce(v_engaged_at, p_focus.ended_at);
  v_is_failed boolean := coalesce(p_focus.outcome in ('failed', 'crashed'), false);
begin
  if p_first = 1 and v_oriented_at is not null then
    if p_focus.attempt = 1 and _spawning_span_id(p_item) is null then
      return next _item_span(p_item, p_focus);
    end if;
    if p_focus.attempt > 1 then
      return next _span('work.recover', _span_id('work.recover', p_focus.id::text), v_execute,
        p_focus.created_at, coalesce(v_recover.completed_at, p_focus.created_at), coalesce(v_recover.status = 'failed', false), jsonb_build_object(
          'work.recover.mode', _faculty_config(p_focus) #>> '{recover,mode}',
          'work.recover.status', v_recover.status,
          'work.recover.previous_outcome', (select outcome from foci where work_item_id = p_item.id and attempt = p_focus.attempt - 1)));
    end if;
    return next _span('work.orient', _span_id('work.orient', p_focus.id::text), v_execute, coalesce(v_recover.completed_at, p_focus.created_at), v_oriented_at,
      v_engaged_at is null and v_is_failed, jsonb_build_object(
        'work.orient.status', (select status from hook_runs where focus_id = p_focus.id and hook = 'orient')));
  end if;
  if not p_is_end then
    return;
  end if;
  if v_engaged_at is not null then
    return next _span('work.engage', _span_id('work.engage', p_focus.id::text), v_execute, v_engaged_at, coalesce(v_consolidate.created_at, p_focus.ended_at),
      v_is_failed and v_consolidate.id is null, jsonb_build_object(
        'work.engage.iterations', (select count(distinct t.iteration) from _trace_turns(p_focus.id, 1, 2147483647) t)));
  end if;
  if v_consolidate.id is not null then
    return next _span('work.consolidate', _span_id('work.consolidate', p_focus.id::text), v_execute, v_consolidate.created_at,
      coalesce(v_consolidate.completed_at, p_focus.ended_at), v_consolidate.status = 'failed',
      jsonb_build_object('work.consolidate.status', v_consolidate.status));
  end if;
  return next _execute_span(p_item, p_focus, p_with_content);
end
$$;

comment on function _focus_spans(work_items, foci, integer, boolean, boolean) is
  'The spans of an attempt that belong to no iteration: with the first iteration (p_first = 1) those before it, at the end of the attempt (p_is_end) the others.';

create or replace function _item_span(p_item work_items, p_focus foci)
  returns trace_span
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _span('work.item', _span_id('work.item', p_item.id::text), null, t.at, t.at, false, '{}')
    from (select least(p_item.created_at, p_focus.created_at)) t(at);
$$;

comment on function _item_span(work_items, foci) is
  'The span of an item that no call of an agent spawned: the root of its trace. It is over when the item was submitted, so it can be exported before an attempt is.';

create or replace function _spawning_span_id(p_item work_items)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _span_id('call', k.id::text) from tool_calls k join turns t on t.id = k.turn_id where k.id = p_item.spawn_tool_call_id and t.focus_id is not null;
$$;

comment on function _spawning_span_id(work_items) is 'The id of the span of the call that spawned an item; null: no agent''s call did.';

create or replace function _execute_span(p_item work_items, p_focus foci, p_with_content boolean)
  returns trace_span
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_spawned_by text := _spawning_span_id(p_item);
  v_is_failed boolean := p_focus.outcome in ('failed', 'crashed');
  v_links jsonb := (
    select jsonb_agg(l.link order by l.n, l.link)
      from (
        select 1, _span_link(p_item.root_id, v_spawned_by, 'spawned_by') where v_spawned_by is not null
        union all
        select 2, _span_link(w.root_id, _span_id('call', k.id::text), 'awaited_by')
          from tool_calls k join work_items w on w.id = k.work_item_id
         where k.id = any (p_focus.awaited_by)
        union all
        select 3, _span_link(p_item.root_id, _execute_span_id(p_item.id, p_focus.attempt - 1), 'retry_of') where p_focus.attempt > 1
        union all
        select 4, _span_link(w.root_id, _iteration_span_id(t.focus_id, t.iteration),
                             case when p_item.continues_id is null then 'forked_from' else 'continues' end)
          from _asking_turn(p_item.fork_turn_id) t join work_items w on w.id = t.work_item_id -- an item may have ended with a compaction
         where p_focus.attempt = 1
      ) as l(n, link));
begin
  return _span('work.execute', _execute_span_id(p_item.id, p_focus.attempt),
    coalesce(v_spawned_by, _span_id('work.item', p_item.id::text)), p_focus.created_at, p_focus.ended_at, v_is_failed,
    jsonb_build_object(
      'gen_ai.operation.name', 'invoke_agent',
      'gen_ai.agent.name', p_focus.faculty,
      'gen_ai.provider.name', (
        select coalesce(t.provider, 'anthropic') from turns t where t.work_item_id = p_item.id and t.focus_id = p_focus.id order by t.id desc limit 1),
      'work.outcome', p_focus.outcome,
      'work.parent_item.id', p_item.parent_id,
      'error.type', case when v_is_failed then p_focus.outcome end,
      'error.message', case when p_with_content then p_focus.error ->> 'message' end), null, v_links);
end
$$;

comment on function _execute_span(work_items, foci, boolean) is
  'The work.execute span of an attempt that has ended. Its parent is the call that spawned its work item, else the item; it is linked to that call, to the calls that waited for it when it ended, to the attempt before it, and to the iteration from which its work item was forked.';

create or replace function _span(
    p_kind text,
    p_span_id text,
    p_parent_span_id text,
    p_started_at timestamptz,
    p_ended_at timestamptz,
    p_is_error boolean,
    p_attributes jsonb,
    p_events jsonb default null,
    p_links jsonb default null)
  returns trace_span
  language sql
  immutable
  parallel safe
  return row(null, p_span_id, p_parent_span_id,
             case p_kind when 'work.execute' then concat_ws(' ', 'invoke_agent', p_attributes ->> 'gen_ai.agent.name')
                         when 'gen_ai.chat' then concat_ws(' ', 'chat', p_attributes ->> 'gen_ai.request.model')
                         when 'work.tool.execute' then concat_ws(' ', 'execute_tool', p_attributes ->> 'gen_ai.tool.name')
                         when 'sandbox.tool.call' then concat_ws(' ', 'execute_tool', p_attributes ->> 'gen_ai.tool.name')
                         else p_kind end,
             case p_kind when 'gen_ai.chat' then 'client' else 'internal' end, p_started_at,
             greatest(p_ended_at, p_started_at), case when p_is_error then 'error' else 'unset' end,
             jsonb_build_object('work.span', p_kind) || case when p_is_error then '{"error.type": "failed"}'::jsonb else '{}' end
               || jsonb_strip_nulls(p_attributes),
             coalesce(p_events, '[]'), coalesce(p_links, '[]'))::trace_span;

comment on function _span(text, text, text, timestamptz, timestamptz, boolean, jsonb, jsonb, jsonb) is 'A span that is in no trace yet. p_kind: what it shows, its attribute work.span; its name is that of OpenTelemetry''s GenAI conventions where they have one for it, else the same. error.type is failed if p_attributes have no other.';

create or replace function _trace_turns(p_focus_id uuid, p_first integer, p_last integer)
  returns setof turns
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select t from turns t where t.focus_id = p_focus_id and t.iteration between p_first and p_last and t.status <> 'failed'
  union all
  select t from turns t where t.focus_id = p_focus_id and t.iteration between p_first and p_last and t.status = 'failed';
$$;

comment on function _trace_turns(uuid, integer, integer) is 'The turns of a focus in these iterations, those that were given up as well.';
