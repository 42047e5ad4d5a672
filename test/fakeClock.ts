// Clocks that jump: a server or a worker whose time of day a test sets, by fakeClock.c.

import { execFile, execFileSync } from 'node:child_process';
import { open, readFile, readlink, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { stopEmbedded } from '../runtime/install/embedded.ts';
import type { Embedded } from '../runtime/install/embedded.ts';

const source = fileURLToPath(new URL('fakeClock.c', import.meta.url));

export const hasFakeClock = ((): boolean => {
  try {
    execFileSync('cc', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    process.stderr.write('skipped: clocks that jump, for want of a C compiler (apt-get install gcc libc6-dev)\n');
    return false;
  }
})();

export type FakeClock = {
  /** For processes that are to have this clock. */
  env: Record<string, string>;
  /** How far it is ahead of the time from now on. */
  jump(seconds: number): Promise<void>;
};

/** Keeps the clock in this file and in `<file>.so`, where every process that is to have it can read them. */
export async function fakeClock(file: string): Promise<FakeClock> {
  const library = `${file}.so`;
  await promisify(execFile)('cc', ['-shared', '-fPIC', '-O1', '-Wall', '-Wextra', '-Werror', '-o', library, source]);
  await writeFile(file, Buffer.alloc(8), { mode: 0o644 });
  return {
    env: { LD_PRELOAD: library, FAKE_CLOCK: file },
    async jump(seconds) {
      // In its place: processes have this file in their memory.
      const clock = await open(file, 'r+');
      await clock.write(new BigInt64Array([BigInt(seconds)]), 0, 8, 0);
      await clock.close();
    },
  };
}

/** Starts the server again, under this clock. */
export async function restartUnder(clock: FakeClock, { dataDir }: Pick<Embedded, 'dataDir'>): Promise<void> {
  const cluster = join(dataDir, 'cluster');
  const [pid] = (await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n');
  const bin = dirname(await readlink(`/proc/${pid}/exe`));
  const { uid, gid } = await stat(cluster);
  await stopEmbedded(dataDir);
  await promisify(execFile)(join(bin, 'pg_ctl'), ['-D', cluster, '-l', join(dataDir, 'postgres.log'), '-w', '-s', 'start'], {
    cwd: '/',
    env: { PATH: process.env['PATH'], LC_ALL: 'C', ...clock.env },
    ...(process.getuid?.() === 0 && { uid, gid }),
  });
}
