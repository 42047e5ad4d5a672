// Removing stored data: erasing by hand, by policy, and exporting it first.

import { sql } from 'slonik';
import { z } from 'zod';

import type { Calls } from './pool.ts';

/** One line about what an erasure removes, or what prevents it; see work_erase(). */
export type ErasureLine = z.infer<typeof erasureLine>;
const erasureLine = z.object({
  kind: z.enum(['item', 'not over', 'fork', 'quoted in', 'note', 'table']),
  name: z.string(),
  row_count: z.number().nullable(),
  bytes: z.coerce.number().nullable(),
});

export type RetentionPolicy = z.infer<typeof retentionPolicy>;
const retentionPolicy = z.object({
  state: z.string().nullable(),
  faculty: z.string().nullable(),
  age: z.string(),
  keep: z.string(),
  export_function: z.string().nullable(),
});

const due = z.object({ root_id: z.string(), items: z.number(), resolved_at: z.string(), keep: z.string(), policy_id: z.number() });

const retentionStep = z.object({
  is_done: z.boolean(),
  is_busy: z.boolean().optional(),
  rows: z.number().optional(),
  root_id: z.string().optional(),
  items: z.number().optional(),
  error: z.string().optional(),
});

export const erasure = ({ call, rows, run, once, named }: Calls) => ({
  /** Never repeated: a second call would find that the first has erased everything. */
  workErase: (workItemId: string, { reason, isDryRun, withForks }: { reason: string; isDryRun: boolean; withForks: boolean }) =>
    once.rows('work_erase', [workItemId, reason, isDryRun, withForks], erasureLine),

  /** The root of the work that a session belongs to. */
  sessionWork: (session: string) => call('session_work', [session], z.string().nullable()),

  /** Every row of a work item and its descendants. */
  workExport: (workItemId: string) => rows('work_export', [workItemId], z.object({ relation: z.string(), row: z.unknown() })),

  retentionPolicies: () =>
    run(() => sql.type(retentionPolicy)`select state, faculty, age::text, keep, export_function from ${named('v_retention_policies')}`),

  /** Age null: removes the policy. */
  retentionPolicySave: (age: string | null, state: string | null, faculty: string | null, keep: string, exportFunction: string | null) =>
    run(
      () => sql.type(z.object({}))`
      select from ${named('retention_policy_save')}(${age}::interval, ${state}, ${faculty}, ${keep}, ${exportFunction}::regprocedure)`,
    ),

  retentionDue: async () => (await call('work_retention_run', [true], z.object({ due: z.array(due) }))).due,

  /** One short transaction; call it again until is_done. */
  retentionRun: () => call('work_retention_run', [], retentionStep),
});
