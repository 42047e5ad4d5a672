// The console's queries that show a work item as a conversation.

import { sql } from 'slonik';
import { z } from 'zod';

import { json } from './answers.ts';
import { figure, number, text } from './consoleShapes.ts';
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
  /** Length of the complete content. */
  chars: z.number().nullable(),
  /** For a recorded session: the content together with what its client put around it. */
  wrapped: text,
  /** JSON as it was given. */
  input: text,
  input_chars: z.number().nullable(),
  data: json.nullable(),
});
/** A block without an id only says where the next page begins. */
export type RunBlock = z.infer<typeof block>;

const failed = z.object({ id: z.string(), call_number: number, attempt: number, iteration: number, error: text, completed_at: text });
export type FailedRequest = z.infer<typeof failed>;

const times = z.object({
  submitted_at: z.string(),
  began_at: text,
  ended_at: text,
  queued_seconds: figure,
  seconds: figure,
  model_seconds: figure,
  tool_seconds: figure,
  waited_seconds: figure,
  asked_seconds: figure,
});
export type WorkTimes = z.infer<typeof times>;

export type RunWindow = {
  after?: string | null;
  before?: string | null;
  marks?: readonly string[] | null;
  query?: string | null;
  /** The block to return in full. */
  whole?: string | null;
};

/** The most characters of a block that are read for a page with many blocks. */
const MOST = 12_000;

export function consoleRun({ run, invoked, named }: Calls) {
  return {
    /** Ordered as in work_run(): after a position oldest first, before one newest first. */
    run: (workItemId: string, { after = null, before = null, marks = null, query = null, whole = null }: RunWindow, limit: number) =>
      run(
        () => sql.type(block)`
      select r."position", r.block_id as id, r.kind, r.source_id, r.happened_at, r.turn_id, r.who, r.name, r.status, r.mark,
             case when r.block_id = ${whole} then r.content else left(coalesce(r.data ->> 'said', r.content), ${MOST}) end as content,
             char_length(case when r.block_id = ${whole} then r.content else coalesce(r.data ->> 'said', r.content) end) as chars,
             case when r.data ? 'said' and r.block_id is distinct from ${whole} then left(r.content, ${MOST}) end as wrapped,
             case when r.block_id = ${whole} then r.input::text else left(r.input::text, ${4 * MOST}) end as input, char_length(r.input::text) as input_chars,
             r.data - 'said' as data
        from ${invoked('work_run', [workItemId, after, before, limit, marks && sql.array([...marks], 'text'), query])} r`,
      ),

    /** A request with its answer in full: text and calls, or the provider's error. */
    runOfTurn: (workItemId: string, turnId: string) =>
      run(
        () => sql.type(block)`
      select '' as position, r.block_id as id, r.kind, r.source_id, r.happened_at, r.turn_id, r.who, r.name, r.status, r.mark, left(r.content, ${4 * MOST}) as content, null::text as wrapped,
             char_length(r.content) as chars, left(r.input::text, ${4 * MOST}) as input, char_length(r.input::text) as input_chars, r.data
        from ${named('v_work_run')} r
       where r.work_item_id = ${workItemId}::uuid and r.turn_id = ${turnId}::uuid and r.kind in ('request', 'words', 'call')
       order by r.rank, r.ordinal`,
      ),

    /** The newest requests of an item that failed for good. */
    failedRequests: (workItemId: string) =>
      run(
        () => sql.type(failed)`
      select t.turn_id as id, t.call_number, t.attempt, t.iteration, left(t.error, 400) as error, t.completed_at
        from ${named('v_attempts')} f join ${named('v_turns')} t on t.focus_id = f.focus_id and t.status = 'failed'
       where f.work_item_id = ${workItemId}::uuid and t.turn_type = 'normal' order by t.turn_id desc limit 20`,
      ),

    /** The items with these ids, for the children in a conversation. */
    childrenAmong: (ids: readonly string[]) =>
      run(
        () => sql.type(z.object({ id: z.string(), description: z.string(), state: z.string(), outcome: text }))`
      select work_item_id as id, left(description, 200) as description, state, left(outcome, 300) as outcome
        from ${named('v_work_list')} where work_item_id = any (${sql.array([...ids], 'uuid')})`,
      ),

    /** When it was submitted, began and ended, and what took how long. */
    workTimes: async (workItemId: string) =>
      (
        await run(
          () => sql.type(times)`
      select submitted_at, began_at, ended_at, queued_seconds, seconds, model_seconds, tool_seconds, waited_seconds, asked_seconds
        from ${named('v_work_times')} where work_item_id = ${workItemId}::uuid`,
        )
      )[0] ?? null,

    hasLostWorker: async (workItemId: string) =>
      (
        await run(
          () => sql.type(z.object({ is_lost: z.boolean() }))`
      select exists (select from ${named('v_leases')} where work_item_id = ${workItemId}::uuid and is_expired) as is_lost`,
        )
      )[0]?.is_lost ?? false,

    image: async (hash: string) =>
      (
        await run(
          () => sql.type(z.object({ media_type: z.string(), content: z.string() }))`
      select media_type, content from ${named('v_images')} where artifact_hash = ${hash}`,
        )
      )[0] ?? null,
  };
}
