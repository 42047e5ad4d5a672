// Keeps a runner running: starts another one if it ends without being asked to.

import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';

import type { Leases } from './leases.ts';
import type { Runner } from './runner.ts';

type Tended = {
  /** The leases of the current runner. */
  readonly leases: Leases;
  /** Call it after `signal` has fired; see Runner. */
  stop(graceSeconds: number): Promise<void>;
};

/**
 * Replaces a runner that ended without being asked to, or is silent, as soon as the database can be reached, until the signal fires. Work
 * that still hangs in the old runner after `patienceMs` is abandoned.
 */
export function tendRunner(first: Runner, start: () => Promise<Runner>, log: Logger, signal: AbortSignal, patienceMs = 10_000): Tended {
  let runner = first;
  const isStopping = (): boolean => signal.aborted;
  const tending = tend();

  async function tend(): Promise<void> {
    for (;;) {
      await Promise.race([runner.ended, aborted(signal)]);
      if (isStopping()) return;
      log.warn({ workerId: runner.leases.workerId }, 'graphile-worker stopped; restarting it');
      await Promise.race([runner.stop(0), sleep(patienceMs, undefined, { ref: false })]);
      for (let delay = 500; ; delay = Math.min(delay * 2, 5000)) {
        if (isStopping()) return;
        try {
          runner = await start();
          break;
        } catch (error) {
          log.warn({ err: error }, 'not yet');
          await sleep(delay);
        }
      }
      log.info({ workerId: runner.leases.workerId }, 'at work again');
    }
  }

  return {
    get leases() {
      return runner.leases;
    },
    async stop(graceSeconds) {
      await tending;
      await runner.stop(graceSeconds);
    },
  };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
