// Temporary folders that do not outlive the process that made them: it removes its own, and those of processes that were killed.

import { chmod, lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ownMark, runs } from './processMark.ts';

/**
 * Creates one whose name identifies its process, and which any user may traverse; the process that created it must remove it. With `isKept`
 * no other process does.
 */
export async function scratchFolder({ isKept = false } = {}): Promise<string> {
  await removeLeft();
  const { machine, pid, started } = ownMark();
  const folder = await mkdtemp(join(tmpdir(), `work-ledger-demo-${isKept ? 'kept' : `${machine ?? 'any'}-${pid}-${started}`}-`));
  await chmod(folder, 0o711); // commands of root's agents run as another user
  return folder;
}

async function removeLeft(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const [, machine = '', pid, started] = /^work-ledger-demo-([0-9a-f]{16}|any)-(\d+)-(\d+)-/.exec(name) ?? [];
    if (machine === '' || runs({ machine: machine === 'any' ? null : machine, pid: Number(pid), started: Number(started) }) !== false)
      continue;
    const path = join(tmpdir(), name);
    const found = await lstat(path).catch(() => null);
    // Any user can create a folder of any name there.
    if (found?.isDirectory() && found.uid === process.getuid?.()) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}
