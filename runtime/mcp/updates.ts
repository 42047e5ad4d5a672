// Reports when what a resource shows has changed, as long as someone watches it: notifications make this prompt, polling makes it
// reliable. While nobody watches there is no connection and no query, and appends send no notifications.

import { LedgerError } from '../ledger/errors.ts';
import type { Db } from '../ledger/db.ts';
import { listen } from '../ledger/listener.ts';
import type { Listener } from '../ledger/listener.ts';

export type Subject = { kind: 'digest' | 'ledger'; workItemId: string };

const POLL_MS = 2000;
const WATCH_SECONDS = 60;
/** Hints that arrive within this time are handled as one. */
const GATHER_MS = 100;

type Watched = {
  subject: Subject;
  read(): Promise<string>;
  seen: string | null;
  checking: Promise<void> | null;
  isStale: boolean;
  told: Set<() => void>;
};

export class Updates {
  readonly #db: Db;
  readonly #url: string | null;
  readonly #watched = new Map<string, Watched>();
  #listener: Listener | null = null;
  #poll: NodeJS.Timeout | undefined;
  #gather: NodeJS.Timeout | undefined;

  /** `url`: the address of the database of `db`, to listen to; null: it is not known, and changes are found by polling only. */
  constructor(db: Db, url: string | null) {
    this.#db = db;
    this.#url = url;
  }

  /** Calls `onUpdated` after each change from now on, until the returned function is called. Throws LedgerError WL001. */
  async watch(subject: Subject, onUpdated: () => void): Promise<() => void> {
    const key = `${subject.kind} ${subject.workItemId}`;
    let watched = this.#watched.get(key);
    if (!watched)
      this.#watched.set(
        key,
        (watched = { subject, read: this.#reader(subject), seen: null, checking: null, isStale: false, told: new Set() }),
      );
    const entry = watched;
    const tell = (): void => onUpdated(); // a separate function, in case the same one is given twice
    const release = (): void => {
      entry.told.delete(tell);
      if (entry.told.size > 0) return;
      if (this.#watched.get(key) === entry) this.#watched.delete(key);
      if (this.#watched.size === 0) void this.close();
    };
    entry.told.add(tell);
    this.#open();
    try {
      await check(entry);
    } catch (error) {
      if (!(error instanceof LedgerError)) return release; // the database is unreachable: changes are reported once it can be reached again
      release();
      throw error;
    }
    return release;
  }

  /** The number of resources being watched. */
  get size(): number {
    return this.#watched.size;
  }

  async close(): Promise<void> {
    this.#watched.clear();
    clearInterval(this.#poll);
    this.#poll = undefined;
    clearTimeout(this.#gather);
    this.#gather = undefined;
    const listener = this.#listener;
    this.#listener = null;
    await listener?.close();
  }

  #open(): void {
    if (this.#poll !== undefined) return;
    this.#poll = setInterval(() => this.#wake(() => true), POLL_MS).unref();
    if (this.#url === null) return;
    this.#listener = listen(this.#url, ['work_ledger', 'work_item_completed'], {
      onNotification: (_, workItemId) => this.#wake(({ kind, ...subject }) => kind === 'digest' || subject.workItemId === workItemId),
      onConnected: () => this.#wake(() => true),
    });
  }

  #wake(concerns: (subject: Subject) => boolean): void {
    for (const watched of this.#watched.values()) if (concerns(watched.subject)) watched.isStale = true;
    this.#gather ??= setTimeout(() => {
      this.#gather = undefined;
      for (const watched of this.#watched.values()) if (watched.isStale) check(watched).catch(() => {}); // the next poll will do
    }, GATHER_MS).unref();
  }

  /** Returns a short fingerprint that changes whenever the resource changes. */
  #reader({ kind, workItemId }: Subject): () => Promise<string> {
    if (kind === 'digest') return async () => withoutAges(await this.#db.awarenessDigest(workItemId));
    let watchedUntil = 0;
    return async () => {
      if (performance.now() > watchedUntil) {
        await this.#db.ledgerWatch(workItemId, WATCH_SECONDS);
        watchedUntil = performance.now() + (WATCH_SECONDS * 1000) / 2;
      }
      const item = await this.#db.workItem(workItemId);
      return `${item?.ledger_count} entries, attempt ${item?.attempts}`;
    };
  }
}

/** Reads again and notifies if the fingerprint changed; repeats if a hint arrived in the meantime. */
function check(watched: Watched): Promise<void> {
  watched.isStale = true;
  return (watched.checking ??= readWhileStale(watched).finally(() => (watched.checking = null)));
}

async function readWhileStale(watched: Watched): Promise<void> {
  while (watched.isStale) {
    watched.isStale = false;
    const now = await watched.read();
    const isNews = watched.seen !== null && watched.seen !== now;
    watched.seen = now;
    if (isNews) for (const tell of watched.told) tell();
  }
}

/** Removes ages: the passing of time is not a change. */
const withoutAges = (digest: string): string => digest.replaceAll(/\b(?:just now|\d+[mhd] ago)\)/g, ')');
