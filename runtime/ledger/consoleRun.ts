// What the console reads of a work item as the conversation that it was.

import { sql } from 'slonik';
import { z } from 'zod';

import { json } from './answers.ts';
import { text } from './consoleShapes.ts';
import type { Calls } from './pool.ts';

const block = z.object({
  position: z.string(),
  id: text,
  kind: text,
  source_id: text,
  happened_at: text,
  turn_id: text,
  who: text,
  name: text,
  status: text,
  mark: text,
  content: text,
  /** Of the whole content. */
  chars: z.number().nullable(),
  /** JSON, as it was given. */
  input: text,
  input_chars: z.number().nullable(),
  data: json.nullable(),
});
/** One without an id only says where the next page begins. */
export type RunBlock = z.infer<typeof block>;

export type RunWindow = {
  after?: string | null;
  before?: string | null;
  marks?: readonly string[] | null;
  query?: string | null;
  /** The block that is wanted whole. */
  whole?: string | null;
};

/** So much of a block's words is read for a page that shows many. */
const MOST = 12_000;

export function consoleRun({ run, invoked, named }: Calls) {
  return {
    /** In the order in which work_run() has them: after a position oldest first, before one newest first. */
    run: (workItemId: string, { after = null, before = null, marks = null, query = null, whole = null }: RunWindow, limit: number) =>
      run(
        () => sql.type(block)`
      select r."position", r.block_id as id, r.kind, r.source_id, r.happened_at, r.turn_id, r.who, r.name, r.status, r.mark,
             case when r.block_id = ${whole} then r.content else left(r.content, ${MOST}) end as content, char_length(r.content) as chars,
             case when r.block_id = ${whole} then r.input::text else left(r.input::text, ${4 * MOST}) end as input, char_length(r.input::text) as input_chars,
             r.data
        from ${invoked('work_run', [workItemId, after, before, limit, marks && sql.array([...marks], 'text'), query])} r`,
      ),

    /** The children of an item that are among these. */
    childrenAmong: (ids: readonly string[]) =>
      run(
        () => sql.type(z.object({ id: z.string(), description: z.string(), state: z.string(), outcome: text }))`
      select work_item_id as id, left(description, 200) as description, state, left(outcome, 300) as outcome
        from ${named('v_work_list')} where work_item_id = any (${sql.array([...ids], 'uuid')})`,
      ),

    image: async (hash: string) =>
      (
        await run(
          () => sql.type(z.object({ media_type: z.string(), content: z.string() }))`
      select media_type, content from ${named('v_images')} where artifact_hash = ${hash}`,
        )
      )[0] ?? null,
  };
}
