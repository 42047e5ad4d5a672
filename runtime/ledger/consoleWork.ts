// What the console reads of all work: what is under way, queued and over, workers, approvals, sessions that can be taken up.

import { sql } from 'slonik';
import { z } from 'zod';

import { figure, newestFocus, number, text } from './consoleShapes.ts';
import { behind, behindColumns } from './lag.ts';
import type { Calls } from './pool.ts';

const shell = z.object({ version: z.string(), is_read_only: z.boolean(), ...behind.shape, approvals: z.number(), open: z.number(), resumable: z.number() });
const openCall = z.object({ id: z.string(), tool: z.string(), status: z.string(), label: text, started_at: text });
export const underWay = z.object({
  work_item_id: z.string(), parent_id: text, root_id: z.string(), depth: z.number(), work_type: z.string(), description: z.string(), state: z.string(), state_reason: text, faculty: text,
  attempt: number, iteration: number, model: text, doing: text, waits_for: text, why: text, open_calls: z.array(openCall).nullable(), last_step: text, last_words: text,
  context_tokens: figure, context_window: figure, compacts_at: figure, tokens: figure, cost: figure, model_calls: figure, tree_items: figure, tree_tokens: figure, tree_cost: figure,
  worker_id: text, lease_expires_at: text, started_at: text, attempt_started_at: text, active_at: text,
});
export type UnderWay = z.infer<typeof underWay>;

const ledgerInputs = z.object({ underWay: text, queue: text, over: text, asks: text, workers: text, written: text, newest: text });
export type LedgerInput = keyof z.infer<typeof ledgerInputs>;

const queued = z.object({ work_item_id: z.string(), description: z.string(), work_type: z.string(), faculty: text, priority: z.number(), attempts: z.number(), run_at: z.string(), waits_for: text, why: text });
const slots = z.object({ faculty: z.string(), slots: number, used: z.number(), free: number, queued: z.number() });
const worker = z.object({ id: z.string(), host: z.string(), pid: z.number(), version: z.string(), concurrency: number, busy: z.number(), is_alive: z.boolean(), seen_at: text, lease_ends_at: text });
const finding = z.object({ severity: z.enum(['error', 'warning', 'fine']), code: z.string(), work_item_id: text, says: z.string(), remedy: text });
const approval = z.object({
  tool_call_id: z.string(), work_item_id: z.string(), description: z.string(), tool_name: z.string(), risk: z.string(), effect: z.string(),
  input_json: text, size: z.number(), input_hash: z.string(), expires_at: z.string(), said: text,
});
const listed = z.object({
  id: z.string(), parent_id: text, work_type: z.string(), description: z.string(), faculty: text, state: z.string(), state_reason: text, created_at: z.string(), resolved_at: text,
  outcome: text, tokens: figure, cost: figure, turns: figure,
});
export type Listed = z.infer<typeof listed>;

const resumable = z.object({
  id: z.string(), description: z.string(), state: z.string(), state_reason: text, status: z.string(), faculty: text, work_type: z.string(), created_at: z.string(), turns: figure, tokens: figure,
});

export function consoleWork({ rows, run, one, named, invoked }: Calls) {
  return {
    shell: () => one(() => sql.type(shell)`
      select ${invoked('work_ledger_version', [])} as version, pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as is_read_only, ${behindColumns},
             (select count(*)::int from ${named('v_approvals')}) as approvals,
             (select count(*)::int from (select from ${named('work_items')} where resolved_at is null and state <> 'created' limit 1000) o) as open,
             (select count(*)::int from (select from ${named('work_items')} where state in ('paused', 'dead') limit 100) o) as resumable`),

    /** The same of the pages about all work. */
    ledgerInputs: () => one(() => sql.type(ledgerInputs)`
      select (select md5(string_agg(concat_ws('/', w.id, w.state, w.state_reason, e.ledger_count, e.lease_hash is null, f.iteration, t.id, t.made, k.calls), ' ' order by w.id))
                from ${named('work_items')} w join ${named('fences')} e on e.work_item_id = w.id
                left join ${named('foci')} f on f.work_item_id = w.id and f.attempt = w.attempts
                left join lateral (select t.id, t.xmin as made from ${named('turns')} t where t.work_item_id = w.id order by t.id desc limit 1) t on true
                left join lateral (select string_agg(k.xmin::text, ',' order by k.ordinal) as calls from ${named('tool_calls')} k where k.turn_id = t.id and k.completed_at is null) k on true
               where w.resolved_at is null and (w.state in ('claimed', 'running', 'waiting', 'paused') or (w.state = 'queued' and w.focus_id is not null))) as "underWay",
             (select md5(string_agg(concat_ws('/', q.id, q.state_reason, q.priority, q.run_at), ' '))
                from (select * from ${named('work_items')} where state = 'queued' order by priority desc, run_at limit 20) q) as queue,
             (select concat_ws('/', w.id, w.resolved_at) from ${named('work_items')} w where w.state = 'completed' order by w.resolved_at desc limit 1) as over,
             (select string_agg(a.tool_call_id::text, '/' order by a.tool_call_id) from ${named('approvals')} a where a.decision is null) as asks,
             (select md5(string_agg(concat_ws('/', v.id, v.is_alive, v.busy), ' ' order by v.id)) from ${named('v_workers')} v) as workers,
             (select s.id::text from ${named('search_entries')} s order by s.id desc limit 1) as written,
             (select w.id::text from ${named('work_items')} w order by w.created_at desc, w.id desc limit 1) as newest`),

    /** Those that wait for approval first, then the oldest tree; whole trees, at most `limit` of them. */
    underWay: (limit: number) => run(() => sql.type(underWay)`
      with now as materialized (select * from ${named('v_now')}),
           roots as (select root_id, bool_or(coalesce(waits_for = 'approval', false)) as asks, min(started_at) as began from now group by root_id order by 2 desc, 3, 1 limit ${limit})
      select n.* from now n join roots r using (root_id) order by r.asks desc, r.began, n.root_id, n.depth, n.started_at nulls last, n.work_item_id`),

    underWayOf: async (workItemId: string) => (await run(() => sql.type(underWay)`select * from ${named('v_now')} where work_item_id = ${workItemId}::uuid`))[0] ?? null,

    queue: (limit: number) => run(() => sql.type(queued)`select * from ${named('v_queue')} order by priority desc, run_at limit ${limit}`),

    slots: () => run(() => sql.type(slots)`select * from ${named('v_slots')} order by used desc, faculty`),

    workers: () => run(() => sql.type(worker)`select * from ${named('v_workers')} order by is_alive desc, started_at limit 50`),

    models: () => run(() => sql.type(z.object({ name: z.string(), ends_at: text, reason: text }))`
      select m.name, c.ends_at, c.reason from ${named('models')} m left join ${named('v_cooldowns')} c on c.model = m.name
       where m.sample_count > 0 or c.model is not null order by c.ends_at nulls last, m.updated_at desc limit 12`),

    doctor: () => rows('work_ledger_doctor', [], finding),

    /** Of all work, of one item, or one call; with what the model said before it. `input_json`: null where it is longer than `longest`. */
    approvals: (workItemId: string | null, { toolCallId = null, longest = null }: { toolCallId?: string | null; longest?: number | null } = {}) => run(() => sql.type(approval)`
      select a.tool_call_id, a.work_item_id, left(a.description, 300) as description, a.tool_name, a.risk, k.effect, a.input_hash, a.expires_at,
             length(i.json) as size, case when length(i.json) <= coalesce(${longest}::integer, length(i.json)) then i.json end as input_json,
             left((select string_agg(b ->> 'text', E'\n') from ${named('messages')} m cross join lateral json_array_elements(m.content) b where m.id = k.message_id and b ->> 'type' = 'text'), 1000) as said
        from ${named('v_approvals')} a join ${named('tool_calls')} k on k.id = a.tool_call_id
       cross join lateral (select a.input::text as json) i
       where (${workItemId}::uuid is null or a.work_item_id = ${workItemId}::uuid) and (${toolCallId}::uuid is null or a.tool_call_id = ${toolCallId}::uuid)
       order by a.requested_at limit 50`),

    lately: (limit: number) => run(() => sql.type(listed)`
      select w.id, w.parent_id, w.work_type, left(w.description, 300) as description, coalesce(f.faculty, w.faculty) as faculty, w.state, left(w.state_reason, 300) as state_reason, w.created_at, w.resolved_at,
             left(coalesce(w.outcome_data ->> 'summary', w.outcome_data ->> 'error'), 400) as outcome, u.total_tokens as tokens, u.cost, u.turns
        from (select * from ${named('work_items')} where resolved_at is not null and parent_id is null and work_type not in ('journal', 'import') order by resolved_at desc limit ${limit}) w
        ${newestFocus(named)}
        left join lateral (select * from ${named('v_usage')} u where u.work_item_id = w.id) u on true
       order by w.resolved_at desc`),

    workPage: (filter: { state: string | null; type: string | null; faculty: string | null; parentId: string | null; before: string | null }, limit: number) => run(() => sql.type(listed)`
      select w.id, w.parent_id, w.work_type, left(w.description, 300) as description, coalesce(f.faculty, w.faculty) as faculty, w.state, left(w.state_reason, 300) as state_reason, w.created_at, w.resolved_at,
             left(coalesce(w.outcome_data ->> 'summary', w.outcome_data ->> 'error'), 400) as outcome, u.total_tokens as tokens, u.cost, u.turns
        from (select w.* from ${named('work_items')} w ${newestFocus(named)}
               where (${filter.state}::text is null or w.state = ${filter.state} or (${filter.state} = 'open' and w.resolved_at is null))
                 and (${filter.type}::text is null or w.work_type = ${filter.type})
                 and (${filter.faculty}::text is null or coalesce(f.faculty, w.faculty) = ${filter.faculty})
                 and (${filter.parentId}::uuid is null or w.parent_id = ${filter.parentId}::uuid)
                 and (${filter.before}::uuid is null or (w.created_at, w.id) < (select b.created_at, b.id from ${named('work_items')} b where b.id = ${filter.before}::uuid))
               order by w.created_at desc, w.id desc limit ${limit}) w
        ${newestFocus(named)}
        left join lateral (select * from ${named('v_usage')} u where u.work_item_id = w.id) u on true
       order by w.created_at desc, w.id desc`),

    /** Paused, dead, failed or with an expired lease; without counting journals. */
    sessions: (limit: number) => run(() => sql.type(resumable)`
      select w.id, left(w.description, 300) as description, w.state, left(w.state_reason, 300) as state_reason, ${named('_journal_state')}(w) as status, coalesce(f.faculty, w.faculty) as faculty, w.work_type, w.created_at,
             u.turns, u.total_tokens as tokens
        from (select * from (select * from ${named('work_items')} where state in ('paused', 'dead') or (state = 'created' and work_type = 'journal') order by created_at desc limit ${limit}) p
              union all select * from (select w.* from ${named('work_items')} w join ${named('v_leases')} l on l.work_item_id = w.id where l.is_expired limit ${limit}) e
              union all select * from (select * from ${named('work_items')} where state = 'failed' and parent_id is null order by created_at desc limit 5) g) w
        ${newestFocus(named)}
        left join lateral (select * from ${named('v_usage')} u where u.work_item_id = w.id) u on true
       order by w.created_at desc limit ${limit}`),

    imported: (before: string | null, limit: number) => run(() => sql.type(z.object({ id: z.string(), description: z.string(), origin: text, model: text, turns: figure, tokens: figure }))`
      select w.id, left(w.description, 200) as description, s.origin, t.model, u.turns, u.total_tokens as tokens
        from ${named('work_items')} w
        ${newestFocus(named)}
        join ${named('sessions')} s on s.label = f.session_label
        left join lateral (select t.model from ${named('turns')} t where t.work_item_id = w.id order by t.id desc limit 1) t on true
        left join lateral (select * from ${named('v_usage')} u where u.work_item_id = w.id) u on true
       where w.work_type = 'import' and (${before}::uuid is null or w.id < ${before}::uuid) order by w.id desc limit ${limit}`),

    faculties: () => run(() => sql.type(z.object({ name: z.string() }))`select name from ${named('faculties')} where is_current order by name`),

    /** Whom a digest can be looked at as: the newest open items. */
    readers: (limit: number) => run(() => sql.type(z.object({ id: z.string(), description: z.string(), faculty: text }))`
      select w.id, left(w.description, 80) as description, f.faculty from (select * from ${named('work_items')} where work_type <> 'import' order by created_at desc, id desc limit ${limit}) w ${newestFocus(named)}`),
  };
}
