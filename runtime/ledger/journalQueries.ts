// The journal's functions, typed.

import { randomUUID } from 'node:crypto';

import { sql } from 'slonik';
import type { FragmentSqlToken, QuerySqlToken } from 'slonik';
import { z } from 'zod';

import { storableJson } from '../../plv8/storable.ts';
import { checkpoint, journalEntry, journalSession, json, resumableSession, resumptionContext } from './answers.ts';
import type { Calls } from './pool.ts';

const id = z.object({ id: z.string() });

/** Unix milliseconds. */
const ms = (at: FragmentSqlToken) => sql.fragment`floor(extract(epoch from ${at}) * 1000)::int8`;

/** Writing functions get a fresh id, so that repeating them after a broken connection is harmless. */
export function journalQueries({ call, row, rows, one, run, named, invoked }: Calls) {
  const sessionOf = sql.fragment`
    s.id, s.conversation_id as "conversationId", s.original_prompt as "originalPrompt", s.status, ${ms(sql.fragment`s.created_at`)} as "createdAt",
    ${ms(sql.fragment`s.updated_at`)} as "updatedAt", ${ms(sql.fragment`s.completed_at`)} as "completedAt", s.token_estimate as "tokenEstimate", s.entry_count as "entryCount"`;
  const checkpointOf = sql.fragment`
    c.id, c.work_item_id as "sessionId", ${ms(sql.fragment`c.created_at`)} as "createdAt", c.trigger, c.trigger = 'manual' as manual, c.summary, c.key_decisions as "keyDecisions", c.current_state as "currentState",
    c.files_modified as "filesModified", c.pending_actions as "pendingActions"`;
  const entryOf = sql.fragment`
    j.id, j.session_id as "sessionId", j.sequence_num as "sequenceNum", j.entry_type as "entryType", ${ms(sql.fragment`j.created_at`)} as timestamp, j.content, j.token_estimate as "tokenEstimate", j.importance`;
  const first = async <Schema extends z.ZodType>(query: () => QuerySqlToken<Schema>): Promise<z.output<Schema> | null> =>
    (await run(query))[0] ?? null;

  return {
    sessionCreate: async (conversationId: string, originalPrompt: string, project: string | null = null) => {
      const created = randomUUID();
      await row(
        'journal_session_create',
        { p_conversation_id: conversationId, p_original_prompt: originalPrompt, p_id: created, p_project: project },
        id,
      );
      return one(() => sql.type(journalSession)`select ${sessionOf} from ${named('work_sessions')} s where s.id = ${created}::uuid`);
    },

    sessionOpen: async (conversationId: string, directory: string | null, project: string | null = null) =>
      (await row('journal_session_open', { p_conversation_id: conversationId, p_directory: directory, p_project: project }, id)).id,

    session: (sessionId: string) =>
      first(() => sql.type(journalSession)`select ${sessionOf} from ${named('work_sessions')} s where s.id = ${sessionId}::uuid`),

    sessionActive: (conversationId: string) =>
      first(
        () =>
          sql.type(
            journalSession,
          )`select ${sessionOf} from ${named('work_sessions')} s where s.id = (select id from ${invoked('journal_session_active', [conversationId])})`,
      ),

    sessionStatus: (sessionId: string, status: string) => row('journal_session_status', [sessionId, status], id),

    log: async (sessionId: string, entryType: string, content: object, importance: string) => {
      const logged = randomUUID();
      const { created_at: at } = await row(
        'journal_log',
        [sessionId, entryType, storableJson(content), importance, logged],
        z.object({ created_at: z.string() }),
      );
      return one(
        () =>
          sql.type(
            journalEntry,
          )`select ${entryOf} from ${invoked('journal_read', [sessionId, at])} j where j.id = ${`${entryType}/${logged}`}`,
      );
    },

    read: (sessionId: string, since: number, limit: number | null, importance: readonly string[] | null) =>
      run(
        () => sql.type(journalEntry)`
        select ${entryOf} from ${invoked('journal_read', [sessionId, sql.fragment`to_timestamp(${since} / 1000.0)`, limit, importance && sql.array(importance, 'text')])} j`,
      ),

    /** The database's time in milliseconds: nothing written from now on is older. */
    now: async () => (await one(() => sql.type(z.object({ now: z.number() }))`select ${ms(sql.fragment`clock_timestamp()`)} as now`)).now,

    heartbeat: (sessionId: string) => call('journal_heartbeat', [sessionId], z.unknown()),

    resumable: (conversationId: string | null, targetTokens: number) =>
      run(
        () =>
          sql.type(
            resumableSession,
          )`select ${sessionOf}, s.packet from ${invoked('work_sessions_resumable', [conversationId, targetTokens])} s`,
      ),

    checkpointCreate: (sessionId: string, trigger: 'manual' | 'automatic') =>
      one(() => sql.type(checkpoint)`select ${checkpointOf} from ${invoked('checkpoint_create', [sessionId, trigger])} c`),

    checkpointLatest: (sessionId: string) =>
      first(() => sql.type(checkpoint)`select ${checkpointOf} from ${invoked('checkpoint_latest', [sessionId])} c where c.id is not null`),

    resumptionContext: (sessionId: string, targetTokens: number) =>
      call('resumption_context', [sessionId, targetTokens], resumptionContext),

    sessionSummary: (sessionId: string) => call('journal_summary', [sessionId], z.string()),

    summaryRequest: (sessionId: string, model: string | null) => call('journal_summary_request', [sessionId, model], json),

    summarySave: async (sessionId: string, summary: string, model: string, inputTokens: number, outputTokens: number) => {
      await rows('journal_summary_save', [sessionId, summary, model, inputTokens, outputTokens, randomUUID()], id);
    },

    exportForResumption: (sessionId: string, targetTokens: number) => call('export_for_resumption', [sessionId, targetTokens], z.string()),

    export: (sessionId: string) => call('journal_export', [sessionId], json),
  };
}
