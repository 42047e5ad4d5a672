// Transcripts that other programs store in the ledger.

import { sql } from 'slonik';
import { z } from 'zod';

import type { Calls } from './pool.ts';

/** Identifies a transcript of a session; without a subpath, the main one. */
export type TranscriptKey = { projectKey: string; sessionId: string; subpath?: string | undefined };

const appended = z.object({
  appended: z.number(),
  last_seq: z.number(),
  is_stale: z.boolean(),
  summary: z.string().nullable(),
});

const listed = z.object({
  session_id: z.string(),
  subpath: z.string().nullable(),
  mtime: z.number(),
  entry_count: z.number(),
  summary: z.string().nullable(),
});

const loaded = z.object({ seq: z.number(), entry: z.string() });

const understood = z.object({ understood_seq: z.number(), wait_seconds: z.number() });

const taken = z.object({
  project_key: z.string(),
  session_id: z.string(),
  subpath: z.string().nullable(),
});

type PageSize = { limit: number; bytes: number };
type Page = readonly z.infer<typeof loaded>[];
type Loads = {
  transcripts: { load(key: TranscriptKey, after: number, size: PageSize): Promise<Page> };
};

/** Limits what is in memory at once, plus one entry: an entry with images can have megabytes. */
const PAGE: PageSize = { limit: 1000, bytes: 4_000_000 };

/** The entries after number `after`, in pages; the last page may be empty. */
export async function* transcriptPages(db: Loads, key: TranscriptKey, after: number): AsyncGenerator<Page> {
  for (let seq = after; ;) {
    const page = await db.transcripts.load(key, seq, PAGE);
    yield page;
    seq = page.at(-1)?.seq ?? seq;
    if (page.length < PAGE.limit && bytesOf(page) < PAGE.bytes) return;
  }
}

const bytesOf = (page: Page): number => page.reduce((sum, { entry }) => sum + Buffer.byteLength(entry), 0);

export const transcripts = ({ call, row, rows }: Calls) => ({
  transcripts: {
    /** `lines`: one JSON object each; `uuids`: what identifies each of them when it is appended again. */
    append: (
      { projectKey, sessionId, subpath }: TranscriptKey,
      { lines, uuids }: { lines: readonly string[]; uuids: readonly string[] },
      {
        project = null,
        summary = null,
        summaryOf = 0,
        keepSecrets = false,
      }: { project?: string | null; summary?: string | null; summaryOf?: number; keepSecrets?: boolean },
    ) => {
      const entries = `[${lines.join(',')}]`;
      return row(
        'transcript_append',
        {
          p_project_key: projectKey,
          p_session_id: sessionId,
          p_subpath: subpath ?? null,
          // Secrets known to this process are removed from every argument in which they can be read.
          p_entries: keepSecrets
            ? sql.fragment`convert_from(decode(${Buffer.from(entries).toString('hex')}, 'hex'), 'UTF8')::json`
            : entries,
          p_uuids: sql.array([...uuids], 'text'),
          p_project: project,
          p_summary: summary,
          p_summary_of: summaryOf,
          p_keep_secrets: keepSecrets,
        },
        appended,
      );
    },

    /** The entries after number `after`: `limit` of them, or fewer if the last one brings their size to `bytes`. */
    load: ({ projectKey, sessionId, subpath }: TranscriptKey, after: number, { limit, bytes }: PageSize) =>
      rows('transcript_load', [projectKey, sessionId, subpath ?? null, after, limit, bytes], loaded),

    list: (projectKey: string, sessionId: string | null) => rows('transcript_list', [projectKey, sessionId], listed),

    delete: ({ projectKey, sessionId, subpath }: TranscriptKey) =>
      call('transcript_delete', [projectKey, sessionId, subpath ?? null], z.number()),

    take: (limit: number) => rows('transcripts_take', { p_limit: limit }, taken),

    /** Files of other programs that are followed as they grow, and the state in which each was last read. */
    followed: () =>
      rows('followed_files_list', [], z.object({ file_key: z.string(), state: z.string(), work_item_id: z.string().nullable() })),

    /** Reports that a file was read to its end; its session counts as alive for that long, or is at rest. */
    fileRead: (key: string, state: string, workItemId: string | null, aliveSeconds: number | null) =>
      call('followed_file_read', [key, state, workItemId, aliveSeconds], z.unknown()),

    /** Pauses the followed sessions that are at rest; returns their ids. */
    rest: () => rows('followed_sessions_rest', [], z.object({ followed_sessions_rest: z.string() })),

    /**
     * How many entries have been read into turns, and for how long nobody else is to read more. `problem`: why those up to `seq` could not
     * be read.
     */
    understood: ({ projectKey, sessionId, subpath }: TranscriptKey, seq: number, problem: string | null = null) =>
      row('transcript_understood', [projectKey, sessionId, subpath ?? null, seq, problem], understood),
  },
});
