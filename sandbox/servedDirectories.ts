// The directories of this host that a worker serves. Rows of the ledger name directories, but the worker decides which of them it serves:
// those below its roots and, if the ledger's owner or an administrator named them and the worker is not root, those of the worker's user.

import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';

import { openDirectory, realPath } from './openDirectory.ts';
import type { Directory } from './openDirectory.ts';
import { WorkspaceError, WorkspaceUnavailable } from './workspace.ts';

/** A directory, and the role that named it. isAdministered: that role is the ledger's owner or an administrator. */
export type NamedDirectory = { path: string; namedBy: string | null; isAdministered: boolean };

/** This worker does not serve the directory; the message is one sentence for people. */
export class DirectoryRefused extends WorkspaceUnavailable {
  override name = 'DirectoryRefused';
}

export class ServedDirectories {
  readonly #roots: readonly string[];
  readonly #own: readonly string[];

  /**
   * `own`: directories, in addition to the roots, that the person who started this process named for it. Commands there may run as that
   * person.
   */
  constructor(roots: readonly string[], own: readonly string[] = []) {
    this.#roots = [...roots, ...own].map((path) => resolve(path));
    this.#own = own.map((path) => resolve(path));
  }

  /**
   * Opens a directory if it is served; the caller closes it. It is opened before it is checked, so that no link can be changed in between.
   * Throws DirectoryRefused, or WorkspaceError if it is served but cannot be opened. For a directory that is not served, the error does not
   * reveal whether it exists.
   */
  async open(named: NamedDirectory): Promise<Directory> {
    let directory: Directory;
    try {
      directory = await openDirectory(named.path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (!(await isBelow(resolve(named.path), this.#roots)) && !mayBeOwn(named)) throw this.#refused(named);
      throw new WorkspaceError(
        code === 'ENOENT' || code === 'ENOTDIR'
          ? `the workspace directory does not exist: ${named.path}`
          : `${named.path} cannot be read: ${code ?? String(error)}`,
      );
    }
    try {
      if (await isBelow(await realPath(directory), this.#roots)) return directory;
      if (mayBeOwn(named) && (await directory.handle.stat()).uid === process.getuid?.()) return directory;
      throw this.#refused(named);
    } catch (error) {
      await directory.handle.close();
      throw error;
    }
  }

  /** Why this worker does not serve a directory; null if it does, or would if it existed. */
  async refusal(named: NamedDirectory): Promise<string | null> {
    try {
      await (await this.open(named)).handle.close();
    } catch (error) {
      if (error instanceof DirectoryRefused) return error.message;
    }
    return null;
  }

  /** Whether commands in an open directory may run as the person who started this process. */
  async isOwn(directory: Directory): Promise<boolean> {
    return isBelow(await realPath(directory), this.#own);
  }

  #refused({ path, namedBy, isAdministered }: NamedDirectory): DirectoryRefused {
    const where = `lies outside the workspace_roots of this worker${this.#roots.length === 0 ? ', which has none' : ''}`;
    const who = namedBy === null ? 'nobody knows who named it' : `"${namedBy}" named it`;
    if (!isAdministered) return new DirectoryRefused(`${path} ${where}, and ${who}, not the ledger's owner or an administrator`);
    return new DirectoryRefused(
      process.getuid?.() === 0
        ? `${path} ${where}, and a worker that runs as root serves nothing else`
        : `${path} ${where}, and does not belong to the user that it runs as`,
    );
  }
}

const mayBeOwn = ({ isAdministered }: NamedDirectory): boolean => isAdministered && process.getuid?.() !== 0;

async function isBelow(path: string, roots: readonly string[]): Promise<boolean> {
  for (const root of roots) {
    const real = await realpath(root).catch(() => root);
    if (`${path}/`.startsWith(real.endsWith('/') ? real : `${real}/`)) return true;
  }
  return false;
}
