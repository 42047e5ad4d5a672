// What the console reads of a ledger, and the changes that only it makes.

import { randomUUID } from 'node:crypto';

import { sql } from 'slonik';
import { z } from 'zod';

import { storableJson } from '../../plv8/storable.ts';
import { entry, json, workItem } from './answers.ts';
import type { Calls } from './pool.ts';

const text = z.string().nullable();
const number = z.number().nullable();
/** numeric and sums arrive as text or number. */
const figure = z.union([z.number(), z.string()]).nullable().transform((value) => (value === null ? null : Number(value)));

const shell = z.object({ version: z.string(), is_read_only: z.boolean(), approvals: z.number(), open: z.number(), resumable: z.number() });

const openCall = z.object({ id: z.string(), tool: z.string(), status: z.string(), label: text, started_at: text });
export const underWay = z.object({
  work_item_id: z.string(), parent_id: text, root_id: z.string(), depth: z.number(), work_type: z.string(), description: z.string(), state: z.string(), state_reason: text, faculty: text,
  attempt: number, iteration: number, model: text, doing: text, waits_for: text, why: text, open_calls: z.array(openCall).nullable(), last_step: text, last_words: text,
  context_tokens: figure, context_window: figure, compacts_at: figure, tokens: figure, cost: figure, model_calls: figure, tree_items: figure, tree_tokens: figure, tree_cost: figure,
  worker_id: text, lease_expires_at: text, started_at: text, attempt_started_at: text, active_at: text,
});
export type UnderWay = z.infer<typeof underWay>;

const itemInputs = z.object({ item: text, focus: text, turn: text, calls: text, approvals: text, inbox: text, journal: text, below: text, budgets: text, forks: text });
const ledgerInputs = z.object({ underWay: text, queue: text, over: text, asks: text, workers: text, written: text, newest: text });
export type ItemInput = keyof z.infer<typeof itemInputs>;
export type LedgerInput = keyof z.infer<typeof ledgerInputs>;

const queued = z.object({ work_item_id: z.string(), description: z.string(), work_type: z.string(), faculty: text, priority: z.number(), attempts: z.number(), run_at: z.string(), waits_for: text, why: text });
const slots = z.object({ faculty: z.string(), slots: number, used: z.number(), free: number, queued: z.number() });
const worker = z.object({ id: z.string(), host: z.string(), pid: z.number(), version: z.string(), concurrency: number, busy: z.number(), is_alive: z.boolean(), seen_at: text, lease_ends_at: text });
const finding = z.object({ severity: z.enum(['error', 'warning', 'fine']), code: z.string(), work_item_id: text, says: z.string(), remedy: text });
const approval = z.object({ tool_call_id: z.string(), work_item_id: z.string(), description: z.string(), tool_name: z.string(), risk: z.string(), effect: z.string(), input: z.unknown(), input_hash: z.string(), expires_at: z.string(), said: text });
const listed = z.object({
  id: z.string(), parent_id: text, work_type: z.string(), description: z.string(), faculty: text, state: z.string(), state_reason: text, created_at: z.string(), resolved_at: text,
  outcome: text, tokens: figure, cost: figure, turns: figure,
});
export type Listed = z.infer<typeof listed>;

export const journalRow = z.object({
  position: z.string(), id: text, source_id: text, entry_type: text, importance: text, created_at: text, content: json.nullable(), token_estimate: number,
});
export type JournalRow = z.infer<typeof journalRow>;

const node = z.object({
  node_id: z.string(), parent_node_id: text, kind: z.enum(['turn', 'run', 'item']), turns: number, last_turn_id: text, lane: z.number(), depth: z.number(), last_depth: number, attempt: number, iteration: number,
  status: text, marks: z.array(z.string()).nullable(), label: text, steps: number, errors: number, tokens: figure, started_at: text, completed_at: text, work_item_id: text,
});
export type TurnNode = z.infer<typeof node>;

const mark = z.looseObject({
  kind: z.string(), trigger: z.string().nullish(), blocks: z.string().nullish(), tokens_elided: figure.optional(), stub_tokens: figure.optional(), kept_tokens: figure.optional(), tokens_kept: figure.optional(),
  breaks_even_after: figure.optional(),
});
const column = z.object({
  turn_id: z.string(), n: z.number(), attempt: number, iteration: number, block: number, model: text, status: text, started_at: text,
  system: number, tools: number, task: number, digest: number, stubs: number, kept: number, closed: number, words: number, results: number, people: number, engine: number,
  sent: z.number(), said: z.number(), cut: z.number(), cached_tokens: number, written_tokens: number, new_tokens: number, output_tokens: number, marks: z.array(mark).nullable(),
});
export type ContextColumn = z.infer<typeof column>;
/** Neighbouring calls as one: the parts are those of its largest request, counts and sums are of all. n, last: its first and its last call. Marks say at which call they are. */
const bucket = column.extend({ last: z.number(), sent_sum: z.number(), said_sum: z.number(), marks: z.array(mark.extend({ n: z.number() })) });
export type ContextBucket = z.infer<typeof bucket>;

const requestPart = z.object({
  call: number, part: z.string(), role: text, iteration: number, block: number, tokens: z.number(), content: text, cache: text, why: text, turn_id: text,
});
export type RequestPart = z.infer<typeof requestPart>;

const branch = z.object({
  branch: z.enum(['a', 'b']), session_label: z.string(), work_item_id: text, description: text, common_turn_id: text, common_depth: number, turns: number, model_calls: figure, tokens: figure, cost: figure,
  entry_count: figure, entries: z.array(z.object({ seq: z.number(), entry_type: z.string(), content: z.string(), created_at: z.string() })).nullable(),
  file_count: figure, files: z.array(z.object({ path: z.string(), actions: z.array(z.string()), calls: z.number() })).nullable(), calls: figure, failed_calls: figure, status: text, started_at: text, ended_at: text,
});
export type Branch = z.infer<typeof branch>;

const hit = z.object({
  position: z.string(), source: z.string(), work_item_id: text, entry_id: text, seq: number, entry_type: text, created_at: text, snippet: z.string(), description: text,
});
export type Hit = z.infer<typeof hit>;

const resumable = z.object({
  id: z.string(), description: z.string(), state: z.string(), state_reason: text, status: z.string(), faculty: text, work_type: z.string(), created_at: z.string(), turns: figure, tokens: figure,
});

const replayed = z.object({ model_calls: z.number(), input_tokens: figure, cached_input_tokens: figure, extra_output_tokens: figure, peak_tokens: figure, cuts: z.number(), cost: figure });
const replayedTurn = z.object({ turn_id: z.string(), input_tokens: z.number(), cached_tokens: number, is_cut: z.boolean() });

/** Null: any. */
export type Filter = { faculty: string | null; since: string | null };

const MOST_COUNTED = 2000;

export function consoleReads({ call, row, rows, run, one, named, invoked }: Calls) {
  /** f: the newest attempt at w. */
  const newestFocus = sql.fragment`left join lateral (select * from ${named('foci')} f where f.work_item_id = w.id order by f.attempt desc limit 1) f on true`;
  return {
    shell: () => one(() => sql.type(shell)`
      select ${invoked('work_ledger_version', [])} as version, pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as is_read_only,
             (select count(*)::int from ${named('v_approvals')}) as approvals,
             (select count(*)::int from (select from ${named('work_items')} where resolved_at is null and state <> 'created' limit 1000) o) as open,
             (select count(*)::int from (select from ${named('work_items')} where state in ('paused', 'dead') limit 100) o) as resumable`),

    /** What the pages of an item are made from: each a text that is another one after a change. Read without reading what is over. */
    itemInputs: (workItemId: string) => one(() => sql.type(itemInputs)`
      with w as (select * from ${named('work_items')} where id = ${workItemId}::uuid),
           t as (select t.*, t.xmin as made from ${named('turns')} t where t.work_item_id = ${workItemId}::uuid order by t.id desc limit 1)
      select (select concat_ws('/', w.state, w.state_reason, e.ledger_count, w.ledger_epoch, w.attempts, w.is_pausing, e.lease_hash is null, w.run_at)
                from w join ${named('fences')} e on e.work_item_id = w.id) as item,
             (select concat_ws('/', f.id, f.iteration, f.session_label, f.compaction_trigger, f.lease_owner) from w join ${named('foci')} f on f.work_item_id = w.id order by f.attempt desc limit 1) as focus,
             (select concat_ws('/', t.id, t.made) from t) as turn,
             (select md5(string_agg(k.xmin::text, '/' order by k.ordinal)) from t join ${named('tool_calls')} k on k.turn_id = t.id) as calls,
             (select string_agg(a.tool_call_id::text, '/' order by a.tool_call_id) from ${named('approvals')} a where a.work_item_id = ${workItemId}::uuid and a.decision is null) as approvals,
             (select concat_ws('/', i.id, i.consumed_at) from ${named('inbox')} i where i.work_item_id = ${workItemId}::uuid and i.kind = 'message' order by i.created_at desc limit 1) as inbox,
             (select md5(string_agg(concat_ws('/', j.id, j.deleted_at), ' ')) from (
                select j.id, j.deleted_at from ${named('journal_entries')} j where j.work_item_id = ${workItemId}::uuid order by j.created_at desc, j.id desc limit 60) j)
             || coalesce((select c.id from ${named('work_checkpoints')} c where c.work_item_id = ${workItemId}::uuid order by c.created_at desc, c.id desc limit 1)::text, '') as journal,
             (select md5(string_agg(concat_ws('/', c.id, c.state, c.state_reason, u.calls), ' ' order by c.id)) from w join ${named('work_items')} c on c.root_id = w.root_id and c.id <> w.id
                left join lateral (select sum(u.model_calls) as calls from ${named('work_usage')} u where u.work_item_id = c.id) u on true) as below,
             (select string_agg(concat_ws('/', b.resource, b.amount, b.spent, b.reserved), ' ' order by b.resource) from ${named('budgets')} b where b.work_item_id = ${workItemId}::uuid) as budgets,
             (select max(f.created_at)::text from ${named('work_items')} f where f.fork_turn_id is not null) as forks`),

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

    /** With what the model said before the call. */
    approvals: (workItemId: string | null) => run(() => sql.type(approval)`
      select a.tool_call_id, a.work_item_id, left(a.description, 300) as description, a.tool_name, a.risk, k.effect, a.input, a.input_hash, a.expires_at,
             left((select string_agg(b ->> 'text', E'\n') from ${named('messages')} m cross join lateral json_array_elements(m.content) b where m.id = k.message_id and b ->> 'type' = 'text'), 1000) as said
        from ${named('v_approvals')} a join ${named('tool_calls')} k on k.id = a.tool_call_id
       where ${workItemId}::uuid is null or a.work_item_id = ${workItemId}::uuid
       order by a.requested_at limit 50`),

    lately: (limit: number) => run(() => sql.type(listed)`
      select w.id, w.parent_id, w.work_type, left(w.description, 300) as description, coalesce(f.faculty, w.faculty) as faculty, w.state, left(w.state_reason, 300) as state_reason, w.created_at, w.resolved_at,
             left(coalesce(w.outcome_data ->> 'summary', w.outcome_data ->> 'error'), 400) as outcome, u.total_tokens as tokens, u.cost, u.turns
        from (select * from ${named('work_items')} where resolved_at is not null and parent_id is null and work_type not in ('journal', 'import') order by resolved_at desc limit ${limit}) w
        ${newestFocus}
        left join lateral (select * from ${named('v_usage')} u where u.work_item_id = w.id) u on true
       order by w.resolved_at desc`),

    workPage: (filter: { state: string | null; type: string | null; faculty: string | null; parentId: string | null; before: string | null }, limit: number) => run(() => sql.type(listed)`
      select w.id, w.parent_id, w.work_type, left(w.description, 300) as description, coalesce(f.faculty, w.faculty) as faculty, w.state, left(w.state_reason, 300) as state_reason, w.created_at, w.resolved_at,
             left(coalesce(w.outcome_data ->> 'summary', w.outcome_data ->> 'error'), 400) as outcome, u.total_tokens as tokens, u.cost, u.turns
        from (select w.* from ${named('work_items')} w ${newestFocus}
               where (${filter.state}::text is null or w.state = ${filter.state} or (${filter.state} = 'open' and w.resolved_at is null))
                 and (${filter.type}::text is null or w.work_type = ${filter.type})
                 and (${filter.faculty}::text is null or coalesce(f.faculty, w.faculty) = ${filter.faculty})
                 and (${filter.parentId}::uuid is null or w.parent_id = ${filter.parentId}::uuid)
                 and (${filter.before}::uuid is null or (w.created_at, w.id) < (select b.created_at, b.id from ${named('work_items')} b where b.id = ${filter.before}::uuid))
               order by w.created_at desc, w.id desc limit ${limit}) w
        ${newestFocus}
        left join lateral (select * from ${named('v_usage')} u where u.work_item_id = w.id) u on true
       order by w.created_at desc, w.id desc`),

    /** The item, and what stands at the top of its page. */
    item: async (workItemId: string) => (await run(() => sql.type(workItem.extend({
      root_id: z.string(), started_at: text, is_pausing: z.boolean(), fork_turn_id: text, current_faculty: text, session_label: text, attempt: number, iteration: number, model: text, origin: text,
      tokens: figure, cached: figure, input: figure, output: figure, cost: figure, turns: figure, open_below: z.number(), entries: z.number(),
    }))`
      select w.*, f.faculty as current_faculty, coalesce(f.session_label, i.label) as session_label, f.attempt, f.iteration, coalesce(y.config #>> '{engage,model}', t.model) as model,
             i.origin, u.total_tokens as tokens, u.cached_input_tokens as cached,
             coalesce(u.input_tokens, 0) + coalesce(u.cached_input_tokens, 0) + coalesce(u.cache_write_tokens, 0) as input, u.output_tokens as output, u.cost, u.turns, ${named('ledger_count')}(w) as entries,
             (with recursive below as (select c.id, c.resolved_at from ${named('work_items')} c where c.parent_id = w.id
                union all select c.id, c.resolved_at from below b join ${named('work_items')} c on c.parent_id = b.id)
              select count(*)::int from below where resolved_at is null) as open_below
        from ${named('work_items')} w
        ${newestFocus}
        left join ${named('faculties')} y on y.content_hash = f.faculty_hash
        left join lateral (select s.label, s.origin from ${named('sessions')} s where s.label = f.session_label) i on true
        left join lateral (select t.model from ${named('turns')} t where t.work_item_id = w.id order by t.id desc limit 1) t on true
        left join lateral (select * from ${named('v_usage')} u where u.work_item_id = w.id) u on true
       where w.id = ${workItemId}::uuid`))[0] ?? null,

    treeCost: (workItemId: string) => one(() => sql.type(z.object({ items: z.number(), tokens: figure, cost: figure }))`
      with recursive tree as (select w.id from ${named('work_items')} w where w.id = ${workItemId}::uuid union all select c.id from tree t join ${named('work_items')} c on c.parent_id = t.id)
      select count(distinct tree.id)::int as items, sum(u.total_tokens) as tokens, sum(u.cost) as cost from tree left join lateral (select * from ${named('v_usage')} u where u.work_item_id = tree.id) u on true`),

    journalPage: (workItemId: string, filter: { before: string | null; types: readonly string[] | null; importance: readonly string[] | null; query: string | null }, limit: number) =>
      rows('journal_page', [workItemId, filter.before, limit, filter.types && sql.array(filter.types, 'text'), filter.importance && sql.array(filter.importance, 'text'), filter.query], journalRow),

    /** How many entries of each type the journal has; null: more than are counted. */
    journalCounts: async (workItemId: string) => {
      const counts = await run(() => sql.type(z.object({ entry_type: z.string(), n: z.number() }))`
        select entry_type, count(*)::int as n from (select entry_type from ${named('work_journal')} where work_item_id = ${workItemId}::uuid limit ${MOST_COUNTED + 1}) j group by 1`);
      return counts.reduce((all, { n }) => all + n, 0) > MOST_COUNTED ? null : new Map(counts.map(({ entry_type, n }) => [entry_type, n]));
    },

    /** Where a turn's request is shown: its item, and the session whose timeline has it. */
    turnAt: async (turnId: string) => (await run(() => sql.type(z.object({ id: z.string(), work_item_id: z.string(), session: text }))`
      select t.id, t.work_item_id, f.session_label as session from ${named('turns')} t left join ${named('foci')} f on f.id = t.focus_id where t.id = ${turnId}::uuid and t.work_item_id is not null`))[0] ?? null,

    /** A call, with its result in full. */
    callWhole: async (toolCallId: string) => (await run(() => sql.type(z.object({ id: z.string(), work_item_id: text, turn_id: z.string(), tool_name: z.string(), status: z.string(), input: z.unknown(), result: text, artifact: text }))`
      select k.id, k.work_item_id, k.turn_id, k.tool_name, k.status, coalesce(k.rewritten_input, k.input) as input, coalesce(left(a.content, 1000000), ${named('_result_text')}(k.result)) as result, k.artifact_hash as artifact
        from ${named('tool_calls')} k left join ${named('artifacts')} a on a.content_hash = k.artifact_hash where k.id = ${toolCallId}::uuid`))[0] ?? null,

    logged: async (entryId: string) => (await run(() => sql.type(z.object({ id: z.string(), is_deleted: z.boolean() }))`
      select id, deleted_at is not null as is_deleted from ${named('journal_entries')} where id = ${entryId}::uuid`))[0] ?? null,

    ledgerPage: (workItemId: string, before: number | null, limit: number) => run(() => sql.type(entry.extend({
      id: z.string(), attempt: z.number(), is_inherited: z.boolean(), iteration: number, trust: text, taken_back: text, beside: z.array(z.object({ id: z.string(), tool: z.string() })).nullable(),
    }))`
      select l.*, t.iteration, r.content as taken_back,
             (select json_agg(json_build_object('id', k.id, 'tool', k.tool_name) order by k.ordinal) from ${named('tool_calls')} k
               where k.turn_id = l.turn_id and k.parent_call_id is null and k.tool_name <> 'ledger_append') as beside
        from ${named('work_ledger')} l left join ${named('turns')} t on t.id = l.turn_id
        left join ${named('work_ledger')} r on r.work_item_id = l.work_item_id and r.retracts = l.seq
       where l.work_item_id = ${workItemId}::uuid and (${before}::int is null or l.seq < ${before}::int)
       order by l.seq desc limit ${limit}`),

    turnTree: (workItemId: string, around: string | null, limit: number) => rows('turn_tree', [workItemId, around, limit], node),

    /** Attempts that are not in the tree, because no model has answered in them. */
    attemptsWithoutTurn: (workItemId: string) => run(() => sql.type(z.object({ attempt: z.number(), faculty: z.string(), outcome: text, error: text, created_at: z.string() }))`
      select f.attempt, f.faculty, f.outcome, left(f.error ->> 'message', 300) as error, f.created_at
        from ${named('foci')} f
       where f.work_item_id = ${workItemId}::uuid and not exists (select from ${named('turns')} t where t.focus_id = f.id and t.status <> 'failed')
       order by f.attempt desc limit 20`),

    turnsPage: (workItemId: string, before: string | null, limit: number) => run(() => sql.type(z.object({
      id: z.string(), attempt: number, iteration: number, turn_type: z.string(), status: z.string(), model: text, input: figure, cached: figure, output: number, cost: figure, duration_ms: number, stop_reason: text, started_at: z.string(),
      error: text, calls: z.array(z.object({ tool: z.string(), status: z.string() })).nullable(), said: text,
    }))`
      select t.id, f.attempt, t.iteration, t.turn_type, t.status, t.model, coalesce(t.input_tokens, 0) + coalesce(t.cached_input_tokens, 0) + coalesce(t.cache_write_tokens, 0) as input,
             t.cached_input_tokens as cached, t.output_tokens as output, ${named('_turn_cost')}(t) as cost, t.duration_ms, t.stop_reason, t.started_at, left(concat_ws(': ', t.error ->> 'class', t.error ->> 'message'), 300) as error,
             (select json_agg(json_build_object('tool', k.tool_name, 'status', k.status) order by k.ordinal) from ${named('tool_calls')} k where k.turn_id = t.id and k.parent_call_id is null) as calls,
             left((select string_agg(b ->> 'text', ' ') from ${named('messages')} m cross join lateral json_array_elements(m.content) b where m.turn_id = t.id and m.role = 'assistant' and b ->> 'type' = 'text'), 200) as said
        from ${named('turns')} t left join ${named('foci')} f on f.id = t.focus_id
       where t.work_item_id = ${workItemId}::uuid and (${before}::uuid is null or t.id < ${before}::uuid)
       order by t.id desc limit ${limit}`),

    told: (workItemId: string, limit: number) => run(() => sql.type(z.object({ iteration: number, kind: text, content: text, source_id: text, shown_at: text }))`
      select iteration, kind, left(content, 300) as content, source_id, shown_at from ${named('v_awareness_shown')} where reader_id = ${workItemId}::uuid order by shown_at desc limit ${limit}`),

    inbox: (workItemId: string, limit: number) => run(() => sql.type(z.object({ content: z.string(), is_interrupt: z.boolean(), created_at: z.string(), iteration: number, is_waiting: z.boolean() }))`
      select left(i.content, 300) as content, i.is_interrupt, i.created_at, t.iteration, i.consumed_at is null as is_waiting
        from ${named('inbox')} i left join ${named('turns')} t on t.id = i.turn_id
       where i.work_item_id = ${workItemId}::uuid and i.kind = 'message' order by i.created_at desc limit ${limit}`),

    children: (workItemId: string, limit: number) => run(() => sql.type(z.object({ id: z.string(), description: z.string(), state: z.string(), state_reason: text, cost: figure, tokens: figure, asks: z.boolean() }))`
      select w.id, left(w.description, 200) as description, w.state, left(w.state_reason, 200) as state_reason, u.cost, u.total_tokens as tokens,
             exists (select from ${named('v_approvals')} a where a.work_item_id = w.id) as asks
        from ${named('work_items')} w left join lateral (select * from ${named('v_usage')} u where u.work_item_id = w.id) u on true
       where w.parent_id = ${workItemId}::uuid order by w.created_at limit ${limit}`),

    budgets: (workItemId: string) => run(() => sql.type(z.object({ resource: z.string(), amount: figure, spent: figure, reserved: figure }))`
      select resource, amount, spent, reserved from ${named('v_budgets')} where work_item_id = ${workItemId}::uuid
       order by array_position(array['money', 'tokens', 'calls', 'seconds', 'children'], resource::text)`),

    /** Calls from..to of a session, `each` of them together. A cut is never averaged away. */
    timeline: (session: string, from: number, to: number, each: number) => run(() => sql.type(bucket)`
      with c as materialized (
             select c.*, (c.n - ${from}::int) / ${each}::int as bucket
               from (select ${named('_turn_of_call')}(s.head_turn_id, ${from}::int - 1) as before from ${named('sessions')} s where s.label = ${session}) s
               cross join lateral ${named('context_timeline')}(${session}, null, (s.before).id, ${to - from + 1}::int) c),
           largest as (select distinct on (bucket) * from c order by bucket, sent desc, n),
           marked as (select c.bucket, json_agg(m.mark || jsonb_build_object('n', c.n) order by c.n) as marks from c cross join lateral jsonb_array_elements(c.marks) m(mark) group by 1)
      select l.turn_id, g.n, l.attempt, l.iteration, l.block, l.model, l.status, l.started_at, l.system, l.tools, l.task, l.digest, l.stubs, l.kept, l.closed, l.words, l.results, l.people, l.engine,
             l.sent, g.said, g.cut, g.cached_tokens, g.written_tokens, g.new_tokens, g.output_tokens, g.last, g.sent_sum, g.said_sum,
             coalesce(k.marks, '[]') as marks
        from largest l
        left join marked k using (bucket)
        join (select bucket, min(n) as n, max(n) as last, (array_agg(said order by n desc))[1] as said, (array_agg(cut order by n desc))[1] as cut, sum(cached_tokens)::int as cached_tokens,
                     sum(written_tokens)::int as written_tokens, sum(new_tokens)::int as new_tokens, sum(output_tokens)::int as output_tokens, sum(sent)::float8 as sent_sum, sum(said)::float8 as said_sum
                from c group by bucket) g using (bucket)
       order by g.n`),

    /** How many model calls a session has had; the number of one of them. */
    callCount: async (session: string) => (await run(() => sql.type(z.object({ n: z.number() }))`
      select z.call_number as n from ${named('sessions')} s join ${named('turn_sizes')} z on z.turn_id = s.head_turn_id where s.label = ${session}`))[0]?.n ?? 0,

    callNumber: async (turnId: string) => (await run(() => sql.type(z.object({ n: z.number() }))`select call_number as n from ${named('turn_sizes')} where turn_id = ${turnId}::uuid`))[0]?.n ?? null,

    replay: (session: string, policy: object) => row('context_replay', [session, storableJson(policy)], replayed),

    replayTurns: (session: string, policy: object) => rows('context_replay_turns', [session, storableJson(policy)], replayedTurn),

    /** Of the `limit` calls after call `after` only; null: from the beginning, to the end. */
    requestParts: (turnId: string, after: number | null, limit: number | null) => run(() => sql.type(requestPart)`select * from ${invoked('context_parts', [turnId, after, limit])} order by n`),

    recallBlock: (workItemId: string, block: number) => call('recall_block', [workItemId, block], z.string()),

    cuts: (workItemId: string) => rows('context_cost', [workItemId], z.object({
      attempt: number, iteration: number, cut: z.string(), blocks: text, tokens_elided: number, stub_tokens: number, tokens_kept: number, breaks_even_after: number, requests_since: number, input_before: figure, input_after: figure,
    })),

    costByDay: (workItemId: string | null) => run(() => sql.type(z.object({ day: z.string(), model: text, calls: figure, tokens: figure, cached: figure, output: figure, cost: figure, latency_ms: figure }))`
      select t.started_at::date::text as day, t.model, sum(t.call_count) as calls, sum(coalesce(t.input_tokens, 0) + coalesce(t.cached_input_tokens, 0) + coalesce(t.cache_write_tokens, 0)) as tokens,
             sum(t.cached_input_tokens) as cached, sum(t.output_tokens) as output, sum(${named('_turn_cost')}(t)) as cost, percentile_disc(0.5) within group (order by t.duration_ms) as latency_ms
        from ${named('turns')} t where t.work_item_id = ${workItemId}::uuid group by 1, 2 order by 1 desc, 2 limit 60`),

    costOfCompactions: (workItemId: string) => run(() => sql.type(z.object({ compaction_type: z.string(), trigger: z.string(), is_applied: z.boolean().nullable(), tokens_before: number, tokens_after: number, input: number, output: number, created_at: z.string() }))`
      select compaction_type, trigger, is_applied, tokens_before, tokens_after, summarization_input_tokens as input, summarization_output_tokens as output, created_at
        from ${named('compactions')} where work_item_id = ${workItemId}::uuid order by created_at desc limit 50`),

    /** Paused, dead, failed or with an expired lease; without counting journals. */
    sessions: (limit: number) => run(() => sql.type(resumable)`
      select w.id, left(w.description, 300) as description, w.state, left(w.state_reason, 300) as state_reason, ${named('_journal_state')}(w) as status, coalesce(f.faculty, w.faculty) as faculty, w.work_type, w.created_at,
             u.turns, u.total_tokens as tokens
        from (select * from (select * from ${named('work_items')} where state in ('paused', 'dead') or (state = 'created' and work_type = 'journal') order by created_at desc limit ${limit}) p
              union all select * from (select w.* from ${named('work_items')} w join ${named('v_leases')} l on l.work_item_id = w.id where l.is_expired limit ${limit}) e
              union all select * from (select * from ${named('work_items')} where state = 'failed' and parent_id is null order by created_at desc limit 5) g) w
        ${newestFocus}
        left join lateral (select * from ${named('v_usage')} u where u.work_item_id = w.id) u on true
       order by w.created_at desc limit ${limit}`),

    imported: (before: string | null, limit: number) => run(() => sql.type(z.object({ id: z.string(), description: z.string(), origin: text, model: text, turns: figure, tokens: figure }))`
      select w.id, left(w.description, 200) as description, s.origin, t.model, u.turns, u.total_tokens as tokens
        from ${named('work_items')} w
        ${newestFocus}
        join ${named('sessions')} s on s.label = f.session_label
        left join lateral (select t.model from ${named('turns')} t where t.work_item_id = w.id order by t.id desc limit 1) t on true
        left join lateral (select * from ${named('v_usage')} u where u.work_item_id = w.id) u on true
       where w.work_type = 'import' and (${before}::uuid is null or w.id < ${before}::uuid) order by w.id desc limit ${limit}`),

    forkPoints: (workItemId: string, limit: number) => run(() => sql.type(z.object({ turn_id: z.string(), depth: z.number(), reason: z.string(), context_tokens: number, entry: z.string() }))`
      select turn_id, depth, reason, context_tokens, left(entry, 300) as entry
        from (select distinct on (turn_id, reason) * from ${named('v_fork_points')} where work_item_id = ${workItemId}::uuid order by turn_id, reason, rank) p order by rank limit ${limit}`),

    forks: (workItemId: string) => run(() => sql.type(z.object({ id: z.string(), description: z.string(), said: text, state: z.string(), session: z.string(), own_session: z.string(), depth: z.number() }))`
      select w.id, left(w.description, 200) as description, (select left(i.content, 200) from ${named('inbox')} i where i.work_item_id = w.id and i.kind = 'message' order by i.created_at limit 1) as said,
             w.state, s.label as session, o.session_label as own_session, t.depth
        from ${named('turns')} t join ${named('work_items')} w on w.fork_turn_id = t.id ${newestFocus} join ${named('sessions')} s on s.label = f.session_label
        join ${named('foci')} o on o.id = t.focus_id
       where t.work_item_id = ${workItemId}::uuid order by w.created_at desc limit 20`),

    compare: (a: string, b: string) => rows('session_compare', [a, b], branch),

    sessionOf: async (workItemId: string) => (await run(() => sql.type(z.object({ label: text }))`
      select f.session_label as label
        from ${named('work_items')} w ${newestFocus} where w.id = ${workItemId}::uuid`))[0]?.label ?? null,

    search: (query: string, before: string | null, limit: number, filter: Filter & { source: string | null }) =>
      rows('ledger_search', [query, before, limit, null, filter.source === null ? null : sql.array([filter.source], 'text'), filter.faculty, filter.since], hit),

    /** Another text when something was written that a search finds, as far as the newest of all that was written tells. */
    newestHit: async (query: string) => (await one(() => sql.type(z.object({ newest: text }))`
      with q as materialized (select ${named('_search_query')}(${query}) as words)
      select concat_ws('/',
               (select s.id from (select * from ${named('search_entries')} order by id desc limit 500) s, q where s.words @@ q.words order by s.id desc limit 1),
               (select w.id from (select id, resolved_at from ${named('work_items')} where state = 'completed' order by resolved_at desc limit 50) w
                  join ${named('search_entries')} s on s.id = w.id and s.source = 'outcome', q where s.words @@ q.words order by w.resolved_at desc limit 1)) as newest`)).newest ?? '',

    faculties: () => run(() => sql.type(z.object({ name: z.string() }))`select name from ${named('faculties')} where is_current order by name`),

    /** Whom a digest can be looked at as: the newest open items. */
    readers: (limit: number) => run(() => sql.type(z.object({ id: z.string(), description: z.string(), faculty: text }))`
      select w.id, left(w.description, 80) as description, f.faculty from (select * from ${named('work_items')} where work_type <> 'import' order by created_at desc, id desc limit ${limit}) w ${newestFocus}`),

    toldOfFindings: (limit: number) => run(() => sql.type(z.object({ work_item_id: z.string(), seq: z.number(), content: z.string(), readers: z.array(z.object({ id: z.string(), faculty: text, iteration: number })) }))`
      select l.work_item_id, l.seq, left(l.content, 300) as content, json_agg(json_build_object('id', r.work_item_id, 'faculty', r.faculty, 'iteration', t.iteration) order by a.shown_at) as readers
        from (select * from ${named('work_ledger')} where entry_type = 'finding' order by created_at desc limit 60) l
        join ${named('awareness_shown')} a on a.work_item_id = l.work_item_id and a.seq = l.seq
        join ${named('foci')} r on r.id = a.focus_id join ${named('turns')} t on t.id = a.turn_id
       group by 1, 2, 3, l.created_at order by l.created_at desc limit ${limit}`),

    findings: (type: string, before: string | null, limit: number, filter: Filter) => run(() => sql.type(z.object({ id: z.string(), work_item_id: z.string(), seq: z.number(), entry_type: z.string(), content: z.string(), created_at: z.string(), description: z.string() }))`
      select l.id, l.work_item_id, l.seq, l.entry_type, left(l.content, 1000) as content, l.created_at, left(w.description, 120) as description
        from ${named('work_ledger')} l join ${named('work_items')} w on w.id = l.work_item_id
       where l.entry_type = ${type} and not l.is_inherited and (${before}::timestamptz is null or l.created_at < ${before}::timestamptz)
         and (${filter.since}::timestamptz is null or l.created_at >= ${filter.since}::timestamptz) and (${filter.faculty}::text is null or ${named('_worked_by')}(w.id) = ${filter.faculty})
       order by l.created_at desc limit ${limit}`),

    approve: (toolCallId: string, inputHash: string) => row('tool_call_approve', [toolCallId, inputHash], z.object({ work_item_id: z.string() })),

    reject: (toolCallId: string, reason: string | null) => row('tool_call_reject', [toolCallId, reason], z.object({ work_item_id: z.string() })),

    compact: (workItemId: string, instructions: string | null) => call('context_compact', [workItemId, instructions], z.unknown()),

    complete: (workItemId: string, summary: string) => row('work_complete', [workItemId, summary], workItem),

    resumeIn: (workItemId: string, conversationId: string, targetTokens: number) => row('journal_resume', [workItemId, conversationId, targetTokens], workItem),

    entryDelete: (entryId: string, reason: string | null) => call('journal_entry_delete', [entryId, reason], z.unknown()),

    fork: (turnId: string, message: string | null, faculty: string | null, key: string = randomUUID()) => row('work_fork', [turnId, message, faculty, key], workItem),
  };
}
