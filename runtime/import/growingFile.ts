// A session's file that its program is still writing: each read stores what is new in it, including the newest exchange as far as it is
// known. A file that was truncated, replaced or rewritten is read from its beginning; what the ledger already has is not stored twice.

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

import { lastSessionId, LinesReader, parseRecordedRuns } from '../../plv8/readers/recordedRun.ts';
import type { RecordedRun } from '../../plv8/readers/recordedRun.ts';
import type { Db } from '../ledger/db.ts';
import { isSqlite, MAX_LINE_BYTES, ownSessionId, Report } from './importFile.ts';

/** How much is read before the result so far is stored. */
const PART_BYTES = 8_000_000;
const CHUNK_BYTES = 1 << 20;
/** This much before the position is compared before reading continues; if it differs, it is another file. */
const TAIL_BYTES = 4096;
/** A program that has not written for this long is at rest; in the middle of a call it may take longer. */
export const ALIVE_SECONDS = 300;
export const WAITING_SECONDS = 1800;

/** The file at a path; null: nothing that can be read. `state` changes with every write. */
export type Standing = { state: string; isRegular: boolean; quietSeconds: number };
export async function standingOf(path: string): Promise<Standing | null> {
  const found = await lstat(path, { bigint: true }).catch(() => null);
  if (!found) return null;
  // The write-ahead log next to an SQLite file belongs to it.
  const beside = path.endsWith('.vscdb') ? await lstat(`${path}-wal`, { bigint: true }).catch(() => null) : null;
  const writtenMs = Math.max(Number(found.mtimeMs), Number(beside?.mtimeMs ?? 0));
  return {
    state: [found.ino, found.size, found.mtimeNs, ...(beside ? [beside.size, beside.mtimeNs] : [])].join(':'),
    isRegular: found.isFile(),
    quietSeconds: Math.max(0, (Date.now() - writtenMs) / 1000),
  };
}

/**
 * The content of a file: its session, or one conversation of several (`of`). `aliveSeconds`: how long its program counts as alive; null: it
 * is at rest.
 */
export type Mark = { of: string | null; state: string; workItemId: string | null; aliveSeconds: number | null };
export type Growth = { report: Report; marks: Mark[] };

/** `sessionIds`: the ids that the file's own session was assumed to have. */
type Parts = { reader: LinesReader; sessionIds: Set<string> };

export class GrowingFile {
  readonly #db: Db;
  readonly #path: string;
  readonly #projects: Map<string, string>;
  /** The state in which a conversation was last read, for a file with several. */
  readonly #stateOf: (conversation: string) => string | undefined;
  #parts: Parts | undefined;
  #inode: bigint | undefined;
  /** Where the first unread line begins, and how far its end was searched for. */
  #at = 0;
  #searched = 0;
  #tail = Buffer.alloc(0);
  #stored = 0;
  #workItemId: string | null = null;
  /** Until when conversations count as ongoing. */
  readonly #going = new Map<string, number>();

  constructor(db: Db, path: string, projects: Map<string, string>, stateOf: (conversation: string) => string | undefined) {
    this.#db = db;
    this.#path = path;
    this.#projects = projects;
    this.#stateOf = stateOf;
  }

  /**
   * Stores what is new. Throws if the file cannot be read or its content cannot be stored; then the next read starts from the beginning.
   */
  async readOn({ state, quietSeconds }: Standing): Promise<Growth> {
    const report = new Report(this.#db, this.#path, this.#projects);
    // Does not open a link or a pipe that has replaced it meanwhile.
    const handle = await open(this.#path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { size, ino, isRegular } = await handle.stat({ bigint: true }).then((found) => ({ ...found, isRegular: found.isFile() }));
      if (!isRegular) throw new Error('it is no regular file');
      const beginning = Buffer.alloc(15);
      await handle.read(beginning, 0, 15, 0);
      if (isSqlite(beginning)) return await this.#readConversations(report, state, quietSeconds);
      if (this.#isDocument || ino !== this.#inode || Number(size) < this.#searched || !(await this.#isSame(handle))) this.#begin();
      this.#inode = ino;
      const bytes = await this.#readLines(handle, Number(size), report, quietSeconds);
      this.#workItemId = report.sessions[0]?.workItemId ?? this.#workItemId;
      return { report, marks: [{ of: null, state, workItemId: this.#workItemId, aliveSeconds: this.#aliveSeconds(bytes, quietSeconds) }] };
    } catch (error) {
      this.#begin();
      throw error;
    } finally {
      await handle.close();
    }
  }

  #begin(): void {
    this.#parts = undefined;
    [this.#at, this.#searched, this.#stored] = [0, 0, 0];
    this.#tail = Buffer.alloc(0);
  }

  /** Whether what was read is still there. */
  async #isSame(handle: FileHandle): Promise<boolean> {
    const there = Buffer.alloc(this.#tail.length);
    await handle.read(there, 0, there.length, this.#at - there.length);
    return there.equals(this.#tail);
  }

  #aliveSeconds(bytes: number, quietSeconds: number): number | null {
    const left = (this.#parts?.reader.isWaiting ? WAITING_SECONDS : ALIVE_SECONDS) - quietSeconds;
    return bytes > 0 && left >= 1 ? Math.round(left) : null;
  }

  async #readLines(handle: FileHandle, size: number, report: Report, quietSeconds: number): Promise<number> {
    const from = this.#at;
    const how = { isFollowed: true, isLive: quietSeconds < ALIVE_SECONDS } as const;
    this.#parts ??= partsOf(await ownSessionId(this.#path, size));
    let newest: string[] = [];
    for await (const lines of this.#newLines(handle, size)) {
      for (const line of lines) this.#parts.reader.read(line);
      newest = [...newest, ...lines].slice(-200);
      if (this.#at - this.#stored < PART_BYTES) continue;
      await report.storeAll(this.#parts.reader.take(false), this.#path, how);
      this.#stored = this.#at;
    }
    if (this.#at === from && how.isLive && !this.#isDocument) return 0;
    const id = lastSessionId(newest);
    if (id !== undefined && this.#parts.reader.isTold && !this.#parts.sessionIds.has(id)) {
      // What was read so far is a copy of another session, with which this one begins.
      const known = this.#parts.sessionIds;
      this.#begin();
      this.#parts = partsOf(id, known);
      return this.#readLines(handle, size, report, quietSeconds);
    }
    const { reader } = this.#parts;
    const rest = how.isLive || size - this.#at > CHUNK_BYTES ? '' : await this.#restOf(handle, size);
    reader.read(rest, true);
    if (reader.isTold) {
      await report.storeAll(reader.take(false), this.#path, how);
      // A session without an id is identified by its first exchange, which must be complete.
      const waiting = reader.peek(!how.isLive).filter((run) => run.sessionId !== undefined && isSession(run));
      await report.storeAll(waiting, this.#path, how);
      this.#stored = this.#at;
    } else if (this.#isDocument) await report.storeAll(parseRecordedRuns(await readFile(handle, 'utf8')), this.#path, how);
    const bytes = this.#isDocument ? size : this.#at - from;
    if (rest !== '') this.#begin(); // if it continues after all, it is read again
    return bytes;
  }

  /** A last line without a line break: its writer is gone, or writes no final line break. */
  async #restOf(handle: FileHandle, size: number): Promise<string> {
    const rest = Buffer.alloc(Math.max(0, size - this.#at));
    const { bytesRead } = await handle.read(rest, 0, rest.length, this.#at);
    return rest.toString('utf8', 0, bytesRead);
  }

  /** Rewritten as a whole each time. */
  get #isDocument(): boolean {
    return /\.(json|traj)$/.test(this.#path) && this.#parts?.reader.isTold !== true;
  }

  /** The lines completed since the last read, in batches. */
  async *#newLines(handle: FileHandle, size: number): AsyncGenerator<string[]> {
    let rest: Buffer[] = [];
    // The end of a long line is not searched for again where it was not found.
    if (this.#searched > this.#at && !(await this.#hasEnd(handle, size))) return;
    for (let place = this.#at; place < size;) {
      const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, size - place));
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, place);
      if (bytesRead === 0) break;
      place += bytesRead;
      const lines: string[] = [];
      let from = 0;
      for (let end = chunk.indexOf(10); end !== -1 && end < bytesRead; end = chunk.indexOf(10, from)) {
        lines.push(Buffer.concat([...rest, chunk.subarray(from, end)]).toString('utf8'));
        rest = [];
        from = end + 1;
      }
      if (from > 0) {
        const read = chunk.subarray(0, from);
        this.#at = place - bytesRead + from;
        this.#tail = Buffer.from(Buffer.concat([this.#tail, read]).subarray(-TAIL_BYTES));
      }
      rest.push(chunk.subarray(from, bytesRead));
      this.#searched = place;
      if (place - this.#at > MAX_LINE_BYTES) throw new Error(`a line is longer than ${MAX_LINE_BYTES / 1e6} MB`);
      if (lines.length > 0) yield lines;
      if (!this.#parts?.reader.isHopeless) continue;
      if (this.#isDocument) return;
      throw new Error('no recorded run in it');
    }
  }

  async #hasEnd(handle: FileHandle, size: number): Promise<boolean> {
    for (const chunk = Buffer.alloc(CHUNK_BYTES); this.#searched < size;) {
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, this.#searched);
      if (bytesRead === 0) return false;
      if (chunk.subarray(0, bytesRead).includes(10)) return true;
      this.#searched += bytesRead;
    }
    return false;
  }

  /** Reads the conversations of Cursor that have changed or are ongoing: a message may be stored after the record that announces it. */
  async #readConversations(report: Report, state: string, quietSeconds: number): Promise<Growth> {
    const { cursorRuns } = await import('./cursorDatabase.ts');
    const [now, isWritten] = [performance.now(), quietSeconds < ALIVE_SECONDS];
    const marks: Mark[] = [];
    const hashes = new Map<string, string>();
    let isKnown = false;
    const isNew = (id: string, stored: unknown): boolean => {
      const hash = createHash('sha256')
        .update(stored instanceof Uint8Array ? stored : String(stored))
        .digest('hex');
      const before = this.#stateOf(id);
      isKnown ||= before !== undefined;
      hashes.set(id, hash);
      return before !== hash || (this.#going.get(id) ?? 0) > now;
    };
    for (const run of cursorRuns(this.#path, (reason) => report.leave(reason), isNew)) {
      const id = run.sessionId?.split('#').at(-1) ?? '';
      const isLive = isKnown && isWritten;
      if (isLive && hashes.get(id) !== this.#stateOf(id)) this.#going.set(id, now + ALIVE_SECONDS * 1000);
      const stored = await report.store(run, { isFollowed: true, isLive });
      marks.push({ of: id, state: hashes.get(id) ?? '', workItemId: stored, aliveSeconds: isLive ? ALIVE_SECONDS : null });
    }
    return { report, marks: [...marks, { of: null, state, workItemId: null, aliveSeconds: null }] };
  }
}

const partsOf = (sessionId: string | undefined, before: ReadonlySet<string> = new Set()): Parts => ({
  reader: new LinesReader(sessionId),
  sessionIds: new Set([...before, ...(sessionId === undefined ? [] : [sessionId])]),
});

/** Whether something was answered, or a person asked something. */
const isSession = ({ exchanges, prompt, isPromptByHarness, task }: RecordedRun): boolean =>
  exchanges.length > 0 || task !== undefined || (isPromptByHarness !== true && prompt.trim() !== '');
