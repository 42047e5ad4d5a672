// Worker processes that die. Each place of the crew is filled again as soon as its worker is dead; how each of them dies is drawn from
// the place's own row of chance, so that a seed plays the same deaths in the same order whatever the machine is doing.

import { fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { seededRandom } from '../random.ts';

const main = fileURLToPath(new URL('./workerMain.ts', import.meta.url));

/** By a failpoint that it comes to; at some moment; or frozen for longer than its lease, woken, and killed a little later. */
export type Death = { at: string } | { afterMs: number } | { frozenAfterMs: number; forMs: number };

/** Every point at which a worker can be told to die. */
export const points = [
  'focus_begin',
  'iteration_begin',
  'iteration_step',
  'tool_call_begin',
  'tool_call_settle',
  'tool_call_execute',
  'model',
  'tool',
  'lease_renew',
  'work_sweep',
  'code',
  'tool_call_nested',
].flatMap((name) => [`before_${name}`, `after_${name}`]);

export function deathOf(random: () => number, leaseSeconds: number): Death {
  const [kind, which, when] = [random(), random(), random()];
  if (kind < 0.65) return { at: `${points[Math.floor(which * points.length)]}:${1 + Math.floor(when * 6)}=kill` };
  if (kind < 0.95) return { afterMs: 200 + when * 3000 };
  return { frozenAfterMs: 200 + when * 1000, forMs: leaseSeconds * 1500 };
}

export type Crew = {
  kills: number;
  freezes: number;
  /** Whoever is there now lives on, and places are filled with workers that nobody kills. */
  spare(): void;
  stop(): Promise<void>;
};

type CrewOptions = {
  places: number;
  seed: number;
  /** So many are killed at most. */
  most: number;
  /** The first deaths, in order, before others are drawn. */
  deaths: readonly Death[];
  /** A descriptor that they log to. */
  log: number | null;
  /** What workerMain takes. */
  worker: { leaseSeconds: number } & Record<string, unknown>;
};

export function startCrew({ places, seed, most, deaths, log, worker }: CrewOptions): Crew {
  const given = [...deaths];
  const crew = { kills: 0, freezes: 0 };
  const over = new AbortController();
  let isSpared = most === 0;
  const fill = async (place: number): Promise<void> => {
    const random = seededRandom(seed, place + 1);
    while (!over.signal.aborted) {
      const death = given.shift() ?? deathOf(random, worker.leaseSeconds);
      const child = fork(main, {
        stdio: ['ignore', 'ignore', log ?? 'ignore', 'ipc'],
        env: {
          PATH: process.env['PATH'],
          HOME: process.env['HOME'],
          DOCKER_HOST: process.env['DOCKER_HOST'],
          NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
          WORK_LEDGER_FAULTS_WORKER: JSON.stringify(worker),
          ...('at' in death && !isSpared && { WORK_LEDGER_FAILPOINTS: death.at }),
        },
      });
      const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('exit', (_, signal) => resolve(signal)));
      const started = new Promise<void>((resolve) => child.once('message', () => resolve()));
      const isOver = ended.then(() => true);
      const wait = (ms: number): Promise<boolean> => Promise.race([isOver, sleep(ms, false)]);
      const stop = (): void => void child.kill('SIGTERM');
      over.signal.addEventListener('abort', stop, { once: true });
      await Promise.race([started, ended, sleep(30_000)]);
      if (!isSpared && !over.signal.aborted) {
        if ('frozenAfterMs' in death && !(await wait(death.frozenAfterMs))) {
          child.kill('SIGSTOP');
          crew.freezes++;
          await sleep(death.forMs);
          child.kill('SIGCONT');
        }
        // One that never comes to its point is killed all the same.
        const isDead = await wait('afterMs' in death ? death.afterMs : 2500);
        if (!isDead && !isSpared && !over.signal.aborted) child.kill('SIGKILL');
      }
      const signal = await ended;
      over.signal.removeEventListener('abort', stop);
      if (signal === 'SIGKILL') crew.kills++;
      if (crew.kills >= most) isSpared = true;
    }
  };
  const filled = Array.from({ length: places }, (_, place) => fill(place));
  return Object.assign(crew, {
    spare: () => void (isSpared = true),
    stop: async () => {
      over.abort();
      await Promise.all(filled);
    },
  });
}
