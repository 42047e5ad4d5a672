// Keeps many open pages cheap: limits the number of streams, and shares the answer when several of them read the same at the same time.

import { setTimeout as sleep } from 'node:timers/promises';

import type { Project } from '../ledger/consoleShapes.ts';
import type { UnderWayPage } from '../ledger/consoleNow.ts';
import type { Db } from '../ledger/db.ts';

/** The most streams at once: of one visitor, of all unknown visitors, of the whole console. A browser keeps one for each visible page. */
export const MOST_STREAMS = { visitor: 48, strangers: 64, all: 256 };

/** Counts the open streams. */
export class Streams {
  readonly #open = new Map<string, number>();
  #all = 0;
  #strangers = 0;

  /**
   * Returns null if there are too many, else a function to call when the stream ends. `who`: the visitor, or the address of an unknown one.
   */
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

/**
 * The share of time for which the looks of open pages may keep the database busy together, unless that would delay a change by more than
 * LATEST_MS after the last look.
 */
const SHARE = 0.005;
const LATEST_MS = 5000;
/**
 * The share of time that reading one part of a page may take, and the longest delay that this causes. Its cost is taken to be the least of
 * its last few readings: the others waited for something.
 */
const PART_SHARE = 0.002;
const PART_LATEST_MS = 30_000;
const READINGS = 5;
/** How many parts are remembered. */
const MOST_PARTS = 1000;

/**
 * Decides how soon open pages look again for changes, and how soon they are told of a part again: in a ledger with thousands of items, each
 * look, and what is then read, is expensive. What is read in an instant is told with the next look.
 */
export class Pace {
  readonly #now: () => number;
  #looked = -Infinity;
  #spent = 0;
  /** Recent durations of reading a part, by its address; the most recently read part is last. */
  readonly #parts = new Map<string, number[]>();

  constructor(now = (): number => performance.now()) {
    this.#now = now;
  }

  /** Runs something for the looks of open pages, and counts how long it takes. */
  async spend<T>(run: () => Promise<T>): Promise<T> {
    const began = this.#now();
    try {
      return await run();
    } finally {
      this.#spent += this.#now() - began;
    }
  }

  /** The time until the next look, in ms; further spending delays it. */
  get left(): number {
    return this.#looked + Math.min(LATEST_MS, this.#spent / SHARE) - this.#now();
  }

  /** Runs a look as soon as that is allowed. */
  async look<T>(run: () => Promise<T>): Promise<T> {
    while (this.left > 0) await sleep(this.left);
    [this.#looked, this.#spent] = [this.#now(), 0];
    return this.spend(run);
  }

  /** Reads a part for an open page, and counts how long that takes. */
  async read<T>(part: string, run: () => Promise<T>): Promise<T> {
    const began = this.#now();
    try {
      return await run();
    } finally {
      const took = [...(this.#parts.get(part) ?? []), this.#now() - began].slice(-READINGS);
      this.#parts.delete(part);
      this.#parts.set(part, took);
      for (const oldest of this.#parts.keys()) {
        if (this.#parts.size <= MOST_PARTS) break;
        this.#parts.delete(oldest);
      }
    }
  }

  /** How long after a page was told of a part it is not told of it again, in ms: the longer the part takes to read, the longer. */
  restOf(part: string): number {
    const took = this.#parts.get(part);
    if (took === undefined) return 0;
    return Math.min(took.length < READINGS ? LATEST_MS : PART_LATEST_MS, Math.min(...took) / PART_SHARE);
  }

  /**
   * Returns a filter for the versions that one open page is told: those it already knows, and new ones of parts that do not rest for it. At
   * first a page is told everything, since it may just have become visible again; readings for other pages hold nothing back.
   */
  forPage(addressOf: (part: string) => string): (versions: Iterable<[string, string]>) => Map<string, string> {
    const told = new Map<string, { version: string; restsUntil: number }>();
    return (versions) => {
      const now = this.#now();
      const due = [...versions].filter(([part, version]) => {
        const last = told.get(part);
        return last === undefined || last.version === version || last.restsUntil <= now;
      });
      for (const [part, version] of due)
        if (told.get(part)?.version !== version) told.set(part, { version, restsUntil: now + this.restOf(addressOf(part)) });
      return new Map(due);
    };
  }
}

/**
 * The ledger for the looks of all streams: at any time one of them queries, and all that come meanwhile share the next query. `looked`: the
 * ledger for the parts that pages then fetch. Their versions are from the newest look, which was before they are read.
 */
export function sharedLooks(db: Db, pace: Pace): { looks: Db; looked: (at: Db) => Db } {
  const { shell, ledgerInputs, itemInputs, underWayAsked } = db.console;
  const [shells, items, trees] = [
    new Map<Project, ReturnType<typeof kept<Awaited<ReturnType<typeof shell>>>>>(),
    new Map<string, () => ReturnType<typeof itemInputs>>(),
    new Map<string, () => ReturnType<typeof underWayAsked>>(),
  ];
  const newestInputs = kept(ledgerInputs);
  /** One for each project that is shown: only projects that the ledger knows are queried. */
  const shellIn = (
    project: Project,
  ): { ask: () => ReturnType<typeof shell>; or: ReturnType<typeof kept<Awaited<ReturnType<typeof shell>>>>['or'] } => {
    const one = shells.get(project);
    if (one) return one;
    const newest = kept(() => shell(project));
    const made = { ask: shared(() => pace.spend(newest.ask)), or: newest.or };
    shells.set(project, made);
    return made;
  };
  const looks = {
    ...db,
    console: {
      ...db.console,
      shell: (project: Project) => shellIn(project).ask(),
      ledgerInputs: shared(() => pace.look(newestInputs.ask)),
      itemInputs: (id: string) => once(items, id, () => itemInputs(id)),
      underWayAsked: (page: UnderWayPage) => once(trees, JSON.stringify(page), () => underWayAsked(page)),
    },
  };
  const looked = (at: Db): Db => ({
    ...at,
    console: {
      ...at.console,
      shell: (project: Project) => shellIn(project).or(() => at.console.shell(project))(),
      ledgerInputs: newestInputs.or(at.console.ledgerInputs),
    },
  });
  return { looks, looked };
}

/** Keeps the newest answer for readers that need no fresh one; an answer older than two looks is not used. */
function kept<T>(ask: () => Promise<T>): { ask: () => Promise<T>; or: (other: () => Promise<T>) => () => Promise<T> } {
  let newest: { answer: T; at: number } | null = null;
  return {
    async ask() {
      const answer = await ask();
      newest = { answer, at: performance.now() };
      return answer;
    },
    or: (other) => async () => (newest !== null && performance.now() - newest.at < 2 * LATEST_MS ? newest.answer : other()),
  };
}

/** Shares a query among all who ask the same, as long as anybody asks. */
function once<Key, T>(asked: Map<Key, () => Promise<T>>, key: Key, ask: () => Promise<T>): Promise<T> {
  const one = asked.get(key) ?? shared(ask, () => asked.delete(key));
  asked.set(key, one);
  return one();
}

/** An answer is never older than its request: a caller that comes while a query runs waits for the next one. */
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
