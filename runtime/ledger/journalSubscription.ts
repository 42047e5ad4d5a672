// A subscription to a session's journal that neither loses nor repeats an entry, however late it commits.

import { ActivityReader } from './activity.ts';
import type { ActivityEvent } from './activity.ts';
import type { JournalEntry } from './answers.ts';
import type { Db } from './db.ts';
import { listen } from './listener.ts';

/** Entries may become visible out of order, so a poll reads this much of the past again, and a notification this much. */
const OVERLAP_MS = 60_000;
const HINT_OVERLAP_MS = 1000;
const POLL_MS = 2000;
const WATCH_MS = 30_000;

/** See WorkJournal.subscribe(). */
export function subscribe(
  db: Db,
  url: string,
  sessionId: string,
  callback: (entry: JournalEntry) => void,
  onActivity?: (event: ActivityEvent) => void,
): () => void {
  const entries = new NewEntries(db, sessionId);
  const activity = new ActivityReader(db, sessionId);
  let watchedUntil = 0;
  let isOver = false;
  let isReading = false;
  /** The overlap of the read that follows the current one; null: none is wanted. */
  let wanted: number | null = null;
  const read = async (overlapMs: number): Promise<void> => {
    if (isOver) return;
    try {
      await entries.begin();
      if (onActivity) await activity.begin();
      if (performance.now() > watchedUntil) {
        await db.ledgerWatch(sessionId, (2 * WATCH_MS) / 1000);
        watchedUntil = performance.now() + WATCH_MS;
      }
      for await (const entry of entries.read(overlapMs)) {
        if (isOver) return;
        callback(entry);
      }
      if (!onActivity) return;
      for await (const event of activity.read()) {
        if (isOver) return;
        onActivity(event);
      }
    } catch {
      // The database is unreachable: the next read returns everything.
    }
  };
  const wake = async (overlapMs: number): Promise<void> => {
    wanted = Math.max(wanted ?? 0, overlapMs);
    if (isReading) return;
    isReading = true;
    while (wanted !== null) {
      const overlap: number = wanted;
      wanted = null;
      await read(overlap);
    }
    isReading = false;
  };
  void wake(OVERLAP_MS);
  const timer = setInterval(() => void wake(OVERLAP_MS), POLL_MS);
  const listener = listen(url, ['work_journal', 'work_ledger', ...(onActivity ? ['work_activity'] : [])], {
    onNotification: (_, payload) => (payload === sessionId ? void wake(HINT_OVERLAP_MS) : undefined),
  });
  return () => {
    isOver = true;
    clearInterval(timer);
    void listener.close();
  };
}

/** The entries of a session that were written since begin(), each once. */
class NewEntries {
  readonly #db: Db;
  readonly #sessionId: string;
  readonly #seen = new Map<string, number>();
  readonly #subscribedAt = performance.now();
  #began: number | null = null;
  #since = 0;
  #isPrimed = false;

  constructor(db: Db, sessionId: string) {
    this.#db = db;
    this.#sessionId = sessionId;
  }

  /** Sets the start once: the time of the subscription by the database's clock, or a little earlier by as long as the answer took. */
  async begin(): Promise<void> {
    if (this.#began !== null) return;
    const now = await this.#db.journal.now();
    this.#began = this.#since = now - (performance.now() - this.#subscribedAt);
  }

  /**
   * Yields what is new among entries written up to `overlapMs` before the newest one. The first read covers everything that a later one may
   * read again.
   */
  async *read(overlapMs: number): AsyncGenerator<JournalEntry> {
    for (const entry of await this.#db.journal.read(this.#sessionId, this.#since - (this.#isPrimed ? overlapMs : OVERLAP_MS), null, null)) {
      const isNew = !this.#seen.has(entry.id) && (this.#isPrimed || entry.timestamp >= (this.#began ?? 0));
      this.#seen.set(entry.id, entry.timestamp);
      this.#since = Math.max(this.#since, entry.timestamp);
      if (isNew) yield entry;
    }
    this.#isPrimed = true;
    for (const [id, at] of this.#seen) if (at < this.#since - OVERLAP_MS) this.#seen.delete(id);
  }
}
