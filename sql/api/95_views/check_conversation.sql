-- The invariants of conversations, for work_ledger_check(): turns, tool calls, and what an item waits for.

create or replace function _check_turns(p_ids uuid[])
  returns table (invariant text, work_item_id uuid, says text)
  language sql
  stable
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with own as materialized (
    select t.*, f.iteration as finished, f.ended_at
      from unnest(p_ids) i(id) join turns t on t.work_item_id = i.id join foci f on f.id = t.focus_id
     where t.external_id is null and f.faculty <> 'imported'
  )
  select 'turn', t.work_item_id, format('turn %s is at depth %s, but its parent is at %s', t.id, t.depth, p.depth)
    from own t join turns p on p.id = t.parent_turn_id
   where t.depth <> p.depth + 1
  union all
  select 'turn', t.work_item_id, format('turn %s waits for a response, but its attempt has ended', t.id)
    from own t where t.completed_at is null and t.ended_at is not null
  union all
  select 'answer', t.work_item_id, format('turn %s is %s, but has %s responses', t.id, t.status, m.n)
    from own t
   cross join lateral (select count(*) filter (where m.role = 'assistant') as n from messages m where m.turn_id = t.id) m
   where t.turn_type = 'normal' and m.n > (t.status = 'completed')::integer -- for an empty response no message is stored
  union all
  select 'answer', t.work_item_id, format('turn %s has a message after its response', t.id)
    from own t join messages a on a.turn_id = t.id and a.role = 'assistant'
   where exists (select from messages m where m.turn_id = t.id and m.sequence > a.sequence)
  union all
  select 'iteration', (array_agg(t.work_item_id))[1],
         format('attempt %s has finished %s iterations, but has responses for %s', t.focus_id, t.finished, count(*))
    from own t
   where t.turn_type = 'normal' and t.status = 'completed'
   group by t.focus_id, t.finished
  having count(*) not between t.finished and t.finished + 1 or max(t.iteration) <> count(*)
  union all
  select 'cut', t.work_item_id, format('turn %s refers to a cut that does not exist', t.id)
    from own t where t.elision_id is not null and not exists (select from elisions c where c.id = t.elision_id)
  union all
  select 'cut', c.work_item_id, format('cut %s is number %s of its chain, but the one before it is number %s', c.id, c.ordinal, coalesce(p.ordinal, 0))
    from unnest(p_ids) i(id) join elisions c on c.work_item_id = i.id left join elisions p on p.id = c.previous_id
   where coalesce(p.ordinal, 0) <> (c.ordinal & (c.ordinal - 1)); -- a row's previous_id skips the rows whose stubs it contains, see elisions
$$;

comment on function _check_turns(uuid[]) is 'Findings of work_ledger_check() on turns and what they leave out.';

create or replace function _check_calls(p_ids uuid[])
  returns table (invariant text, work_item_id uuid, says text)
  language sql
  stable
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with own as materialized (
    select k.*, t.iteration, f.iteration as finished, f.ended_at
      from unnest(p_ids) i(id) join turns t on t.work_item_id = i.id join foci f on f.id = t.focus_id join tool_calls k on k.turn_id = t.id
     where t.external_id is null and f.faculty <> 'imported' and k.external_id is null
  )
  select 'call', t.work_item_id, format('the response of turn %s has %s calls, but %s are stored', t.id, m.n, c.n)
    from unnest(p_ids) i(id)
    join work_items w on w.id = i.id and w.erased_at is null
    join turns t on t.work_item_id = w.id and t.external_id is null and t.status = 'completed' and t.turn_type = 'normal'
    join foci f on f.id = t.focus_id and f.faculty <> 'imported'
   cross join lateral (select count(*) as n from messages m cross join lateral json_array_elements(m.content) b
                        where m.turn_id = t.id and m.role = 'assistant' and b ->> 'type' = 'tool_use') m
   cross join lateral (select count(*) as n from tool_calls k where k.turn_id = t.id and k.parent_call_id is null) c
   where m.n <> c.n
  union all
  select 'call', k.work_item_id, format('call %s of %s is open, but its iteration has ended', k.id, k.tool_name)
    from own k where k.completed_at is null and (k.ended_at is not null or k.iteration <= k.finished)
  union all
  select 'call', k.work_item_id, format('call %s of %s is open, but the code that made it has ended', k.id, k.tool_name)
    from own k join tool_calls p on p.id = k.parent_call_id
   where k.completed_at is null and p.completed_at is not null
  union all
  select 'effect', k.work_item_id, format('call %s of %s, which must not run twice, was begun %s times', k.id, k.tool_name, k.attempts)
    from own k where k.effect = 'unsafe' and k.attempts > 1
  union all
  select 'effect', k.work_item_id, format('call %s of %s is uncertain, but could have run again', k.id, k.tool_name)
    from own k where k.effect <> 'unsafe' and k.status = 'uncertain'
  union all
  select 'effect', (array_agg(w.parent_id))[1], format('call %s submitted %s work items', w.spawn_tool_call_id, count(*))
    from unnest(p_ids) i(id) join work_items w on w.parent_id = i.id join tool_calls k on k.id = w.spawn_tool_call_id
   where k.tool_name = 'spawn_child_work' group by w.spawn_tool_call_id
  having count(*) > 1
  union all
  select 'artifact', k.work_item_id, format('the artifact of call %s is not kept for its work item', k.id)
    from own k
   where k.artifact_hash is not null and not exists (select from artifact_uses u where (u.content_hash, u.work_item_id) = (k.artifact_hash, k.work_item_id));
$$;

comment on function _check_calls(uuid[]) is 'Findings of work_ledger_check() on tool calls and their effects.';

create or replace function _check_waits(p_ids uuid[])
  returns table (invariant text, work_item_id uuid, says text)
  language sql
  stable
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select 'result', c.id, format('it is %s, but its parent was told of its end %s times', c.state, n.results)
    from unnest(p_ids) i(id) join work_items c on c.id = i.id and c.parent_id is not null and c.work_type !~ '^ldg:'
   cross join lateral (select count(*) as results from inbox b where b.source_work_item_id = c.id and b.kind = 'child_result') n
   where n.results <> (c.resolved_at is not null)::integer
  union all
  select 'approval', a.work_item_id, format('call %s has ended, but still waits for approval', a.tool_call_id)
    from unnest(p_ids) i(id) join approvals a on a.work_item_id = i.id join tool_calls k on k.id = a.tool_call_id
   where a.decision is null and k.completed_at is not null
  union all
  select 'wait', w.id, 'it waits, but nothing can end the wait'
    from unnest(p_ids) i(id) join work_items w on w.id = i.id
   where w.state = 'waiting' and w.run_at = 'infinity' and w.state_reason is null;
$$;

comment on function _check_waits(uuid[]) is 'Findings of work_ledger_check() on what work waits for.';
