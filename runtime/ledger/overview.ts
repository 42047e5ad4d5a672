// What people look at: lists of work, what one item does now, what happened in it.

import { sql } from 'slonik';
import { z } from 'zod';

import { countedItem } from './answers.ts';
import type { Calls } from './pool.ts';

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
  kind: z.enum(['said', 'call', 'entry']),
  iteration: z.number().nullable(),
  /** Of a call its tool, of an entry its type. */
  name: z.string().nullable(),
  /** What was said or entered; of a call its input. */
  text: z.string(),
  status: z.string().nullable(),
  seconds: z.number().nullable(),
  /** Of a failed call. */
  error: z.string().nullable(),
});
export type Happened = z.infer<typeof happened>;

const facultyNeeds = z.object({
  name: z.string(),
  saved_by: z.string().nullable(),
  is_administered: z.boolean(),
  engage: z.looseObject({
    workspace: z.string(), workspace_dir: z.string().nullable(), workspace_image: z.string(), tools: z.array(z.string()), code_execution: z.boolean(), code_execution_image: z.string(),
    base_url: z.string().nullish(), api_key_env: z.string().nullish(),
  }),
});
export type FacultyNeeds = z.infer<typeof facultyNeeds>;

export const overview = ({ run, one, named, invoked }: Calls) => ({
  /** The newest items, of these states if any are named; faculty: the one that drives it, or would take it. */
  workList: (states: readonly string[] | null, limit: number) =>
    run(() => sql.type(listed)`
      select w.*, r.faculty, e.ledger_count, q.why, extract(epoch from ${named('_now')}() - w.created_at)::float8 as age_seconds
        from (select * from ${named('work_items')}
               where ${states === null ? sql.fragment`true` : sql.fragment`state = any (${sql.array(states, 'text')})`}
               order by created_at desc, id desc limit ${limit}) w
        join ${named('fences')} e on e.work_item_id = w.id
        left join ${named('foci')} f on f.work_item_id = w.id and f.attempt = w.attempts
        cross join lateral (select coalesce(f.faculty, w.faculty, (${invoked('_faculty_for', [null, sql.fragment`w.work_type`])}).name) as faculty) r
        left join ${named('v_queue')} q on q.work_item_id = w.id and q.waits_for <> 'worker'
       order by w.created_at desc, w.id desc`),

  /** What a work item does now, and what it waits for. */
  workNow: async (workItemId: string) =>
    (await run(() => sql.type(now)`
      select w.state, n.doing, coalesce(n.waits_for, q.waits_for) as waits_for, coalesce(n.why, q.why) as why, n.iteration, n.tokens, n.open_calls,
             extract(epoch from ${named('_now')}() - n.active_at)::float8 as seconds, n.tree_items
        from ${named('work_items')} w
        left join ${named('v_now')} n on n.work_item_id = w.id
        left join ${named('v_queue')} q on q.work_item_id = w.id
       where w.id = ${workItemId}::uuid`))[0] ?? null,

  /** What was said, called and entered, the newest `limit` of it, the oldest first. */
  workLog: (workItemId: string, limit: number) =>
    run(() => sql.type(happened)`
      with happened as (
        select t.completed_at as at, 0 as place, t.id as turn_id, 0 as ordinal, 'said' as kind, t.iteration, null as name, x.text, null as status, null::float8 as seconds, null as error
          from ${named('turns')} t cross join lateral (select ${invoked('_response_text', [sql.fragment`t.id`])} as text) x
         where t.work_item_id = ${workItemId}::uuid and t.status = 'completed' and t.turn_type = 'normal' and x.text is not null
        union all
        select coalesce(k.completed_at, k.started_at, k.created_at), 1, k.turn_id, k.ordinal, 'call', t.iteration, k.tool_name, k.input::text, k.status,
               extract(epoch from k.completed_at - k.started_at)::float8, case when k.status = 'failed' then ${invoked('_result_text', [sql.fragment`k.result`])} end
          from ${named('tool_calls')} k left join ${named('turns')} t on t.id = k.turn_id
         where k.work_item_id = ${workItemId}::uuid and k.tool_name <> 'ledger_append'
        union all
        select l.created_at, 2, null, l.seq, 'entry', null, l.entry_type, l.content, null, null, null
          from ${named('work_ledger')} l where l.work_item_id = ${workItemId}::uuid),
      newest as (select * from happened order by at desc, place desc, ordinal desc limit ${limit})
      select at, kind, iteration, name, text, status, seconds, error from newest order by at, place, ordinal`),

  /** Calls that failed, by tool and first line of what they said, most first. */
  failedCalls: (workItemId: string) =>
    run(() => sql.type(z.object({ tool: z.string(), says: z.string().nullable(), times: z.number() }))`
      select k.tool_name as tool, x.says, count(*) as times
        from ${named('tool_calls')} k
        cross join lateral (select ${invoked('_one_line', [sql.fragment`${named('_result_text')}(k.result)`, sql.fragment`300`])} as says) x
       where k.work_item_id = ${workItemId}::uuid and k.status = 'failed'
       group by k.tool_name, x.says
       order by count(*) desc, min(k.created_at)
       limit 5`),

  /** The faculty that drives an item, or would take it; null: none does. */
  facultyOf: async (workItemId: string) =>
    (await one(() => sql.type(z.object({ name: z.string().nullable() }))`
      select coalesce(f.faculty, (${invoked('_faculty_for', [sql.fragment`w.faculty`, sql.fragment`w.work_type`])}).name) as name
        from ${named('work_items')} w left join ${named('foci')} f on f.id = w.focus_id where w.id = ${workItemId}::uuid`)).name,

  rootOf: async (workItemId: string) => (await one(() => sql.type(z.object({ id: z.string() }))`select root_id as id from ${named('work_items')} where id = ${workItemId}::uuid`)).id,

  /** The living worker that drives an item at this moment, or keeps its tree. */
  driverOf: async (workItemId: string) =>
    (await run(() => sql.type(z.object({ host: z.string(), pid: z.number() }))`
      select k.host, k.pid from ${named('work_items')} w
        left join ${named('foci')} f on f.id = w.focus_id
        join ${named('v_workers')} k on k.is_alive and (k.tree_id = w.root_id or k.id = f.lease_owner and f.lease_expires_at > ${named('_now')}())
       where w.id = ${workItemId}::uuid limit 1`))[0] ?? null,

  /** What each current faculty needs of the machine that its items are worked on at. */
  facultyNeeds: () =>
    run(() => sql.type(facultyNeeds)`
      select name, config -> 'engage' as engage, saved_by, ${invoked('_administers', [sql.fragment`saved_by`])} as is_administered from ${named('faculties')} where is_current order by name`),
});
