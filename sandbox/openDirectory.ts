// Directories that are held open, and what is below them. Each component is opened relative to the directory before it (through
// /proc/self/fd, Node's substitute for openat) and never through a symbolic link, so that nothing swapped in the meantime leads
// elsewhere. Without /proc/self/fd (macOS) each component is opened by its path; there the race remains.

import { constants, existsSync } from 'node:fs';
import { open, readdir, readlink, realpath } from 'node:fs/promises';
import type { Dirent } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

export const hasProc = existsSync('/proc/self/fd');

export type Directory = { handle: FileHandle; path: string };

/** Opens a directory by its path; links in the path are followed. */
export const openDirectory = async (path: string): Promise<Directory> => ({
  handle: await open(path, constants.O_RDONLY | constants.O_DIRECTORY),
  path,
});

export const openBelow = async (directory: Directory, name: string): Promise<Directory> => ({
  handle: await open(at(directory, name), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW),
  path: join(directory.path, name),
});

/** A path to an entry of an open directory, valid even if the directory was renamed. */
export const at = (directory: Directory, name: string): string =>
  hasProc ? `/proc/self/fd/${directory.handle.fd}/${name}` : join(directory.path, name);

/** A path to the open directory itself, valid in this process and in one that it starts. */
export const itself = (directory: Directory): string => (hasProc ? `/proc/self/fd/${directory.handle.fd}` : directory.path);

/** The current path of an open directory, without links. */
export const realPath = (directory: Directory): Promise<string> => (hasProc ? readlink(itself(directory)) : realpath(directory.path));

/** The entries of an open directory, by name. */
export const entriesOf = async (directory: Directory): Promise<Dirent[]> =>
  (await readdir(itself(directory), { withFileTypes: true })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
