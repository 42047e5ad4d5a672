// The console's queries about current activity: running work, the queue, workers and slots.

import { sql } from 'slonik';
import { z } from 'zod';

import { figure, isOf, isStoredAs, namesOf, number, text } from './consoleShapes.ts';
import type { Names, Project } from './consoleShapes.ts';
import type { Calls } from './pool.ts';

const openCall = z.object({ id: z.string(), tool: z.string(), status: z.string(), label: text, started_at: text });
export const underWay = z.object({
  work_item_id: z.string(),
  parent_id: text,
  root_id: z.string(),
  depth: z.number(),
  work_type: z.string(),
  description: z.string(),
  state: z.string(),
  state_reason: text,
  faculty: text,
  attempt: number,
  iteration: number,
  model: text,
  doing: text,
  waits_for: text,
  why: text,
  open_calls: z.array(openCall).nullable(),
  last_step: text,
  last_words: text,
  context_tokens: figure,
  context_window: figure,
  compacts_at: figure,
  tokens: figure,
  cost: figure,
  model_calls: figure,
  worker_id: text,
  lease_expires_at: text,
  started_at: text,
  attempt_started_at: text,
  active_at: text,
  claims: z.number(),
  claim_of: text,
});
export type UnderWay = z.infer<typeof underWay>;
/** The columns of v_now (alias v) that `underWay` reads. */
const underWayColumns = sql.fragment`
  v.work_item_id, v.parent_id, v.root_id, v.depth, v.work_type, v.description, v.state, v.state_reason, v.faculty, v.attempt, v.iteration, v.model, v.doing,
  v.waits_for, v.why, v.open_calls, v.last_step, v.last_words, v.context_tokens, v.context_window, v.compacts_at, v.tokens, v.cost, v.model_calls,
  v.worker_id, v.lease_expires_at, v.started_at, v.attempt_started_at, v.active_at, v.claims, v.claim_of`;

/** `tree_under_way`: running items in its tree, shown or not; `trees`: all trees, shown or not. */
const underWayOfTree = underWay.extend({ tree_under_way: z.number(), trees: z.number() });
export type UnderWayOfTree = z.infer<typeof underWayOfTree>;
export type UnderWayPage = { project: Project; trees: number; skipped: number; items: number };
const underWaySums = z.object({
  trees: z.number(),
  under_way: z.number(),
  model: z.number(),
  waits: z.number(),
  tokens: figure,
  cost: figure,
});

const queued = z.object({
  work_item_id: z.string(),
  description: z.string(),
  work_type: z.string(),
  faculty: text,
  priority: z.number(),
  attempts: z.number(),
  run_at: z.string(),
  waits_for: text,
  why: text,
});

const slots = z.object({ faculty: z.string(), project: text, slots: number, used: z.number(), free: number, queued: z.number() });
const worker = z.object({
  project: text,
  id: z.string(),
  host: z.string(),
  pid: z.number(),
  version: z.string(),
  concurrency: number,
  busy: z.number(),
  is_alive: z.boolean(),
  seen_at: text,
  lease_ends_at: text,
});

const finding = z.object({
  severity: z.enum(['error', 'warning', 'fine']),
  code: z.string(),
  work_item_id: text,
  says: z.string(),
  remedy: text,
});

export function consoleNow(calls: Calls) {
  const { run, one, named, invoked } = calls;
  const of = (project: Project, column: string) => isOf(invoked, project, column);
  const shownOf = ({ trees, skipped }: UnderWayPage, names: Names) => sql.fragment`
      trees as materialized (
             select root_id, under_way, row_number() over (order by approvals > 0 desc, began_at, root_id) as place, count(*) over ()::integer as trees
               from ${named('v_now_trees')} where ${isStoredAs(names)} order by place limit ${trees} offset ${skipped}),
           shown as materialized (
             select d.work_item_id, d.doing, t.place, t.under_way, t.trees,
                    row_number() over (partition by t.root_id order by d.depth, d.started_at nulls last, d.work_item_id) as nth
               from trees t join ${named('v_under_way')} d using (root_id))`;
  return {
    /**
     * `trees` trees after the first `skipped`: those that wait for approval first, then the oldest. Of each tree the first `items`, parents
     * first.
     */
    underWay: async (page: UnderWayPage) => {
      const names = await namesOf(calls, page.project);
      return run(
        () => sql.type(underWayOfTree)`
      with ${shownOf(page, names)}
      select n.*, s.under_way as tree_under_way, s.trees
        from shown s
       cross join lateral (
         select ${underWayColumns} from ${named('v_now')} v where v.work_item_id = s.work_item_id offset 0) n
       where s.nth <= ${page.items}
       order by s.place, s.nth`,
      );
    },

    /** Those of the items shown by `underWay` whose model is being called; nothing else is read about them. */
    underWayAsked: async (page: UnderWayPage) => {
      const names = await namesOf(calls, page.project);
      return run(
        () => sql.type(z.object({ id: z.string() }))`
      with ${shownOf(page, names)}
      select s.work_item_id as id from shown s where s.doing = 'model' and s.nth <= ${page.items} order by s.place, s.nth`,
      );
    },

    /** Sums over all running work. */
    underWaySums: (project: Project) =>
      one(
        () => sql.type(underWaySums)`
      select trees, under_way, model, waits, tokens, cost from ${project === null ? named('v_now_sums') : invoked('now_sums', [project])}`,
      ),

    underWayOf: async (workItemId: string) =>
      (
        await run(() => sql.type(underWay)`select ${underWayColumns} from ${named('v_now')} v where v.work_item_id = ${workItemId}::uuid`)
      )[0] ?? null,

    queue: async (project: Project, limit: number) => {
      const names = await namesOf(calls, project);
      return run(
        () => sql.type(queued)`
      select work_item_id, description, work_type, faculty, priority, attempts, run_at, waits_for, why from ${named('v_queue')}
       where ${isStoredAs(names)} order by priority desc, run_at limit ${limit}`,
      );
    },

    slots: (project: Project) =>
      run(() => sql.type(slots)`select * from ${named('v_slots')} where ${of(project, 'project')} order by used desc, faculty`),

    workers: (project: Project) =>
      run(
        () => sql.type(worker)`
      select * from ${named('v_workers')} where ${of(project, 'project')} order by is_alive desc, started_at limit 50`,
      ),

    models: () =>
      run(
        () => sql.type(z.object({ name: z.string(), ends_at: text, reason: text }))`
      select model as name, cooldown_ends_at as ends_at, cooldown_reason as reason from ${named('v_models')}
       where sample_count > 0 or cooldown_ends_at is not null order by cooldown_ends_at nulls last, updated_at desc limit 12`,
      ),

    /** Findings that concern no particular item belong to every project. */
    doctor: (project: Project) =>
      run(
        () => sql.type(finding)`
      select d.* from ${invoked('work_ledger_doctor', [])} d
       where ${
         project === null
           ? sql.fragment`true`
           : sql.fragment`(d.work_item_id is null or exists (
               select from ${named('v_work_list')} w where w.work_item_id = d.work_item_id and ${of(project, 'w.project')}))`
       }`,
      ),
  };
}
