// The entries of work items, and what agents are told about other items.

import { randomUUID } from 'node:crypto';

import { sql } from 'slonik';
import { z } from 'zod';

import { storableJson } from '../../plv8/storable.ts';
import { entry } from './answers.ts';
import { sqlState } from './errors.ts';
import type { Calls } from './pool.ts';

/** read_only_sql_transaction */
const READ_ONLY = '25006';
const LOCK_NOT_AVAILABLE = '55P03';

export type AppendOptions = {
  /** Values for programs, up to 64 KiB of JSON. */
  data?: Record<string, unknown>;
  /** For a step: names whose newest content the agent still needs, at most 20. */
  keep?: readonly string[];
  /** For a plan: its items. */
  items?: readonly { text: string; state?: 'open' | 'doing' | 'done' | 'dropped' }[];
  /** For a step: the numbers of the plan's items that are now done. */
  done?: readonly number[];
  /** For a step: the number of the plan's item that is being started. */
  doing?: number;
  /** Idempotency key: repeating the call with it returns the same entry. */
  key?: string;
  /** The lease of the worker that drives the item, while one does. */
  lease?: string;
};

const hit = z.object({
  /** Pass it as `before` to get the next page. */
  position: z.string(),
  /** ledger, journal, message (of a person or another agent), work (a description) or outcome. */
  source: z.string(),
  work_item_id: z.string().nullable(),
  entry_id: z.string().nullable(),
  /** Only for ledger entries. */
  seq: z.number().nullable(),
  entry_type: z.string().nullable(),
  created_at: z.string().nullable(),
  /** One line of about 300 characters; matches are enclosed in U+0002 and U+0003. */
  snippet: z.string(),
  /** The work item's description, on one line. */
  description: z.string().nullable(),
});
export type SearchHit = z.infer<typeof hit>;
const planItem = z.object({ n: z.number(), text: z.string(), state: z.enum(['open', 'doing', 'done', 'dropped']) });
export type PlanItem = z.infer<typeof planItem>;
export type SearchOptions = {
  /** The position of the last hit of the previous page. */
  before?: string | null;
  /** 1 to 100; default: 20. */
  limit?: number;
  workItemId?: string | null;
  sources?: readonly string[] | null;
  faculty?: string | null;
  /** ISO 8601. */
  since?: string | null;
  /** Only work of this project and work without a project ('': only the latter); null: all work. */
  project?: string | null;
};

export const entries = ({ call, row, rows, run, named }: Calls) => ({
  ledgerAppend: (
    workItemId: string,
    entryType: string,
    content: string,
    { key = randomUUID(), lease, data, keep, items, done, doing }: AppendOptions = {},
  ) =>
    row(
      'ledger_append',
      {
        p_work_item_id: workItemId,
        p_entry_type: entryType,
        p_content: content,
        p_idempotency_key: key,
        ...(lease !== undefined && { p_lease: lease }),
        ...(data && { p_data: storableJson(data) }),
        ...(keep && { p_keep: sql.array(keep, 'text') }),
        ...(items && { p_items: storableJson(items) }),
        ...(done && { p_done: sql.array(done, 'int4') }),
        ...(doing !== undefined && { p_doing: doing }),
      },
      entry,
    ),

  /** Best match first, equal ones newest first. */
  ledgerSearch: (query: string, options: SearchOptions = {}) =>
    rows(
      'ledger_search',
      [
        query,
        options.before ?? null,
        options.limit ?? 20,
        options.workItemId ?? null,
        options.sources ? sql.array(options.sources, 'text') : null,
        options.faculty ?? null,
        options.since ?? null,
        options.project ?? null,
      ],
      hit,
    ),

  /** Retracts an entry; returns the row of the retraction. */
  ledgerRetract: (workItemId: string, seq: number, reason: string) => row('ledger_retract', [workItemId, seq, reason], entry),

  ledgerRead: (workItemId: string, entryType: string | null, lastN: number | null) =>
    rows('ledger_read', [workItemId, entryType, lastN], entry),

  ledgerSince: (workItemId: string, seq: number) =>
    run(
      () =>
        sql.type(entry)`select l.work_item_id, l.seq, l.entry_type, l.content, l.keep, l.retracts, l.created_at
            from ${named('v_ledger')} l
            join ${named('v_work_list')} w on w.work_item_id = l.work_item_id
           where l.work_item_id = ${workItemId}::uuid and l.seq > ${seq} and (w.continues_id is null or not l.is_inherited)
           order by l.seq`,
    ),

  /** The state of the newest plan in its ledger. */
  planItems: (workItemId: string) =>
    run(
      () =>
        sql.type(
          planItem,
        )`select n, text, state from ${named('v_plan')} where work_item_id = ${workItemId}::uuid and seq is not null order by n`,
    ),

  /**
   * Returns null for a standby, which cannot be asked to notify, and for an item that an open transaction has written to. Watchers also
   * read every few seconds.
   */
  ledgerWatch: (workItemId: string, seconds: number): Promise<string | null> =>
    call('ledger_watch', [workItemId, seconds], z.string()).catch((error: unknown) => {
      if (![READ_ONLY, LOCK_NOT_AVAILABLE].includes(sqlState(error) ?? '')) throw error;
      return null;
    }),

  ledgerReadFormatted: (workItemId: string) => call('ledger_read_formatted', [workItemId], z.string()),

  /** The digest for an item, or for new work in a project ('': in none) or anywhere. */
  awarenessDigest: (workItemId: string | null, project: string | null = null) =>
    call('awareness_digest', project === null ? [workItemId] : [workItemId, project], z.string()),

  ledgerLinks: () => run(() => sql.type(z.object({ name: z.string() }))`select name from ${named('v_ledger_links')} order by name`),

  /**
   * What is shown for a linked ledger that did not answer: its last digest, if recent, else why there is none. linkedDigests() queries the
   * ledgers.
   */
  awarenessDigestLinked: (name: string) => call('awareness_digest_linked', [name, false], z.string()),

  /** requests_before: how many requests of the reader began after the entry was recorded without telling it. */
  awarenessShown: (workItemId: string) =>
    run(
      () => sql.type(z.object({ iteration: z.number(), kind: z.string(), content: z.string(), requests_before: z.number() }))`
      select s.iteration, s.kind, s.content,
             (select count(*)::integer from ${named('v_turns')} t join ${named('v_ledger')} l on t.started_at > l.created_at
               where t.work_item_id = s.reader_id and t.attempt = s.attempt and t.iteration < s.iteration
                 and l.work_item_id = s.source_id and l.seq = s.seq) as requests_before
        from ${named('v_awareness_shown')} s where s.reader_id = ${workItemId}::uuid order by s.shown_at, s.kind`,
    ),
});
