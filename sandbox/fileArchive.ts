// Copies files into and out of a container's volume as tar archives. What comes out was made by an agent's code, so only directories and
// regular files are taken, and they are written by HostWorkspace's walk, which nothing in the archive can lead outside.

import { constants } from 'node:fs';
import { lstat, open, readlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

import { extract, pack } from 'tar-stream';
import type { Headers, Pack } from 'tar-stream';

import { HostWorkspace } from './hostWorkspace.ts';
import { at, entriesOf, openBelow } from './openDirectory.ts';
import type { Directory } from './openDirectory.ts';
import { WorkspaceError } from './workspace.ts';

export type ArchiveLimits = { maxBytes: number; maxFiles: number };

/** The directory of a volume that holds the files. */
const HOME = 'agent/';
const owner = { uid: 65534, gid: 65534, uname: '', gname: '' };

/**
 * A tar archive of the contents of an open host directory, which is closed, or an empty one. Throws WorkspaceError at the start if the
 * contents exceed the limits.
 */
export async function packFiles(directory: Directory | null, limits: ArchiveLimits): Promise<Pack> {
  const archive = pack();
  try {
    const entries = directory === null ? [] : await listed(directory, limits);
    void fill(archive, directory, entries).catch((error: unknown) => archive.destroy(error as Error));
    return archive;
  } catch (error) {
    await directory?.handle.close();
    if (error instanceof WorkspaceError) throw error;
    throw new WorkspaceError(`${directory?.path ?? ''} cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
  }
}

async function listed(root: Directory, limits: ArchiveLimits): Promise<Headers[]> {
  const entries: Headers[] = [];
  let bytes = 0;
  const walk = async (directory: Directory, below: string): Promise<void> => {
    for (const entry of await entriesOf(directory)) {
      const name = `${below}${entry.name}`;
      if (entry.isSymbolicLink()) entries.push({ name, type: 'symlink', linkname: await readlink(at(directory, entry.name)), ...owner });
      else if (entry.isDirectory()) {
        entries.push({ name: `${name}/`, type: 'directory', mode: 0o755, ...owner });
        const next = await openBelow(directory, entry.name);
        try {
          await walk(next, `${name}/`);
        } finally {
          await next.handle.close();
        }
      } else if (entry.isFile()) {
        const { size, mode, mtime } = await lstat(at(directory, entry.name));
        bytes += size;
        entries.push({ name, type: 'file', size, mode: (mode & 0o777) | 0o600, mtime, ...owner });
      }
      if (bytes > limits.maxBytes || entries.length > limits.maxFiles) {
        throw new WorkspaceError(
          `${root.path} holds more than ${Math.floor(limits.maxBytes / 1024 / 1024)} MiB or ${limits.maxFiles} files, the most that a workspace may have`,
        );
      }
    }
  };
  await walk(root, '');
  return entries;
}

/** Files are opened in the same way as their directories, so a link that has replaced one in the meantime is not followed. */
async function fill(archive: Pack, root: Directory | null, entries: readonly Headers[]): Promise<void> {
  try {
    await fillAll(archive, root, entries);
  } finally {
    await root?.handle.close();
  }
}

async function fillAll(archive: Pack, root: Directory | null, entries: readonly Headers[]): Promise<void> {
  for (const entry of entries) {
    const header = { ...entry, name: HOME + entry.name };
    if (entry.type !== 'file' || root === null)
      await new Promise<void>((resolve, reject) => archive.entry(header, (error) => (error ? reject(error) : resolve())));
    else {
      const file = await openFile(root, entry.name);
      try {
        const into = archive.entry(header);
        if (entry.size === 0) into.end();
        // A file that grows in the meantime is copied up to its old size; one that shrinks aborts the archive.
        else await pipeline(file.createReadStream({ end: (entry.size ?? 0) - 1, autoClose: false }), into);
      } finally {
        await file.close();
      }
    }
  }
  // The last entry gives the directory to the container's user. If it still belongs to another, the archive was not completely unpacked.
  archive.entry({ name: HOME, type: 'directory', mode: 0o755, ...owner });
  archive.finalize();
}

async function openFile(root: Directory, path: string): Promise<FileHandle> {
  const names = path.split('/');
  const last = names.pop() ?? '';
  let directory = root;
  try {
    for (const name of names) {
      const next = await openBelow(directory, name);
      if (directory !== root) await directory.handle.close();
      directory = next;
    }
    const file = await open(at(directory, last), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if ((await file.stat()).isFile()) return file;
    await file.close();
    throw new WorkspaceError(`${path} is no longer a file`);
  } finally {
    if (directory !== root) await directory.handle.close();
  }
}

/**
 * Writes the files of an archive, whose names begin with a directory name, to a host directory. Returns how many were written and which
 * were left out.
 */
export async function unpackFiles(
  archive: NodeJS.ReadableStream,
  directory: string,
  limits: ArchiveLimits,
): Promise<{ files: number; leftOut: string[] }> {
  const target = new HostWorkspace(directory);
  const leftOut: string[] = [];
  let files = 0;
  let bytes = 0;
  let taken: Promise<void> | undefined;
  const reader = extract();
  reader.on('entry', (entry, stream, next) => {
    const name = entry.name.replace(/^[^/]*\/?/, '');
    const take = async (): Promise<void> => {
      if (entry.type === 'directory') return void stream.resume();
      if (entry.type !== 'file') {
        leftOut.push(name);
        return void stream.resume();
      }
      bytes += entry.size ?? 0;
      if (bytes > limits.maxBytes || ++files > limits.maxFiles)
        throw new WorkspaceError(`there are more than ${Math.floor(limits.maxBytes / 1024 / 1024)} MiB or ${limits.maxFiles} files`);
      await target.writeFile(name, wholeOf(stream, entry.size ?? 0), undefined, (entry.mode ?? 0o644) & 0o777);
    };
    taken = (async () => {
      try {
        await take();
        next();
      } catch (error) {
        reader.destroy(error as Error);
      }
    })();
  });
  try {
    await pipeline(archive, reader);
  } finally {
    await taken; // an archive that breaks off leaves no file that was begun
  }
  return { files, leftOut };
}

/** The content of an entry. When an archive breaks off, its entry just ends. */
async function* wholeOf(content: AsyncIterable<Buffer>, size: number): AsyncGenerator<Buffer> {
  let missing = size;
  for await (const chunk of content) {
    missing -= chunk.length;
    yield chunk;
  }
  if (missing > 0) throw new WorkspaceError('the archive broke off');
}
