-- Reminds an agent that writes nothing to its ledger (a nudge). If that does not help, the engine drafts a step itself, so that blocks still close.

create or replace function _nudge(
    p_item work_items,
    p_focus foci,
    p_head turns,
    p_written integer,
    p_interval integer,
    p_lease uuid,
    out says text,
    out unheeded integer,
    out has_drafted boolean)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_interval = 0 or p_head.id is null or p_focus.iteration - greatest(p_written, p_focus.nudge_iteration - 1) < p_interval then
    return;
  end if;
  unheeded := case when p_written >= p_focus.nudge_iteration then 0 else p_focus.unheeded_nudge_count + 1 end;
  if unheeded >= 2 and not _is_branched(p_head) then
    perform _draft_step(p_item, p_focus, p_head, p_written, p_lease);
    has_drafted := true;
    update foci set nudge_iteration = 0, unheeded_nudge_count = 0 where id = p_focus.id;
    return;
  end if;
  says := case
    when not _is_reminded(p_focus) then '[engine] You have completed several iterations without updating your ledger. '
      || 'Consider recording your progress — findings, completed steps, or plan updates. '
      || 'Your ledger persists across context compactions; conversation history does not.'
    when unheeded = 0 then '[engine] Again, your ledger has no entry from the last iterations.'
    else '[engine] Still nothing is recorded. Instead of another reminder, the engine will draft a step from your calls, without what you found.'
  end || ' Add ledger_append(entry_type: "step", content: what you did and the outcome) along with your next call.';
end
$$;

comment on function _nudge(work_items, foci, turns, integer, integer, uuid) is
  'The reminder for the next request after p_interval iterations (ledger_nudge_interval) without a ledger entry (p_written: the iteration of the newest); says null: none is due. The first says why, the next ones what to do. unheeded: how many reminders in a row were followed by no entry. After two of those the engine drafts a step instead: has_drafted (one request later where another conversation continues from the same turn). A reminder counts when its turn is answered: see _turn_heard().';

create or replace function _is_reminded(p_focus foci)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select exists (
    select from turns t
      join messages m on m.turn_id = t.id and m.metadata ->> 'kind' = 'nudge'
     where t.focus_id = p_focus.id and t.iteration > p_focus.iteration - 50 and t.status <> 'failed');
$$;

comment on function _is_reminded(foci) is 'Whether one of the last 50 requests of a focus ended with a reminder: the next one need not say again why.';

create or replace function _is_branched(p_head turns)
  returns boolean
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  perform _lock('branches', p_head.id::text); -- either forks are created at this turn, or a step is drafted for it
  return exists (select from work_items where fork_turn_id = p_head.id)
      or exists (select from turns where parent_turn_id = p_head.id and status <> 'failed'
                                     and (turn_type = 'normal' or work_item_id <> p_head.work_item_id));
end
$$;

comment on function _is_branched(turns) is 'Whether another conversation continues from a turn, or a fork will: a step drafted for the turn now would close a block there, too. No fork is made at the turn until this transaction ends.';

create or replace function _draft_step(p_item work_items, p_focus foci, p_head turns, p_since_iteration integer, p_lease uuid)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_turns uuid[] := array(
    select t.id from turns t
     where t.focus_id = p_focus.id and t.iteration > p_since_iteration and t.status = 'completed' and t.turn_type = 'normal'
     order by t.iteration);
  v_calls text;
  v_words text;
begin
  select _list(array_agg(format('%s ×%s', _one_line(c.tool_name, 60), c.calls) order by c.first_at), 12)
    into v_calls
    from (select k.tool_name, count(*) as calls, min(k.created_at) as first_at
            from unnest(v_turns) u
            join tool_calls k on k.turn_id = u and k.parent_call_id is null
           group by k.tool_name) c;
  select _one_line(r.said, 300)
    into v_words
    from unnest(v_turns) with ordinality as u(turn_id, n)
    cross join lateral _response_text(u.turn_id) as r(said)
   where r.said ~ '\S'
   order by u.n desc
   limit 1;
  perform set_config('work_ledger.turn_id', p_head.id::text, true),
          set_config('work_ledger.is_auto', 'true', true);
  perform ledger_append(p_item.id, 'step', concat_ws(' ',
    format('Not recorded by the agent; drafted by the engine from iterations %s to %s.', p_since_iteration + 1, p_focus.iteration),
    'Changed: ' || _changed_files(v_turns) || '.',
    'Failed: ' || _failed_calls(v_turns, true) || '.',
    'Last said: "' || v_words || '"',
    format('Calls: %s.', coalesce(v_calls, 'none'))), p_lease => p_lease);
  perform set_config('work_ledger.turn_id', '', true),
          set_config('work_ledger.is_auto', '', true);
end
$$;

comment on function _draft_step(work_items, foci, turns, integer, uuid) is 'Records what the agent did since an iteration as a step (is_auto): files changed, failed calls, its last words, its calls. Closes the block before the last exchange.';
