// The disk of the database is full for a while: what was acknowledged stays, and the work goes on when there is room again.

import { execFileSync } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { ensureEmbedded } from '../../../runtime/install/embedded.ts';
import { startThrowaway } from '../../../runtime/install/throwaway.ts';
import { seed } from '../../random.ts';
import { ownServer } from '../ground.ts';
import { scorecardText } from '../scorecard.ts';
import { storm } from '../storm.ts';
import { ownWorkload } from '../workload.ts';

const mount = await mkdtemp(join(tmpdir(), 'wl-full-'));
let why: string | null = null;
try {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=300m,mode=1777', 'tmpfs', mount], { stdio: 'pipe' });
} catch (error) {
  why = (error as Error).message.split('\n').at(-2) ?? String(error);
  console.log(`diskFull.test.ts is skipped: a small file system cannot be mounted (${why})`);
}
const before = process.env['TMPDIR'];
beforeAll(() => {
  if (why === null) process.env['TMPDIR'] = mount;
});
afterAll(async () => {
  if (before === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = before;
  if (why === null) execFileSync('umount', ['-l', mount]);
  await rm(mount, { recursive: true, force: true });
});

/** Takes all room that is left. */
function fill(file: string): void {
  const descriptor = openSync(file, 'w');
  try {
    for (const block = Buffer.alloc(2 ** 12); ;) writeSync(descriptor, block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(descriptor);
  }
}

test.skipIf(why !== null)(`no room for five seconds, twice (SEED=${seed})`, async () => {
  const ground = await ownServer();
  const { crash } = ground;
  if (crash === null) throw new Error('it is a server of its own');
  const ballast = join(mount, 'ballast');
  try {
    const card = await storm({
      ground: {
        ...ground,
        async crash() {
          fill(ballast);
          await sleep(5000);
          await rm(ballast);
          await crash('immediate'); // if it has not given up by itself
        },
      },
      workload: ownWorkload({ hasCode: false }),
      seed,
      kills: 4,
      databaseFaults: 2,
      places: 2,
      leaseSeconds: 3,
      hasDocker: false,
      patienceSeconds: 120,
      first: {
        faults: [
          { kind: 'immediate', text: '' },
          { kind: 'immediate', text: '' },
        ],
      },
    });
    console.log(scorecardText(card));
    expect(card).toMatchObject({ lost: [], doubled: [], stuck: [], failed: [], violations: [] });
  } finally {
    await rm(ballast, { force: true });
    await ground.remove();
  }
});

test.skipIf(why !== null)('a command on a full disk says which file it cannot write, and leaves nothing behind', async () => {
  const { dataDir, stop } = await startThrowaway({ isDurable: false });
  const [ballast, lock] = [join(mount, 'ballast'), join(dataDir, 'lock')];
  try {
    fill(ballast);
    await expect(ensureEmbedded({ dataDir })).rejects.toThrow(`${lock} cannot be written: ENOSPC`);
    await expect(access(lock)).rejects.toMatchObject({ code: 'ENOENT' });
  } finally {
    await rm(ballast, { force: true });
    await stop();
  }
});
