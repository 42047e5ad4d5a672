// Where an agent's commands run and its files are: a directory of the host, or a container of the work item.

import { createHash } from 'node:crypto';

/** A path, a file or a command that the workspace refuses; the message is fit for a model. */
export class WorkspaceError extends Error {
  override name = 'WorkspaceError';
}

/** The workspace cannot be used now, which is not the agent's fault. */
export class WorkspaceUnavailable extends Error {
  override name = 'WorkspaceUnavailable';
}

export const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Somebody else was there between reading and writing. */
export const changedMeanwhile = (path: string): WorkspaceError => new WorkspaceError(`somebody else changed ${path} since it was read; read it again`);

export type FoundFile = { path: string; modifiedMs: number; size: number };

export type RunOptions = {
  timeoutSeconds: number;
  signal: AbortSignal;
  /** Bytes kept of each stream, half from its head and half from its tail. */
  maxBytes?: number;
  stdin?: string;
};

export type ProcessResult = {
  stdout: string;
  stderr: string;
  exitCode: number | null;
  signal: string | null;
  /** Why it was killed, where we did it. full: there is no room left for files. */
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
   * Replaces or makes a file in one step, with the directories above it; an existing file keeps its mode. `expected`: what
   * hashFile() said of it; refused where the file that is to be replaced is another one by now.
   */
  writeFile(path: string, content: string | Buffer, expected?: string | null): Promise<void>;
  /** Every regular file below `path`, in no order; `.git` and `node_modules` only when asked for. */
  files(path: string, options?: { isEverything?: boolean; signal?: AbortSignal }): AsyncIterable<FoundFile>;
  /** A shell command. Nothing that it starts outlives it. */
  run(command: string, options: RunOptions): Promise<ProcessResult>;
}
