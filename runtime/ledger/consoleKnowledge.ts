// The console's queries about knowledge: the search, findings, and which agents were told of them.

import { sql } from 'slonik';
import { z } from 'zod';

import { firstOf, namesOf, number, text } from './consoleShapes.ts';
import type { Project } from './consoleShapes.ts';
import type { Calls } from './pool.ts';

const told = z.object({
  work_item_id: z.string(),
  seq: z.number(),
  content: z.string(),
  readers: z.array(z.object({ id: z.string(), faculty: text, iteration: number })),
});
const found = z.object({
  id: z.string(),
  work_item_id: z.string(),
  seq: z.number(),
  entry_type: z.string(),
  content: z.string(),
  created_at: z.string(),
  description: z.string(),
});

/** Null: no restriction. */
export type Filter = { project: Project; faculty: string | null; since: string | null };

export function consoleKnowledge(calls: Calls) {
  const { call, run, named } = calls;
  return {
    /** A text that differs after something was written that the search finds, judged by the newest of everything written. */
    newestHit: (query: string) => call('ledger_search_newest', [query], z.string()),

    /** Those of the newest findings that at least one agent was told of. */
    toldOfFindings: async (project: Project, limit: number) => {
      const names = await namesOf(calls, project);
      return run(
        () => sql.type(told)`
      select work_item_id, seq, left(content, 300) as content, readers
        from (${firstOf(names, sql.fragment`select * from ${named('v_findings_told')} where not is_inherited`, sql.fragment`created_at desc`, 60)}) f
       where readers is not null order by created_at desc limit ${limit}`,
      );
    },

    findings: async (type: string, before: string | null, limit: number, filter: Filter) => {
      const names = await namesOf(calls, filter.project);
      return run(
        () => sql.type(found)`
      select l.entry_id as id, l.work_item_id, l.seq, l.entry_type, left(l.content, 1000) as content, l.created_at, left(w.description, 120) as description
        from (${firstOf(
          names,
          sql.fragment`
            select l.* from ${named('v_ledger')} l
             where l.entry_type = ${type} and not l.is_inherited and (${before}::timestamptz is null or l.created_at < ${before}::timestamptz)
               and (${filter.since}::timestamptz is null or l.created_at >= ${filter.since}::timestamptz)
               and (${filter.faculty}::text is null
                    or (select f.faculty from ${named('v_work_list')} f where f.work_item_id = l.work_item_id) = ${filter.faculty})`,
          sql.fragment`created_at desc`,
          limit,
        )}) l
        join ${named('v_work_list')} w on w.work_item_id = l.work_item_id
       order by l.created_at desc`,
      );
    },
  };
}
