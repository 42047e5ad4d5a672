// Watches folders and everything in them by the system's notifications: nothing is read while nothing happens. A folder may be created
// later, disappear, and come back.

import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';

import { messageOf } from '../ledger/errors.ts';
import type { SessionFolder } from './sessionFolders.ts';

export type Watched = {
  /** A file exists, or was written, moved or removed. */
  onFile: (path: string, isFirst: boolean) => void;
  onProblem: (path: string, problem: string) => void;
};

export class FolderWatch {
  readonly #folder: SessionFolder;
  readonly #watched: Watched;
  /** By folder; '': the watcher of the folder above. */
  readonly #watchers = new Map<string, FSWatcher>();
  #root: string | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(folder: SessionFolder, watched: Watched) {
    this.#folder = folder;
    this.#watched = watched;
  }

  /** Resolves when every existing file was reported. */
  start(): Promise<void> {
    return this.#then(() => this.#find(true));
  }

  close(): void {
    this.#isClosed = true;
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** Runs one look after the other, so that each sees what the previous one watches. */
  #then(look: () => Promise<void>): Promise<void> {
    const before = this.#looking;
    this.#looking = (async () => {
      await before;
      if (!this.#isClosed) await look().catch((error: unknown) => this.#watched.onProblem(this.#folder.folder, messageOf(error)));
    })();
    return this.#looking;
  }

  /** Finds the folder; while it does not exist, watches the nearest existing folder above it. */
  async #find(isFirst = false): Promise<void> {
    const { folder } = this.#folder;
    const root = await realpath(folder).catch(() => null);
    this.#root = root ?? undefined;
    if (root !== null) {
      const above = dirname(root);
      // The folder or its parent was replaced or is gone; each is reported under its own name.
      this.#watch(
        above,
        (event, name) => void (event === 'rename' && [basename(root), basename(above)].includes(name ?? '') && this.#findAgain()),
        '',
      );
      return this.#enter(root, isFirst);
    }
    for (let [at, below] = [dirname(folder), folder]; ; [at, below] = [dirname(at), at]) {
      const look = async (name: string | null): Promise<void> => {
        if (name === basename(at) || (await isThere(below)) || !(await isThere(at))) await this.#find();
      };
      if (this.#watch(at, (_event, name) => void this.#then(() => look(name)), '')) {
        // It may have been created before the watch began.
        if (await isThere(below)) await this.#find();
        return;
      }
      if (at === dirname(at)) return;
    }
  }

  #findAgain(): void {
    void this.#then(async () => {
      if (this.#root !== undefined) this.#leave(this.#root);
      await this.#find();
    });
  }

  /** Watches a folder, then looks what is in it, so that nothing is missed in between. Does not follow links. */
  async #enter(folder: string, isFirst = false): Promise<void> {
    if (!this.#watch(folder, (event, name) => this.#changed(folder, event, name))) return;
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && this.#folder.isFlat !== true) await this.#enter(path, isFirst);
      else if (entry.isFile()) this.#tell(path, isFirst);
    }
  }

  #changed(folder: string, event: string, name: string | null): void {
    if (name === null) return void this.#then(() => this.#enter(folder));
    const path = join(folder, name.replace(/-(wal|journal|shm)$/, ''));
    if (this.#isOurs(path)) return this.#tell(path, false);
    void this.#then(async () => {
      const found = await lstat(path).catch(() => null);
      if (!found?.isDirectory()) this.#leave(path);
      // It may have replaced an earlier folder of that name.
      else if (this.#folder.isFlat !== true && (event === 'rename' || !this.#watchers.has(path))) await this.#enter(path);
    });
  }

  #tell(path: string, isFirst: boolean): void {
    if (this.#isOurs(path)) this.#watched.onFile(path, isFirst);
  }

  #isOurs = (path: string): boolean => this.#root !== undefined && this.#folder.is(path.slice(this.#root.length + 1));

  #leave(folder: string): void {
    for (const [path, watcher] of this.#watchers) {
      if (path !== folder && !path.startsWith(folder + sep)) continue;
      watcher.close();
      this.#watchers.delete(path);
    }
  }

  /** Returns false if the folder cannot be watched. Watching it again replaces the earlier watcher. */
  #watch(folder: string, onChange: (event: string, name: string | null) => void, key = folder): boolean {
    this.#watchers.get(key)?.close();
    this.#watchers.delete(key);
    try {
      const watcher = watch(folder, onChange);
      watcher.on('error', () => watcher.close());
      this.#watchers.set(key, watcher);
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOSPC') this.#watched.onProblem(folder, 'it cannot be watched: raise fs.inotify.max_user_watches (sysctl)');
      else if (code !== 'ENOENT' && code !== 'ENOTDIR') this.#watched.onProblem(folder, `it cannot be watched: ${messageOf(error)}`);
      return false;
    }
  }
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
