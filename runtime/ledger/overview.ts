// What people look at: lists of work, what one item does now, what happened in it.

import { sql } from 'slonik';
import type { FragmentSqlToken } from 'slonik';
import { z } from 'zod';

import { countedItem, json, unknownState } from './answers.ts';
import type { Calls } from './pool.ts';
import { firstOf, isOf, isStoredAs, namesOf, newestFirst } from './consoleShapes.ts';
import { LedgerError } from './errors.ts';
import { itemColumns } from './reads.ts';

const listed = countedItem.extend({ root_id: z.string(), depth: z.number(), why: z.string().nullable(), age_seconds: z.number() });
export type ListedItem = z.infer<typeof listed>;

const now = z.object({
  state: z.string(),
  /** model, tools, waits, paused or next; null: no attempt is running. */
  doing: z.string().nullable(),
  waits_for: z.string().nullable(),
  why: z.string().nullable(),
  iteration: z.number().nullable(),
  tokens: z.number().nullable(),
  open_calls: z.array(z.object({ tool: z.string(), label: z.string(), status: z.string() })).nullable(),
  /** Since the newest sign of activity. */
  seconds: z.number().nullable(),
  tree_items: z.number().nullable(),
});
export type WorkNow = z.infer<typeof now>;

const underWay = z.object({
  under_way: z.number(),
  model: z.number(),
  tools: z.number(),
  waits: z.number(),
  paused: z.number(),
  approvals: z.number(),
});
export type UnderWay = z.infer<typeof underWay>;

const happened = z.object({
  at: z.string(),
  kind: z.enum(['goes on', 'told', 'said', 'call', 'entry', 'attempt', 'end', 'next']),
  iteration: z.number().nullable(),
  /**
   * For a call its tool, for an entry its type, for an attempt its faculty; for told person or agent; for goes on and next continue or
   * retry.
   */
  name: z.string().nullable(),
  /**
   * For told, said and entry the words; for a call its input; for the end the summary or reason; for goes on the message; for next the
   * item's id.
   */
  text: z.string(),
  /**
   * For a call its status, for an attempt its outcome, for the end the state; for told the sender; for goes on and next who continued it.
   */
  status: z.string().nullable(),
  seconds: z.number().nullable(),
  /** Why a call, attempt or item failed; for goes on the id of the item that it continues. */
  error: z.string().nullable(),
});
export type Happened = z.infer<typeof happened>;

const facultyNeeds = z.object({
  name: z.string(),
  /** Null: work of all projects. */
  project: z.string().nullable(),
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

const savedFaculty = z.object({
  name: z.string(),
  /** Null: work of all projects. */
  project: z.string().nullable(),
  /** With every default filled in. */
  config: json,
  /** The database role. */
  saved_by: z.string().nullable(),
  created_at: z.string(),
});
export type SavedFaculty = z.infer<typeof savedFaculty>;

const kept = z.object({
  session_id: z.string(),
  project_key: z.string(),
  /** Null: it has not been read yet; its own process is about to do so. */
  work_item_id: z.string().nullable(),
  project: z.string().nullable(),
  description: z.string().nullable(),
  session_status: z.string().nullable(),
  entry_count: z.number(),
  unread_count: z.number(),
  agent_count: z.number(),
  problem: z.string().nullable(),
  updated_at: z.string(),
  age_seconds: z.number(),
  is_resumable: z.boolean(),
});
export type KeptSession = z.infer<typeof kept>;

function inStates(states: readonly string[] | null): FragmentSqlToken {
  if (states === null) return sql.fragment`true`;
  const wrong = unknownState(states);
  if (wrong !== null) throw new LedgerError('WL002', wrong, '', '');
  return sql.fragment`w.state = any (${sql.array(states, 'text')})`;
}

export const overview = (calls: Calls) => {
  const { call, run, one, named, invoked } = calls;
  return {
    /** The newest items in these states (null: any), of one project and of none. faculty: the one that works on it, or would. */
    workList: async (states: readonly string[] | null, project: string | null, limit: number) => {
      const names = await namesOf(calls, project);
      return run(
        () => sql.type(listed)`
      select ${itemColumns}, w.why, w.age_seconds
        from (${firstOf(names, sql.fragment`select * from ${named('v_work_list')} w where ${inStates(states)}`, newestFirst, limit)}) w
       order by w.created_at desc, w.work_item_id desc`,
      );
    },

    /** How many items of a project (null: of all) are running, and what they do. */
    underWay: async (project: string | null) => {
      const names = await namesOf(calls, project);
      const sums = ['under_way', 'model', 'tools', 'waits', 'paused', 'approvals'].map(
        (name) => sql.fragment`coalesce(sum(${sql.identifier([name])}), 0)::integer as ${sql.identifier([name])}`,
      );
      return one(
        () => sql.type(underWay)`
      select ${sql.join(sums, sql.fragment`, `)} from ${named('v_now_trees')} where ${isStoredAs(names)}`,
      );
    },

    /** How many of the newest 10,000 items are in other projects; 1000 means that many or more. */
    workCountBeyond: async (states: readonly string[] | null, project: string) => {
      const names = await namesOf(calls, project);
      return (
        await one(
          () => sql.type(z.object({ n: z.number() }))`
      select count(*)::int as n
        from (select
                from (select w.stored_project from ${named('v_work_list')} w where ${inStates(states)}
                       order by w.created_at desc, w.work_item_id desc limit 10000) w
               where not (${isStoredAs(names)}) limit 1000) w`,
        )
      ).n;
    },

    /** Sessions of other programs whose transcripts are kept, of one project and of none, most recently appended to first. */
    keptSessions: (project: string | null, limit: number) =>
      run(
        () => sql.type(kept)`
      select t.session_id, t.project_key, t.work_item_id, t.project, t.description, t.session_status, t.entry_count, t.unread_count, t.agent_count,
             t.problem, t.updated_at, t.age_seconds, t.is_resumable
        from ${named('v_transcripts')} t
       where ${isOf(invoked, project, 't.project')}
       order by t.updated_at desc, t.session_id limit ${limit}`,
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

    /** The newest `limit` events of a conversation, up to the end of an item, oldest first. */
    workLog: (workItemId: string, limit: number) =>
      run(
        () => sql.type(happened)`
      with newest as (
        select o.*
          from ${invoked('work_chain', [workItemId])} here
          join ${invoked('work_chain', [workItemId])} c on c.n <= here.n
         cross join lateral (
           select l.* from ${named('v_work_log')} l
            where l.work_item_id = c.work_item_id and (c.n = here.n or l.kind <> 'next') order by happened_at desc, rank desc, ordinal desc limit ${limit}) o
         where here.work_item_id = ${workItemId}::uuid
         order by happened_at desc, c.n desc, rank desc, ordinal desc limit ${limit})
      select happened_at as at, kind, iteration, name, text, status, seconds, error from newest order by happened_at, work_item_id, rank, ordinal`,
      ),

    /** The state of a work item, as its agent is told. */
    standing: (workItemId: string) => call('standing', [workItemId, null], z.string()),

    /** Failed calls, by tool and error, most frequent first. */
    failedCalls: (workItemId: string) =>
      run(
        () => sql.type(z.object({ tool: z.string(), says: z.string().nullable(), times: z.number() }))`
      select tool_name as tool, says, times from ${named('v_failed_calls')}
       where work_item_id = ${workItemId}::uuid order by times desc, first_at limit 5`,
      ),

    /** The faculty that works on an item, or would; null: none. */
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

    /** The live worker that drives an item at this moment, or keeps its tree. */
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

    faculties: () =>
      run(
        () => sql.type(savedFaculty)`
      select name, project, config, saved_by, created_at from ${named('v_faculties')} order by name, project`,
      ),

    /** What each current faculty requires of the machine where its items run. */
    facultyNeeds: () =>
      run(
        () => sql.type(facultyNeeds)`
      select name, project, config -> 'engage' as engage, saved_by, is_administered from ${named('v_faculties')} order by name, project`,
      ),
  };
};
