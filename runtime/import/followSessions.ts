// Follows the sessions of other programs: stores what they write soon after, once, in the one work item of each session. The ledger notes
// what was read, so that nothing is read again after a restart. If the ledger is unreachable, waits for it.

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Db } from '../ledger/db.ts';
import { LedgerError, messageOf, sqlState } from '../ledger/errors.ts';
import { isConnectionLost } from '../ledger/reachable.ts';
import { ALIVE_SECONDS, GrowingFile, standingOf } from './growingFile.ts';
import type { Growth, Mark, Standing } from './growingFile.ts';
import type { ImportedSession } from './importFile.ts';
import type { SessionFolder } from './sessionFolders.ts';
import { FolderWatch } from './watchFolders.ts';

/** Changes within this time after the first are read together with it. */
const GATHER_MS = 200;
/** How many files keep their readers open, to continue where they are. */
const MAX_OPEN = 100;
/** After a file was read, it rests for this many times as long as reading took, so that a slow file is not read all the time. */
const BUSY_SHARE = 3;
/** Two processes that store the same at once may wait for each other, and one of them is rolled back. */
const again = new Set(['40001', '40P01', '55P03']);
const MAX_TRIES = 5;
/**
 * Errors that are the server's and not the file's, and pass: rolled back, a server that only reads, no room or memory, a lock, a time limit,
 * a broken disk. Until then the file is tried again at this interval.
 */
const passing = /^(25|40|53|55|57|58)/;
const PASSING_MS = 10_000;
/** How long running reads may take at the end. */
const END_MS = 5000;

export type FollowEvent =
  | { event: 'progress'; read: number; files: number; path: string }
  | { event: 'ready'; files: number; read: number; asBefore: number }
  | ({ event: 'session'; path: string; format: string } & ImportedSession)
  | { event: 'rest'; work_item_ids: string[] }
  | { event: 'problem'; path: string; problem: string }
  | { event: 'waiting'; problem: string }
  | { event: 'back' };

type Waiting = { isFirst: boolean; isBusy: boolean; isDue: boolean; restMs: number; timer: NodeJS.Timeout | undefined; notBefore: number };

export class SessionFollower {
  readonly #db: Db;
  readonly #watches: FolderWatch[];
  readonly #tell: (event: FollowEvent) => void;
  readonly #signal: AbortSignal;
  readonly #read = new Map<string, string>();
  readonly #open = new Map<string, GrowingFile>();
  readonly #files = new Map<string, Waiting>();
  readonly #problems = new Map<string, string>();
  readonly #projects = new Map<string, string>();
  /** The files at the beginning, in reading order; and those that have changed since. */
  #backlog: { path: string; quietSeconds: number }[] = [];
  #pending = new Set<string>();
  #count = { files: 0, read: 0, asBefore: 0 };
  #away: Promise<void> | undefined;
  /** Until when each session counts as alive, by its mark; and its file. */
  readonly #alive = new Map<string, { until: number; path: string }>();
  #restTimer: NodeJS.Timeout | undefined;
  readonly #looks = new Set<Promise<void>>();
  #wake = Promise.withResolvers<void>();
  #failed = Promise.withResolvers<never>();

  constructor(db: Db, folders: readonly SessionFolder[], tell: (event: FollowEvent) => void, signal: AbortSignal) {
    this.#db = db;
    this.#tell = tell;
    this.#signal = signal;
    this.#failed.promise.catch(() => {});
    const watched = {
      onFile: (path: string, isFirst: boolean) => this.#seen(path, isFirst),
      onProblem: (path: string, problem: string) => this.#problem(path, problem),
    };
    this.#watches = folders.map((folder) => new FolderWatch(folder, watched));
  }

  /** Runs until the signal fires. Throws if the ledger no longer serves this program. */
  async run(): Promise<void> {
    const stop = Promise.withResolvers<void>();
    this.#signal.addEventListener('abort', () => stop.resolve());
    if (this.#signal.aborted) return;
    try {
      for (const { file_key: key, state } of await this.#db.transcripts.followed()) this.#read.set(key, state);
      const first = (async () => {
        await Promise.all(this.#watches.map((watch) => watch.start()));
        await this.#readBacklog();
      })();
      await Promise.race([stop.promise, this.#failed.promise, Promise.all([first, this.#readPending(), this.#readPending()])]);
    } finally {
      for (const watch of this.#watches) watch.close();
      for (const { timer } of this.#files.values()) clearTimeout(timer);
      clearTimeout(this.#restTimer);
      await Promise.race([Promise.allSettled(this.#looks), sleep(END_MS, undefined, { ref: false })]); // finish what is being stored
    }
  }

  #seen(path: string, isFirst: boolean): void {
    const known = this.#files.get(path);
    const file = known ?? { isFirst, isBusy: false, isDue: false, restMs: 0, timer: undefined, notBefore: 0 };
    this.#files.set(path, file);
    if (isFirst && !known) return; // the first pass reads it
    if (file.isBusy) file.isDue = true;
    else if (!file.timer) {
      file.timer = setTimeout(() => this.#due(path, file), Math.max(GATHER_MS, file.notBefore - performance.now()));
    }
  }

  #due(path: string, file: Waiting): void {
    file.timer = undefined;
    this.#pending.add(path);
    this.#wake.resolve();
  }

  /** Reads the files that existed before, newest first. */
  async #readBacklog(): Promise<void> {
    for (const path of this.#files.keys()) {
      const standing = await standingOf(path);
      if (standing === null) continue;
      this.#count.files++;
      if (this.#read.get(keyOf(path)) === standing.state) this.#count.asBefore++;
      else this.#backlog.push({ path, quietSeconds: standing.quietSeconds });
    }
    this.#backlog.sort((a, b) => a.quietSeconds - b.quietSeconds);
    for (const { path } of this.#backlog) {
      if (this.#signal.aborted) return;
      this.#tell({ event: 'progress', read: this.#count.read, files: this.#backlog.length, path });
      await this.#look(path);
      this.#count.read++;
    }
    this.#backlog = [];
    if (this.#signal.aborted) return;
    this.#tell({ event: 'ready', ...this.#count });
    await this.#pauseResting(); // those that ended while nothing followed them
    this.#pauseAfter('', ALIVE_SECONDS, ''); // and those that were alive until then
  }

  /** Reads changes as they happen, since the first pass may take long. */
  async #readPending(): Promise<never> {
    for (;;) {
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
      for (const path of this.#pending) {
        if (this.#signal.aborted) break;
        this.#pending.delete(path);
        await this.#look(path);
      }
    }
  }

  /** Reads what is new in a file, if anything is. */
  #look(path: string, isEnd = false): Promise<void> {
    const file = this.#files.get(path);
    if (!file) return Promise.resolve();
    if (file.isBusy) file.isDue = true;
    if (file.isBusy) return Promise.resolve();
    [file.isBusy, file.isDue, file.restMs] = [true, false, 0];
    const began = performance.now();
    const look = this.#readFile(path, isEnd).finally(() => {
      this.#looks.delete(look);
      file.isBusy = false;
      file.notBefore = performance.now() + Math.max(file.restMs, BUSY_SHARE * (performance.now() - began));
      if (file.isDue && !this.#signal.aborted) this.#seen(path, false);
    });
    this.#looks.add(look);
    return look;
  }

  /** `isEnd`: its program writes no more for now. */
  async #readFile(path: string, isEnd: boolean): Promise<void> {
    for (let tries = 1; ; tries++) {
      const standing = await standingOf(path);
      if (standing === null) return this.#forget(path);
      const key = keyOf(path);
      if (!standing.isRegular || (this.#read.get(key) === standing.state && !isEnd)) return;
      if (isEnd) standing.quietSeconds = Math.max(standing.quietSeconds, ALIVE_SECONDS);
      try {
        const growth = await this.#fileAt(path).readOn(standing);
        await this.#note(path, growth);
        this.#problems.delete(path);
        return;
      } catch (error) {
        this.#open.delete(path); // read from its beginning next time
        if (this.#signal.aborted) return;
        if (isServedNoMore(error)) return this.#failed.reject(error);
        if (isConnectionLost(error) && isOfDatabase(error)) {
          await this.#untilBack(error);
          tries = 0;
        } else if (!again.has(sqlState(error) ?? '') || tries === MAX_TRIES) return this.#refused(path, standing, error);
      }
    }
  }

  /** Notes in the ledger what was read of a file, and reports what was stored. */
  async #note(path: string, { report, marks }: Growth): Promise<void> {
    for (const mark of marks) {
      await this.#mark(path, mark);
      if (mark.aliveSeconds !== null) this.#pauseAfter(keyOf(path, mark.of), mark.aliveSeconds, path);
    }
    if (marks.every(({ aliveSeconds, of }) => of === null && aliveSeconds === null)) this.#open.delete(path);
    for (const session of report.sessions)
      if (session.added.turns > 0 || session.added.calls > 0) this.#tell({ event: 'session', path, format: report.format, ...session });
  }

  async #mark(path: string, { of, state, workItemId, aliveSeconds }: Mark): Promise<void> {
    const key = keyOf(path, of);
    await this.#db.transcripts.fileRead(key, state, workItemId, aliveSeconds);
    this.#read.set(key, state);
  }

  /**
   * A file whose content cannot be stored is not read again unless it changes. A file that cannot be read may be readable soon. One that
   * the server only takes later is tried again.
   */
  async #refused(path: string, { state }: Standing, error: unknown): Promise<void> {
    this.#problem(path, messageOf(error));
    const file = this.#files.get(path);
    if (file && passing.test(sqlState(error) ?? '')) [file.isDue, file.restMs] = [true, PASSING_MS];
    const isOfFile = sqlState(error) === null || error instanceof LedgerError || sqlState(error) === '42501';
    if (isOfFile) await this.#mark(path, { of: null, state, workItemId: null, aliveSeconds: null }).catch(() => {});
  }

  #problem(path: string, problem: string): void {
    if (this.#problems.get(path) === problem) return;
    this.#problems.set(path, problem);
    this.#tell({ event: 'problem', path, problem });
  }

  #fileAt(path: string): GrowingFile {
    const file = this.#open.get(path) ?? new GrowingFile(this.#db, path, this.#projects, (of) => this.#read.get(keyOf(path, of)));
    this.#open.delete(path);
    this.#open.set(path, file);
    const [oldest] = this.#open.keys();
    if (this.#open.size > MAX_OPEN && oldest !== undefined) this.#open.delete(oldest);
    return file;
  }

  #forget(path: string): void {
    this.#open.delete(path);
    this.#files.delete(path);
    this.#problems.delete(path);
  }

  /** Pauses a session that was silent for this long: one timer for all, and none while none is alive. */
  #pauseAfter(key: string, seconds: number, path: string): void {
    this.#alive.set(key, { until: performance.now() + (seconds + 2) * 1000, path });
    this.#pauseNext();
  }

  #pauseNext(): void {
    clearTimeout(this.#restTimer);
    if (this.#alive.size === 0) return;
    const next = Math.min(...[...this.#alive.values()].map(({ until }) => until));
    this.#restTimer = setTimeout(() => void this.#pauseResting(), next - performance.now());
  }

  async #pauseResting(): Promise<void> {
    try {
      for (const [key, { until, path }] of this.#alive) {
        if (until > performance.now()) continue;
        this.#alive.delete(key);
        if (this.#open.has(path)) await this.#look(path, true); // stores what was waiting for more
      }
      const ids = (await this.#db.transcripts.rest()).map(({ followed_sessions_rest: id }) => id);
      if (ids.length > 0) this.#tell({ event: 'rest', work_item_ids: ids });
      this.#pauseNext();
    } catch (error) {
      if (isServedNoMore(error)) this.#failed.reject(error);
      else if (!this.#signal.aborted) this.#pauseAfter('', 10, '');
    }
  }

  /** Retries until the ledger answers: once for all that wait. */
  #untilBack(error: unknown): Promise<void> {
    return (this.#away ??= (async () => {
      this.#tell({ event: 'waiting', problem: messageOf(error) });
      for (let delay = 250; !this.#signal.aborted; delay = Math.min(delay * 2, 5000)) {
        await sleep(delay, undefined, { signal: this.#signal }).catch(() => {});
        const why = await this.#db.version().then(
          () => null,
          (problem: unknown) => problem,
        );
        if (why === null || !isConnectionLost(why)) break;
      }
      this.#away = undefined;
      if (!this.#signal.aborted) this.#tell({ event: 'back' });
    })());
  }
}

/** The key of a file in the ledger, which does not reveal its path; or of one conversation, if the file has several. */
const keyOf = (path: string, of: string | null = null): string =>
  createHash('sha256')
    .update(of === null ? path : `${path}\0${of}`)
    .digest('hex');

const isServedNoMore = (error: unknown): boolean => error instanceof LedgerError && ['WL010', 'WL011'].includes(error.code);

/** A missing file has an error with the same code as the missing socket of a server. */
const isOfDatabase = (error: unknown): boolean => !(error instanceof Error && 'path' in error);
