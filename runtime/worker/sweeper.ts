// Recovers from dead workers, now and every few seconds: any living worker does it for all.

import type { Logger } from 'pino';

import type { Db } from '../ledger/db.ts';

type SweeperOptions = {
  db: Db;
  log: Logger;
  leaseSeconds: number;
  /** Tried with each sweep until it is true. */
  offersCode: (() => Promise<boolean>) | null;
};

/** Resolves when the first sweep is over. */
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
  let sweeping = sweep();
  await sweeping;
  const timer = setInterval(
    () => {
      sweeping = sweep();
    },
    Math.min(5000, (leaseSeconds * 1000) / 3),
  );
  return {
    stop() {
      clearInterval(timer);
      return sweeping;
    },
  };
}
