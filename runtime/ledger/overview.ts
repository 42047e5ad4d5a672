// What people look at: lists of work, what one item does now, what happened in it.

import { sql } from 'slonik';
import { z } from 'zod';

import { countedItem } from './answers.ts';
import type { Calls } from './pool.ts';
import { itemColumns } from './reads.ts';

const listed = countedItem.extend({ root_id: z.string(), depth: z.number(), why: z.string().nullable(), age_seconds: z.number() });
export type ListedItem = z.infer<typeof listed>;

const now = z.object({
  state: z.string(),
  /** model, tools, waits, paused, next; null: no attempt is under way. */
  doing: z.string().nullable(),
  waits_for: z.string().nullable(),
  why: z.string().nullable(),
  iteration: z.number().nullable(),
  tokens: z.number().nullable(),
  open_calls: z.array(z.object({ tool: z.string(), label: z.string(), status: z.string() })).nullable(),
  /** Since the newest sign of work. */
  seconds: z.number().nullable(),
  tree_items: z.number().nullable(),
});
export type WorkNow = z.infer<typeof now>;

const happened = z.object({
  at: z.string(),
  kind: z.enum(['said', 'call', 'entry', 'attempt', 'end']),
  iteration: z.number().nullable(),
  /** Of a call its tool, of an entry its type, of an attempt its faculty. */
  name: z.string().nullable(),
  /** What was said or entered; of a call its input; of the end the summary, or why. */
  text: z.string(),
  status: z.string().nullable(),
  seconds: z.number().nullable(),
  /** Of a failed call, attempt or item. */
  error: z.string().nullable(),
});
export type Happened = z.infer<typeof happened>;

const facultyNeeds = z.object({
  name: z.string(),
  saved_by: z.string().nullable(),
  is_administered: z.boolean(),
  engage: z.looseObject({
    workspace: z.string(),
    workspace_dir: z.string().nullable(),
    workspace_image: z.string(),
    tools: z.array(z.string()),
    code_execution: z.boolean(),
    code_execution_image: z.string(),
    base_url: z.string().nullish(),
    api_key_env: z.string().nullish(),
  }),
});
export type FacultyNeeds = z.infer<typeof facultyNeeds>;

export const overview = ({ call, run, one, named }: Calls) => ({
  /** The newest items, of these states if any are named; faculty: the one that works on it, or would. */
  workList: (states: readonly string[] | null, limit: number) =>
    run(
      () => sql.type(listed)`
      select ${itemColumns}, w.why, w.age_seconds
        from ${named('v_work_list')} w
       where ${states === null ? sql.fragment`true` : sql.fragment`w.state = any (${sql.array(states, 'text')})`}
       order by w.created_at desc, w.work_item_id desc limit ${limit}`,
    ),

  /** What a work item does now, and what it waits for. */
  workNow: async (workItemId: string) =>
    (
      await run(
        () => sql.type(now)`
      select w.state, n.doing, coalesce(n.waits_for, q.waits_for) as waits_for, coalesce(n.why, q.why) as why, n.iteration, n.tokens, n.open_calls,
             extract(epoch from clock_timestamp() - n.active_at)::float8 as seconds, n.tree_items
        from ${named('v_work_list')} w
        left join ${named('v_now')} n on n.work_item_id = w.work_item_id
        left join ${named('v_queue')} q on q.work_item_id = w.work_item_id
       where w.work_item_id = ${workItemId}::uuid`,
      )
    )[0] ?? null,

  /** What happened, the newest `limit` of it, the oldest first. */
  workLog: (workItemId: string, limit: number) =>
    run(
      () => sql.type(happened)`
      with newest as (
        select * from ${named('v_work_log')} where work_item_id = ${workItemId}::uuid order by happened_at desc, rank desc, ordinal desc limit ${limit})
      select happened_at as at, kind, iteration, name, text, status, seconds, error from newest order by happened_at, rank, ordinal`,
    ),

  /** Where a work item stands, as its agent is told. */
  standing: (workItemId: string) => call('standing', [workItemId, null], z.string()),

  /** Calls that failed, by tool and by what they said, most first. */
  failedCalls: (workItemId: string) =>
    run(
      () => sql.type(z.object({ tool: z.string(), says: z.string().nullable(), times: z.number() }))`
      select tool_name as tool, says, times from ${named('v_failed_calls')}
       where work_item_id = ${workItemId}::uuid order by times desc, first_at limit 5`,
    ),

  /** The faculty that works on an item, or would; null: none does. */
  facultyOf: async (workItemId: string) =>
    (
      await one(
        () => sql.type(z.object({ name: z.string().nullable() }))`
      select faculty as name from ${named('v_work_list')} where work_item_id = ${workItemId}::uuid`,
      )
    ).name,

  rootOf: async (workItemId: string) =>
    (
      await one(
        () =>
          sql.type(
            z.object({ id: z.string() }),
          )`select root_id as id from ${named('v_work_list')} where work_item_id = ${workItemId}::uuid`,
      )
    ).id,

  /** The living worker that drives an item at this moment, or keeps its tree. */
  driverOf: async (workItemId: string) =>
    (
      await run(
        () => sql.type(z.object({ host: z.string(), pid: z.number() }))`
      select k.host, k.pid from ${named('v_work_list')} w
        left join ${named('v_leases')} l on l.work_item_id = w.work_item_id and not l.is_expired
        join ${named('v_workers')} k on k.is_alive and (k.tree_id = w.root_id or k.id = l.lease_owner)
       where w.work_item_id = ${workItemId}::uuid limit 1`,
      )
    )[0] ?? null,

  /** What each current faculty needs of the machine that its items are worked on at. */
  facultyNeeds: () =>
    run(
      () => sql.type(facultyNeeds)`
      select name, config -> 'engage' as engage, saved_by, is_administered from ${named('v_faculties')} order by name`,
    ),
});
