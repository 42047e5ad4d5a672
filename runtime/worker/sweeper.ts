// Recovers from dead workers, now and every few seconds, and sums up usage twice a minute: one living worker does it for all.

import type { Logger } from 'pino';

import type { Db } from '../ledger/db.ts';

type SweeperOptions = {
  db: Db;
  log: Logger;
  leaseSeconds: number;
  /** Called at each sweep until it returns true. */
  offersCode: (() => Promise<boolean>) | null;
};

const SUM_MS = 30_000;

/** Resolves when the first sweep is done. */
export async function startSweeper({ db, log, leaseSeconds, offersCode }: SweeperOptions): Promise<{ stop(): Promise<void> }> {
  let isCodeOffered = offersCode === null;
  const sweep = async (): Promise<void> => {
    try {
      const swept = await db.workSweep(leaseSeconds);
      isCodeOffered ||= (await offersCode?.()) ?? true;
      if (swept.expired > 0 || swept.dead_workers.length > 0) log.info(swept, 'swept up after dead workers');
    } catch (error) {
      log.warn({ err: error }, 'sweep failed');
    }
  };
  let summedAt = -Infinity;
  const stopping = new AbortController();
  const sum = async (): Promise<void> => {
    if (performance.now() - summedAt < SUM_MS) return;
    summedAt = performance.now();
    try {
      // One call per day of data, until nothing is left: a ledger that was upgraded may have years of it.
      let before: string | null;
      let until: string | null = null;
      do {
        before = until;
        until = await db.workHoursSum();
      } while (until !== before && !stopping.signal.aborted);
    } catch (error) {
      log.warn({ err: error }, 'usage was not summed up yet; it will be with a later sweep');
    }
  };
  const round = async (): Promise<void> => {
    await sweep();
    await sum();
  };
  let sweeping = sweep();
  await sweeping;
  sweeping = sum();
  const timer = setInterval(
    () => {
      sweeping = round();
    },
    Math.min(5000, (leaseSeconds * 1000) / 3),
  );
  return {
    stop() {
      stopping.abort();
      clearInterval(timer);
      return sweeping;
    },
  };
}
