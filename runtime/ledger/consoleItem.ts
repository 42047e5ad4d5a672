// The console's queries about one work item: its rows, journal, ledger, turns, cost and forks.

import { sql } from 'slonik';
import { z } from 'zod';

import { countedItem, entry } from './answers.ts';
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

const held = z.object({
  key: z.string(),
  mode: z.string(),
  is_binding: z.boolean(),
  why: text,
  claimed_at: z.string(),
  changed_at: text,
  ends_at: z.string(),
});

export function consoleItem({ row, run, one, named }: Calls) {
  const usage = usageOf(named);
  return {
    /** What the pages of an item are made from: one text per input, which differs after a change. Does not read finished history. */
    itemInputs: (workItemId: string) => row('work_changes', [workItemId], itemInputs),

    /** The item, and what the top of its page shows. */
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

    /** A call, with its complete result. */
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

    /** The daily budgets of its project and its faculty, which it also draws on. */
    dailyBudgets: (workItemId: string) =>
      run(
        () => sql.type(
          z.object({ scope: z.string(), name: z.string(), resource: z.string(), amount: figure, spent: figure, reserved: figure }),
        )`
      select scope, name, resource, amount, spent, reserved from ${named('v_work_daily_budgets')} where work_item_id = ${workItemId}::uuid
       order by scope desc, name, array_position(array['money', 'tokens', 'calls', 'seconds'], resource::text)`,
      ),

    /** The claims that it holds now, newest first. */
    claims: (workItemId: string) =>
      run(
        () => sql.type(held)`
      select key, mode, is_binding, left(why, 500) as why, claimed_at, changed_at, ends_at from ${named('v_claims')}
       where work_item_id = ${workItemId}::uuid order by claimed_at desc, key limit 50`,
      ),
  };
}
