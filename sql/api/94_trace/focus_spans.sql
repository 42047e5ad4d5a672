-- The spans of an attempt as a whole: work.execute and, below it, work.recover, work.orient, work.engage, work.consolidate.

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
  -- The context of the first request may have to be compacted before.
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

create or replace function _execute_span(p_item work_items, p_focus foci, p_with_content boolean)
  returns trace_span
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_spawned_by text := (
    select _span_id('call', k.id::text) from tool_calls k join turns t on t.id = k.turn_id where k.id = p_item.spawn_tool_call_id and t.focus_id is not null);
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
  return _span('work.execute', _execute_span_id(p_item.id, p_focus.attempt), v_spawned_by, p_focus.created_at, p_focus.ended_at, v_is_failed,
    jsonb_build_object(
      'gen_ai.operation.name', 'invoke_agent',
      'gen_ai.agent.name', p_focus.faculty,
      'gen_ai.conversation.id', p_focus.session_label,
      'work.outcome', p_focus.outcome,
      'work.parent_item.id', p_item.parent_id,
      'error.type', case when v_is_failed then p_focus.outcome end,
      'error.message', case when p_with_content then p_focus.error ->> 'message' end), null, v_links);
end
$$;

comment on function _execute_span(work_items, foci, boolean) is
  'The work.execute span of an attempt that has ended. Its parent is the call that spawned its work item; it is linked to that call, to the calls that waited for it when it ended, to the attempt before it, and to the iteration from which its work item was forked.';

create or replace function _span(
    p_name text,
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
  return row(null, p_span_id, p_parent_span_id, p_name, case p_name when 'gen_ai.chat' then 'client' else 'internal' end, p_started_at,
             greatest(p_ended_at, p_started_at), case when p_is_error then 'error' else 'unset' end,
             case when p_is_error then '{"error.type": "failed"}'::jsonb else '{}' end || jsonb_strip_nulls(p_attributes),
             coalesce(p_events, '[]'), coalesce(p_links, '[]'))::trace_span;

comment on function _span(text, text, text, timestamptz, timestamptz, boolean, jsonb, jsonb, jsonb) is 'A span that is in no trace yet; error.type is failed if p_attributes have no other.';

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
