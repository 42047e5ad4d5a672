// Reads transcripts that are stored in the ledger into turns and calls, as files are imported: what is new in them, whenever there is
// something new. The newest exchange is stored as far as it is known; a reader that is gone is rebuilt from the first entry.

import { LinesReader } from '../../plv8/readers/recordedRun.ts';
import type { RecordedRun } from '../../plv8/readers/recordedRun.ts';
import type { Db } from '../ledger/db.ts';
import { messageOf, sqlState } from '../ledger/errors.ts';
import { transcriptPages } from '../ledger/transcripts.ts';
import type { TranscriptKey } from '../ledger/transcripts.ts';
import { asTaken } from '../project.ts';
import { isErasedSubagent } from './erasedSubagent.ts';

/** How soon it is tried again after the database was unreachable, if nothing is appended before. */
const RECONNECT_MS = 5000;

export class TranscriptReader {
  readonly #db: Db;
  readonly #key: TranscriptKey;
  readonly #isLive: boolean;
  #reader: LinesReader;
  #seq = 0;
  /** How far the transcript has been read and stored, by any process; null: not queried yet. */
  #understood: number | null = null;
  /** No further attempt before this time. */
  #retryAt = 0;
  /** The work item of the session itself, once it is known. */
  workItemId: string | null = null;

  /** `isLive`: the program that writes the transcript is running. */
  constructor(db: Db, key: TranscriptKey, { isLive = false }: { isLive?: boolean } = {}) {
    this.#db = db;
    this.#key = key;
    this.#isLive = isLive;
    this.#reader = this.#newReader();
  }

  /**
   * Stores what was appended since the last time, or a part of it if the signal fires. An error is noted with the transcript, which is then
   * not read for a while. Returns in how many milliseconds to try again; 0: nothing went wrong.
   */
  async readOn(signal?: AbortSignal): Promise<number> {
    const wait = this.#retryAt - performance.now();
    if (wait > 0) return wait;
    try {
      return this.#waits(await this.#readOn(signal));
    } catch (error) {
      const at = this.#seq;
      [this.#reader, this.#seq, this.#understood] = [this.#newReader(), 0, null];
      if (sqlState(error) === 'WL003') return 0; // an erased session accepts nothing more
      const noted = await this.#db.transcripts.understood(this.#key, at, messageOf(error)).catch(() => null);
      return noted === null ? RECONNECT_MS : this.#waits(noted.wait_seconds);
    }
  }

  #waits(seconds: number): number {
    this.#retryAt = performance.now() + seconds * 1000;
    return seconds * 1000;
  }

  async #readOn(signal: AbortSignal | undefined): Promise<number> {
    if (this.#understood === null) {
      const { understood_seq: seq, wait_seconds: wait } = await this.#db.transcripts.understood(this.#key, 0);
      if (wait > 0) return wait;
      this.#understood = seq;
    }
    const before = this.#seq;
    for await (const page of transcriptPages(this.#db, this.#key, this.#seq)) {
      for (const { entry } of page) this.#reader.read(entry);
      this.#seq = page.at(-1)?.seq ?? this.#seq;
      const closed = this.#reader.take(false);
      if (this.#seq > this.#understood) await this.#store(closed);
      if (signal?.aborted) break;
    }
    if (this.#seq === before || this.#seq <= this.#understood) return 0;
    await this.#store(this.#reader.peek());
    this.#understood = (await this.#db.transcripts.understood(this.#key, this.#seq)).understood_seq;
    return 0;
  }

  async #store(runs: RecordedRun[]): Promise<void> {
    for (const run of runs) {
      // Records that were not understood remain in the transcript.
      const { raw: _, ...rest } = run;
      const stored = await this.#db
        .sessionImport({
          ...rest,
          sessionId: run.sessionId ?? this.#key.sessionId,
          // Applies if its own process named no project. This host's disk says nothing about it: the session may have run on another host.
          ...(run.cwd?.startsWith('/') && { project: asTaken(run.cwd) }),
          transcript: this.#key,
          ...(this.#isLive && { isLive: true }),
        })
        .catch((error: unknown) => {
          if (!isErasedSubagent(run, error)) throw error;
        });
      if (stored && run.parentSessionId === undefined) this.workItemId = stored.work_item_id;
    }
  }

  #newReader = (): LinesReader => new LinesReader(this.#key.sessionId);
}

/** Reads what was appended by programs that ended before it was read, until the signal fires. Returns how many transcripts that were. */
export async function readLeftTranscripts(db: Db, signal?: AbortSignal): Promise<number> {
  for (let count = 0; ; count++) {
    // One at a time: others wait for a transcript that was taken and not read.
    const [left] = signal?.aborted ? [] : await db.transcripts.take(1);
    if (left === undefined) return count;
    const { project_key: projectKey, session_id: sessionId, subpath } = left;
    await new TranscriptReader(db, { projectKey, sessionId, ...(subpath !== null && { subpath }) }).readOn(signal);
  }
}
