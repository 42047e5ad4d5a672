// The console's queries about all work: running, queued and finished items, workers, approvals, sessions that can be resumed.

import { sql } from 'slonik';
import type { FragmentSqlToken } from 'slonik';
import { z } from 'zod';

import { figure, firstOf, isOf, isStoredAs, namesOf, newestFirst, text, usageOf } from './consoleShapes.ts';
import type { Project } from './consoleShapes.ts';
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

const ledgerInputs = z.object({ underWay: text, queue: text, over: text, asks: text, workers: text, written: text, newest: text });
export type LedgerInput = keyof z.infer<typeof ledgerInputs>;
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
  seconds_left: z.number(),
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
/** `words`: in its description or outcome; `before`: an item's id, in the order of `newest`. */
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
/** Other orders sort only this many of the newest matches: no index holds how long items took or what they cost. */
export const ORDERED = 1000;

const workOrder = {
  newest: sql.fragment`w.created_at desc, w.work_item_id desc`,
  longest: sql.fragment`l.seconds desc nulls last, w.created_at desc, w.work_item_id desc`,
  dearest: sql.fragment`u.cost desc nulls last, u.total_tokens desc nulls last, w.created_at desc, w.work_item_id desc`,
} satisfies Record<WorkOrder, FragmentSqlToken>;

/** The columns of v_work_list, v_usage and v_work_times (aliases w, u and l) that `listed` reads. */
const listedColumns = sql.fragment`
  w.work_item_id as id, w.parent_id, w.work_type, left(w.description, 300) as description, w.faculty, w.state, left(w.state_reason, 300) as state_reason,
  w.created_at, w.resolved_at, w.origin, left(w.outcome, 400) as outcome, l.seconds, u.total_tokens as tokens, u.cost, u.turns`;

function inState(state: string | null): FragmentSqlToken {
  if (state === null) return sql.fragment`true`;
  return state === 'open' ? sql.fragment`w.resolved_at is null` : sql.fragment`w.state = ${state}`;
}

export function consoleWork(calls: Calls) {
  const { run, one, named, invoked } = calls;
  const usage = usageOf(named);
  const times = sql.fragment`left join ${named('v_work_times')} l on l.work_item_id = w.work_item_id`;
  const of = (project: Project, column: string) => isOf(invoked, project, column);
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

    /** Like `itemInputs`, for the pages about all work. */
    ledgerInputs: () =>
      one(
        () => sql.type(ledgerInputs)`
      select under_way as "underWay", queued as queue, ended as over, approvals as asks, workers, written, newest from ${invoked('ledger_changes', [])}`,
      ),

    /**
     * Approvals of all work, a project, one item or one call, with what the model said before the call. `input_json`: null if longer than
     * `longest`.
     */
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
      select a.tool_call_id, a.work_item_id, left(a.description, 300) as description, a.tool_name, a.risk, a.effect, a.input_hash,
             extract(epoch from a.expires_at - now())::float8 as seconds_left,
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
            select * from ${named('v_work_list')} where resolved_at > '-infinity' and parent_id is null and work_type not in ('journal', 'import')`,
          // Each is in an index: the ends of all work (later than -infinity), the changes of a project's.
          names === null ? sql.fragment`resolved_at desc` : sql.fragment`changed_at desc`,
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
             where ${inState(filter.state)}
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

    faculties: (project: Project) =>
      run(
        () => sql.type(z.object({ name: z.string() }))`
      select distinct name from ${named('v_faculties')} where ${of(project, 'project')} order by name`,
      ),

    /** By their current names, with their earlier ones. */
    projects: () =>
      run(
        () => sql.type(z.object({ project: z.string(), earlier_names: z.array(z.string()) }))`
      select project, earlier_names from ${named('v_projects')} order by project`,
      ),
  };
}
