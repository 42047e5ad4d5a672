// What work cost, and a worker's metrics.

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
  type: z.enum(['counter', 'histogram', 'gauge', 'total']),
  unit: z.string(),
  labels: z.array(z.string()),
  says: z.string(),
});
export type Metric = z.infer<typeof metric>;

const gauge = z.object({ metric: z.string(), labels: z.record(z.string(), z.string()), value: z.number() });
/** The value of one gauge or total. */
export type Gauge = z.infer<typeof gauge>;

const totals = z.object({
  at: z.string().nullable(),
  key: z.string(),
  requests: z.number(),
  iterations: z.number(),
  input_tokens: z.number(),
  cached_input_tokens: z.number(),
  cache_write_tokens: z.number(),
  output_tokens: z.number(),
  cost: z.number().nullable(),
  unpriced_requests: z.number(),
  request_p50: z.number().nullable(),
  request_p95: z.number().nullable(),
  first_token_p50: z.number().nullable(),
  first_token_p95: z.number().nullable(),
  failed_requests: z.number(),
  calls: z.number(),
  failed_calls: z.number(),
  call_seconds: z.number(),
  call_p50: z.number().nullable(),
  call_p95: z.number().nullable(),
  items: z.number(),
  completed_items: z.number(),
  expired_leases: z.number(),
});
export type Totals = z.infer<typeof totals>;
/** What to add up; times are ISO 8601, `-infinity` or `infinity`. */
export type TotalsAsked = { by: string; from?: string; until?: string; step?: 'hour' | 'day' | null; project?: string | null };

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

  workGauges: () => run(() => sql.type(gauge)`select metric, labels, value from ${invoked('work_gauges', [])}`),

  workTotals: ({ by, from = '-infinity', until = 'infinity', step = null, project = null }: TotalsAsked) =>
    run(
      () => sql.type(totals)`
      select at, key, requests::int8, iterations::int8, input_tokens::int8, cached_input_tokens::int8, cache_write_tokens::int8, output_tokens::int8,
             cost::float8, unpriced_requests::int8, request_p50, request_p95, first_token_p50, first_token_p95, failed_requests::int8, calls::int8, failed_calls::int8,
             call_seconds, call_p50, call_p95, items::int8, completed_items::int8, expired_leases::int8
        from ${invoked('work_totals', [by, from, until, step, project])}`,
    ),

  /** Adds what was done since the last call to the hourly sums; returns the time until which they are complete. */
  workHoursSum: () => once.call('work_hours_sum', [], z.string().nullable()),

  /** Never repeated: counts in an answer that was lost are not handed out again. */
  workMetricsTake: () =>
    once.rows(
      'work_metrics_take',
      [],
      z.object({ metric: z.string(), labels: z.record(z.string(), z.string()), value: z.number(), times: z.number() }),
    ),
});
