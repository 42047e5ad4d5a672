// What the console reads of what is known: the search, findings, and who was told of them.

import { sql } from 'slonik';
import { z } from 'zod';

import { number, text } from './consoleShapes.ts';
import type { Calls } from './pool.ts';

const hit = z.object({
  position: z.string(), source: z.string(), work_item_id: text, entry_id: text, seq: number, entry_type: text, created_at: text, snippet: z.string(), description: text,
});

/** Null: any. */
export type Filter = { faculty: string | null; since: string | null };

export function consoleKnowledge({ rows, run, one, named }: Calls) {
  return {
    search: (query: string, before: string | null, limit: number, filter: Filter & { source: string | null }) =>
      rows('ledger_search', [query, before, limit, null, filter.source === null ? null : sql.array([filter.source], 'text'), filter.faculty, filter.since], hit),

    /** Another text when something was written that a search finds, as far as the newest of all that was written tells. */
    newestHit: async (query: string) => (await one(() => sql.type(z.object({ newest: text }))`
      with q as materialized (select ${named('_search_query')}(${query}) as words)
      select concat_ws('/',
               (select s.id from (select * from ${named('search_entries')} order by id desc limit 500) s, q where s.words @@ q.words order by s.id desc limit 1),
               (select w.id from (select id, resolved_at from ${named('work_items')} where state = 'completed' order by resolved_at desc limit 50) w
                  join ${named('search_entries')} s on s.id = w.id and s.source = 'outcome', q where s.words @@ q.words order by w.resolved_at desc limit 1)) as newest`)).newest ?? '',

    toldOfFindings: (limit: number) => run(() => sql.type(z.object({ work_item_id: z.string(), seq: z.number(), content: z.string(), readers: z.array(z.object({ id: z.string(), faculty: text, iteration: number })) }))`
      select l.work_item_id, l.seq, left(l.content, 300) as content, json_agg(json_build_object('id', r.work_item_id, 'faculty', r.faculty, 'iteration', t.iteration) order by a.shown_at) as readers
        from (select * from ${named('work_ledger')} where entry_type = 'finding' order by created_at desc limit 60) l
        join ${named('awareness_shown')} a on a.work_item_id = l.work_item_id and a.seq = l.seq
        join ${named('foci')} r on r.id = a.focus_id join ${named('turns')} t on t.id = a.turn_id
       group by 1, 2, 3, l.created_at order by l.created_at desc limit ${limit}`),

    findings: (type: string, before: string | null, limit: number, filter: Filter) => run(() => sql.type(z.object({ id: z.string(), work_item_id: z.string(), seq: z.number(), entry_type: z.string(), content: z.string(), created_at: z.string(), description: z.string() }))`
      select l.id, l.work_item_id, l.seq, l.entry_type, left(l.content, 1000) as content, l.created_at, left(w.description, 120) as description
        from ${named('work_ledger')} l join ${named('work_items')} w on w.id = l.work_item_id
       where l.entry_type = ${type} and not l.is_inherited and (${before}::timestamptz is null or l.created_at < ${before}::timestamptz)
         and (${filter.since}::timestamptz is null or l.created_at >= ${filter.since}::timestamptz) and (${filter.faculty}::text is null or ${named('_worked_by')}(w.id) = ${filter.faculty})
       order by l.created_at desc limit ${limit}`),
  };
}
