// Copies files to and from container workspaces.

import { mkdir } from 'node:fs/promises';

import { pullFiles, pushFiles } from '../../sandbox/containerWorkspace.ts';
import { bytesOf } from '../focus/containers.ts';
import { UsageError } from '../ledger/errors.ts';
import type { Settings } from '../config.ts';
import { isWhole, itemIdOf } from './ids.ts';
import { requireDocker } from './needs.ts';
import { exit, note, print, visible } from './output.ts';
import { stoppable } from './stoppable.ts';
import { withLooking } from './withLedger.ts';

export type FileOptions = Settings & { image: string; maxSize: string };

const MAX_FILES = 100_000;

/** Copies the files of a work item into a directory, which is created if needed. */
export async function pull(workItemId: string, directory: string, options: FileOptions): Promise<number> {
  const id = await idOf(workItemId, options);
  const docker = await requireDocker();
  await mkdir(directory, { recursive: true });
  return copying(async (stopped) => {
    const { files, leftOut } = await pullFiles(docker, id, options.image, directory, limits(options), stopped);
    if (leftOut.length > 0) note(`skipped, not regular files: ${visible(leftOut.slice(0, 20).join(', '))}`);
    print({ files, leftOut }, `${files} files`, options.json ?? false);
  });
}

/** Copies the contents of a directory into the workspace of a work item, which is created if needed. */
export async function push(workItemId: string, directory: string, options: FileOptions): Promise<number> {
  const id = await idOf(workItemId, options);
  const docker = await requireDocker();
  return copying(async (stopped) => {
    await pushFiles(docker, id, options.image, directory, limits(options), stopped);
    print({}, '', options.json ?? false);
  });
}

/** Ctrl-C leaves neither a file that was begun nor the container that was used. */
const copying = (copy: (stopped: AbortSignal) => Promise<void>): Promise<number> =>
  stoppable(async (stopped) => {
    try {
      await copy(stopped);
      return exit.ok;
    } catch (error) {
      if (!stopped.aborted) throw error;
      note('stopped: not all files are copied');
      return exit.interrupted;
    }
  });

/** The files are at the Docker daemon, so a ledger is needed only if the item is not given by its whole id. */
const idOf = async (typed: string, options: Settings): Promise<string> =>
  isWhole(typed) ? typed : withLooking(options, (db) => itemIdOf(db, typed));

function limits({ maxSize }: FileOptions) {
  if (!/^[1-9]\d*[bkmg]?$/i.test(maxSize)) throw new UsageError(`--max-size must be a size like "512m", not "${maxSize}"`);
  return { maxBytes: bytesOf(maxSize), maxFiles: MAX_FILES };
}
