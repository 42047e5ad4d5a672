// Spans of work, derived from its rows.

import { sql } from 'slonik';
import { z } from 'zod';

import { fallWindow, traceSpan, traceTaken } from './answers.ts';
import type { Calls } from './pool.ts';

/** In seconds since the item was submitted; `after`: the number of the row before the first; `limit` null: all. */
export type FallAsked = { from?: number | null; to?: number | null; after?: number; limit?: number | null };

export const traces = ({ call, values, run, invoked, named }: Calls) => ({
  workTrace: async (workItemId: string, withContent: boolean) =>
    (
      await run(
        () => sql.type(z.object({ span: traceSpan }))`select to_json(s) as span from ${invoked('work_trace', [workItemId, withContent])} s`,
      )
    ).map(({ span }) => span),

  /** The rows that overlap a period, with their sums. */
  workWaterfall: async (workItemId: string, { from = null, to = null, after = 0, limit = null }: FallAsked = {}) => {
    const [one] = await run(
      () => sql.type(z.object({ window: fallWindow }))`
      with falls as materialized (select * from ${invoked('work_waterfall', [workItemId])}),
           began as (select started_at as at from falls where n = 1),
           found as (
             select f.* from falls f, began b
              where (${to}::float8 is null or f.started_at <= b.at + make_interval(secs => ${to}::float8))
                and (${from}::float8 is null or f.started_at + make_interval(secs => f.seconds) >= b.at + make_interval(secs => ${from}::float8)))
      select json_build_object(
               'rows', (select coalesce(json_agg(r order by r.n), '[]') from (select * from found where n > ${after} order by n limit ${limit}::integer) r),
               'found', (select count(*) from found), 'all', (select count(*) from falls), 'root', (select f from falls f where f.n = 1),
               'kinds', (select coalesce(json_agg(k order by k.seconds desc), '[]') from (
                 select kind, count(*) as rows, sum(own_seconds) as seconds,
                        coalesce(sum(extract(epoch from critical_until - critical_from)), 0)::float8 as critical from falls group by kind) k)) as "window"`,
    );
    if (!one) throw new Error('no row');
    return one.window;
  },

  /** How long ago the item was submitted, in seconds, if its waterfall still grows; null: everything in it has ended. */
  waterfallGrows: async (workItemId: string) =>
    (
      await run(
        () => sql.type(z.object({ seconds: z.number() }))`
      select extract(epoch from now() - w.created_at)::float8 as seconds
        from ${named('v_work_list')} w
       where w.work_item_id = ${workItemId}::uuid
         and (exists (select from ${named('v_work_list')} o where o.root_id = w.root_id and o.resolved_at is null)
              or exists (select from ${named('v_work_list')} f join ${named('v_turns')} t on t.turn_id = f.fork_turn_id
                          where f.fork_turn_id is not null and f.resolved_at is null and t.work_item_id = w.work_item_id))`,
      )
    )[0]?.seconds ?? null,

  traceTake: (focusId: string, withContent: boolean) => call('trace_take', [focusId, withContent], traceTaken),

  /** Without `exported`: nothing has been exported. */
  traceRecord: (focusId: string, exported?: { iteration: number; isDone: boolean }) =>
    call('trace_record', [focusId, exported?.iteration ?? 0, exported?.isDone ?? false], z.unknown()),

  traceDue: () => values('trace_due', [], z.string()),
});
