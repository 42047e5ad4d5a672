-- The invariants of the ledger, which hold in every committed state, whatever crashed. This is the only list. It is read-only and uses one snapshot, so it
-- can run while work continues. Turns and calls of other programs (imported, journals) have their own rules and are left out.

create or replace function work_ledger_check(p_work_item_ids uuid[] default null)
  returns table (invariant text, work_item_id uuid, says text)
  language sql
  stable
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with checked(ids) as materialized (
    select coalesce(p_work_item_ids, array(select w.id from work_items w))
  )
  select f.* from checked c
   cross join lateral (
     select * from _check_items(c.ids)
     union all
     select * from _check_days() where p_work_item_ids is null
     union all
     select * from _check_attempts(c.ids)
     union all
     select * from _check_entries(c.ids)
     union all
     select * from _check_turns(c.ids)
     union all
     select * from _check_calls(c.ids)
     union all
     select * from _check_waits(c.ids)) f(invariant, work_item_id, says)
   order by 1, 2, 3;
$$;

comment on function work_ledger_check(uuid[]) is
  'Checks invariants that must hold whatever crashed: one row per violation, none when all is well. invariant: tree, fence, slot, attempt, lease, session (of a work item); counter, entry (of its ledger); turn, answer, iteration, cut (of its conversation); call, effect, artifact (of its tool calls); result, approval, wait, budget (of what it waits for). work_item_id: the item concerned; null: a daily budget. says: the finding, as a sentence. p_work_item_ids: check only these; null: all of them, which reads every row of the ledger. Read-only; safe to call while work is running.';

create or replace function _check_items(p_ids uuid[])
  returns table (invariant text, work_item_id uuid, says text)
  language sql
  stable
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select 'tree', w.id, 'its root or depth does not match its parent'
    from unnest(p_ids) i(id) join work_items w on w.id = i.id join work_items p on p.id = w.parent_id
   where (w.root_id, w.depth) <> (p.root_id, p.depth + 1)
  union all
  select 'fence', w.id, case when e.work_item_id is null then 'it has no fence: nobody can write for it' else 'its fence and its row disagree' end
    from unnest(p_ids) i(id) join work_items w on w.id = i.id left join fences e on e.work_item_id = w.id
   where (e.focus_id, e.attempt, e.is_over, e.is_child, e.is_journal)
         is distinct from (w.focus_id, w.attempts, w.resolved_at is not null, w.depth > 0, w.work_type = 'journal')
  union all
  select 'slot', w.id, format('it is %s, but holds a slot of faculty "%s"', w.state, w.slot_faculty)
    from unnest(p_ids) i(id) join work_items w on w.id = i.id
   where w.slot_faculty is not null and (w.resolved_at is not null or w.state in ('waiting', 'paused'))
  union all
  select 'counter', e.work_item_id, format('its ledger ends with entry %s, but its counter says %s', l.last, e.ledger_count)
    from unnest(p_ids) i(id) join fences e on e.work_item_id = i.id
   cross join lateral (select coalesce(max(l.seq), 0) as last from work_ledger l where l.work_item_id = e.work_item_id) l
   where l.last <> e.ledger_count
  union all
  select 'budget', b.work_item_id,
         format('its budget reserves %s %s for requests, but the running ones need %s', trim_scale(b.reserved), b.resource, trim_scale(r.needed))
    from unnest(p_ids) i(id) join budgets b on b.work_item_id = i.id and b.reserved > 0
   cross join lateral (
     with recursive below(id, focus_id) as (
       select w.id, w.focus_id from work_items w where w.id = b.work_item_id
       union all
       select w.id, w.focus_id from below o join work_items w on w.parent_id = o.id)
     select coalesce(sum(case b.resource when 'tokens' then t.reserved_tokens when 'money' then t.reserved_money when 'calls' then 1 else 0 end), 0) as needed
       from below o join turns t on t.focus_id = o.focus_id and t.status in ('pending', 'streaming') and t.reserved_tokens is not null) r
   where b.reserved > r.needed;
$$;

comment on function _check_items(uuid[]) is 'Findings of work_ledger_check() on work items, their slots, counters and budgets.';

create or replace function _check_days()
  returns table (invariant text, work_item_id uuid, says text)
  language sql
  stable
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select 'budget', null::uuid,
         format('the budget of %s "%s" reserves %s %s of %s for requests, but the running ones need %s', s.scope, s.name, trim_scale(s.reserved), s.resource,
                s.day, trim_scale(r.needed))
    from daily_spending s
   cross join lateral (select _daily_reserved(s.scope, s.name, s.resource, s.day) as needed) r
   where s.reserved > r.needed
  union all
  select 'budget', null, format('there is a budget for %s "%s", which does not exist', b.scope, b.name)
    from daily_budgets b
   where b.name is distinct from case b.scope when 'project' then _project_now(b.name) else _faculty_ref(_faculty_by_ref(b.name)) end;
$$;

comment on function _check_days() is 'Findings of work_ledger_check() on daily budgets.';

create or replace function _check_attempts(p_ids uuid[])
  returns table (invariant text, work_item_id uuid, says text)
  language sql
  stable
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select 'attempt', w.id,
         case when f.ended_at is not null then format('its attempt %s ended (%s), but it is still %s', f.attempt, f.outcome, w.state)
              else format('attempt %s is open, but the item is %s in attempt %s', f.attempt, w.state, w.attempts) end
    from unnest(p_ids) i(id) join work_items w on w.id = i.id join foci f on f.work_item_id = w.id
   where case when f.ended_at is null then f.id is distinct from w.focus_id else f.id = w.focus_id and w.resolved_at is null end
  union all
  select 'lease', w.id,
         case when f.lease_owner is null then 'a worker drives it, but its attempt has no lease' else 'its attempt has a lease, but no worker drives it' end
    from unnest(p_ids) i(id) join work_items w on w.id = i.id join fences e on e.work_item_id = w.id left join foci f on f.id = w.focus_id
   where (e.lease_hash is null) <> (f.lease_owner is null)
  union all
  select 'lease', w.id, format('it is %s, but a worker drives it', w.state)
    from unnest(p_ids) i(id) join work_items w on w.id = i.id join fences e on e.work_item_id = w.id
   where e.lease_hash is not null and (w.focus_id is null or w.state not in ('claimed', 'running'))
  union all
  select 'lease', w.id, format('attempt %s is not the current one, but has a lease', f.attempt)
    from unnest(p_ids) i(id) join work_items w on w.id = i.id join foci f on f.work_item_id = w.id
   where f.lease_owner is not null and f.id is distinct from w.focus_id
  union all
  select 'session', f.work_item_id, format('the head of session %s is not where it moved last', s.label)
    from unnest(p_ids) i(id) join foci f on f.work_item_id = i.id join sessions s on s.label = f.session_label
   where s.head_turn_id is distinct from (select h.turn_id from session_history h where h.session_label = s.label order by h.id desc limit 1);
$$;

comment on function _check_attempts(uuid[]) is 'Findings of work_ledger_check() on attempts, their leases and sessions.';

create or replace function _check_entries(p_ids uuid[])
  returns table (invariant text, work_item_id uuid, says text)
  language sql
  stable
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select 'entry', l.work_item_id, format('its ledger has %s entries numbered %s to %s', count(*), min(l.seq), max(l.seq))
    from unnest(p_ids) i(id) join work_ledger l on l.work_item_id = i.id
   group by l.work_item_id
  having (count(*), min(l.seq)) <> (max(l.seq), 1)
  union all
  select 'entry', l.work_item_id, format('entry %s retracts %s, which does not exist', l.seq, l.retracts)
    from unnest(p_ids) i(id) join work_ledger l on l.work_item_id = i.id
   where l.retracts is not null and not exists (select from work_ledger o where o.work_item_id = l.work_item_id and o.seq = l.retracts and o.seq < l.seq)
  union all
  select 'entry', l.work_item_id, format('entry %s was recorded in a turn, an attempt or a call that does not exist', l.seq)
    from unnest(p_ids) i(id) join work_ledger l on l.work_item_id = i.id
   where l.turn_id is not null and not exists (select from turns t where t.id = l.turn_id)
      or l.focus_id is not null and not exists (select from foci f where f.id = l.focus_id)
      or l.turn_id is not null and l.tool_call_id is not null and not exists (select from tool_calls k where k.id = l.tool_call_id) -- otherwise a client's id;
$$;

comment on function _check_entries(uuid[]) is 'Findings of work_ledger_check() on ledgers.';
