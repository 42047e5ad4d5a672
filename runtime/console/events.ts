// What an open page is told: the names of its parts that changed, each with a version, at most four times a second; and the
// words of running agents as they arrive. One connection listens to the ledger for all pages. A notification is only a hint:
// every part is also looked at every few seconds, so that a page is right where nothing can be listened to (a standby).

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { ActivityReader } from '../ledger/activity.ts';
import type { Db } from '../ledger/db.ts';
import { listen } from '../ledger/listener.ts';
import type { Listener } from '../ledger/listener.ts';
import { visible } from './html.ts';

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

/** What one page is told, until the signal is raised. `render`: its parts as they are now; `watched`: the items whose agents it shows. */
export async function* follow(
  page: { render(): Promise<Map<string, string>>; watched(): Promise<readonly string[]>; isReadOnly: boolean },
  db: Db,
  hints: Hints,
  signal: AbortSignal,
): AsyncGenerator<Message> {
  const seen = new Map<string, string>();
  const words = new Map<string, Words>();
  let version = 0; // the time of the look: a page compares it with that of its own fetches
  let hinted = Promise.withResolvers<void>();
  const unsubscribe = hints.subscribe(() => hinted.resolve());
  let watchedUntil = 0;
  try {
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const changed: string[] = [];
      try {
        for (const [name, text] of await page.render()) {
          const hash = hashOf(text);
          if (!isFirst && seen.get(name) !== hash) changed.push(name);
          seen.set(name, hash);
        }
        const items = await page.watched();
        if (performance.now() > watchedUntil && !page.isReadOnly) {
          for (const id of items) await db.ledgerWatch(id, WATCH_SECONDS).catch(() => {}); // a reader may not: then the page is looked at every few seconds
          watchedUntil = performance.now() + (WATCH_SECONDS * 1000) / 2;
        }
        for (const id of words.keys()) if (!items.includes(id)) words.delete(id);
        for (const id of items) {
          const one = words.get(id) ?? new Words(db, id);
          words.set(id, one);
          const data = await one.read();
          if (data) yield { event: 'words', data };
        }
        if (isFirst || changed.length > 0) yield { event: 'parts', data: { version: (version = Math.max(version + 1, Date.now())), parts: changed, isFirst } };
        else yield { event: 'alive', data: {} };
      } catch {
        yield { event: 'alive', data: { isBroken: true } }; // the database is away: the next look says everything
      }
      await Promise.race([sleep(LOOK_MS, undefined, { signal, ref: false }), hinted.promise]).catch(() => {});
      hinted = Promise.withResolvers();
      await sleep(SWAP_MS, undefined, { signal }).catch(() => {});
    }
  } finally {
    unsubscribe();
  }
}

/** Times that count by themselves do not make a part another one. */
const hashOf = (text: string): string => createHash('sha256').update(text.replaceAll(/(data-since="[^"]*">)[^<]*/g, '$1')).digest('base64url');

/** The last words of one agent: only their end is sent, with where it stands in the whole. */
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
