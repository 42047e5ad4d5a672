// Where an agent's commands run and its files are: a directory of the host, or the work item's container.

import { createHash } from 'node:crypto';

/** A path, a file or a command that the workspace refuses; the message may be shown to a model. */
export class WorkspaceError extends Error {
  override name = 'WorkspaceError';
}

/** The workspace cannot be used now, which is not the agent's fault. */
export class WorkspaceUnavailable extends Error {
  override name = 'WorkspaceUnavailable';
}

export const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Something else changed the file between reading and writing. */
export const changedMeanwhile = (path: string): WorkspaceError =>
  new WorkspaceError(`somebody else changed ${path} since it was read; read it again`);

export type FoundFile = { path: string; modifiedMs: number; size: number };

export type RunOptions = {
  timeoutSeconds: number;
  signal: AbortSignal;
  /** Bytes kept of each stream, half at its head and half at its tail. */
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
  /** More was printed on stdout than was kept. */
  isTruncated: boolean;
  durationMs: number;
};

/** Paths are relative to the workspace, or absolute and in it. Throws WorkspaceError and WorkspaceUnavailable. */
export interface Workspace {
  /** The bytes of a regular file of at most `maxBytes`. */
  readFile(path: string, maxBytes: number): Promise<Buffer>;
  /** hashOf() what a regular file holds; null where there is no file. */
  hashFile(path: string): Promise<string | null>;
  /**
   * Replaces or creates a file in one step, with the directories above it; an existing file keeps its mode. `expected`: the
   * result of hashFile(); refused if the file to be replaced has changed since.
   */
  writeFile(path: string, content: string | Buffer, expected?: string | null): Promise<void>;
  /** Every regular file below `path`, in no order; `.git` and `node_modules` only when asked for. */
  files(path: string, options?: { isEverything?: boolean; signal?: AbortSignal }): AsyncIterable<FoundFile>;
  /** Runs a shell command. Nothing that it starts outlives it. */
  run(command: string, options: RunOptions): Promise<ProcessResult>;
}
