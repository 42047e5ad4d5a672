// Where an agent's files are and its commands run: a directory of the host, or the work item's container.

import { createHash } from 'node:crypto';

/** The workspace rejects a path, a file or a command; the message may be shown to a model. */
export class WorkspaceError extends Error {
  override name = 'WorkspaceError';
}

/** The workspace cannot be used at the moment, which is not the agent's fault. */
export class WorkspaceUnavailable extends Error {
  override name = 'WorkspaceUnavailable';
}

export const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** The error if a file was changed by something else between reading and writing. */
export const changedMeanwhile = (path: string): WorkspaceError =>
  new WorkspaceError(`someone else changed ${path} since it was read; read it again`);

/** A walk through a tree holds a descriptor for each directory above it, and recurses. */
export const MAX_DEPTH = 200;

export type FoundFile = { path: string; modifiedMs: number; size: number };

export type RunOptions = {
  timeoutSeconds: number;
  signal: AbortSignal;
  /** The number of bytes kept of each stream, half of them from its beginning and half from its end. */
  maxBytes?: number;
  stdin?: string;
};

export type ProcessResult = {
  stdout: string;
  stderr: string;
  exitCode: number | null;
  signal: string | null;
  /** Why it was killed, if the workspace did it. full: there is no space left for files. */
  cause: 'timeout' | 'abort' | 'memory' | 'full' | null;
  /** Whether more was printed on stdout than was kept. */
  isTruncated: boolean;
  durationMs: number;
};

/** Paths are relative to the workspace, or absolute and inside it. All methods throw WorkspaceError and WorkspaceUnavailable. */
export interface Workspace {
  /** The absolute path that paths are relative to, as commands see it. */
  readonly root: string;
  /** Reads a regular file of at most `maxBytes`. */
  readFile(path: string, maxBytes: number): Promise<Buffer>;
  /** The hashOf() of a regular file's content; null if there is no file. */
  hashFile(path: string): Promise<string | null>;
  /**
   * Creates or replaces a file in one step, including the directories above it; an existing file keeps its mode. `expected`: the
   * result of hashFile(); rejected if the file has changed since.
   */
  writeFile(path: string, content: string | Buffer, expected?: string | null): Promise<void>;
  /**
   * Every regular file below `path`, in no particular order, at most 200 directories deep; `.git` and `node_modules` are included only with
   * `isEverything`.
   */
  files(path: string, options?: { isEverything?: boolean; signal?: AbortSignal }): AsyncIterable<FoundFile>;
  /** Runs a shell command. Nothing that it starts outlives it. */
  run(command: string, options: RunOptions): Promise<ProcessResult>;
}
