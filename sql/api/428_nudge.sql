-- An agent that keeps no ledger is reminded; where reminding does not help, the engine writes the step itself, so that
-- blocks close all the same.

create or replace function _nudge(p_item work_items, p_focus foci, p_head turns)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_interval integer := (select (config -> 'engage' ->> 'ledger_nudge_interval')::integer from faculties where content_hash = p_focus.faculty_hash);
  v_written integer;
begin
  if v_interval = 0 then
    return null;
  end if;
  select coalesce(max(t.iteration), 0)
    into v_written
    from (select turn_id from work_ledger where work_item_id = p_item.id and focus_id = p_focus.id order by seq desc limit 1) l
    join turns t on t.id = l.turn_id;
  if p_focus.iteration - greatest(v_written, p_focus.nudge_iteration - 1) < v_interval then
    return null;
  end if;
  if v_written >= p_focus.nudge_iteration then
    p_focus.unheeded_nudge_count := 0;
  else
    p_focus.unheeded_nudge_count := p_focus.unheeded_nudge_count + 1;
  end if;
  if p_focus.unheeded_nudge_count >= 2 then
    perform _draft_step(p_item, p_focus, p_head, v_written);
    update foci set nudge_iteration = 0, unheeded_nudge_count = 0 where id = p_focus.id;
    return null;
  end if;
  update foci
     set nudge_iteration = p_focus.iteration + 1, unheeded_nudge_count = p_focus.unheeded_nudge_count
   where id = p_focus.id;
  return '[engine] You have completed several iterations without updating your ledger. '
    || 'Consider recording your progress — findings, completed steps, or plan updates. '
    || 'Your ledger persists across context compactions; conversation history does not.';
end
$$;

comment on function _nudge(work_items, foci, turns) is
  'The reminder that the next request carries after ledger_nudge_interval iterations without a ledger entry, or null; after two reminders in a row that changed nothing the engine drafts a step instead.';

create or replace function _draft_step(p_item work_items, p_focus foci, p_head turns, p_since_iteration integer)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_calls text;
begin
  select string_agg(format('%s ×%s%s', c.tool_name, c.calls, case when c.failed > 0 then format(' (%s failed)', c.failed) else '' end), ', ' order by c.first_at)
    into v_calls
    from (select k.tool_name, count(*) as calls, count(*) filter (where k.is_error) as failed, min(k.created_at) as first_at
            from turns t
            join tool_calls k on k.turn_id = t.id
           where t.focus_id = p_focus.id and t.iteration > p_since_iteration and t.status <> 'failed'
           group by k.tool_name) c;
  perform set_config('work_ledger.turn_id', p_head.id::text, true),
          set_config('work_ledger.is_auto', 'true', true);
  perform ledger_append(p_item.id, 'step', format('Iterations %s to %s, drafted by the engine: %s.',
    p_since_iteration + 1, p_focus.iteration, coalesce(v_calls, 'no tool calls')), p_lease => p_item.lease_token);
  perform set_config('work_ledger.turn_id', '', true),
          set_config('work_ledger.is_auto', '', true);
end
$$;

comment on function _draft_step(work_items, foci, turns, integer) is 'Records what the agent did since an iteration as a step (is_auto), from the rows of its tool calls; the block before its last exchange closes.';
