// What a user installs: the packed package in an empty project, with the packages that it brings, and their bytes on the disk. A clone has
// more: there npm keeps what the production dependencies would use if somebody else brought it, such as TypeScript.

import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { lineOf } from './harness/question.ts';
import type { Question } from './harness/question.ts';

const root = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);

export const packages: Question = {
  asks: 'What does a user install?',
  async measure({ say }) {
    const project = await mkdtemp(join(tmpdir(), 'packages-bench-'));
    try {
      say('packages: builds the package and installs it from the registry');
      await run('make', ['build'], { cwd: root });
      const { stdout: tarball } = await run('npm', ['pack', '--silent', '--pack-destination', project], { cwd: root });
      await writeFile(join(project, 'package.json'), '{"private": true}');
      await run('npm', ['install', '--no-fund', '--no-audit', '--ignore-scripts', `./${tarball.trim()}`], { cwd: project });
      const { stdout } = await run('npm', ['ls', '--all', '--parseable'], { cwd: project });
      const folders = [...new Set(stdout.split('\n').filter((folder) => folder.includes('/node_modules/')))];
      const sizes = await Promise.all(
        folders.map(async (folder) => [folder.replace(/^.*\/node_modules\/(?=[^/]*(\/[^/]*)?$)/, ''), await sizeOf(folder)] as const),
      );
      const largest = sizes.toSorted(([, a], [, b]) => b - a).slice(0, 8);
      return [
        lineOf('all', 'packages', [folders.length]),
        lineOf('all', 'MB', [sizes.map(([, size]) => size).reduce((sum, size) => sum + size, 0) / 1e6]),
        ...largest.map(([name, size]) => lineOf(name, 'MB', [size / 1e6])),
      ];
    } finally {
      await rm(project, { recursive: true, force: true });
    }
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
