// Files below one directory of the host, for faculties with workspace = "host".
// Every path is walked from the root one component at a time, each opened with O_NOFOLLOW relative to the directory
// opened before (through /proc/self/fd, Node's substitute for openat), so that swapping a directory for a symbolic link
// during the walk does not lead outside: there is no gap between check and use. Symbolic links are not followed.
// Without /proc/self/fd (macOS) each component is opened by its path after an lstat; there the race remains.

import { createHash, randomBytes } from 'node:crypto';
import { constants, existsSync, lstatSync, renameSync } from 'node:fs';
import { lchown, lstat, mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';

import { startIn } from './commandUser.ts';
import type { Owner } from './commandUser.ts';
import { runProcess } from './hostProcess.ts';
import { changedMeanwhile, WorkspaceError } from './workspace.ts';
import type { FoundFile, ProcessResult, RunOptions, Workspace } from './workspace.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
const hasProc = existsSync('/proc/self/fd');

type Directory = { handle: FileHandle; path: string };

class Absent extends WorkspaceError {}

export class HostWorkspace implements Workspace {
  readonly root: string;

  constructor(root: string) {
    this.root = resolve(root);
  }

  /** bash is not confined to the directory: it may do whatever its user may, see commandUser.ts. */
  async run(command: string, options: RunOptions): Promise<ProcessResult> {
    return runProcess(command, { cwd: this.root, start: await startIn(this.root), ...options });
  }

  async readFile(path: string, maxBytes: number): Promise<Buffer> {
    return this.#inParent(path, false, async (parent, name) => {
      const file = await this.#openFile(parent, name, path);
      try {
        const { size } = await file.stat();
        if (size > maxBytes) throw new WorkspaceError(`${path} is too large: ${size} bytes, the most is ${maxBytes}`);
        return await readAtMost(file, maxBytes, path);
      } finally {
        await file.close();
      }
    });
  }

  async hashFile(path: string): Promise<string | null> {
    try {
      return await this.#inParent(path, false, async (parent, name) => (await this.#stateOf(parent, name, path)).hash);
    } catch (error) {
      if (error instanceof Absent) return null;
      throw error;
    }
  }

  async writeFile(path: string, content: string | Buffer | AsyncIterable<Buffer>, expected?: string | null, newMode = 0o644): Promise<void> {
    await this.#inParent(path, true, async (parent, name) => {
      const mode = await this.#modeOf(parent, name, path);
      const temporary = at(parent, `.work-ledger-${randomBytes(8).toString('hex')}`);
      const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode ?? newMode);
      try {
        await file.writeFile(content);
        const owner = await this.#owner();
        if (owner !== null) await file.chown(owner.uid, owner.gid);
        if (mode !== null) await file.chmod(mode);
        await file.close();
        if (expected === undefined) await rename(temporary, at(parent, name));
        else await this.#replace(parent, name, path, temporary, expected);
      } catch (error) {
        await file.close().catch(() => {});
        await unlink(temporary).catch(() => {});
        throw error;
      }
    });
  }

  /** Symbolic links are not followed. */
  async *files(path: string, options: { isEverything?: boolean; signal?: AbortSignal } = {}): AsyncGenerator<FoundFile> {
    const components = this.#components(path);
    const start = await this.#walk(components, false, path);
    yield* this.#below(start, components.join('/'), options);
  }

  /** Replaces a file with a new one if its content is the expected one. */
  async #replace(parent: Directory, name: string, asked: string, temporary: string, expected: string | null): Promise<void> {
    const { hash, stamp } = await this.#stateOf(parent, name, asked).catch((error: unknown) => {
      if (error instanceof Absent) return { hash: null, stamp: null };
      throw error;
    });
    // Hashing takes time, and others may change the file meanwhile; nothing else in this process runs between these two lines.
    if (hash !== expected || stampAt(parent, name) !== stamp) throw changedMeanwhile(asked);
    renameSync(temporary, at(parent, name));
  }

  /** The hash of a file, and a stamp that shows whether it is still the same. Throws Absent. */
  async #stateOf(parent: Directory, name: string, asked: string): Promise<{ hash: string; stamp: string | null }> {
    const stamp = stampAt(parent, name);
    const file = await this.#openFile(parent, name, asked);
    try {
      const hash = createHash('sha256');
      for await (const chunk of file.createReadStream({ autoClose: false })) hash.update(chunk as Buffer);
      return { hash: hash.digest('hex'), stamp };
    } finally {
      await file.close();
    }
  }

  async *#below(directory: Directory, prefix: string, options: { isEverything?: boolean; signal?: AbortSignal }): AsyncGenerator<FoundFile> {
    try {
      const entries = await readdir(hasProc ? `/proc/self/fd/${directory.handle.fd}` : directory.path, { withFileTypes: true });
      for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
        if (options.signal?.aborted) return;
        const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
        if (entry.isDirectory()) {
          if (!options.isEverything && (entry.name === '.git' || entry.name === 'node_modules')) continue;
          const below = await openDirectory(directory, entry.name).catch(() => null);
          if (below) yield* this.#below(below, path, options);
        } else if (entry.isFile()) {
          const found = await lstat(at(directory, entry.name)).catch(() => null);
          if (found?.isFile()) yield { path, modifiedMs: found.mtimeMs, size: found.size };
        }
      }
    } finally {
      await directory.handle.close();
    }
  }

  #components(path: string): string[] {
    if (path.includes('\0')) throw new WorkspaceError('a path holds no NUL');
    const inside = isAbsolute(path) ? relative(this.root, resolve(path)) : relative(this.root, resolve(this.root, path));
    const components = inside.split('/').filter((component) => component !== '' && component !== '.');
    if (components.includes('..') || isAbsolute(inside)) throw new WorkspaceError(`${path} is outside the workspace`);
    if (components.some((component) => Buffer.byteLength(component) > 255)) throw new WorkspaceError('a file name holds at most 255 bytes');
    return components;
  }

  async #inParent<T>(path: string, isMaking: boolean, use: (parent: Directory, name: string) => Promise<T>): Promise<T> {
    const components = this.#components(path);
    const name = components.pop();
    if (name === undefined) throw new WorkspaceError(`${path} is a directory`);
    const parent = await this.#walk(components, isMaking, path);
    try {
      return await use(parent, name);
    } finally {
      await parent.handle.close();
    }
  }

  async #walk(components: readonly string[], isMaking: boolean, asked: string): Promise<Directory> {
    let directory: Directory;
    try {
      directory = { handle: await open(this.root, O_RDONLY | O_DIRECTORY), path: this.root };
    } catch {
      throw new WorkspaceError('the workspace directory is not there');
    }
    for (const component of components) {
      let next: Directory;
      try {
        if (isMaking) await this.#make(at(directory, component));
        next = await openDirectory(directory, component);
      } catch (error) {
        throw await this.#explain(error, directory, component, asked);
      } finally {
        if (directory.handle) await directory.handle.close();
      }
      directory = next;
    }
    return directory;
  }

  async #make(path: string): Promise<void> {
    const isThere = await mkdir(path).then(() => false, (error: NodeJS.ErrnoException) => {
      ignoreExisting(error);
      return true;
    });
    const owner = isThere ? null : await this.#owner();
    if (owner !== null) await lchown(path, owner.uid, owner.gid);
  }

  /** To whom root gives what it writes: the directory's owner, whose commands shall be able to change it. */
  async #owner(): Promise<Owner | null> {
    if (process.getuid?.() !== 0) return null;
    const { uid, gid } = await stat(this.root);
    return uid === 0 ? null : { uid, gid };
  }

  async #openFile(parent: Directory, name: string, asked: string): Promise<FileHandle> {
    // Without O_NONBLOCK, opening a FIFO would wait for a writer without end.
    const file = await open(at(parent, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(async (error: unknown) => {
      throw await this.#explain(error, parent, name, asked);
    });
    const found = await file.stat();
    if (found.isFile()) return file;
    await file.close();
    throw new WorkspaceError(found.isDirectory() ? `${asked} is a directory` : `${asked} is not a regular file`);
  }

  /** The mode of an existing file, null if there is none; anything but a regular file is refused. */
  async #modeOf(parent: Directory, name: string, asked: string): Promise<number | null> {
    const found = await lstat(at(parent, name)).catch(() => null);
    if (!found) return null;
    if (found.isFile()) return found.mode & 0o7777 & ~0o6000;
    throw new WorkspaceError(found.isSymbolicLink() ? `${asked} is a symbolic link; links are not followed` : `${asked} is not a regular file`);
  }

  async #explain(error: unknown, directory: Directory, name: string, asked: string): Promise<unknown> {
    const code = (error as NodeJS.ErrnoException).code;
    const found = await lstat(at(directory, name)).catch(() => null);
    if (found?.isSymbolicLink()) return new WorkspaceError(`${asked} leads through a symbolic link; links are not followed`);
    if (code === 'ENOENT') return new Absent(`${asked} does not exist`);
    if (code === 'ENOTDIR') return new WorkspaceError(`${name} in ${asked} is not a directory`);
    if (code === 'EACCES' || code === 'EPERM') return new WorkspaceError(`permission denied: ${asked}`);
    if (code === 'ENXIO') return new WorkspaceError(`${asked} is not a regular file`);
    return new WorkspaceError(`${asked} cannot be opened (${code ?? 'unknown error'})`);
  }
}

const at = (directory: Directory, name: string): string =>
  hasProc ? `/proc/self/fd/${directory.handle.fd}/${name}` : join(directory.path, name);

/** Changes with every change of a file; null if there is none. */
function stampAt(directory: Directory, name: string): string | null {
  const found = lstatSync(at(directory, name), { bigint: true, throwIfNoEntry: false });
  return found ? `${found.ino} ${found.size} ${found.ctimeNs}` : null;
}

async function openDirectory(directory: Directory, name: string): Promise<Directory> {
  return { handle: await open(at(directory, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW), path: join(directory.path, name) };
}

/** A file may grow between stat and read. */
async function readAtMost(file: FileHandle, maxBytes: number, path: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(65536), 0, 65536, null);
    if (bytesRead === 0) return Buffer.concat(chunks);
    chunks.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
    if (length > maxBytes) throw new WorkspaceError(`${path} is too large: the most is ${maxBytes} bytes`);
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
