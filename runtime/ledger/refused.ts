// For programs that stay connected: detects an upgrade of the ledger to a version that no longer serves them.

import { setTimeout as sleep } from 'node:timers/promises';

import { OtherLedger } from './checkLedger.ts';
import type { Db } from './db.ts';

const LOOK_MS = 5000;

/** Resolves with the error to report when the ledger no longer serves this program; checks until the signal fires. */
export async function untilRefused(db: Pick<Db, 'serves' | 'version'>, signal: AbortSignal): Promise<OtherLedger> {
  while (await sleep(LOOK_MS, true, { signal, ref: false }).catch(() => false)) {
    if (!(await db.serves().catch(() => true)))
      return new OtherLedger(
        `the ledger was upgraded to version ${await db.version()} and does not serve this program any more: use that version of work-ledger`,
      );
  }
  return new Promise(() => {});
}
