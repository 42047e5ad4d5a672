// The console's queries about sessions: those that can be resumed, those of other programs, which agents were told what.

import { sql } from 'slonik';
import { z } from 'zod';

import { figure, firstOf, isStoredAs, namesOf, newestFirst, text, usageOf } from './consoleShapes.ts';
import type { Project } from './consoleShapes.ts';
import type { Calls } from './pool.ts';

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
export function consoleSessions(calls: Calls) {
  const { run, named } = calls;
  const usage = usageOf(named);
  return {
    /** Paused, dead, failed or with an expired lease. Does not count journals. */
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

    /** The newest open items, whose digests can be viewed. */
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
