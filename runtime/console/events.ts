// What an open page is sent: the versions of its parts, when one has changed, at most four times a second; and the text of running agents
// as it arrives. The page fetches the parts whose version differs from its own: nothing is rendered for a page while nothing changes. One
// connection listens to the ledger for all pages. A notification is only a hint: the versions are also read every few seconds, so that a
// page is correct even where no notifications arrive (a standby).

import { setTimeout as sleep } from 'node:timers/promises';

import { ActivityReader } from '../ledger/activity.ts';
import type { Db } from '../ledger/db.ts';
import { listen } from '../ledger/listener.ts';
import type { Listener } from '../ledger/listener.ts';
import { visible } from '../visible.ts';
import { errorWords } from './page.ts';

const SWAP_MS = 250;
const LOOK_MS = 2000;
const WATCH_SECONDS = 60;
const WORDS_SHOWN = 600;
const channels = ['work_item_completed', 'work_ledger', 'work_journal', 'work_activity', 'work_approval_requested', 'jobs:insert'];

export type Message = { event: 'parts' | 'words' | 'alive'; data: unknown };

/** Passes hints on to every open page. */
export class Hints {
  readonly #listener: Listener;
  readonly #pages = new Set<(channel: string, workItemId: string) => void>();

  constructor(url: string) {
    const tell = (channel: string, payload: string): void => {
      for (const page of this.#pages) page(channel, payload);
    };
    this.#listener = listen(url, channels, { onNotification: tell, onConnected: () => tell('', '') });
  }

  subscribe(page: (channel: string, workItemId: string) => void): () => void {
    this.#pages.add(page);
    return () => this.#pages.delete(page);
  }

  close(): Promise<void> {
    return this.#listener.close();
  }
}

/**
 * Yields the events of one page, until the signal fires. `versions`: those of its parts, without those not to be fetched yet; `agents`: the
 * items whose agents it shows, null: the same as before.
 */
export async function* follow(
  page: {
    versions(): Promise<Map<string, string>>;
    agents(changed: ReadonlySet<string>): Promise<readonly string[] | null>;
    isReadOnly: boolean;
  },
  db: Db,
  hints: Hints,
  signal: AbortSignal,
): AsyncGenerator<Message> {
  const words = new Map<string, Words>();
  let told = '';
  const known = new Map<string, string>();
  let items: readonly string[] = [];
  let hinted = Promise.withResolvers<void>();
  const active = new Set<string>(); // agents that have said something, as far as notifications tell
  const unsubscribe = hints.subscribe((channel, id) => {
    if (channel === 'work_activity') active.add(id);
    hinted.resolve();
  });
  let watchedUntil = 0;
  const watched = new Set<string>();
  /** Not awaited: a long transaction that writes to the item would delay it. */
  const watch = (id: string): void => {
    watched.add(id);
    db.ledgerWatch(id, WATCH_SECONDS).catch(() => {});
  };
  let lookedAt = -Infinity;
  try {
    while (!signal.aborted) {
      try {
        const versions = await page.versions();
        const now = JSON.stringify([...versions]);
        // first of all: nothing about an agent may keep a page from being live
        yield now === told ? { event: 'alive', data: {} } : { event: 'parts', data: { versions: Object.fromEntries(versions) } };
        const changed = new Set([...versions].filter(([part, version]) => known.get(part) !== version).map(([part]) => part));
        if (changed.size > 0) items = (await page.agents(changed)) ?? items;
        for (const [part, version] of versions) known.set(part, version);
        told = now;
      } catch (error) {
        yield { event: 'alive', data: { isBroken: true, why: errorWords(error) } }; // usually the database is unreachable; the next look sends all
      }
      if (performance.now() > watchedUntil) {
        watched.clear();
        watchedUntil = performance.now() + (WATCH_SECONDS * 1000) / 2;
      }
      // a reader may not watch: such a page is updated every few seconds
      for (const id of page.isReadOnly ? [] : items) if (!watched.has(id)) watch(id);
      for (const id of words.keys()) if (!items.includes(id)) words.delete(id);
      const isRound = performance.now() - lookedAt > LOOK_MS;
      if (isRound) lookedAt = performance.now();
      const heard = new Set(active);
      active.clear();
      for (const id of items) {
        const one = words.get(id) ?? new Words(db, id);
        if (words.has(id) && !isRound && !heard.has(id)) continue;
        words.set(id, one);
        const data = await one.read().catch(() => null); // retried in the next round
        if (data) yield { event: 'words', data };
      }
      await Promise.race([sleep(LOOK_MS, undefined, { signal, ref: false }), hinted.promise]).catch(() => {});
      hinted = Promise.withResolvers();
      await sleep(SWAP_MS, undefined, { signal }).catch(() => {});
    }
  } finally {
    unsubscribe();
  }
}

/** The last text of one agent: only its end is sent, with its position in the whole. */
class Words {
  readonly #reader: ActivityReader;
  readonly #workItemId: string;
  #turn = '';
  #text = '';

  constructor(db: Db, workItemId: string) {
    this.#reader = new ActivityReader(db, workItemId);
    this.#workItemId = workItemId;
  }

  async read(): Promise<{ item: string; turn: string; text: string } | null> {
    const before = this.#turn + this.#text;
    for await (const event of this.#reader.read()) {
      if (event.turn_id !== this.#turn || event.kind === 'broken_off') [this.#turn, this.#text] = [event.turn_id, ''];
      if (event.kind === 'said' || event.kind === 'thinking') this.#text += event.text;
    }
    if (before === this.#turn + this.#text || this.#turn === '') return null;
    return { item: this.#workItemId, turn: this.#turn, text: visible(this.#text.slice(-WORDS_SHOWN)) };
  }
}
