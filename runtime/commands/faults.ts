// `work-ledger faults`: kills workers and breaks the database while work is under way, in a ledger of its own, and counts what came of it.

import { rm } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';

import Docker from 'dockerode';

import { sandboxImage } from '../../sandbox/image.ts';
import type { Settings } from '../config.ts';
import { ownSchema, ownServer } from '../faults/ground.ts';
import type { Ground } from '../faults/ground.ts';
import { seed as chance } from '../faults/random.ts';
import { isClean, scorecardText } from '../faults/scorecard.ts';
import { storm } from '../faults/storm.ts';
import { usersWorkload } from '../faults/usersWorkload.ts';
import { ownWorkload } from '../faults/workload.ts';
import { scratchFolder } from '../install/scratchFolder.ts';
import { exit, note, print } from './output.ts';

export type FaultsOptions = Omit<Settings, 'schema'> & {
  seed?: number;
  kills: number;
  databaseFaults: number;
  workers: number;
  faculty?: string[];
  tools?: string[];
  scripted?: string;
  log?: string;
};

export async function faults(options: FaultsOptions): Promise<number> {
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => interrupted.abort());
  const folder = await scratchFolder('faults');
  try {
    // Many workers begin: they compile what they load once.
    process.env['NODE_COMPILE_CACHE'] ??= getCompileCacheDir() ?? folder;
    const ground = await (options.databaseUrl ? ownSchema(options.databaseUrl) : ownServer());
    try {
      return await faultsOn(ground, options, interrupted.signal);
    } finally {
      await ground.remove();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function faultsOn(ground: Ground, options: FaultsOptions, signal: AbortSignal): Promise<number> {
  const hasDocker = await new Docker().getImage(sandboxImage).inspect().then(() => true, () => false);
  const seed = options.seed ?? chance;
  const workload = options.faculty ? await usersWorkload(ground, options.faculty, options.tools ?? [], options.scripted) : ownWorkload({ hasCode: hasDocker });
  note(`seed ${seed}: ${options.kills} kills, ${options.databaseFaults} database faults, in ${ground.crash === null ? `schema ${ground.schema}, which is dropped afterwards` : 'a server that is removed afterwards'}${hasDocker ? '' : '; no code, because Docker or its image is missing'}`);
  let said = performance.now();
  const card = await storm({
    ground, workload, seed, kills: options.kills, databaseFaults: options.databaseFaults, places: options.workers, leaseSeconds: 3, patienceSeconds: 90, hasDocker, signal, ...(options.log !== undefined && { logFile: options.log }),
    onProgress: (kills, count) => {
      if (performance.now() - said < 15_000) return;
      said = performance.now();
      note(`kills: ${kills}, database faults: ${count}`);
    },
  });
  if (signal.aborted) return exit.interrupted;
  const isFine = isClean(card);
  print({ ...card, isClean: isFine }, scorecardText(card), options.json ?? false);
  if (!isFine) note(`Again: work-ledger faults --seed ${seed} --kills ${options.kills} --database-faults ${options.databaseFaults} --workers ${options.workers}`);
  return isFine ? exit.ok : exit.error;
}
