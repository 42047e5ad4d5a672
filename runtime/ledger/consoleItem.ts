// What the console reads of one work item: its rows, journal, ledger, turns, cost and forks.

import { sql } from 'slonik';
import { z } from 'zod';

import { countedItem, entry, json } from './answers.ts';
import { figure, number, text, usageOf } from './consoleShapes.ts';
import type { Calls } from './pool.ts';
import { itemColumns } from './reads.ts';

const itemInputs = z.object({
  item: text,
  focus: text,
  turn: text,
  calls: text,
  approvals: text,
  inbox: text,
  journal: text,
  below: text,
  budgets: text,
  forks: text,
  claims: text,
});
export type ItemInput = keyof z.infer<typeof itemInputs>;

export const journalRow = z.object({
  position: z.string(),
  id: text,
  source_id: text,
  entry_type: text,
  importance: text,
  created_at: text,
  content: json.nullable(),
  token_estimate: number,
});
export type JournalRow = z.infer<typeof journalRow>;

const node = z.object({
  node_id: z.string(),
  parent_node_id: text,
  kind: z.enum(['turn', 'run', 'item']),
  turns: number,
  last_turn_id: text,
  lane: z.number(),
  depth: z.number(),
  last_depth: number,
  attempt: number,
  iteration: number,
  status: text,
  marks: z.array(z.string()).nullable(),
  label: text,
  steps: number,
  errors: number,
  tokens: figure,
  started_at: text,
  completed_at: text,
  work_item_id: text,
});
export type TurnNode = z.infer<typeof node>;

const branch = z.object({
  branch: z.enum(['a', 'b']),
  session_label: z.string(),
  work_item_id: text,
  description: text,
  common_turn_id: text,
  common_depth: number,
  turns: number,
  model_calls: figure,
  tokens: figure,
  cost: figure,
  entry_count: figure,
  entries: z.array(z.object({ seq: z.number(), entry_type: z.string(), content: z.string(), created_at: z.string() })).nullable(),
  file_count: figure,
  files: z.array(z.object({ path: z.string(), actions: z.array(z.string()), calls: z.number() })).nullable(),
  calls: figure,
  failed_calls: figure,
  status: text,
  started_at: text,
  ended_at: text,
});
export type Branch = z.infer<typeof branch>;

const comparedCalls = z.array(z.object({ tool: z.string(), input: z.string(), is_error: z.boolean() })).nullable();
const comparedTurn = z.object({
  n: z.number(),
  is_same: z.boolean(),
  a_turn_id: text,
  a_says: text,
  a_calls: comparedCalls,
  b_turn_id: text,
  b_says: text,
  b_calls: comparedCalls,
});
export type ComparedTurn = z.infer<typeof comparedTurn>;

const shown = countedItem.extend({
  root_id: z.string(),
  started_at: text,
  is_pausing: z.boolean(),
  fork_turn_id: text,
  current_faculty: text,
  session_label: text,
  attempt: number,
  iteration: number,
  model: text,
  origin: text,
  tokens: figure,
  cached: figure,
  input: figure,
  output: figure,
  cost: figure,
  turns: figure,
  project: text,
  open_below: z.number(),
  entries: z.number(),
});
const wholeCall = z.object({
  id: z.string(),
  work_item_id: text,
  turn_id: z.string(),
  tool_name: z.string(),
  status: z.string(),
  input_json: z.string(),
  result: text,
  artifact: text,
});
const ledgerRow = entry.extend({
  id: z.string(),
  attempt: z.number(),
  is_inherited: z.boolean(),
  iteration: number,
  trust: text,
  taken_back: text,
  beside: z.array(z.object({ id: z.string(), tool: z.string() })).nullable(),
});
const attempt = z.object({ attempt: z.number(), faculty: z.string(), outcome: text, error: text, created_at: z.string() });
const turn = z.object({
  id: z.string(),
  attempt: number,
  iteration: number,
  turn_type: z.string(),
  status: z.string(),
  model: text,
  input: figure,
  cached: figure,
  output: number,
  cost: figure,
  duration_ms: number,
  stop_reason: text,
  started_at: z.string(),
  error: text,
  calls: z.array(z.object({ tool: z.string(), status: z.string() })).nullable(),
  said: text,
});
const message = z.object({
  content: z.string(),
  source_id: z.string().nullable(),
  is_interrupt: z.boolean(),
  created_at: z.string(),
  iteration: number,
  is_waiting: z.boolean(),
});
const child = z.object({
  id: z.string(),
  description: z.string(),
  state: z.string(),
  state_reason: text,
  cost: figure,
  tokens: figure,
  asks: z.boolean(),
});
const day = z.object({
  day: z.string(),
  model: text,
  calls: figure,
  tokens: figure,
  cached: figure,
  output: figure,
  cost: figure,
  latency_ms: figure,
});
const held = z.object({
  key: z.string(),
  mode: z.string(),
  is_binding: z.boolean(),
  why: text,
  claimed_at: z.string(),
  changed_at: text,
  ends_at: z.string(),
});
const compaction = z.object({
  compaction_type: z.string(),
  trigger: z.string(),
  is_applied: z.boolean().nullable(),
  tokens_before: number,
  tokens_after: number,
  input: number,
  output: number,
  created_at: z.string(),
});
const fork = z.object({
  id: z.string(),
  description: z.string(),
  said: text,
  state: z.string(),
  session: z.string(),
  own_session: z.string(),
  depth: z.number(),
});

const MOST_COUNTED = 2000;

export function consoleItem({ row, rows, run, one, named }: Calls) {
  const usage = usageOf(named);
  return {
    /** What the pages of an item are made from: each a text that is another one after a change. Read without reading what is over. */
    itemInputs: (workItemId: string) => row('work_changes', [workItemId], itemInputs),

    /** The item, and what stands at the top of its page. */
    item: async (workItemId: string) =>
      (
        await run(
          () => sql.type(shown)`
      select ${itemColumns}, w.started_at, w.is_pausing, w.fork_turn_id, f.faculty as current_faculty, w.session_label, f.attempt, w.iteration, w.model, w.origin, w.project,
             u.total_tokens as tokens, u.cached_input_tokens as cached,
             coalesce(u.input_tokens, 0) + coalesce(u.cached_input_tokens, 0) + coalesce(u.cache_write_tokens, 0) as input,
             u.output_tokens as output, u.cost, u.turns, w.ledger_count as entries,
             (with recursive below as (
                select c.work_item_id as id, c.resolved_at from ${named('v_work_list')} c where c.parent_id = w.work_item_id
                union all
                select c.work_item_id, c.resolved_at from below b join ${named('v_work_list')} c on c.parent_id = b.id)
              select count(*)::int from below where resolved_at is null) as open_below
        from ${named('v_work_list')} w
        left join ${named('v_attempts')} f on f.work_item_id = w.work_item_id and f.attempt = w.attempts
        ${usage}
       where w.work_item_id = ${workItemId}::uuid`,
        )
      )[0] ?? null,

    treeCost: (workItemId: string) =>
      one(
        () => sql.type(z.object({ items: z.number(), tokens: figure, cost: figure }))`
      with recursive tree as (
        select w.work_item_id from ${named('v_work_list')} w where w.work_item_id = ${workItemId}::uuid
        union all
        select c.work_item_id from tree t join ${named('v_work_list')} c on c.parent_id = t.work_item_id)
      select count(distinct w.work_item_id)::int as items, sum(u.total_tokens) as tokens, sum(u.cost) as cost from tree w ${usage}`,
      ),

    journalPage: (
      workItemId: string,
      filter: { before: string | null; types: readonly string[] | null; importance: readonly string[] | null; query: string | null },
      limit: number,
    ) =>
      rows(
        'journal_page',
        [
          workItemId,
          filter.before,
          limit,
          filter.types && sql.array(filter.types, 'text'),
          filter.importance && sql.array(filter.importance, 'text'),
          filter.query,
        ],
        journalRow,
      ),

    /** How many entries of each type the journal has; null: more than are counted. */
    journalCounts: async (workItemId: string) => {
      const counts = await run(
        () => sql.type(z.object({ entry_type: z.string(), n: z.number() }))`
        select entry_type, count(*)::int as n from (select entry_type from ${named('work_journal')} where work_item_id = ${workItemId}::uuid limit ${MOST_COUNTED + 1}) j group by 1`,
      );
      return counts.reduce((all, { n }) => all + n, 0) > MOST_COUNTED ? null : new Map(counts.map(({ entry_type, n }) => [entry_type, n]));
    },

    /** Where a turn's request is shown: its item, and the session whose timeline has it. */
    turnAt: async (turnId: string) =>
      (
        await run(
          () => sql.type(z.object({ id: z.string(), work_item_id: z.string(), session: text }))`
      select turn_id as id, work_item_id, session_label as session from ${named('v_turns')}
       where turn_id = ${turnId}::uuid and work_item_id is not null`,
        )
      )[0] ?? null,

    /** A call, with its result in full. */
    callWhole: async (toolCallId: string) =>
      (
        await run(
          () => sql.type(wholeCall)`
      select tool_call_id as id, work_item_id, turn_id, tool_name, status, input::text as input_json,
             case when artifact_hash is null then whole_result else left(whole_result, 1000000) end as result, artifact_hash as artifact
        from ${named('v_calls')} where tool_call_id = ${toolCallId}::uuid`,
        )
      )[0] ?? null,

    itemOfCall: async (toolCallId: string) =>
      (
        await run(
          () => sql.type(z.object({ work_item_id: text }))`
      select work_item_id from ${named('v_calls')} where tool_call_id = ${toolCallId}::uuid`,
        )
      )[0]?.work_item_id ?? null,

    logged: async (entryId: string) =>
      (
        await run(
          () => sql.type(z.object({ id: z.string(), is_deleted: z.boolean() }))`
      select entry_id as id, is_deleted from ${named('v_journal_logged')} where entry_id = ${entryId}::uuid`,
        )
      )[0] ?? null,

    ledgerPage: (workItemId: string, before: number | null, limit: number) =>
      run(
        () => sql.type(ledgerRow)`
      select l.work_item_id, l.seq, l.entry_type, l.content, l.keep, l.retracts, l.created_at, l.entry_id as id, l.attempt, l.is_inherited, l.trust, t.iteration,
             (select r.content from ${named('v_ledger')} r where r.work_item_id = l.work_item_id and r.seq = l.retracted_by) as taken_back,
             (select json_agg(json_build_object('id', k.tool_call_id, 'tool', k.tool_name) order by k.ordinal) from ${named('v_calls')} k
               where k.turn_id = l.turn_id and k.parent_call_id is null and k.tool_name <> 'ledger_append') as beside
        from ${named('v_ledger')} l left join ${named('v_turns')} t on t.turn_id = l.turn_id
       where l.work_item_id = ${workItemId}::uuid and (${before}::int is null or l.seq < ${before}::int)
       order by l.seq desc limit ${limit}`,
      ),

    turnTree: (workItemId: string, around: string | null, limit: number) => rows('turn_tree', [workItemId, around, limit], node),

    /** Attempts that are not in the tree, because no model has answered in them. */
    attemptsWithoutTurn: (workItemId: string) =>
      run(
        () => sql.type(attempt)`
      select f.attempt, f.faculty, f.outcome, left(f.error, 300) as error, f.created_at
        from ${named('v_attempts')} f
       where f.work_item_id = ${workItemId}::uuid and not exists (select from ${named('v_turns')} t where t.focus_id = f.focus_id and t.status <> 'failed')
       order by f.attempt desc limit 20`,
      ),

    turnsPage: (workItemId: string, before: string | null, limit: number) =>
      run(
        () => sql.type(turn)`
      select turn_id as id, attempt, iteration, turn_type, status, model, input_tokens as input, cached_input_tokens as cached, output_tokens as output,
             cost, duration_ms, stop_reason, started_at, left(error, 300) as error, calls, left(said, 200) as said
        from ${named('v_turns')}
       where work_item_id = ${workItemId}::uuid and (${before}::uuid is null or turn_id < ${before}::uuid)
       order by turn_id desc limit ${limit}`,
      ),

    told: (workItemId: string, limit: number) =>
      run(
        () => sql.type(z.object({ iteration: number, kind: text, content: text, source_id: text, shown_at: text }))`
      select iteration, kind, left(content, 300) as content, source_id, shown_at from ${named('v_awareness_shown')} where reader_id = ${workItemId}::uuid order by shown_at desc limit ${limit}`,
      ),

    inbox: (workItemId: string, limit: number) =>
      run(
        () => sql.type(message)`
      select left(content, 300) as content, source_work_item_id as source_id, is_interrupt, created_at, iteration, is_waiting
        from ${named('v_inbox')} where work_item_id = ${workItemId}::uuid and kind <> 'child_result' order by created_at desc limit ${limit}`,
      ),

    children: (workItemId: string, limit: number) =>
      run(
        () => sql.type(child)`
      select w.work_item_id as id, left(w.description, 200) as description, w.state, left(w.state_reason, 200) as state_reason, u.cost, u.total_tokens as tokens,
             exists (select from ${named('v_approvals')} a where a.work_item_id = w.work_item_id) as asks
        from ${named('v_work_list')} w ${usage}
       where w.parent_id = ${workItemId}::uuid order by w.created_at limit ${limit}`,
      ),

    budgets: (workItemId: string) =>
      run(
        () => sql.type(z.object({ resource: z.string(), amount: figure, spent: figure, reserved: figure }))`
      select resource, amount, spent, reserved from ${named('v_budgets')} where work_item_id = ${workItemId}::uuid
       order by array_position(array['money', 'tokens', 'calls', 'seconds', 'children'], resource::text)`,
      ),

    /** What it holds now, the newest first. */
    claims: (workItemId: string) =>
      run(
        () => sql.type(held)`
      select key, mode, is_binding, left(why, 500) as why, claimed_at, changed_at, ends_at from ${named('v_claims')}
       where work_item_id = ${workItemId}::uuid order by claimed_at desc, key limit 50`,
      ),

    cuts: (workItemId: string) =>
      rows(
        'context_cost',
        [workItemId],
        z.object({
          attempt: number,
          iteration: number,
          cut: z.string(),
          blocks: text,
          tokens_elided: number,
          stub_tokens: number,
          tokens_kept: number,
          breaks_even_after: number,
          requests_since: number,
          input_before: figure,
          input_after: figure,
        }),
      ),

    costByDay: (workItemId: string | null) =>
      run(
        () => sql.type(day)`
      select started_at::date::text as day, model, sum(call_count) as calls, sum(input_tokens) as tokens, sum(cached_input_tokens) as cached,
             sum(output_tokens) as output, sum(cost) as cost, percentile_disc(0.5) within group (order by duration_ms) as latency_ms
        from ${named('v_turns')} where work_item_id = ${workItemId}::uuid group by 1, 2 order by 1 desc, 2 limit 60`,
      ),

    costOfCompactions: (workItemId: string) =>
      run(
        () => sql.type(compaction)`
      select compaction_type, trigger, is_applied, tokens_before, tokens_after,
             summarization_input_tokens as input, summarization_output_tokens as output, created_at
        from ${named('v_compactions')} where work_item_id = ${workItemId}::uuid order by created_at desc limit 50`,
      ),

    forkPoints: (workItemId: string, limit: number) =>
      run(
        () => sql.type(z.object({ turn_id: z.string(), depth: z.number(), reason: z.string(), context_tokens: number, entry: z.string() }))`
      select turn_id, depth, reason, context_tokens, left(entry, 300) as entry
        from (select distinct on (turn_id, reason) * from ${named('v_fork_points')} where work_item_id = ${workItemId}::uuid order by turn_id, reason, rank) p order by rank limit ${limit}`,
      ),

    forks: (workItemId: string) =>
      run(
        () => sql.type(fork)`
      select w.work_item_id as id, left(w.description, 200) as description,
             (select left(i.content, 200) from ${named('v_inbox')} i
               where i.work_item_id = w.work_item_id and i.kind = 'message' order by i.created_at limit 1) as said,
             w.state, w.session_label as session, t.session_label as own_session, t.depth
        from ${named('v_turns')} t join ${named('v_work_list')} w on w.fork_turn_id = t.turn_id
       where t.work_item_id = ${workItemId}::uuid and w.session_label is not null and t.session_label is not null
       order by w.created_at desc limit 20`,
      ),

    compare: (a: string, b: string) => rows('session_compare', [a, b], branch),

    compareTurns: (a: string, b: string, after: number, limit: number) => rows('session_compare_turns', [a, b, after, limit], comparedTurn),

    sessionOf: async (workItemId: string) =>
      (
        await run(
          () => sql.type(z.object({ label: text }))`
      select session_label as label from ${named('v_work_list')} where work_item_id = ${workItemId}::uuid`,
        )
      )[0]?.label ?? null,
  };
}
