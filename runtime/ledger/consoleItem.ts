// What the console reads of one work item: its rows, journal, ledger, turns, cost and forks.

import { sql } from 'slonik';
import { z } from 'zod';

import { entry, json, workItem } from './answers.ts';
import { figure, newestFocus, number, text } from './consoleShapes.ts';
import type { Calls } from './pool.ts';

const itemInputs = z.object({ item: text, focus: text, turn: text, calls: text, approvals: text, inbox: text, journal: text, below: text, budgets: text, forks: text });
export type ItemInput = keyof z.infer<typeof itemInputs>;

export const journalRow = z.object({
  position: z.string(), id: text, source_id: text, entry_type: text, importance: text, created_at: text, content: json.nullable(), token_estimate: number,
});
export type JournalRow = z.infer<typeof journalRow>;

const node = z.object({
  node_id: z.string(), parent_node_id: text, kind: z.enum(['turn', 'run', 'item']), turns: number, last_turn_id: text, lane: z.number(), depth: z.number(), last_depth: number, attempt: number, iteration: number,
  status: text, marks: z.array(z.string()).nullable(), label: text, steps: number, errors: number, tokens: figure, started_at: text, completed_at: text, work_item_id: text,
});
export type TurnNode = z.infer<typeof node>;

const branch = z.object({
  branch: z.enum(['a', 'b']), session_label: z.string(), work_item_id: text, description: text, common_turn_id: text, common_depth: number, turns: number, model_calls: figure, tokens: figure, cost: figure,
  entry_count: figure, entries: z.array(z.object({ seq: z.number(), entry_type: z.string(), content: z.string(), created_at: z.string() })).nullable(),
  file_count: figure, files: z.array(z.object({ path: z.string(), actions: z.array(z.string()), calls: z.number() })).nullable(), calls: figure, failed_calls: figure, status: text, started_at: text, ended_at: text,
});
export type Branch = z.infer<typeof branch>;

const MOST_COUNTED = 2000;

export function consoleItem({ rows, run, one, named }: Calls) {
  return {
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
        ${newestFocus(named)}
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
    callWhole: async (toolCallId: string) => (await run(() => sql.type(z.object({ id: z.string(), work_item_id: text, turn_id: z.string(), tool_name: z.string(), status: z.string(), input_json: z.string(), result: text, artifact: text }))`
      select k.id, k.work_item_id, k.turn_id, k.tool_name, k.status, coalesce(k.rewritten_input, k.input)::text as input_json, coalesce(left(a.content, 1000000), ${named('_result_text')}(k.result)) as result, k.artifact_hash as artifact
        from ${named('tool_calls')} k left join ${named('artifacts')} a on a.content_hash = k.artifact_hash where k.id = ${toolCallId}::uuid`))[0] ?? null,

    itemOfCall: async (toolCallId: string) => (await run(() => sql.type(z.object({ work_item_id: text }))`
      select work_item_id from ${named('tool_calls')} where id = ${toolCallId}::uuid`))[0]?.work_item_id ?? null,

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

    forkPoints: (workItemId: string, limit: number) => run(() => sql.type(z.object({ turn_id: z.string(), depth: z.number(), reason: z.string(), context_tokens: number, entry: z.string() }))`
      select turn_id, depth, reason, context_tokens, left(entry, 300) as entry
        from (select distinct on (turn_id, reason) * from ${named('v_fork_points')} where work_item_id = ${workItemId}::uuid order by turn_id, reason, rank) p order by rank limit ${limit}`),

    forks: (workItemId: string) => run(() => sql.type(z.object({ id: z.string(), description: z.string(), said: text, state: z.string(), session: z.string(), own_session: z.string(), depth: z.number() }))`
      select w.id, left(w.description, 200) as description, (select left(i.content, 200) from ${named('inbox')} i where i.work_item_id = w.id and i.kind = 'message' order by i.created_at limit 1) as said,
             w.state, s.label as session, o.session_label as own_session, t.depth
        from ${named('turns')} t join ${named('work_items')} w on w.fork_turn_id = t.id ${newestFocus(named)} join ${named('sessions')} s on s.label = f.session_label
        join ${named('foci')} o on o.id = t.focus_id
       where t.work_item_id = ${workItemId}::uuid order by w.created_at desc limit 20`),

    compare: (a: string, b: string) => rows('session_compare', [a, b], branch),

    sessionOf: async (workItemId: string) => (await run(() => sql.type(z.object({ label: text }))`
      select f.session_label as label
        from ${named('work_items')} w ${newestFocus(named)} where w.id = ${workItemId}::uuid`))[0]?.label ?? null,
  };
}
