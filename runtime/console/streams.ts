// Many open pages are cheap: there are at most so many streams, and what several of them ask at the same time is asked once.

import { setTimeout as sleep } from 'node:timers/promises';

import type { Db } from '../ledger/db.ts';

/** At once: of one visitor, of all who are not known, of the whole console. A browser keeps one for each page that is on screen. */
export const MOST_STREAMS = { visitor: 48, strangers: 64, all: 256 };

/** Counts the open streams. */
export class Streams {
  readonly #open = new Map<string, number>();
  #all = 0;
  #strangers = 0;

  /** Null: there are too many. Else call what it returns when the stream ends. `who`: the visitor, or the address of a stranger. */
  open(who: string, isKnown: boolean): (() => void) | null {
    const own = this.#open.get(who) ?? 0;
    if (own >= MOST_STREAMS.visitor || this.#all >= MOST_STREAMS.all || (!isKnown && this.#strangers >= MOST_STREAMS.strangers))
      return null;
    const count = (by: 1 | -1): void => {
      const left = (this.#open.get(who) ?? 0) + by;
      if (left === 0) this.#open.delete(who);
      else this.#open.set(who, left);
      this.#all += by;
      if (!isKnown) this.#strangers += by;
    };
    count(1);
    let isOver = false;
    return () => {
      if (!isOver) count(-1);
      isOver = true;
    };
  }
}

/** Of the time, what open pages may take together of the database, unless a change would be shown later than LATEST_MS after the last. */
const SHARE = 0.02;
const LATEST_MS = 5000;

/** How soon open pages look again for what has changed: in a ledger with thousands of items each look, and what is then read anew, costs something. */
export class Pace {
  readonly #now: () => number;
  #looked = -Infinity;
  #spent = 0;

  constructor(now = (): number => performance.now()) {
    this.#now = now;
  }

  /** Runs something for open pages, and counts how long it takes. */
  async spend<T>(run: () => Promise<T>): Promise<T> {
    const began = this.#now();
    try {
      return await run();
    } finally {
      this.#spent += this.#now() - began;
    }
  }

  /** Until the next look, in ms; what is spent meanwhile makes it later. */
  get left(): number {
    return this.#looked + Math.min(LATEST_MS, this.#spent / SHARE) - this.#now();
  }

  /** Begins a look when it may. */
  async look<T>(run: () => Promise<T>): Promise<T> {
    while (this.left > 0) await sleep(this.left);
    [this.#looked, this.#spent] = [this.#now(), 0];
    return this.spend(run);
  }
}

/** The same ledger for the looks of all streams: at any time one of them asks, and all who come meanwhile share what is asked next. */
export function sharedLooks(db: Db, pace: Pace): Db {
  const { shell, ledgerInputs, itemInputs, underWay, underWaySums } = db.console;
  const [items, trees] = [new Map<string, () => ReturnType<typeof itemInputs>>(), new Map<string, () => ReturnType<typeof underWay>>()];
  return {
    ...db,
    console: {
      ...db.console,
      shell: shared(() => pace.spend(shell)),
      ledgerInputs: shared(() => pace.look(ledgerInputs)),
      itemInputs: (id) => once(items, id, () => itemInputs(id)),
      underWay: (page) => once(trees, JSON.stringify(page), () => underWay(page)),
      underWaySums: shared(underWaySums),
    },
  };
}

/** Shared by all who ask for the same, as long as anybody asks. */
function once<Key, T>(asked: Map<Key, () => Promise<T>>, key: Key, ask: () => Promise<T>): Promise<T> {
  const one = asked.get(key) ?? shared(ask, () => asked.delete(key));
  asked.set(key, one);
  return one();
}

/** An answer is of what was there when somebody asked, or later: whoever comes while it is asked waits for the next one. */
export function shared<T>(ask: () => Promise<T>, onIdle: () => void = () => {}): () => Promise<T> {
  let running: Promise<T> | null = null;
  let next: Promise<T> | null = null;
  const start = (): Promise<T> => {
    next = null;
    const one = ask().finally(() => {
      if (running !== one) return;
      running = null;
      if (next === null) onIdle();
    });
    running = one;
    return one;
  };
  return () => (running === null ? start() : (next ??= running.then(start, start)));
}
