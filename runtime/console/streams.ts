// Many open pages are cheap: there are at most so many streams, and what several of them ask at the same time is asked once.

import { setTimeout as sleep } from 'node:timers/promises';

import type { Project } from '../ledger/consoleShapes.ts';
import type { UnderWayPage } from '../ledger/consoleNow.ts';
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

/** Of the time, what the looks of open pages may take together of the database, unless a change would be shown later than LATEST_MS after the last. */
const SHARE = 0.005;
const LATEST_MS = 5000;
/**
 * Of the time, what reading one part of a page anew may take, and how late that makes it at most. It is taken to cost the least of its last few
 * readings: the others waited for something.
 */
const PART_SHARE = 0.002;
const PART_LATEST_MS = 30_000;
const READINGS = 5;
/** Parts that are remembered. */
const MOST_PARTS = 1000;

/**
 * How soon open pages look again for what has changed, and how soon they are told of a part again: in a ledger with thousands of items each
 * look, and what is then read anew, costs something. What is read in an instant is told with the next look.
 */
export class Pace {
  readonly #now: () => number;
  #looked = -Infinity;
  #spent = 0;
  /** What a part took of late, by its address; the one that was read last is last. */
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

  /** Reads a part anew for an open page, and counts how long that takes. */
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

  /** For how long a page that was told of a part is not told of it again, in ms: the longer it takes to read, the longer it rests. */
  restOf(part: string): number {
    const took = this.#parts.get(part);
    if (took === undefined) return 0;
    return Math.min(took.length < READINGS ? LATEST_MS : PART_LATEST_MS, Math.min(...took) / PART_SHARE);
  }

  /**
   * What one open page may be told: of the versions that its parts have now those that it knows, and those that are new of parts which do
   * not rest for it. A page is told of everything first, since it may come back from where nobody saw it; what others read holds nothing up.
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
 * The same ledger for the looks of all streams: at any time one of them asks, and all who come meanwhile share what is asked next.
 * `looked`: for the parts that pages fetch then. Their versions are of the newest look, which was before they are read.
 */
export function sharedLooks(db: Db, pace: Pace): { looks: Db; looked: (at: Db) => Db } {
  const { shell, ledgerInputs, itemInputs, underWayAsked } = db.console;
  const [shells, items, trees] = [
    new Map<Project, ReturnType<typeof kept<Awaited<ReturnType<typeof shell>>>>>(),
    new Map<string, () => ReturnType<typeof itemInputs>>(),
    new Map<string, () => ReturnType<typeof underWayAsked>>(),
  ];
  const newestInputs = kept(ledgerInputs);
  /** Of each project that somebody looks at: only those that the ledger knows are asked for. */
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

/** The newest answer, for whoever need not ask anew; one that is older than two looks counts no more. */
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
