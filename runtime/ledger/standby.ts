// A ledger that is written on a primary and read on its standby, which shows writes a moment later. Loads nothing.

import { setTimeout as sleep } from 'node:timers/promises';

import { UsageError } from './errors.ts';
import type { lag } from './lag.ts';

type Server = ReturnType<typeof lag>;

/** Longer than any standby takes whose machine is comparable to that of its primary. */
const PATIENCE_MS = 3000;
const LOOK_MS = 25;

/** Resolves when the standby shows everything written until now; with false if it does not in time, or if the primary cannot be asked. */
export async function isCaughtUp(reads: Server, primary: Server): Promise<boolean> {
  if (reads === primary) return true;
  const over = new AbortController();
  const waited = async (): Promise<boolean> => {
    const end = await primary.writtenEnd();
    while (!(await reads.hasReplayed(end))) await sleep(LOOK_MS, undefined, { signal: over.signal });
    return true;
  };
  try {
    return await Promise.race([waited().catch(() => false), sleep(PATIENCE_MS, false, { ref: false })]);
  } finally {
    over.abort();
  }
}

/** Throws if both servers tell which they are, and neither is a copy of the other. */
export async function checkStandby(reads: Server, primary: Server): Promise<void> {
  const [one, other] = await Promise.all([reads.serverName(), primary.serverName()]);
  if (one !== null && other !== null && one !== other)
    throw new UsageError(
      'the address for reading (WORK_LEDGER_READ_URL) leads to another server than a standby of the database that is written to',
    );
}
