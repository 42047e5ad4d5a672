// Files into and out of a container's volume, as tar. What comes out was made by an agent's code: only directories and
// regular files are taken, by the walk of HostWorkspace, which nothing in the archive can lead outside.

import { open, readdir, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

import { extract, pack } from 'tar-stream';
import type { Headers, Pack } from 'tar-stream';

import { HostWorkspace } from './hostWorkspace.ts';
import { WorkspaceError } from './workspace.ts';

export type ArchiveLimits = { maxBytes: number; maxFiles: number };

/** The one directory of a volume that holds the files. */
const HOME = 'agent/';
const owner = { uid: 65534, gid: 65534, uname: '', gname: '' };

/** A tar of what is below a directory of the host, or of nothing. Throws WorkspaceError at the start if that exceeds the limits. */
export async function packFiles(directory: string | null, limits: ArchiveLimits): Promise<Pack> {
  const entries: Headers[] = [];
  let bytes = 0;
  const walk = async (root: string, below: string): Promise<void> => {
    for (const entry of (await readdir(join(root, below), { withFileTypes: true })).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const name = below === '' ? entry.name : `${below}/${entry.name}`;
      const path = join(root, name);
      if (entry.isSymbolicLink()) entries.push({ name, type: 'symlink', linkname: await readlink(path), ...owner });
      else if (entry.isDirectory()) {
        entries.push({ name: `${name}/`, type: 'directory', mode: 0o755, ...owner });
        await walk(root, name);
      } else if (entry.isFile()) {
        const { size, mode, mtime } = await stat(path);
        bytes += size;
        entries.push({ name, type: 'file', size, mode: (mode & 0o777) | 0o600, mtime, ...owner });
      }
      if (bytes > limits.maxBytes || entries.length > limits.maxFiles) {
        throw new WorkspaceError(`${root} holds more than ${Math.floor(limits.maxBytes / 1024 / 1024)} MiB or ${limits.maxFiles} files, which is the most that a workspace takes`);
      }
    }
  };
  try {
    if (directory !== null) await walk(directory, '');
  } catch (error) {
    if (error instanceof WorkspaceError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new WorkspaceError(code === 'ENOENT' ? `there is no ${directory}` : `${directory} cannot be read: ${code ?? String(error)}`);
  }
  const archive = pack();
  void fill(archive, directory ?? '/', entries).catch((error: unknown) => archive.destroy(error as Error));
  return archive;
}

async function fill(archive: Pack, directory: string, entries: readonly Headers[]): Promise<void> {
  for (const entry of entries) {
    const header = { ...entry, name: HOME + entry.name };
    if (entry.type !== 'file') await new Promise<void>((resolve, reject) => archive.entry(header, (error) => (error ? reject(error) : resolve())));
    else {
      const file = await open(join(directory, entry.name));
      try {
        const into = archive.entry(header);
        if (entry.size === 0) into.end();
        // A file that grows meanwhile is taken up to its old size; one that shrinks aborts the archive.
        else await pipeline(file.createReadStream({ end: (entry.size ?? 0) - 1, autoClose: false }), into);
      } finally {
        await file.close();
      }
    }
  }
  // The last entry gives the directory to the container's user: with another owner, the archive was not unpacked completely.
  archive.entry({ name: HOME, type: 'directory', mode: 0o755, ...owner });
  archive.finalize();
}

/** Writes the files of an archive, whose names begin with a directory's, into a directory of the host. Returns how many, and which were left out. */
export async function unpackFiles(archive: NodeJS.ReadableStream, directory: string, limits: ArchiveLimits): Promise<{ files: number; leftOut: string[] }> {
  const target = new HostWorkspace(directory);
  const leftOut: string[] = [];
  let files = 0;
  let bytes = 0;
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
      if (bytes > limits.maxBytes || ++files > limits.maxFiles) throw new WorkspaceError(`there is more than ${Math.floor(limits.maxBytes / 1024 / 1024)} MiB or ${limits.maxFiles} files`);
      await target.writeFile(name, stream, undefined, (entry.mode ?? 0o644) & 0o777);
    };
    void (async () => {
      try {
        await take();
        next();
      } catch (error) {
        reader.destroy(error as Error);
      }
    })();
  });
  await pipeline(archive, reader);
  return { files, leftOut };
}
