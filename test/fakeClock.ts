// Clocks that jump: a server or a worker whose time a test sets, by Debian's libfaketime.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, readlink, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { stopEmbedded } from '../runtime/install/embedded.ts';
import type { Embedded } from '../runtime/install/embedded.ts';

const folder = ['x86_64', 'aarch64'].map((machine) => `/usr/lib/${machine}-linux-gnu/faketime`).find((path) => existsSync(path));
/** PostgreSQL asks for the time in signal handlers, where the library for threads would wait for itself. */
const [forThreads, forSignals] = [`${folder}/libfaketimeMT.so.1`, `${folder}/libfaketime.so.1`];

export const hasFakeClock = folder !== undefined;
if (!hasFakeClock) process.stderr.write('skipped: clocks that jump, for want of libfaketime (apt-get install faketime)\n');

export type FakeClock = {
  /** For processes of Node that are to have this clock. */
  env: Record<string, string>;
  /** How far it is ahead of the time from now on. */
  jump(seconds: number): Promise<void>;
};

/** The monotonic clock stays as it is, as when somebody sets a real one. */
export async function fakeClock(file: string): Promise<FakeClock> {
  const jump = (seconds: number): Promise<void> => writeFile(file, `${seconds < 0 ? '' : '+'}${seconds}s\n`, { mode: 0o644 });
  await jump(0);
  return { jump, env: { LD_PRELOAD: forThreads, FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1' } };
}

/** Starts the server again, under this clock. */
export async function restartUnder(clock: FakeClock, { dataDir }: Pick<Embedded, 'dataDir'>): Promise<void> {
  const cluster = join(dataDir, 'cluster');
  const [pid] = (await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n');
  const bin = dirname(await readlink(`/proc/${pid}/exe`));
  const { uid, gid } = await stat(cluster);
  await stopEmbedded(dataDir);
  await promisify(execFile)(join(bin, 'pg_ctl'), ['-D', cluster, '-l', join(dataDir, 'postgres.log'), '-w', '-s', 'start'], {
    cwd: '/', env: { PATH: process.env['PATH'], LC_ALL: 'C', ...clock.env, LD_PRELOAD: forSignals }, ...(process.getuid?.() === 0 && { uid, gid }),
  });
}
