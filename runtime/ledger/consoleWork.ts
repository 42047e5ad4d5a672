// What the console reads of all work: what is under way, queued and over, workers, approvals, sessions that can be taken up.

import { sql } from 'slonik';
import type { FragmentSqlToken } from 'slonik';
import { z } from 'zod';

import { figure, firstOf, isOf, isStoredAs, namesOf, newestFirst, number, text, usageOf } from './consoleShapes.ts';
import type { Names, Project } from './consoleShapes.ts';
import { behind, behindColumns } from './lag.ts';
import type { Calls } from './pool.ts';

const shell = z.object({
  version: z.string(),
  is_read_only: z.boolean(),
  ...behind.shape,
  approvals: z.number(),
  open: z.number(),
  resumable: z.number(),
});
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

/** What `underWay` reads of v_now, here v. */
const underWayColumns = sql.fragment`
  v.work_item_id, v.parent_id, v.root_id, v.depth, v.work_type, v.description, v.state, v.state_reason, v.faculty, v.attempt, v.iteration, v.model, v.doing,
  v.waits_for, v.why, v.open_calls, v.last_step, v.last_words, v.context_tokens, v.context_window, v.compacts_at, v.tokens, v.cost, v.model_calls,
  v.worker_id, v.lease_expires_at, v.started_at, v.attempt_started_at, v.active_at, v.claims, v.claim_of`;

/** `tree_under_way`: items of its tree that are under way, shown or not; `trees`: all trees, shown or not. */
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

const ledgerInputs = z.object({ underWay: text, queue: text, over: text, asks: text, workers: text, written: text, newest: text });
export type LedgerInput = keyof z.infer<typeof ledgerInputs>;

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
const approval = z.object({
  tool_call_id: z.string(),
  work_item_id: z.string(),
  description: z.string(),
  tool_name: z.string(),
  risk: z.string(),
  effect: z.string(),
  input_json: text,
  size: z.number(),
  input_hash: z.string(),
  expires_at: z.string(),
  said: text,
});
const listed = z.object({
  id: z.string(),
  parent_id: text,
  work_type: z.string(),
  description: z.string(),
  faculty: text,
  state: z.string(),
  state_reason: text,
  created_at: z.string(),
  resolved_at: text,
  origin: text,
  outcome: text,
  seconds: figure,
  tokens: figure,
  cost: figure,
  turns: figure,
});
export type Listed = z.infer<typeof listed>;

const resumable = z.object({
  id: z.string(),
  description: z.string(),
  state: z.string(),
  state_reason: text,
  status: z.string(),
  faculty: text,
  work_type: z.string(),
  created_at: z.string(),
  turns: figure,
  tokens: figure,
});

const imported = z.object({ id: z.string(), description: z.string(), origin: text, model: text, turns: figure, tokens: figure });
/** `words`: in its description or outcome; `before`: in the order of `newest`, an item's id. */
type WorkFilter = {
  project: Project;
  state: string | null;
  type: string | null;
  faculty: string | null;
  origin: string | null;
  words: string | null;
  order: WorkOrder;
  before: string | null;
};
export const workOrders = ['newest', 'longest', 'dearest'] as const;
export type WorkOrder = (typeof workOrders)[number];
/** So many of the newest that match are put in another order: what took or cost how much is in no index. */
export const ORDERED = 1000;
const workOrder = {
  newest: sql.fragment`w.created_at desc, w.work_item_id desc`,
  longest: sql.fragment`l.seconds desc nulls last, w.created_at desc, w.work_item_id desc`,
  dearest: sql.fragment`u.cost desc nulls last, u.total_tokens desc nulls last, w.created_at desc, w.work_item_id desc`,
} satisfies Record<WorkOrder, FragmentSqlToken>;

/** What `listed` reads of v_work_list, v_usage and v_work_times, here w, u and l. */
const listedColumns = sql.fragment`
  w.work_item_id as id, w.parent_id, w.work_type, left(w.description, 300) as description, w.faculty, w.state, left(w.state_reason, 300) as state_reason,
  w.created_at, w.resolved_at, w.origin, left(w.outcome, 400) as outcome, l.seconds, u.total_tokens as tokens, u.cost, u.turns`;

export function consoleWork(calls: Calls) {
  const { run, one, named, invoked } = calls;
  const usage = usageOf(named);
  const times = sql.fragment`left join ${named('v_work_times')} l on l.work_item_id = w.work_item_id`;
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
    shell: async (project: Project) => {
      const names = await namesOf(calls, project);
      return one(
        () => sql.type(shell)`
      select ${invoked('work_ledger_version', [])} as version, pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as is_read_only, ${behindColumns},
             (select count(*)::int from (select from ${named('v_approvals')} where ${isStoredAs(names)} limit 1000) a) as approvals,
             (select count(*)::int from (select from ${named('v_work_list')} where resolved_at is null and state <> 'created' and ${isStoredAs(names)} limit 1000) o) as open,
             (select count(*)::int from (select from ${named('v_work_list')} where state in ('paused', 'dead') and ${isStoredAs(names)} limit 100) o) as resumable`,
      );
    },

    /** The same of the pages about all work. */
    ledgerInputs: () =>
      one(
        () => sql.type(ledgerInputs)`
      select under_way as "underWay", queued as queue, ended as over, approvals as asks, workers, written, newest from ${invoked('ledger_changes', [])}`,
      ),

    /** `trees` of them after `skipped`, those that wait for approval first, then the oldest; of each the first `items`, parents first. */
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

    /** Of the items that `underWay` shows those whose model is asked, and nothing else of them. */
    underWayAsked: async (page: UnderWayPage) => {
      const names = await namesOf(calls, page.project);
      return run(
        () => sql.type(z.object({ id: z.string() }))`
      with ${shownOf(page, names)}
      select s.work_item_id as id from shown s where s.doing = 'model' and s.nth <= ${page.items} order by s.place, s.nth`,
      );
    },

    /** All that is under way, in figures. */
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

    /** What it says of no item in particular is of every project. */
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

    /** Of all work, of a project's, of one item, or one call; with what the model said before it. `input_json`: null where it is longer than `longest`. */
    approvals: (
      workItemId: string | null,
      {
        project = null,
        toolCallId = null,
        longest = null,
      }: { project?: Project; toolCallId?: string | null; longest?: number | null } = {},
    ) =>
      run(
        () => sql.type(approval)`
      select a.tool_call_id, a.work_item_id, left(a.description, 300) as description, a.tool_name, a.risk, a.effect, a.input_hash, a.expires_at,
             length(i.json) as size, case when length(i.json) <= coalesce(${longest}::integer, length(i.json)) then i.json end as input_json,
             left(a.said, 1000) as said
        from ${named('v_approvals')} a
       cross join lateral (select a.input::text as json) i
       where (${workItemId}::uuid is null or a.work_item_id = ${workItemId}::uuid) and (${toolCallId}::uuid is null or a.tool_call_id = ${toolCallId}::uuid)
         and ${of(project, 'a.project')}
       order by a.requested_at limit 50`,
      ),

    lately: async (project: Project, limit: number) => {
      const names = await namesOf(calls, project);
      return run(
        () => sql.type(listed)`
      select ${listedColumns}
        from (${firstOf(
          names,
          sql.fragment`
            select * from ${named('v_work_list')} where resolved_at is not null and parent_id is null and work_type not in ('journal', 'import')`,
          sql.fragment`changed_at desc`,
          limit,
        )}) w
        ${times}
        ${usage}
       order by w.resolved_at desc`,
      );
    },

    workPage: async (filter: WorkFilter, limit: number) => {
      const names = await namesOf(calls, filter.project);
      return run(
        () => sql.type(listed)`
      select ${listedColumns}
        from (${firstOf(
          names,
          sql.fragment`
            select * from ${named('v_work_list')} w
             where (${filter.state}::text is null or w.state = ${filter.state} or (${filter.state} = 'open' and w.resolved_at is null))
               and (${filter.type}::text is null or w.work_type = ${filter.type})
               and (${filter.faculty}::text is null or w.faculty = ${filter.faculty})
               and (${filter.origin}::text is null or w.origin = ${filter.origin})
               and (${filter.words}::text is null or strpos(lower(concat_ws(' ', w.description, w.outcome)), lower(${filter.words})) > 0)
               and (${filter.before}::uuid is null
                    or (w.created_at, w.work_item_id) < (select b.created_at, b.work_item_id from ${named('v_work_list')} b where b.work_item_id = ${filter.before}::uuid))`,
          newestFirst,
          filter.order === 'newest' ? limit : ORDERED,
        )}) w
        ${times}
        ${usage}
       order by ${workOrder[filter.order]} limit ${limit}`,
      );
    },

    /** Paused, dead, failed or with an expired lease; without counting journals. */
    sessions: async (project: Project, limit: number) => {
      const names = await namesOf(calls, project);
      return run(
        () => sql.type(resumable)`
      select w.work_item_id as id, left(w.description, 300) as description, w.state, left(w.state_reason, 300) as state_reason, w.session_status as status,
             w.faculty, w.work_type, w.created_at, u.turns, u.total_tokens as tokens
        from (select * from (${firstOf(
          names,
          sql.fragment`
            select * from ${named('v_work_list')} where state in ('paused', 'dead') or (state = 'created' and work_type = 'journal')`,
          sql.fragment`created_at desc`,
          limit,
        )}) p
              union all
              select * from (select w.* from ${named('v_work_list')} w join ${named('v_leases')} l on l.work_item_id = w.work_item_id
                              where l.is_expired and ${isStoredAs(names)} limit ${limit}) e
              union all
              select * from (${firstOf(
                names,
                sql.fragment`select * from ${named('v_work_list')} where state = 'failed' and parent_id is null`,
                sql.fragment`created_at desc`,
                5,
              )}) g) w
        ${usage}
       order by w.created_at desc limit ${limit}`,
      );
    },

    imported: async (project: Project, before: string | null, limit: number) => {
      const names = await namesOf(calls, project);
      return run(
        () => sql.type(imported)`
      select w.work_item_id as id, left(w.description, 200) as description, w.origin, t.model, u.turns, u.total_tokens as tokens
        from (${firstOf(
          names,
          sql.fragment`
            select * from ${named('v_work_list')} w
             where w.work_type = 'import' and w.origin is not null and (${before}::uuid is null or w.work_item_id < ${before}::uuid)`,
          sql.fragment`work_item_id desc`,
          limit,
        )}) w
        left join lateral (select t.model from ${named('v_turns')} t where t.work_item_id = w.work_item_id order by t.turn_id desc limit 1) t on true
        ${usage}
       order by w.work_item_id desc`,
      );
    },

    faculties: (project: Project) =>
      run(
        () => sql.type(z.object({ name: z.string() }))`
      select distinct name from ${named('v_faculties')} where ${of(project, 'project')} order by name`,
      ),

    /** By their names of today, with the earlier ones. */
    projects: () =>
      run(
        () => sql.type(z.object({ project: z.string(), earlier_names: z.array(z.string()) }))`
      select project, earlier_names from ${named('v_projects')} order by project`,
      ),

    /** Whom a digest can be looked at as: the newest open items. */
    readers: async (project: Project, limit: number) => {
      const names = await namesOf(calls, project);
      return run(
        () => sql.type(z.object({ id: z.string(), description: z.string(), faculty: text }))`
      select work_item_id as id, left(description, 80) as description, faculty
        from (${firstOf(names, sql.fragment`select * from ${named('v_work_list')} where work_type <> 'import'`, newestFirst, limit)}) w
       order by created_at desc, work_item_id desc`,
      );
    },
  };
}
