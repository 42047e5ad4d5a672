// Files below one directory of the host, for faculties with workspace = "host".
// Every path is walked from the root one component at a time (openDirectory.ts), so that swapping a directory for a symbolic link
// during the walk does not lead outside: there is no gap between check and use. Symbolic links are not followed. The root itself is opened,
// and if necessary checked, for each operation.

import { createHash, randomBytes } from 'node:crypto';
import { constants, lstatSync, renameSync } from 'node:fs';
import { lstat, mkdir, open, rename, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';

import { startIn } from './commandUser.ts';
import { runProcess } from './hostProcess.ts';
import type { Owner } from './namespaces.ts';
import { at, entriesOf, itself, openBelow, openDirectory, realPath } from './openDirectory.ts';
import type { Directory } from './openDirectory.ts';
import { changedMeanwhile, MAX_DEPTH, WorkspaceError, WorkspaceUnavailable } from './workspace.ts';
import type { FoundFile, ProcessResult, RunOptions, Workspace } from './workspace.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** How the root is opened, and whether commands there may run as the person who started this process. */
type Opens = { open(): Promise<Directory>; isOwn(directory: Directory): Promise<boolean> };

/** owner: who gets what root creates there. */
type Walked = Directory & { owner: Owner | null };

class Absent extends WorkspaceError {}

export class HostWorkspace implements Workspace {
  readonly root: string;
  readonly #opens: Opens;

  constructor(root: string, opens: Opens = { open: () => openDirectory(root), isOwn: () => Promise.resolve(false) }) {
    this.root = resolve(root);
    this.#opens = opens;
  }

  /** bash is not confined to the directory: it may do whatever its user may, see commandUser.ts. */
  async run(command: string, options: RunOptions): Promise<ProcessResult> {
    const directory = await this.#open();
    try {
      const { uid, gid } = await directory.handle.stat();
      const start = await startIn({ path: await realPath(directory), uid, gid, isOwn: await this.#opens.isOwn(directory) });
      return await runProcess(command, { cwd: itself(directory), start, ...options });
    } finally {
      await directory.handle.close();
    }
  }

  async readFile(path: string, maxBytes: number): Promise<Buffer> {
    return this.#inParent(path, false, async (parent, name) => {
      const file = await this.#openFile(parent, name, path);
      try {
        const { size } = await file.stat();
        if (size > maxBytes) throw new WorkspaceError(`${path} is too large: ${size} bytes; at most ${maxBytes} are allowed`);
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

  async writeFile(
    path: string,
    content: string | Buffer | AsyncIterable<Buffer>,
    expected?: string | null,
    newMode = 0o644,
  ): Promise<void> {
    await this.#inParent(path, true, async (parent, name) => {
      const mode = await this.#modeOf(parent, name, path);
      const temporary = at(parent, `.work-ledger-${randomBytes(8).toString('hex')}`);
      const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode ?? newMode);
      try {
        await file.writeFile(content);
        const { owner } = parent;
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

  /** Replaces a file with a new one if it has the expected content. */
  async #replace(parent: Directory, name: string, asked: string, temporary: string, expected: string | null): Promise<void> {
    const { hash, stamp } = await this.#stateOf(parent, name, asked).catch((error: unknown) => {
      if (error instanceof Absent) return { hash: null, stamp: null };
      throw error;
    });
    // Hashing takes time, and others may change the file in the meantime; nothing else in this process runs between these two lines.
    if (hash !== expected || stampAt(parent, name) !== stamp) throw changedMeanwhile(asked);
    renameSync(temporary, at(parent, name));
  }

  /** The hash of a file, and a stamp that shows whether the file is unchanged. Throws Absent. */
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

  async *#below(
    directory: Directory,
    prefix: string,
    options: { isEverything?: boolean; signal?: AbortSignal },
  ): AsyncGenerator<FoundFile> {
    try {
      for (const entry of await entriesOf(directory)) {
        if (options.signal?.aborted) return;
        const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
        if (entry.isDirectory()) {
          if (!options.isEverything && (entry.name === '.git' || entry.name === 'node_modules')) continue;
          if (path.split('/').length > MAX_DEPTH) continue;
          const below = await openBelow(directory, entry.name).catch(() => null);
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
    if (path.includes('\0')) throw new WorkspaceError('a path must not contain NUL');
    const inside = isAbsolute(path) ? relative(this.root, resolve(path)) : relative(this.root, resolve(this.root, path));
    const components = inside.split('/').filter((component) => component !== '' && component !== '.');
    if (components.includes('..') || isAbsolute(inside)) throw new WorkspaceError(`${path} is outside the workspace`);
    if (components.some((component) => Buffer.byteLength(component) > 255)) throw new WorkspaceError('a file name has at most 255 bytes');
    return components;
  }

  async #inParent<T>(path: string, isMaking: boolean, use: (parent: Walked, name: string) => Promise<T>): Promise<T> {
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

  async #open(): Promise<Directory> {
    return this.#opens.open().catch((error: unknown) => {
      throw error instanceof WorkspaceError || error instanceof WorkspaceUnavailable
        ? error
        : new WorkspaceError('the workspace directory does not exist');
    });
  }

  async #walk(components: readonly string[], isMaking: boolean, asked: string): Promise<Walked> {
    let directory = await this.#open();
    const owner = await ownerOf(directory);
    for (const component of components) {
      let next: Directory;
      try {
        if (isMaking) await makeBelow(directory, component, owner);
        next = await openBelow(directory, component);
      } catch (error) {
        throw await this.#explain(error, directory, component, asked);
      } finally {
        await directory.handle.close();
      }
      directory = next;
    }
    return { ...directory, owner };
  }

  async #openFile(parent: Directory, name: string, asked: string): Promise<FileHandle> {
    // Without O_NONBLOCK, opening a FIFO would wait for a writer indefinitely.
    const file = await open(at(parent, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(async (error: unknown) => {
      throw await this.#explain(error, parent, name, asked);
    });
    const found = await file.stat();
    if (found.isFile()) return file;
    await file.close();
    throw new WorkspaceError(found.isDirectory() ? `${asked} is a directory` : `${asked} is not a regular file`);
  }

  /** The mode of an existing file, null if there is none; anything but a regular file is rejected. */
  async #modeOf(parent: Directory, name: string, asked: string): Promise<number | null> {
    const found = await lstat(at(parent, name)).catch(() => null);
    if (!found) return null;
    if (found.isFile()) return found.mode & 0o7777 & ~0o6000;
    throw new WorkspaceError(
      found.isSymbolicLink() ? `${asked} is a symbolic link; links are not followed` : `${asked} is not a regular file`,
    );
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

/** Who gets what root creates: the owner of the workspace, so that commands can change it. */
async function ownerOf(root: Directory): Promise<Owner | null> {
  if (process.getuid?.() !== 0) return null;
  const { uid, gid } = await root.handle.stat();
  return uid === 0 ? null : { uid, gid };
}

/** Creates a directory unless something with that name exists. */
async function makeBelow(directory: Directory, name: string, owner: Owner | null): Promise<void> {
  const isThere = await mkdir(at(directory, name)).then(
    () => false,
    (error: NodeJS.ErrnoException) => {
      ignoreExisting(error);
      return true;
    },
  );
  if (isThere || owner === null) return;
  const made = await openBelow(directory, name);
  try {
    // Another directory that belongs to root may have been moved to its place, so one with any contents keeps its owner.
    if ((await entriesOf(made)).length === 0) await made.handle.chown(owner.uid, owner.gid);
  } finally {
    await made.handle.close();
  }
}

/** A value that changes with every change of the file; null if there is no file. */
function stampAt(directory: Directory, name: string): string | null {
  const found = lstatSync(at(directory, name), { bigint: true, throwIfNoEntry: false });
  return found ? `${found.ino} ${found.size} ${found.ctimeNs}` : null;
}

/** Limits what is read even if the file grows between stat and read. */
async function readAtMost(file: FileHandle, maxBytes: number, path: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(65536), 0, 65536, null);
    if (bytesRead === 0) return Buffer.concat(chunks);
    chunks.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
    if (length > maxBytes) throw new WorkspaceError(`${path} is too large: at most ${maxBytes} bytes are allowed`);
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
