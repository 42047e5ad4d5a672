// Stores a recorded run of another agent in the ledger. The file is read in parts, so that its size does not matter; importing it again
// adds only what is new.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { lastSessionId, LinesReader, parseRecordedRuns } from '../../plv8/readers/recordedRun.ts';
import type { RecordedRun } from '../../plv8/readers/recordedRun.ts';
import type { Db } from '../ledger/db.ts';
import { messageOf } from '../ledger/errors.ts';
import { projectOf } from '../project.ts';
import { isErasedSubagent } from './erasedSubagent.ts';

export type ImportedSession = {
  session: string;
  workItemId: string;
  turns: number;
  calls: number;
  added: { turns: number; calls: number };
};
/** The session of the file comes first, then its subagents. What was stored before an error stays. */
export type ImportReport = FileReport | { file: string; error: string };
export type FileReport = {
  file: string;
  format: string;
  sessions: ImportedSession[];
  leftOut: { reason: string; count: number; line?: number }[];
};

type ReadOptions = {
  onProgress?: (percent: number) => void;
  /** The file's name, if it is not read from its own place. */
  name?: string;
  /** How much of a file is read before the result so far is stored. */
  partBytes?: number;
};

/** The longest text that is read at once; no recorder writes even a hundredth of that. */
export const MAX_LINE_BYTES = 256e6;
const MAX_META_BYTES = 1e6;

/** Reads a file and stores what is not in the ledger yet. */
export async function importFile(
  db: Db,
  file: string,
  { onProgress, name = file, partBytes = 8_000_000 }: ReadOptions = {},
): Promise<ImportReport> {
  const report = new Report(db, name);
  try {
    const size = await sizeOf(file);
    if (isSqlite(await bytesOf(file, 0, 15))) {
      const { cursorRuns } = await import('./cursorDatabase.ts');
      for (const run of cursorRuns(file, (reason) => report.leave(reason))) {
        await report.store(run).catch((error: unknown) => report.leave(`conversation ${run.sessionId}: ${messageOf(error)}`));
      }
      return report.result();
    }
    const store = (runs: RecordedRun[]): Promise<void> => report.storeAll(runs, file);
    const reader = new LinesReader(await ownSessionId(file, size));
    let [read, stored] = [0, 0];
    for await (const { text, bytes, isUnfinished } of linesIn(file)) {
      reader.read(text, isUnfinished);
      if (reader.isHopeless) break;
      read += bytes;
      if (read - stored < partBytes) continue;
      await store(reader.take(false));
      stored = read;
      onProgress?.(Math.floor((read / size) * 100));
    }
    await store(reader.isTold ? reader.take(true) : parseRecordedRuns(await readFile(file, 'utf8')));
    return report.result();
  } catch (error) {
    return { file: name, error: messageOf(error) };
  }
}

/** What a file has yielded so far. `projects`: a cache of projects by directory. */
export class Report {
  readonly #db: Db;
  readonly #file: string;
  readonly #sessions = new Map<string, ImportedSession>();
  readonly #skipped = new Map<string, RecordedRun['skipped']>();
  readonly #left = new Map<string, number>();
  readonly #projects: Map<string, string>;
  #identity: string | undefined;
  #format = '';

  constructor(db: Db, file: string, projects = new Map<string, string>()) {
    this.#db = db;
    this.#file = file;
    this.#projects = projects;
  }

  /** Stores the runs of a file that is read at `place`; the first exchange of a run without an id must be complete. */
  async storeAll(runs: readonly RecordedRun[], place: string, how: How = {}): Promise<void> {
    this.#identity ??= runs[0] && identityOf(this.#file, runs[0]);
    const spawnedBy = runs.length > 0 ? await spawnOf(place) : undefined;
    for (const run of runs) {
      const cwd = run.cwd ?? (run.format === 'gemini-cli' ? await geminiDirectory(place) : undefined);
      await this.store(
        {
          ...run,
          sessionId: run.sessionId ?? this.#identity ?? basename(this.#file),
          ...(cwd !== undefined && { cwd }),
          ...(spawnedBy !== undefined && { spawnedBy }),
        },
        how,
      ).catch((error: unknown) => {
        if (!isErasedSubagent(run, error)) throw error;
        this.leave(`subagent ${run.sessionId}, which was erased`);
      });
    }
  }

  /** Returns the work item. */
  async store(run: RecordedRun, how: How = {}): Promise<string> {
    const project = run.cwd?.startsWith('/') ? await this.#projectOf(run.cwd) : undefined;
    const added = await this.#db.sessionImport({ ...run, ...how, file: this.#file, ...(project !== undefined && { project }) });
    const so = this.#sessions.get(added.session) ?? {
      session: added.session,
      workItemId: added.work_item_id,
      turns: 0,
      calls: 0,
      added: { turns: 0, calls: 0 },
    };
    this.#sessions.set(added.session, {
      ...so,
      turns: so.turns + run.exchanges.length,
      calls: so.calls + run.exchanges.reduce((sum, { calls }) => sum + calls.length, 0),
      added: { turns: so.added.turns + added.turns, calls: so.added.calls + added.calls },
    });
    this.#skipped.set(added.session, run.skipped); // counts the whole run so far
    this.#format ||= run.format;
    return added.work_item_id;
  }

  /** A directory that does not exist here, because the run was recorded elsewhere, counts by its path. */
  async #projectOf(directory: string): Promise<string> {
    const project = this.#projects.get(directory) ?? (await projectOf(directory));
    this.#projects.set(directory, project);
    return project;
  }

  leave(reason: string): void {
    this.#left.set(reason, (this.#left.get(reason) ?? 0) + 1);
  }

  /** The sessions so far. */
  get sessions(): ImportedSession[] {
    return [...this.#sessions.values()];
  }

  get format(): string {
    return this.#format;
  }

  result(): ImportReport {
    const { sessions } = this;
    const left = [...this.#left].map(([reason, count]) => ({ reason, count }));
    if (sessions.length === 0)
      return { file: this.#file, error: `no recorded run in it${left.map(({ reason }) => `: ${reason}`).join('')}` };
    return { file: this.#file, format: this.#format, sessions, leftOut: [...this.#skipped.values()].flat().concat(left) };
  }
}

/** `isFollowed`: the file is read as it grows. `isLive`: the program that writes it is running. */
export type How = { isFollowed?: true; isLive?: boolean };

export const isSqlite = (beginning: Buffer): boolean => beginning.toString('latin1', 0, 15) === 'SQLite format 3';

/** Throws for what has no end or can be read only once: a device, a pipe. */
async function sizeOf(file: string): Promise<number> {
  const found = await stat(file);
  if (!found.isFile()) throw new Error('it is no regular file');
  return found.size;
}

/**
 * The lines of a file. The last one may be unfinished: it has no newline. Throws if a line does not end, since a file may be one large
 * hole.
 */
async function* linesIn(file: string): AsyncGenerator<{ text: string; bytes: number; isUnfinished: boolean }> {
  let rest: Buffer[] = [];
  let length = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const line = rest.length === 0 ? chunk.subarray(from, end) : Buffer.concat([...rest, chunk.subarray(from, end)]);
      rest = [];
      length = 0;
      from = end + 1;
      yield { text: line.toString('utf8'), bytes: line.length + 1, isUnfinished: false };
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > MAX_LINE_BYTES) throw new Error(`a line is longer than ${MAX_LINE_BYTES / 1e6} MB`);
  }
  if (rest.length > 0) yield { text: Buffer.concat(rest).toString('utf8'), bytes: 0, isUnfinished: true };
}

async function bytesOf(file: string, from: number, length: number): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, from);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** For Claude Code, whose files may begin with copies of other sessions: the session id at the end of the file. */
export async function ownSessionId(file: string, size: number): Promise<string | undefined> {
  for (const length of [65_536, 1_048_576, 16_777_216]) {
    const id = lastSessionId((await bytesOf(file, Math.max(0, size - length), Math.min(length, size))).toString('utf8').split('\n'));
    if (id !== undefined || length >= size) return id;
  }
  return undefined;
}

/** The id, stored next to a subagent's file by Claude Code, of the call that started it, even if that call was interrupted. */
async function spawnOf(file: string): Promise<string | undefined> {
  if (!/^agent-.*\.jsonl$/.test(basename(file))) return undefined;
  const beside = file.replace(/\.jsonl$/, '.meta.json');
  try {
    if ((await sizeOf(beside)) > MAX_META_BYTES) return undefined;
    const { toolUseId } = JSON.parse(await readFile(beside, 'utf8')) as { toolUseId?: unknown };
    return typeof toolUseId === 'string' ? toolUseId : undefined;
  } catch {
    return undefined;
  }
}

/** The directory of a Gemini CLI session, which Gemini CLI stores next to the folder of its sessions. */
async function geminiDirectory(file: string): Promise<string | undefined> {
  for (let at = dirname(file), depth = 0; depth < 3; at = dirname(at), depth++) {
    if (basename(at) !== 'chats') continue;
    const said = join(dirname(at), '.project_root');
    return sizeOf(said)
      .then(async () => (await bytesOf(said, 0, 4096)).toString('utf8').trim() || undefined)
      .catch(() => undefined);
  }
  return undefined;
}

/** The identity of a record without an id: its file's name, the prompt and the first answer, which do not change when it grows. */
const identityOf = (file: string, { prompt, exchanges: [first] }: RecordedRun): string =>
  `${basename(file).replace(/\.(traj\.json|traj|jsonl|json)$/, '')}-${createHash('sha256')
    .update(JSON.stringify([prompt, first?.text, first?.calls.map(({ input }) => input)]))
    .digest('hex')
    .slice(0, 12)}`;
