// Sends a response as it arrives to those who watch its work item elsewhere. Nothing is sent while nobody watches.

import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';

import type { Claimed } from '../ledger/answers.ts';
import type { Db } from '../ledger/db.ts';
import type { ContentBlock } from '../model/message.ts';
import { withoutBeginning } from '../secrets/forms.ts';
import { withoutKnownSoFar } from '../secrets/known.ts';

const INTERVAL_MS = 1000;
/** Longer than the time from a claim to the request. */
const AWAITED_MS = 30_000;

/**
 * Holds back the end of the newest block if it may be the beginning of a secret, or is the first half of a character: once shown, that part
 * could not be taken back.
 */
function settled(blocks: ContentBlock[]): ContentBlock[] {
  const last = blocks.at(-1);
  if (last === undefined) return blocks;
  const shown = Object.fromEntries(
    Object.entries(last).map(([key, value]) => {
      if (typeof value !== 'string') return [key, value];
      return [key, (['text', 'input'].includes(key) ? withoutBeginning(withoutKnownSoFar(value)) : value).replace(/[\ud800-\udbff]$/, '')];
    }),
  );
  return [...blocks.slice(0, -1), shown as ContentBlock];
}

export type Showing = {
  /** More of the response has arrived. */
  grew: (soFar: () => ContentBlock[]) => void;
  /** The response is complete, or never will be. */
  end: () => void;
};

export class Watchers {
  readonly #db: Db;
  readonly #log: Logger;
  /** The responses arriving here now, by work item; each function is called when someone begins to watch the item. */
  readonly #begun = new Map<string, () => void>();
  /** Work items that someone has just begun to watch, whichever worker drives them. */
  readonly #awaited = new Set<string>();

  constructor(db: Db, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  /** Handles the notification that someone watches a work item. It may come a moment before the response that it is for. */
  came(workItemId: string): void {
    const begun = this.#begun.get(workItemId);
    if (begun) return begun();
    this.#awaited.add(workItemId);
    setTimeout(() => this.#awaited.delete(workItemId), AWAITED_MS).unref();
  }

  /** Called when such notifications may have been missed: sends watchers what has arrived of every response. */
  look(): void {
    for (const begun of this.#begun.values()) begun();
  }

  show(claim: Claimed, turnId: string, watched: boolean): Showing {
    let isWatched = watched || this.#awaited.has(claim.work_item_id);
    let isAskedFor = false; // while the part that arrived earlier is being sent
    let isSending = false;
    let news: (() => ContentBlock[]) | null = null;
    let last: (() => ContentBlock[]) | null = null;
    const send = async (): Promise<void> => {
      if (isSending) return;
      isSending = true;
      while (isWatched && news !== null) {
        const soFar = news();
        news = null;
        isAskedFor = false;
        try {
          isWatched = (await this.#db.turnStream(claim, turnId, settled(soFar))) || isAskedFor;
        } catch (error) {
          this.#log.debug({ err: error, turnId }, 'not shown to who watches');
        }
        await sleep(INTERVAL_MS, undefined, { ref: false });
      }
      isSending = false;
    };
    const begun = (): void => {
      isWatched = isAskedFor = true;
      news = last;
      void send();
    };
    this.#begun.set(claim.work_item_id, begun);
    return {
      grew: (soFar) => {
        news = last = soFar;
        if (isWatched) void send();
      },
      end: () => {
        news = null;
        if (this.#begun.get(claim.work_item_id) === begun) this.#begun.delete(claim.work_item_id);
      },
    };
  }
}
