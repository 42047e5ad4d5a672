// What work cost, and what a worker counts of it.

import { sql } from 'slonik';
import { z } from 'zod';

import type { Calls } from './pool.ts';

const cost = z.object({
  key: z.string(),
  says: z.string().nullable(),
  requests: z.number(),
  input_tokens: z.number(),
  cached_input_tokens: z.number(),
  cache_write_tokens: z.number(),
  output_tokens: z.number(),
  cost: z.number().nullable(),
  summary_cost: z.number().nullable(),
  step_cost: z.number().nullable(),
  missed_tokens: z.number(),
  missed_cost: z.number().nullable(),
  unpriced_requests: z.number(),
});
export type Cost = z.infer<typeof cost>;

const cut = z.object({
  attempt: z.number(),
  iteration: z.number(),
  cut: z.string(),
  blocks: z.string(),
  expected_left: z.number(),
  expected_rewritten: z.number(),
  expected_after: z.number(),
  left_tokens: z.number().nullable(),
  rewritten_tokens: z.number().nullable(),
  paid_after: z.number().nullable(),
  requests: z.number(),
  saved_tokens: z.number().nullable(),
  summary_cost: z.number().nullable(),
  saved_cost: z.number().nullable(),
});
export type CostOfCut = z.infer<typeof cut>;

export const metric = z.object({
  name: z.string(),
  type: z.enum(['counter', 'histogram']),
  unit: z.string(),
  labels: z.array(z.string()),
  says: z.string(),
});
export type Metric = z.infer<typeof metric>;

export const costs = ({ run, once, invoked, named }: Calls) => ({
  costBy: (by: string, workItemId: string | null, project: string | null = null) =>
    run(
      () => sql.type(cost)`
      select key, says, requests::int8, input_tokens::int8, cached_input_tokens::int8, cache_write_tokens::int8, output_tokens::int8, cost::float8,
             summary_cost::float8, step_cost::float8, missed_tokens::int8, missed_cost::float8, unpriced_requests::int8
        from ${invoked('cost_by', [by, workItemId, project])}`,
    ),

  costCuts: (workItemId: string) =>
    run(
      () => sql.type(cut)`
      select attempt, iteration, cut, blocks, expected_left, expected_rewritten, expected_after, left_tokens, rewritten_tokens, paid_after, requests,
             saved_tokens::float8, summary_cost::float8, saved_cost::float8
        from ${invoked('cost_cuts', [workItemId])}`,
    ),

  metrics: () => run(() => sql.type(metric)`select name, type, unit, labels, says from ${named('v_metrics')}`),

  /** Never repeated: what an answer that was lost gave out is not given out again. */
  workMetricsTake: () =>
    once.rows(
      'work_metrics_take',
      [],
      z.object({ metric: z.string(), labels: z.record(z.string(), z.string()), value: z.number(), times: z.number() }),
    ),
});
