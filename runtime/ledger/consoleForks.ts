// The console's queries about forks: where one could begin, which exist, and how two sessions differ.

import { sql } from 'slonik';
import { z } from 'zod';

import { figure, number, text } from './consoleShapes.ts';
import type { Calls } from './pool.ts';

const branch = z.object({
  branch: z.enum(['a', 'b']),
  session_label: z.string(),
  work_item_id: text,
  description: text,
  common_turn_id: text,
  common_depth: number,
  turns: number,
  model_calls: figure,
  tokens: figure,
  cost: figure,
  entry_count: figure,
  entries: z.array(z.object({ seq: z.number(), entry_type: z.string(), content: z.string(), created_at: z.string() })).nullable(),
  file_count: figure,
  files: z.array(z.object({ path: z.string(), actions: z.array(z.string()), calls: z.number() })).nullable(),
  calls: figure,
  failed_calls: figure,
  status: text,
  started_at: text,
  ended_at: text,
});
export type Branch = z.infer<typeof branch>;
const comparedCalls = z.array(z.object({ tool: z.string(), input: z.string(), is_error: z.boolean() })).nullable();
const comparedTurn = z.object({
  n: z.number(),
  is_same: z.boolean(),
  a_turn_id: text,
  a_says: text,
  a_calls: comparedCalls,
  b_turn_id: text,
  b_says: text,
  b_calls: comparedCalls,
});
export type ComparedTurn = z.infer<typeof comparedTurn>;
const fork = z.object({
  id: z.string(),
  description: z.string(),
  said: text,
  state: z.string(),
  session: z.string(),
  own_session: z.string(),
  depth: z.number(),
});

export function consoleForks({ rows, run, named }: Calls) {
  return {
    forkPoints: (workItemId: string, limit: number) =>
      run(
        () => sql.type(z.object({ turn_id: z.string(), depth: z.number(), reason: z.string(), context_tokens: number, entry: z.string() }))`
      select turn_id, depth, reason, context_tokens, left(entry, 300) as entry
        from (select distinct on (turn_id, reason) * from ${named('v_fork_points')} where work_item_id = ${workItemId}::uuid order by turn_id, reason, rank) p order by rank limit ${limit}`,
      ),

    forks: (workItemId: string) =>
      run(
        () => sql.type(fork)`
      select w.work_item_id as id, left(w.description, 200) as description,
             (select left(i.content, 200) from ${named('v_inbox')} i
               where i.work_item_id = w.work_item_id and i.kind = 'message' order by i.created_at limit 1) as said,
             w.state, w.session_label as session, t.session_label as own_session, t.depth
        from ${named('v_turns')} t join ${named('v_work_list')} w on w.fork_turn_id = t.turn_id
       where t.work_item_id = ${workItemId}::uuid and w.session_label is not null and t.session_label is not null
       order by w.created_at desc limit 20`,
      ),

    compare: (a: string, b: string) => rows('session_compare', [a, b], branch),

    compareTurns: (a: string, b: string, after: number, limit: number) => rows('session_compare_turns', [a, b, after, limit], comparedTurn),

    sessionOf: async (workItemId: string) =>
      (
        await run(
          () => sql.type(z.object({ label: text }))`
      select session_label as label from ${named('v_work_list')} where work_item_id = ${workItemId}::uuid`,
        )
      )[0]?.label ?? null,
  };
}
