// Copies files into and out of workspaces in containers.

import { mkdir } from 'node:fs/promises';

import { pullFiles, pushFiles } from '../../sandbox/containerWorkspace.ts';
import { bytesOf } from '../focus/containers.ts';
import { UsageError } from '../ledger/errors.ts';
import { idOf } from './ids.ts';
import { requireDocker } from './needs.ts';
import { exit, note, print, visible } from './output.ts';

export type FileOptions = { image: string; maxSize: string; json?: boolean };

const MAX_FILES = 100_000;

/** Copies the files of a work item into a directory, which is created. */
export async function pull(workItemId: string, directory: string, options: FileOptions): Promise<number> {
  const id = idOf(workItemId);
  const docker = await requireDocker();
  await mkdir(directory, { recursive: true });
  const { files, leftOut } = await pullFiles(docker, id, options.image, directory, limits(options));
  if (leftOut.length > 0) note(`left out, being no regular files: ${visible(leftOut.slice(0, 20).join(', '))}`);
  print({ files, leftOut }, `${files} files`, options.json ?? false);
  return exit.ok;
}

/** Copies what is below a directory into the workspace of a work item, which is created. */
export async function push(workItemId: string, directory: string, options: FileOptions): Promise<number> {
  const id = idOf(workItemId);
  await pushFiles(await requireDocker(), id, options.image, directory, limits(options));
  print({}, '', options.json ?? false);
  return exit.ok;
}

function limits({ maxSize }: FileOptions) {
  if (!/^[1-9]\d*[bkmg]?$/i.test(maxSize)) throw new UsageError(`--max-size must be a size like "512m", not "${maxSize}"`);
  return { maxBytes: bytesOf(maxSize), maxFiles: MAX_FILES };
}
