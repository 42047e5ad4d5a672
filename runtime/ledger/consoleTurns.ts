// The console's queries about an item's turns: their tree, what was cut, what they cost.

import { sql } from 'slonik';
import { z } from 'zod';

import { figure, number, text } from './consoleShapes.ts';
import type { Calls } from './pool.ts';

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

export function consoleTurns({ rows, run, named }: Calls) {
  return {
    /** Where a turn's request is shown: its item, and the session whose timeline contains it. */
    turnAt: async (turnId: string) =>
      (
        await run(
          () => sql.type(z.object({ id: z.string(), work_item_id: z.string(), session: text }))`
      select turn_id as id, work_item_id, session_label as session from ${named('v_turns')}
       where turn_id = ${turnId}::uuid and work_item_id is not null`,
        )
      )[0] ?? null,

    turnTree: (workItemId: string, around: string | null, limit: number) => rows('turn_tree', [workItemId, around, limit], node),

    /** Attempts that are missing from the tree because no model answered in them. */
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
      select (started_at at time zone 'UTC')::date::text as day, model, sum(call_count) as calls, sum(input_tokens) as tokens, sum(cached_input_tokens) as cached,
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
  };
}
