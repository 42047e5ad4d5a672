// Reads transcripts that are kept in the ledger into turns and calls, as files are imported: what is new in them, as often as there is
// something new. The newest exchange is stored as it is so far; a reader that is not there any more is made again from the first entry.

import { LinesReader } from '../../plv8/readers/recordedRun.ts';
import type { RecordedRun } from '../../plv8/readers/recordedRun.ts';
import type { Db } from '../ledger/db.ts';
import { messageOf, sqlState } from '../ledger/errors.ts';
import { transcriptPages } from '../ledger/transcripts.ts';
import type { TranscriptKey } from '../ledger/transcripts.ts';
import { projectOf } from '../project.ts';

export class TranscriptReader {
  readonly #db: Db;
  readonly #key: TranscriptKey;
  readonly #isLive: boolean;
  #reader: LinesReader;
  #seq = 0;
  /** Up to there somebody has read it, who stored what it says; null: that was not asked yet. */
  #understood: number | null = null;
  #project: Promise<string> | undefined;
  /** The work item of the transcript itself, once it is known. */
  workItemId: string | null = null;

  /** `isLive`: the program whose transcript it is runs. */
  constructor(db: Db, key: TranscriptKey, { isLive = false }: { isLive?: boolean } = {}) {
    this.#db = db;
    this.#key = key;
    this.#isLive = isLive;
    this.#reader = this.#newReader();
  }

  /** Stores what was appended since the last time. What goes wrong is noted with the transcript, and tried again. */
  async readOn(): Promise<void> {
    try {
      await this.#readOn();
    } catch (error) {
      const at = this.#seq;
      [this.#reader, this.#seq, this.#understood] = [this.#newReader(), 0, null];
      // An erased session takes nothing more.
      if (sqlState(error) !== 'WL003') await this.#db.transcripts.understood(this.#key, at, messageOf(error)).catch(() => {});
    }
  }

  async #readOn(): Promise<void> {
    this.#understood ??= await this.#db.transcripts.understood(this.#key, 0);
    const before = this.#seq;
    for await (const page of transcriptPages(this.#db, this.#key, this.#seq)) {
      for (const { entry } of page) this.#reader.read(entry);
      this.#seq = page.at(-1)?.seq ?? this.#seq;
      const closed = this.#reader.take(false);
      if (this.#seq > this.#understood) await this.#store(closed);
    }
    if (this.#seq === before || this.#seq <= this.#understood) return;
    await this.#store(this.#reader.peek());
    this.#understood = await this.#db.transcripts.understood(this.#key, this.#seq);
  }

  async #store(runs: RecordedRun[]): Promise<void> {
    for (const run of runs) {
      const isOwn = this.#key.subpath === undefined ? run.parentSessionId === undefined : true;
      if (run.cwd?.startsWith('/')) this.#project ??= projectOf(run.cwd);
      const project = await this.#project;
      // Records that are not read are kept where they came from.
      const { raw: _, ...rest } = run;
      const stored = await this.#db.sessionImport({
        ...rest,
        sessionId: run.sessionId ?? this.#key.sessionId,
        ...(project !== undefined && { project }),
        ...(isOwn && { transcript: this.#key, ...(this.#isLive && { isLive: true }) }),
      });
      if (isOwn) this.workItemId = stored.work_item_id;
    }
  }

  #newReader = (): LinesReader => new LinesReader(this.#key.sessionId);
}

/** Reads what programs appended that ended before it was read. Returns how many transcripts that were. */
export async function readLeftTranscripts(db: Db): Promise<number> {
  const left = await db.transcripts.take();
  for (const { project_key: projectKey, session_id: sessionId, subpath } of left)
    await new TranscriptReader(db, { projectKey, sessionId, ...(subpath !== null && { subpath }) }).readOn();
  return left.length;
}
