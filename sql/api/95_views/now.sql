-- Views of what is happening now: running work, the queue and why it waits, slots, workers. Each reads what is running or waiting, never what has ended.

create or replace function _open_calls_shown(p_turn_id uuid)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(jsonb_agg(jsonb_build_object(
           'id', k.id, 'tool', k.tool_name, 'status', k.status, 'label', _call_label(k), 'started_at', k.started_at,
           'is_approval', exists (
             select from tool_calls n join approvals a on a.tool_call_id = n.id
              where n.turn_id = p_turn_id and n.completed_at is null and k.id in (n.id, n.parent_call_id) and a.decision is null)) order by k.ordinal), '[]')
    from (select k.id, k.ordinal from tool_calls k
           where k.turn_id = p_turn_id and k.completed_at is null and k.parent_call_id is null
           order by k.ordinal
           limit 10) s
    join tool_calls k on k.id = s.id;
$$;

comment on function _open_calls_shown(uuid) is 'The first ten open calls of a turn: [{id, tool, status, label, started_at, is_approval (it, or a call of its code, waits for approval)}].';

create or replace view v_under_way with (security_invoker = true) as
  -- Subqueries look up the newest turn, so that it is read only if turn_id is selected, and for `doing` only if the result depends on it.
  select w.id as work_item_id, w.root_id, w.depth, w.state,
         case
           when w.state = 'paused' then 'paused'
           when w.state = 'waiting' or _worker_lost_at(w) is not null then 'waits'
           when e.lease_hash is null then 'next'
           when (select t.focus_id = f.id and t.status = 'completed' and t.iteration = f.iteration + 1
                   from turns t where t.work_item_id = w.id order by t.id desc limit 1) then 'tools'
           else 'model' end as doing,
         w.started_at, f.id as focus_id, (select t.id from turns t where t.work_item_id = w.id order by t.id desc limit 1) as turn_id,
         coalesce(w.project, '') as stored_project
    from work_items w
    left join fences e on e.work_item_id = w.id
    left join foci f on f.work_item_id = w.id and f.attempt = w.attempts
   where w.resolved_at is null and (w.state in ('claimed', 'running', 'waiting', 'paused') or (w.state = 'queued' and w.focus_id is not null));
comment on view v_under_way is
  'Running work, one row for each item that has an attempt or waits in the middle of one, with only what can be read instantly for thousands of items. v_now has everything else about each; v_now_trees and v_now_sums add them up.';
comment on column v_under_way.depth is 'Number of items above it; 0: it is a root.';
comment on column v_under_way.doing is 'model (a request is running), tools (calls are running), waits, paused or next (between two iterations).';
comment on column v_under_way.focus_id is 'The attempt; null: none yet.';
comment on column v_under_way.turn_id is 'The newest turn; null: none yet.';
comment on column v_under_way.stored_project is 'The project under the name it was submitted with, see project_names(); empty: none.';

create or replace view v_now with (security_invoker = true) as
  select w.id as work_item_id, w.parent_id, w.root_id, w.depth, w.work_type, _one_line(left(w.description, 1000), 300) as description,
         w.state, w.state_reason, w.priority, coalesce(f.faculty, _faculty_of(w)) as faculty, f.id as focus_id, f.attempt,
         f.iteration + 1 as iteration, f.session_label, c.config #>> '{engage,model}' as model, d.doing,
         y.waits_for, y.why, _open_calls_shown(t.id) as open_calls, t.id as turn_id,
         (select _one_line(l.content, 300) from work_ledger l where l.work_item_id = w.id and l.entry_type = 'step' order by l.seq desc limit 1) as last_step,
         _one_line(left(_response_text(a.id), 2000), 300) as last_words,
         _input_total(a) + coalesce(a.output_tokens, 0) + _tokens(_results_chars(a.id), c.config #>> '{engage,model}') as context_tokens,
         x.tokens as context_window,
         floor(x.tokens * coalesce(nullif((c.config #>> '{engage,compact_threshold}')::numeric, 0), 1))::integer as compacts_at,
         u.tokens, u.cost, u.model_calls, r.items as tree_items, r.tokens as tree_tokens, r.cost as tree_cost,
         f.lease_owner as worker_id, f.lease_expires_at, w.started_at, f.created_at as attempt_started_at,
         greatest(w.started_at, f.leased_at, t.started_at, t.completed_at,
           (select max(z.completed_at) from tool_calls z where z.turn_id = t.id),
           (select l.created_at from work_ledger l where l.work_item_id = w.id order by l.seq desc limit 1)) as active_at,
         _claims_held(w) as claims,
         case when y.waits_for = 'claim' then _claim_awaited(w, t.id) end as claim_of
    from v_under_way d
    join work_items w on w.id = d.work_item_id
    left join foci f on f.id = d.focus_id
    left join faculties c on c.content_hash = f.faculty_hash
    left join lateral (select * from turns t where t.work_item_id = w.id order by t.id desc limit 1) t on true
    left join lateral (
      select * from turns a
       where a.work_item_id = w.id and a.status = 'completed' and a.turn_type = 'normal'
       order by a.id desc
       limit 1) a on true
    cross join lateral _why_waiting(w, t.id) y
    left join lateral _context_window_of(c.config -> 'engage') as x(tokens) on c.config is not null
    cross join lateral _usage_of(array[w.id]) u
    -- Aggregates that return one row, so that the planner leaves the tree out if nobody selects its sums.
    left join lateral (
      select max(cardinality(i.ids)) as items, max(s.tokens) as tokens, max(s.cost) as cost
        from (select array_agg(o.id) as ids from work_items o where o.root_id = w.root_id) i
        cross join lateral _usage_of(i.ids) s) r on true;
comment on view v_now is
  'Running work, one row for each item that has an attempt or waits in the middle of one, in no particular order: select * from v_now order by root_id, depth. doing: model (a request is running), tools (calls are running), waits (also for another worker, when its own is lost), paused, next (between two iterations). waits_for and why: approval, children (those that it awaits), work (of others), claim (that others hold), budget, person (paused), host (no living worker may drive it), retry or time (run_at), slot, worker (it is ready for the next one, or lost its own: its lease ran out); null: a worker drives it. open_calls: [{id, tool, status, label, started_at, is_approval (it, or a call of its code, waits for approval)}], at most ten. turn_id: the newest turn. last_step, last_words: one line of at most 300 characters. context_tokens: the last request plus everything since. compacts_at: the size at which the context is compacted. tokens, cost, model_calls: of the item. tree_items, tree_tokens, tree_cost: of its whole tree. cost is in the currency of model_price_save(), null without prices. active_at: the newest sign of work.';
comment on column v_now.depth is 'Number of items above it; 0: it is a root.';
comment on column v_now.model is 'The faculty''s engage.model.';
comment on column v_now.iteration is 'The current iteration, from 1.';
comment on column v_now.doing is 'model, tools, waits, paused or next (between two iterations).';
comment on column v_now.waits_for is 'approval, children, work, claim, budget, person, host, retry, time, slot or worker; null: a worker drives it.';
comment on column v_now.why is 'The same as a sentence.';
comment on column v_now.open_calls is '[{id, tool, status, label, started_at, is_approval}], at most ten.';
comment on column v_now.turn_id is 'The newest turn.';
comment on column v_now.last_step is 'Its newest step, in one line.';
comment on column v_now.last_words is 'What its agent said last, in one line.';
comment on column v_now.context_tokens is 'Tokens of the last request plus everything since.';
comment on column v_now.context_window is 'The model''s context window.';
comment on column v_now.compacts_at is 'The size at which the context is compacted.';
comment on column v_now.tokens is 'Used by the item.';
comment on column v_now.cost is 'Cost of the item, in the currency of the prices; null without prices.';
comment on column v_now.model_calls is 'Model calls of the item.';
comment on column v_now.tree_items is 'Items in its tree.';
comment on column v_now.tree_tokens is 'Used by its tree.';
comment on column v_now.tree_cost is 'Cost of its tree.';
comment on column v_now.worker_id is 'The worker that drives it; null: none does.';
comment on column v_now.attempt_started_at is 'When this attempt began.';
comment on column v_now.active_at is 'The newest sign of work.';
comment on column v_now.claims is 'How many claims it holds, see v_claims.';
comment on column v_now.claim_of is 'The work item that holds the claim it waits for, or that has waited for that claim longer; null: it waits for none.';

create or replace view v_now_trees with (security_invoker = true) as
  select d.root_id, sum(d.items)::integer as under_way,
         (count(*) filter (where d.doing = 'model'))::integer as model, (count(*) filter (where d.doing = 'tools'))::integer as tools,
         (count(*) filter (where d.doing = 'waits'))::integer as waits, (count(*) filter (where d.doing = 'paused'))::integer as paused,
         (count(*) filter (where d.doing = 'next'))::integer as next, sum(d.calls)::integer as approvals, min(d.started_at) as began_at,
         _project_now(nullif(d.stored_project, '')) as project, d.stored_project -- a tree is in one project
    -- Waiting calls are joined, not looked up item by item, since there are usually few.
    from (select u.root_id, u.doing, u.started_at, 1 as items, 0 as calls, u.stored_project from v_under_way u
          union all
          select u.root_id, null, null, 0, 1, u.stored_project from v_approvals a join v_under_way u on u.work_item_id = a.work_item_id) d
   group by d.root_id, d.stored_project;
comment on view v_now_trees is
  'The trees with running work, one row each: how many of their items are running (under_way), and what these do (model, tools, waits, paused, next, as in v_now). The console shows those that wait for a person first: select * from v_now_trees order by approvals > 0 desc, began_at, root_id limit 30.';
comment on column v_now_trees.under_way is 'Its items that have an attempt or wait in the middle of one; those in v_now.';
comment on column v_now_trees.model is 'Items with a running model request.';
comment on column v_now_trees.tools is 'Items with running calls.';
comment on column v_now_trees.waits is 'Items that wait.';
comment on column v_now_trees.paused is 'Items that are paused.';
comment on column v_now_trees.next is 'Items between two iterations.';
comment on column v_now_trees.approvals is 'Calls that wait for approval.';
comment on column v_now_trees.project is 'The project of the work, by its current name; null: none.';
comment on column v_now_trees.stored_project is 'The project under the name it was submitted with, see project_names(); empty: none.';
comment on column v_now_trees.began_at is 'When the first of its running items was started.';

create or replace function now_sums(p_project text default null)
  returns table (
    trees integer, under_way integer, model integer, tools integer, waits integer, paused integer, next integer, approvals integer,
    tokens bigint, cost numeric, model_calls bigint)
  language plpgsql
  stable
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_names text[] := _project_and_none(p_project);
begin
  return query
    with tree as materialized (
      select t.root_id, t.under_way, t.model, t.tools, t.waits, t.paused, t.next, t.approvals
        from v_now_trees t
       where p_project is null or t.stored_project = any (v_names)
    )
    select t.*, u.tokens, u.cost, u.model_calls
      from (
        select count(*)::integer, coalesce(sum(under_way), 0)::integer, coalesce(sum(model), 0)::integer, coalesce(sum(tools), 0)::integer,
               coalesce(sum(waits), 0)::integer, coalesce(sum(paused), 0)::integer, coalesce(sum(next), 0)::integer, coalesce(sum(approvals), 0)::integer
          from tree) t
     cross join lateral _usage_of((select array_agg(w.id) from work_items w where w.root_id in (select root_id from tree))) u;
end
$$;

comment on function now_sums(text) is 'v_now_sums of one project: select * from now_sums(''github.com/acme/shop''). p_project: as for project_has().';

create or replace view v_now_sums with (security_invoker = true) as
  select trees, under_way, model, tools, waits, paused, next, approvals, tokens, cost, model_calls from now_sums();
comment on view v_now_sums is
  'All trees of v_now_trees together, in one row: how many there are, what their items do, and what the whole trees have used so far, including items that are over.';
comment on column v_now_sums.trees is 'Trees with running work.';
comment on column v_now_sums.under_way is 'Items that have an attempt or wait in the middle of one.';
comment on column v_now_sums.model is 'Items with a running model request.';
comment on column v_now_sums.tools is 'Items with running calls.';
comment on column v_now_sums.waits is 'Items that wait.';
comment on column v_now_sums.paused is 'Items that are paused.';
comment on column v_now_sums.next is 'Items between two iterations.';
comment on column v_now_sums.approvals is 'Calls that wait for approval.';
comment on column v_now_sums.tokens is 'Used by these trees.';
comment on column v_now_sums.cost is 'Cost of these trees, in the currency of the prices; null without prices.';
comment on column v_now_sums.model_calls is 'Answered requests of these trees.';

create or replace view v_queue with (security_invoker = true) as
  select w.id as work_item_id, w.parent_id, w.root_id, w.work_type, _one_line(left(w.description, 1000), 300) as description,
         r.faculty, w.priority, w.attempts, w.created_at, w.run_at,
         case
           when r.faculty is null then 'faculty'
           when y.waits_for <> 'worker' then y.waits_for
           when m.name is not null then 'cooldown'
           when r.slots <= r.used then 'slot'
           else y.waits_for end as waits_for,
         case
           when r.faculty is null then _why_unroutable(w.faculty, w.work_type)
           when y.waits_for <> 'worker' then y.why
           when m.name is not null then format('model %s is cooling down until %s', m.name, _time_said(m.cooldown_ends_at))
           when r.slots <= r.used then format('%s of %s slots of faculty "%s" are taken', r.used, r.slots, r.ref)
           else y.why end as why,
         _project_now(w.project) as project, coalesce(w.project, '') as stored_project
    from work_items w
    cross join lateral (
      select f.name as faculty, _faculty_ref(f) as ref, f.config #>> '{engage,model}' as model, (f.config ->> 'max_concurrent')::integer as slots,
             case when f.config ->> 'max_concurrent' is not null then _slots_used(f) end as used
        from _faculty_for(w.faculty, w.work_type, _project_now(w.project)) f) r
    cross join lateral _why_waiting(w, null) y
    left join models m on m.name = r.model and m.cooldown_ends_at > _now()
   where w.state = 'queued' and w.focus_id is null;
comment on view v_queue is
  'Queued items that have no running attempt, and what each waits for: faculty (none accepts it), time or retry (run_at), slot, cooldown (of its model), worker (ready for the next free one); why says it in a sentence. Most urgent first: select * from v_queue order by priority desc, run_at limit 50.';
comment on column v_queue.waits_for is 'faculty (none accepts it), time, retry, slot, cooldown or worker.';
comment on column v_queue.why is 'The same as a sentence.';
comment on column v_queue.project is 'The project of the work, by its current name; null: none.';
comment on column v_queue.stored_project is 'The project under the name it was submitted with, see project_names(); empty: none.';

create or replace view v_slots with (security_invoker = true) as
  select f.name as faculty, s.slots, s.used, greatest(s.slots - s.used, 0) as free,
         (select count(*)::integer
            from _names_of(_faculty_ref(f)) n
            join work_items w on w.state = 'queued' and w.focus_id is null and coalesce(w.project, '') = n.project
             and (w.faculty is not null) = n.is_asked_for and coalesce(w.faculty, w.work_type) = n.name) as queued,
         f.project
    from faculties f
    cross join lateral (
      select (f.config ->> 'max_concurrent')::integer as slots,
             case
               when f.config ->> 'max_concurrent' is null then (
                 select count(*)::integer from work_items w
                   join foci o on o.id = w.focus_id
                   join faculties c on c.content_hash = o.faculty_hash and c.project is not distinct from f.project
                  where w.state in ('claimed', 'running') and o.lease_owner is not null and o.faculty = f.name)
               else _slots_used(f) end as used
      offset 0) s -- counted once, not for each column that uses it
   where f.is_current;
comment on view v_slots is 'The slots of each current faculty: slots (max_concurrent; null: no limit), used (without a limit: items that workers drive), free (null: no limit), queued (items that it will pick up). project: the project it belongs to; null: it is the ledger''s.';
comment on column v_slots.project is 'The project that the faculty belongs to; null: it is the ledger''s.';
comment on column v_slots.slots is 'max_concurrent of the faculty; null: no limit.';
comment on column v_slots.used is 'Slots in use; without a limit, items that workers drive.';
comment on column v_slots.free is 'Free slots; null: no limit.';
comment on column v_slots.queued is 'Items that it will pick up.';

create or replace view v_workers with (security_invoker = true) as
  select k.id, k.host, k.pid, k.version, k.tree_id, k.concurrency, l.busy, greatest(k.concurrency - l.busy, 0) as free,
         k.seen_at > _now() - interval '1 minute' and coalesce(l.lease_ends_at > _now(), true) as is_alive, k.started_at, k.seen_at, l.lease_ends_at, k.daemon,
         _project_now(k.project) as project
    from workers k
    cross join lateral (
      select count(*)::integer as busy, min(f.lease_expires_at) as lease_ends_at
        from work_items w join foci f on f.id = w.focus_id
       where w.state in ('claimed', 'running') and f.lease_owner = k.id) l;
comment on view v_workers is 'Every worker that has registered by heartbeat, idle ones included: host (the machine''s name, or the value of WORK_LEDGER_HOST; a faculty''s hosts are such names), concurrency (items it drives at once, at most), busy (items it drives now), free, lease_ends_at (the earliest end of its leases). is_alive: it was seen within a minute, and none of its leases has run out. A worker that stops removes its row; the sweep removes those of dead ones.';
comment on column v_workers.project is 'It drives only work of this project and of none; null: of all.';
comment on column v_workers.busy is 'Items that it drives.';
comment on column v_workers.free is 'Items that it could drive in addition.';
comment on column v_workers.is_alive is 'True: it was seen within a minute, and renewed all of its leases.';
comment on column v_workers.lease_ends_at is 'The earliest end of its leases.';

create or replace view v_connections with (security_invoker = true) as
  with limited as (
    select r.* from pg_roles r where not r.rolsuper and (r.rolname = session_user or exists (select from workers k where k.role = r.rolname))
  )
  select 'server' as whose, null::text as name, s.most,
         s.most - current_setting('superuser_reserved_connections')::integer - coalesce(current_setting('reserved_connections', true)::integer, 0)
           - (select sum(d.numbackends)::integer from pg_stat_database d) as free
    from (select current_setting('max_connections')::integer as most) s
  union all
  select 'database', d.datname::text collate "default", d.datconnlimit, d.datconnlimit - pg_stat_get_db_numbackends(d.oid)
    from pg_database d
   where d.datname = current_database() and d.datconnlimit >= 0 and exists (select from limited)
  union all
  select 'role', r.rolname::text collate "default", r.rolconnlimit,
         r.rolconnlimit - (select count(*)::integer from pg_stat_activity a where a.usesysid = r.oid and a.backend_type = 'client backend')
    from limited r
   where r.rolconnlimit >= 0;
comment on view v_connections is 'How many connections are free: those of the server and, if they have a limit, of this database, of the roles of workers and of the session''s own role. Superusers ignore these limits.';
comment on column v_connections.whose is 'server, database or role.';
comment on column v_connections.name is 'The name of the database or role; null: the server.';
comment on column v_connections.most is 'Connections that are allowed.';
comment on column v_connections.free is 'Connections that can still be opened; negative if more are open than allowed.';

create or replace view v_cooldowns with (security_invoker = true) as
  select m.name as model, m.cooldown_ends_at as ends_at, m.cooldown_reason as reason from models m where m.cooldown_ends_at > _now();
comment on view v_cooldowns is 'Models that no worker asks before ends_at, because their provider said so.';
comment on column v_cooldowns.ends_at is 'No worker asks the model before this time.';
comment on column v_cooldowns.reason is 'What the provider said.';
