// A storm: work under way while workers are killed and the database breaks, drawn from a seed; then calm, until all work is over or stuck;
// then the count.

import { closeSync, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { openDb } from '../../runtime/ledger/db.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { seededRandom } from '../random.ts';
import { startClients } from './clients.ts';
import { startCrew } from './crew.ts';
import type { Crew, Death } from './crew.ts';
import type { Ground } from './ground.ts';
import { itemOutcomes } from './outcomes.ts';
import { startProxy } from './proxy.ts';
import { counted } from './scorecard.ts';
import type { Scorecard } from './scorecard.ts';
import { startWeather } from './weather.ts';
import type { Fault, Weather } from './weather.ts';
import { Witness } from './witness.ts';
import type { Workload } from './workload.ts';

export type StormOptions = {
  ground: Ground;
  workload: Workload;
  seed: number;
  /** At least so many workers are killed, and the database is broken so often, before calm. */
  kills: number;
  databaseFaults: number;
  places: number;
  leaseSeconds: number;
  hasDocker: boolean;
  /** How long nothing may move before it counts as stuck. */
  patienceSeconds: number;
  /** What happens first, in order, before the rest is drawn from the seed. */
  first?: { deaths?: readonly Death[]; faults?: readonly Fault[] };
  /** Where workers log to. */
  logFile?: string;
  /** Called now and then with how far it is. */
  onProgress?: (kills: number, faults: number) => void;
  /** Breaks a promise on purpose, so that the count has something to find: clients are told too early, or unsafe calls run again. */
  naive?: 'acknowledges_early' | 'repeats_unsafe';
  signal?: AbortSignal;
};

export async function storm(options: StormOptions): Promise<Scorecard> {
  const { ground, seed, leaseSeconds } = options;
  const begun = performance.now();
  const witness = new Witness();
  const directory = await mkdtemp(join(tmpdir(), 'work-ledger-faults-'));
  const effectsFile = join(directory, 'effects');
  const log = options.logFile === undefined ? null : openSync(options.logFile, 'a');
  const model = await startScriptedModel(witness.watch(options.workload.script, seed));
  const proxy = await startProxy(ground.server);
  const db = await openDb(ground.url, ground.schema, { maximumPoolSize: 4 });
  const behind = ground.behind(proxy.port);
  const told = await openDb(behind, ground.schema, { maximumPoolSize: 2 });
  try {
    for (const faculty of options.workload.faculties) await db.facultySave(faculty);
    const crew = startCrew({
      places: options.places,
      seed,
      most: options.kills,
      deaths: options.first?.deaths ?? [],
      log,
      worker: {
        url: behind,
        schema: ground.schema,
        modelUrl: model.url,
        effectsFile,
        leaseSeconds,
        hasDocker: options.hasDocker,
        repeatsUnsafe: options.naive === 'repeats_unsafe',
      },
    });
    const clients = startClients({
      ground,
      db,
      told,
      witness,
      workload: options.workload,
      random: seededRandom(seed, 1001),
      open: 2 * options.places,
      naiveUrl: options.naive === 'acknowledges_early' ? behind : null,
    });
    const weather = startWeather({
      ground,
      proxy,
      random: seededRandom(seed, 1002),
      most: options.databaseFaults,
      first: options.first?.faults ?? [],
    });
    try {
      await untilBlownOver(options, crew, weather);
      crew.spare();
      await clients.calm();
      const stuck = await settle(ground, options.patienceSeconds, options.signal);
      await clients.stop();
      return {
        seed,
        stuck,
        ...(await counted(ground, db, witness, effectsFile)),
        seconds: (performance.now() - begun) / 1000,
        kills: crew.kills,
        freezes: crew.freezes,
        faults: { ...weather.faults, ...(witness.faults > 0 && { model: witness.faults }) },
      };
    } finally {
      await Promise.allSettled([weather.stop(), clients.stop(), crew.stop()]);
    }
  } finally {
    await told.close();
    await db.close();
    await proxy.close();
    await model.close();
    if (log !== null) closeSync(log);
    await rm(directory, { recursive: true, force: true });
  }
}

async function untilBlownOver({ kills, databaseFaults, onProgress, signal }: StormOptions, crew: Crew, weather: Weather): Promise<void> {
  while (crew.kills < kills || weather.count() < databaseFaults) {
    if (signal?.aborted) break;
    await sleep(500);
    onProgress?.(crew.kills, weather.count());
  }
  await weather.stop();
}

/** Waits until every item is over; those that are not when nothing has moved for so long. */
async function settle(ground: Ground, patienceSeconds: number, signal?: AbortSignal): Promise<string[]> {
  let last = '';
  let since = performance.now();
  for (;;) {
    const items = await itemOutcomes(ground);
    const open = items.filter(({ state }) => !['completed', 'failed', 'dead', 'cancelled'].includes(state));
    if (open.length === 0 || signal?.aborted) return [];
    const now = JSON.stringify(open);
    if (now !== last) [last, since] = [now, performance.now()];
    if (performance.now() - since > patienceSeconds * 1000)
      return open.map(({ id, state, reason }) => `${id} ${state}${reason === null ? '' : `: ${reason}`}`);
    await sleep(300);
  }
}
