// The console's queries about a conversation: its calls as a timeline, the same under another policy, and requests part by part.

import { sql } from 'slonik';
import { z } from 'zod';

import { storableJson } from '../../plv8/storable.ts';
import { figure, number, text } from './consoleShapes.ts';
import type { Calls } from './pool.ts';

const mark = z.looseObject({
  kind: z.string(),
  trigger: z.string().nullish(),
  blocks: z.string().nullish(),
  tokens_elided: figure.optional(),
  stub_tokens: figure.optional(),
  kept_tokens: figure.optional(),
  tokens_kept: figure.optional(),
  breaks_even_after: figure.optional(),
});

const column = z.object({
  turn_id: z.string(),
  n: z.number(),
  attempt: number,
  iteration: number,
  block: number,
  model: text,
  status: text,
  started_at: text,
  system: number,
  tools: number,
  task: number,
  digest: number,
  stubs: number,
  kept: number,
  closed: number,
  words: number,
  results: number,
  people: number,
  engine: number,
  sent: z.number(),
  said: z.number(),
  cut: z.number(),
  cached_tokens: number,
  written_tokens: number,
  new_tokens: number,
  output_tokens: number,
  marks: z.array(mark).nullable(),
});
export type ContextColumn = z.infer<typeof column>;

/**
 * Neighbouring calls as one column. The parts are those of its largest request; counts and sums cover all its calls. n, last: its first and
 * last call. Marks carry the number of their call. is_recorded: replayed from a recording whose provider counted the recorded request.
 */
const bucket = column.extend({
  last: z.number(),
  sent_sum: z.number(),
  said_sum: z.number(),
  is_recorded: z.boolean(),
  marks: z.array(mark.extend({ n: z.number() })),
});
export type ContextBucket = z.infer<typeof bucket>;

const requestPart = z.object({
  call: number,
  part: z.string(),
  role: text,
  iteration: number,
  block: number,
  tokens: z.number(),
  content: text,
  cache: text,
  why: text,
  turn_id: text,
});
export type RequestPart = z.infer<typeof requestPart>;

const because = z.object({
  kind: z.enum(['quote', 'held', 'fork', 'cut']),
  part: z.string(),
  says: text,
  quote: text,
  parts: number,
  tokens: number,
  turn_id: text,
  call_id: text,
  work_item_id: text,
  entry_seq: number,
  person: text,
});
export type Because = z.infer<typeof because>;

const turnOptions = z.object({
  thinking: text,
  effort: text,
  temperature: number,
  top_p: number,
  tool_choice: text,
  cache_ttl: z.string(),
  service_tier: text,
  betas: z.array(z.string()).nullable(),
});
export type TurnOptions = z.infer<typeof turnOptions>;

export function consoleContext({ call, run, named, invoked }: Calls) {
  return {
    /**
     * Calls from..to of a session, `each` of them per column. A cut is never averaged away. policy: as the calls would have been under it;
     * null: as they were.
     */
    timeline: (session: string, from: number, to: number, each: number, policy: object | null = null) =>
      run(
        () => sql.type(bucket)`
      with c as materialized (
             select c.*, (c.n - ${from}::int) / ${each}::int as bucket
               from ${invoked('context_timeline', [
                 session,
                 sql.fragment`${policy === null ? null : storableJson(policy)}::jsonb`,
                 invoked('session_turn_at', [session, from - 1]),
                 to - from + 1,
               ])} c),
           largest as (select distinct on (bucket) * from c order by bucket, sent desc, n),
           marked as (select c.bucket, json_agg(m.mark || jsonb_build_object('n', c.n) order by c.n) as marks from c cross join lateral jsonb_array_elements(c.marks) m(mark) group by 1)
      select l.turn_id, g.n, l.attempt, l.iteration, l.block, l.model, l.status, l.started_at, l.system, l.tools, l.task, l.digest, l.stubs, l.kept, l.closed, l.words, l.results, l.people, l.engine,
             l.sent, g.said, g.cut, g.cached_tokens, g.written_tokens, g.new_tokens, g.output_tokens, g.last, g.sent_sum, g.said_sum,
             ${policy === null} and exists (select from ${named('v_turns')} t where t.turn_id = l.turn_id and t.provider = 'replay') as is_recorded, coalesce(k.marks, '[]') as marks
        from largest l
        left join marked k using (bucket)
        join (select bucket, min(n) as n, max(n) as last, (array_agg(said order by n desc))[1] as said, (array_agg(cut order by n desc))[1] as cut, sum(cached_tokens)::int as cached_tokens,
                     sum(written_tokens)::int as written_tokens, sum(new_tokens)::int as new_tokens, sum(output_tokens)::int as output_tokens, sum(sent)::float8 as sent_sum, sum(said)::float8 as said_sum
                from c group by bucket) g using (bucket)
       order by g.n`,
      ),

    /** How many model calls a session has had, or the number of one of its turns. */
    callCount: async (session: string) =>
      (
        await run(
          () => sql.type(z.object({ n: z.number() }))`
      select t.call_number as n from ${named('v_sessions')} s join ${named('v_turns')} t on t.turn_id = s.head_turn_id
       where s.label = ${session} and t.call_number is not null limit 1`,
        )
      )[0]?.n ?? 0,

    callNumber: async (turnId: string) =>
      (
        await run(
          () => sql.type(z.object({ n: z.number() }))`
      select call_number as n from ${named('v_turns')} where turn_id = ${turnId}::uuid and call_number is not null`,
        )
      )[0]?.n ?? null,

    /** Covers only the `limit` calls after call `after`; null: from the beginning, or to the end. */
    requestParts: (turnId: string, after: number | null, limit: number | null) =>
      run(() => sql.type(requestPart)`select * from ${invoked('context_parts', [turnId, after, limit])} order by n`),

    /** What the turn's request contained that led to its answer, or to one call in it. */
    because: (turnId: string, toolCallId: string | null) =>
      run(() => sql.type(because)`select * from ${invoked('work_because', [turnId, toolCallId])}`),

    turnOptions: async (turnId: string) =>
      (
        await run(
          () => sql.type(turnOptions)`
      select thinking, effort, temperature::float8 as temperature, top_p::float8 as top_p, tool_choice, cache_ttl, service_tier, betas from ${named('v_turn_options')} where turn_id = ${turnId}::uuid`,
        )
      )[0] ?? null,

    recallBlock: (workItemId: string, block: number) => call('recall_block', [workItemId, block], z.string()),
  };
}
