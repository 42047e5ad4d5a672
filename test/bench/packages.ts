// What a user installs: the packages that the project's production dependencies bring, and their bytes on the disk.

import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { lineOf } from './harness/question.ts';
import type { Question } from './harness/question.ts';

const root = join(import.meta.dirname, '..', '..');

export const packages: Question = {
  asks: 'What does a user install?',
  async measure() {
    const { stdout } = await promisify(execFile)('npm', ['ls', '--omit=dev', '--all', '--parseable'], { cwd: root }).catch((error: { stdout: string }) => error);
    const folders = [...new Set(stdout.split('\n').filter((folder) => folder.includes('/node_modules/')))];
    const sizes = await Promise.all(folders.map(async (folder) => [folder.replace(/^.*\/node_modules\/(?=[^/]*(\/[^/]*)?$)/, ''), await sizeOf(folder)] as const));
    const largest = sizes.toSorted(([, a], [, b]) => b - a).slice(0, 8);
    return [
      lineOf('all', 'packages', [folders.length]),
      lineOf('all', 'MB', [sizes.map(([, size]) => size).reduce((sum, size) => sum + size, 0) / 1e6]),
      ...largest.map(([name, size]) => lineOf(name, 'MB', [size / 1e6])),
    ];
  },
};

/** Without the packages inside it, which count by themselves. */
async function sizeOf(folder: string): Promise<number> {
  let size = 0;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) size += entry.name === 'node_modules' ? 0 : await sizeOf(path);
    else if (entry.isFile()) size += (await stat(path)).size;
  }
  return size;
}
