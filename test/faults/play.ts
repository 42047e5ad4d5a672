// `make faults`: a storm on a server of its own, and what came of it. KILLS, FAULTS (of the database) and SEED say how much of it and
// which; LOG names a file for what the workers log. Ends with 1 where anything was lost, doubled or stuck.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openDocker } from '../../sandbox/docker.ts';
import { sandboxImage } from '../../sandbox/image.ts';
import { seed } from '../random.ts';
import { ownServer } from './ground.ts';
import { isClean, scorecardText } from './scorecard.ts';
import { storm } from './storm.ts';
import { ownWorkload } from './workload.ts';

const { KILLS, FAULTS, LOG } = process.env;
const [kills, databaseFaults] = [Number(KILLS || 1000), Number(FAULTS || 40)];

const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => interrupted.abort());

const cache = await mkdtemp(join(tmpdir(), 'work-ledger-faults-'));
process.env['NODE_COMPILE_CACHE'] ??= cache; // many workers begin: they compile what they load once
const ground = await ownServer();
try {
  const hasDocker = await openDocker()
    .then((docker) => docker.getImage(sandboxImage).inspect())
    .then(
      () => true,
      () => false,
    );
  console.log(
    `seed ${seed}: ${kills} kills, ${databaseFaults} database faults${hasDocker ? '' : '; no code, because Docker or its image is missing'}`,
  );
  let said = performance.now();
  const card = await storm({
    ground,
    workload: ownWorkload({ hasCode: hasDocker }),
    seed,
    kills,
    databaseFaults,
    places: 4,
    leaseSeconds: 3,
    patienceSeconds: 90,
    hasDocker,
    signal: interrupted.signal,
    ...(LOG && { logFile: LOG }),
    onProgress: (killed, faults) => {
      if (performance.now() - said < 15_000) return;
      said = performance.now();
      console.log(`kills: ${killed}, database faults: ${faults}`);
    },
  });
  if (interrupted.signal.aborted) process.exitCode = 130;
  else {
    console.log(scorecardText(card));
    if (!isClean(card)) {
      console.log(`Again: make faults SEED=${seed} KILLS=${kills} FAULTS=${databaseFaults}`);
      process.exitCode = 1;
    }
  }
} finally {
  await ground.remove();
  await rm(cache, { recursive: true, force: true });
}
