// Reads work items, their turns and their calls.

import { sql } from 'slonik';
import { z } from 'zod';

import { activity, contextPart, countedItem } from './answers.ts';
import type { Calls } from './pool.ts';

const turnOfWork = z.object({
  turn_id: z.string(),
  attempt: z.number().nullable(),
  iteration: z.number().nullable(),
  /** normal, or compaction: a request for a summary of what leaves the context. */
  turn_type: z.string(),
  /** pending, streaming, completed or failed. */
  status: z.string(),
  model: z.string().nullable(),
  /** Of the request, whether or not they came from the provider's cache. */
  input_tokens: z.number().nullable(),
  cached_input_tokens: z.number().nullable(),
  output_tokens: z.number().nullable(),
  /** At current prices, in their currency; null: there is no price. */
  cost: z.number().nullable(),
  duration_ms: z.number().nullable(),
  started_at: z.string().nullable(),
  /** The text of the response. */
  said: z.string().nullable(),
  calls: z.array(z.object({ tool: z.string(), status: z.string() })).nullable(),
});
export type TurnOfWork = z.infer<typeof turnOfWork>;

const drawnOn = z.object({
  /** project or faculty, for a daily budget; null: the item's own, for it and its descendants. */
  scope: z.string().nullable(),
  name: z.string().nullable(),
  resource: z.string(),
  amount: z.string(),
  spent: z.string(),
  reserved: z.string(),
  remaining: z.string(),
});
export type DrawnOn = z.infer<typeof drawnOn>;

/** The columns of v_work_list (alias w) that `countedItem` reads. */
export const itemColumns = sql.fragment`
  w.work_item_id as id, w.parent_id, w.root_id, w.depth, w.work_type, w.description, w.faculty, w.priority, w.state, w.state_reason,
  w.attempts, w.run_at, w.created_at, w.resolved_at, w.erased_at, w.outcome_data, w.ledger_count, w.continues_id, w.next_id`;

export const reads = ({ call, rows, one, run, named, invoked }: Calls) => ({
  workItem: async (workItemId: string) =>
    (
      await run(
        () => sql.type(countedItem)`select ${itemColumns} from ${named('v_work_list')} w where w.work_item_id = ${workItemId}::uuid`,
      )
    )[0] ?? null,

  /**
   * The work item that a person means: an id, a part of one, "last"; see work_id() in SQL. `project`: the project whose newest items count;
   * null: all projects.
   */
  workId: (name: string, project: string | null) => call('work_id', [name, project], z.string()),

  /** The items of these trees, each after its parent. */
  workTrees: (rootIds: readonly string[]) =>
    run(
      () => sql.type(countedItem)`
      select ${itemColumns} from ${named('v_work_list')} w
       where w.root_id = any (${sql.array(rootIds, 'uuid')}) order by w.root_id, w.depth, w.created_at`,
    ),

  /** The items that this one delegated, oldest first. */
  workChildren: (workItemId: string) =>
    run(
      () => sql.type(countedItem)`
      select ${itemColumns} from ${named('v_work_list')} w where w.parent_id = ${workItemId}::uuid order by w.created_at, w.work_item_id`,
    ),

  /** Its newest turns, oldest of them first. */
  workTurns: (workItemId: string, limit: number) =>
    run(
      () => sql.type(turnOfWork)`
      select * from (
        select turn_id, attempt, iteration, turn_type, status, model, input_tokens, cached_input_tokens, output_tokens, cost::float8, duration_ms,
               started_at, said, calls
          from ${named('v_turns')} where work_item_id = ${workItemId}::uuid order by turn_id desc limit ${limit}) t
       order by turn_id`,
    ),

  /** What a status line shows of a running work item. */
  workProgress: (workItemId: string) =>
    one(
      () => sql.type(
        z.object({
          state: z.string(),
          state_reason: z.string().nullable(),
          run_at: z.string(),
          turns: z.number(),
          tokens: z.number(),
          last_entry: z.string().nullable(),
        }),
      )`
      select w.state, w.state_reason, w.run_at, coalesce(u.turns, 0) as turns, coalesce(u.total_tokens, 0)::int8 as tokens,
             (select l.entry_type || ': ' || l.content from ${named('v_ledger')} l where l.work_item_id = w.work_item_id order by l.seq desc limit 1) as last_entry
        from ${named('v_work_list')} w
        left join ${named('v_usage')} u on u.work_item_id = w.work_item_id
       where w.work_item_id = ${workItemId}::uuid`,
    ),

  /** From `fromTurnId` on, or only the newest turn. */
  workActivity: (workItemId: string, fromTurnId: string | null) =>
    run(
      () => sql.type(activity)`
      select a.turn_id, a.iteration, a.status, a.thinking, a.said, coalesce(a.calls, '[]') as calls, a.updated_at,
             t.input_tokens, t.output_tokens, t.cost::float8 as cost,
             (select coalesce(jsonb_agg(jsonb_build_object('by', w.told_by, 'name', w.name, 'text', w.text, 'told_at', w.told_at) order by w.sequence), '[]')
                from ${named('v_told')} w where w.turn_id = a.turn_id) as told
        from ${invoked('work_activity', [workItemId, fromTurnId])} a
        left join ${named('v_turns')} t on t.turn_id = a.turn_id and a.status = 'completed'
       order by a.turn_id`,
    ),

  /** The budgets of an item, then the daily ones that it also draws on. */
  budgetsDrawnOn: (workItemId: string) =>
    run(
      () => sql.type(drawnOn)`
      select b.scope, b.name, b.resource, trim_scale(b.amount)::text as amount, trim_scale(b.spent)::text as spent, trim_scale(b.reserved)::text as reserved,
             trim_scale(b.remaining)::text as remaining
        from (select null as scope, null as name, resource, amount, spent, reserved, remaining from ${named('v_budgets')} where work_item_id = ${workItemId}::uuid
              union all
              select scope, name, resource, amount, spent, reserved, remaining from ${named('v_work_daily_budgets')} where work_item_id = ${workItemId}::uuid) b
       order by b.scope desc nulls first, b.name, b.resource`,
    ),

  toolCalls: (workItemId: string) =>
    run(
      () => sql.type(z.object({ tool_name: z.string(), status: z.string(), attempts: z.number(), input: z.unknown() }))`
      select tool_name, status, attempts, input from ${named('v_calls')} where work_item_id = ${workItemId}::uuid order by created_at, ordinal`,
    ),

  /** Calls of execute_code, each before the calls that its code made; chars: the total length of what those returned. */
  codeCalls: (workItemId: string) =>
    run(
      () => sql.type(
        z.object({ tool_name: z.string(), is_nested: z.boolean(), code: z.string().nullable(), result: z.string(), chars: z.number() }),
      )`
      select k.tool_name, k.parent_call_id is not null as is_nested, k.input ->> 'code' as code, coalesce(k.result, '') as result, k.result_chars as chars
        from ${named('v_calls')} k
       where k.work_item_id = ${workItemId}::uuid and (k.tool_name = 'execute_code' or k.parent_call_id is not null)
       order by coalesce(k.parent_call_id, k.tool_call_id), k.parent_call_id is not null, k.ordinal`,
    ),

  turnIds: async (workItemId: string) =>
    (
      await run(
        () => sql.type(z.object({ id: z.string() }))`
      select turn_id as id from ${named('v_turns')} where work_item_id = ${workItemId}::uuid order by depth, turn_id`,
      )
    ).map((turn) => turn.id),

  /** The exact bytes of a turn's request. */
  contextAt: async (turnId: string) =>
    (await one(() => sql.type(z.object({ text: z.string() }))`select ${invoked('context_at', [turnId])}::text as text`)).text,

  contextParts: (turnId: string) => run(() => sql.type(contextPart)`select * from ${invoked('context_parts', [turnId])} order by n`),

  explainTurn: (turnId: string) =>
    rows(
      'explain_turn',
      [turnId],
      z.object({ block: z.number(), shown: z.string(), turns: z.number(), estimated_tokens: z.number(), why: z.string() }),
    ),
});
