// Erases what the retention policies say, when the worker starts and once an hour, in small transactions. The first worker to come does it
// for all; what one leaves when it dies, the next one finds.

import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';

import type { Db } from '../ledger/db.ts';
import { sqlState } from '../ledger/errors.ts';

const EVERY_MS = 3_600_000;
/** The pause between two batches, so that other transactions get their turn. */
const PAUSE_MS = 20;

export function startRetention(db: Db, log: Logger): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const round = async (): Promise<void> => {
    try {
      const done = await retain(db, stopping.signal, (root, error) => log.warn({ root, error }, 'kept: its export failed'));
      if (done.trees + done.rows > 0) log.info(done, 'erased by policy');
    } catch (error) {
      if (sqlState(error) === '42501') log.debug('this role may not erase: grant execute on function work_retention_run');
      else log.warn({ err: error }, 'retention failed');
    }
  };
  let running = round();
  const timer = setInterval(() => {
    running = running.then(round);
  }, EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      stopping.abort();
      return running;
    },
  };
}

/** Runs until there is nothing left to erase; returns how much was erased, and reports it after each batch. */
export async function retain(
  db: Db,
  signal: AbortSignal,
  onKept: (rootId: string, error: string) => void,
  onPart: (done: { trees: number; rows: number }) => void = () => {},
): Promise<{ trees: number; rows: number }> {
  const done = { trees: 0, rows: 0 };
  while (!signal.aborted) {
    const step = await db.retentionRun();
    done.rows += step.rows ?? 0;
    if (step.root_id !== undefined && step.error !== undefined) onKept(step.root_id, step.error);
    else if (step.root_id !== undefined) done.trees++;
    onPart(done);
    if (step.is_done) break;
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
  return done;
}
