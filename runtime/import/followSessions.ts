// Follows the sessions of other programs: what they write is stored soon after, once, in the one work item that each session has. What was
// read is noted in the ledger, so that nothing is read again after a restart; a ledger that is away is waited for.

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

/** What comes within this time after a change is read with it. */
const GATHER_MS = 200;
/** Files whose readers are kept, to go on where they are. */
const MAX_OPEN = 100;
/** After a file was read it rests for so many times as long as that took: what takes long is not read all the time. */
const BUSY_SHARE = 3;
/** Two who store the same at once may wait for each other, and one of them is sent away. */
const again = new Set(['40001', '40P01', '55P03']);
const MAX_TRIES = 5;
/** How long what is under way at the end may take. */
const END_MS = 5000;

export type FollowEvent =
  | { event: 'progress'; read: number; files: number; path: string }
  | { event: 'ready'; files: number; read: number; asBefore: number }
  | ({ event: 'session'; path: string; format: string } & ImportedSession)
  | { event: 'rest'; work_item_ids: string[] }
  | { event: 'problem'; path: string; problem: string }
  | { event: 'waiting'; problem: string }
  | { event: 'back' };

type Waiting = { isFirst: boolean; isBusy: boolean; isDue: boolean; timer: NodeJS.Timeout | undefined; notBefore: number };

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
  /** What there was at the beginning, in the order in which it is read; and what has changed since. */
  #backlog: { path: string; quietSeconds: number }[] = [];
  #pending = new Set<string>();
  #count = { files: 0, read: 0, asBefore: 0 };
  #away: Promise<void> | undefined;
  /** Until when each session counts as alive, by its mark; and the file that it is in. */
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

  /** Until the signal fires. Throws where the ledger serves this program no more. */
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
      await Promise.race([Promise.allSettled(this.#looks), sleep(END_MS, undefined, { ref: false })]); // what is being stored
    }
  }

  #seen(path: string, isFirst: boolean): void {
    const known = this.#files.get(path);
    const file = known ?? { isFirst, isBusy: false, isDue: false, timer: undefined, notBefore: 0 };
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

  /** What there was before, the newest first. */
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
    await this.#pauseResting(); // those that ended while nobody looked
    this.#pauseAfter('', ALIVE_SECONDS, ''); // and those that were alive until then
  }

  /** What changes, as it changes: the first pass may take long. */
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
    [file.isBusy, file.isDue] = [true, false];
    const began = performance.now();
    const look = this.#readFile(path, isEnd).finally(() => {
      this.#looks.delete(look);
      file.isBusy = false;
      file.notBefore = performance.now() + BUSY_SHARE * (performance.now() - began);
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
        this.#open.delete(path); // it is read from its beginning
        if (this.#signal.aborted) return;
        if (isServedNoMore(error)) return this.#failed.reject(error);
        if (isConnectionLost(error) && isOfDatabase(error)) {
          await this.#untilBack(error);
          tries = 0;
        } else if (!again.has(sqlState(error) ?? '') || tries === MAX_TRIES) return this.#refused(path, standing, error);
      }
    }
  }

  /** What was read of a file is noted; what was stored is told. */
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

  /** What is in it cannot be stored: it is not read again as it is. One that cannot be read may be readable soon. */
  async #refused(path: string, { state }: Standing, error: unknown): Promise<void> {
    this.#problem(path, messageOf(error));
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

  /** A session is paused when nothing was heard of it for so long: one timer for all, and none while none is alive. */
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
        if (this.#open.has(path)) await this.#look(path, true); // what waited for more
      }
      const ids = (await this.#db.transcripts.rest()).map(({ followed_sessions_rest: id }) => id);
      if (ids.length > 0) this.#tell({ event: 'rest', work_item_ids: ids });
      this.#pauseNext();
    } catch (error) {
      if (isServedNoMore(error)) this.#failed.reject(error);
      else if (!this.#signal.aborted) this.#pauseAfter('', 10, '');
    }
  }

  /** The ledger is asked until it answers: once for all who wait. */
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

/** What a file is known by in the ledger, without a word of its path; or a conversation of several in it. */
const keyOf = (path: string, of: string | null = null): string =>
  createHash('sha256')
    .update(of === null ? path : `${path}\0${of}`)
    .digest('hex');

const isServedNoMore = (error: unknown): boolean => error instanceof LedgerError && ['WL010', 'WL011'].includes(error.code);

/** A file that is gone has an error of the same code as a server's socket that is. */
const isOfDatabase = (error: unknown): boolean => !(error instanceof Error && 'path' in error);
