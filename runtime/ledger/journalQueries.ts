// The journal's functions, typed.

import { randomUUID } from 'node:crypto';

import { sql } from 'slonik';
import type { QuerySqlToken } from 'slonik';
import { z } from 'zod';

import { storableJson } from '../../plv8/storable.ts';
import { checkpoint, journalEntry, journalSession, json, resumableSession, resumptionContext } from './answers.ts';

type Run = <Schema extends z.ZodType>(query: () => QuerySqlToken<Schema>) => Promise<readonly z.output<Schema>[]>;

/** `run` repeats a query whose connection broke, so that what writes has an id of its own. */
export function journalQueries(run: Run, fn: (name: string) => ReturnType<typeof sql.identifier>) {
  const sessionOf = sql.fragment`
    s.id, s.conversation_id as "conversationId", s.original_prompt as "originalPrompt", s.status, ${fn('_ms')}(s.created_at) as "createdAt",
    ${fn('_ms')}(s.updated_at) as "updatedAt", ${fn('_ms')}(s.completed_at) as "completedAt", s.token_estimate as "tokenEstimate", s.entry_count as "entryCount"`;
  const checkpointOf = sql.fragment`
    c.id, c.work_item_id as "sessionId", ${fn('_ms')}(c.created_at) as "createdAt", c.trigger, c.trigger = 'manual' as manual, c.summary, c.key_decisions as "keyDecisions", c.current_state as "currentState",
    c.files_modified as "filesModified", c.pending_actions as "pendingActions"`;
  const entryOf = sql.fragment`
    j.id, j.session_id as "sessionId", j.sequence_num as "sequenceNum", j.entry_type as "entryType", ${fn('_ms')}(j.created_at) as timestamp, j.content, j.token_estimate as "tokenEstimate", j.importance`;
  const first = async <Schema extends z.ZodType>(query: () => QuerySqlToken<Schema>): Promise<z.output<Schema> | null> => (await run(query))[0] ?? null;
  async function one<Schema extends z.ZodType>(query: () => QuerySqlToken<Schema>): Promise<z.output<Schema>> {
    const row = await first(query);
    if (row === null) throw new Error('the ledger returned no row');
    return row;
  }
  const text = z.object({ value: z.string() });

  return {
    sessionCreate: async (conversationId: string, originalPrompt: string) => {
      const id = randomUUID();
      await run(() => sql.type(z.unknown())`select id from ${fn('journal_session_create')}(${conversationId}, ${originalPrompt}, p_id => ${id}::uuid)`);
      return one(() => sql.type(journalSession)`select ${sessionOf} from ${fn('work_sessions')} s where s.id = ${id}::uuid`);
    },

    sessionOpen: async (conversationId: string, originalPrompt: string) => {
      const opened = await one(() => sql.type(text)`select id as value from ${fn('journal_session_open')}(${conversationId}, ${originalPrompt})`);
      return opened.value;
    },

    session: (sessionId: string) => first(() => sql.type(journalSession)`select ${sessionOf} from ${fn('work_sessions')} s where s.id = ${sessionId}::uuid`),

    sessionActive: (conversationId: string) =>
      first(() => sql.type(journalSession)`select ${sessionOf} from ${fn('work_sessions')} s where s.id = (select id from ${fn('journal_session_active')}(${conversationId}))`),

    sessionStatus: (sessionId: string, status: string) => run(() => sql.type(z.unknown())`select id from ${fn('journal_session_status')}(${sessionId}::uuid, ${status})`),

    log: async (sessionId: string, entryType: string, content: object, importance: string) => {
      const id = randomUUID();
      const { at } = await one(() => sql.type(z.object({ at: z.string() }))`
        select created_at as at from ${fn('journal_log')}(${sessionId}::uuid, ${entryType}, ${storableJson(content)}::jsonb, ${importance}, ${id}::uuid)`);
      return one(() => sql.type(journalEntry)`
        select ${entryOf} from ${fn('journal_read')}(${sessionId}::uuid, ${at}::timestamptz) j where j.id = ${`${entryType}/${id}`}`);
    },

    read: (sessionId: string, since: number, limit: number | null, importance: readonly string[] | null) =>
      run(() => sql.type(journalEntry)`
        select ${entryOf} from ${fn('journal_read')}(${sessionId}::uuid, to_timestamp(${since} / 1000.0), ${limit}::integer, ${importance === null ? null : sql.array(importance, 'text')}::text[]) j`),

    /** Of the database, in milliseconds: what is written from now on is not older. */
    now: async () => (await one(() => sql.type(z.object({ value: z.number() }))`select ${fn('_ms')}(${fn('_now')}()) as value`)).value,

    heartbeat: (sessionId: string) => run(() => sql.type(z.unknown())`select ${fn('journal_heartbeat')}(${sessionId}::uuid)::text`),

    resumable: (conversationId: string | null, targetTokens: number) =>
      run(() => sql.type(resumableSession)`
        select ${sessionOf}, s.packet from ${fn('work_sessions_resumable')}(${conversationId}, ${targetTokens}) s`),

    checkpointCreate: (sessionId: string, trigger: 'manual' | 'automatic') =>
      one(() => sql.type(checkpoint)`select ${checkpointOf} from ${fn('checkpoint_create')}(${sessionId}::uuid, ${trigger}) c`),

    checkpointLatest: (sessionId: string) => first(() => sql.type(checkpoint)`select ${checkpointOf} from ${fn('checkpoint_latest')}(${sessionId}::uuid) c where c.id is not null`),

    resumptionContext: async (sessionId: string, targetTokens: number) =>
      (await one(() => sql.type(z.object({ value: resumptionContext }))`select ${fn('resumption_context')}(${sessionId}::uuid, ${targetTokens}) as value`)).value,

    sessionSummary: async (sessionId: string) => (await one(() => sql.type(text)`select ${fn('session_summary')}(${sessionId}::uuid) as value`)).value,

    summaryRequest: async (sessionId: string, model: string | null) =>
      (await one(() => sql.type(z.object({ value: json }))`select ${fn('session_summary_request')}(${sessionId}::uuid, ${model}) as value`)).value,

    summarySave: async (sessionId: string, summary: string, model: string, inputTokens: number, outputTokens: number) => {
      const id = randomUUID();
      await run(() => sql.type(z.unknown())`
        select id from ${fn('session_summary_save')}(${sessionId}::uuid, ${summary}, ${model}, ${inputTokens}::integer, ${outputTokens}::integer, ${id}::uuid)`);
    },

    exportForResumption: async (sessionId: string, targetTokens: number) =>
      (await one(() => sql.type(text)`select ${fn('export_for_resumption')}(${sessionId}::uuid, ${targetTokens}) as value`)).value,

    export: async (sessionId: string) =>
      (await one(() => sql.type(z.object({ value: z.record(z.string(), z.unknown()) }))`select ${fn('journal_export')}(${sessionId}::uuid) as value`)).value,
  };
}
