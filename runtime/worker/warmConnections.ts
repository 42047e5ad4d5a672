// Has what an iteration runs compiled and planned before there is work.

import { setTimeout as sleep } from 'node:timers/promises';

import type { Db } from '../ledger/db.ts';
import type { Leases } from './leases.ts';

/** How long a worker has had no work when its first connection is warmed, and how much longer it has been there when half of them are. */
const WHEN = { idleMs: 1000, staysMs: 10_000 };

/**
 * One connection before the first job, unless the worker met work, which warms its own; half of them when the worker has been there for a
 * while, since one that soon leaves would warm them in vain. Each costs the server 34 MB: the other half is opened by work.
 */
export async function warmConnections(
  db: Pick<Db, 'warm'>,
  concurrency: number,
  leases: Pick<Leases, 'isIdle'>,
  stopping: AbortSignal,
  { idleMs, staysMs } = WHEN,
): Promise<void> {
  const after = (milliseconds: number): Promise<boolean> => sleep(milliseconds, true, { signal: stopping, ref: false }).catch(() => false);
  if ((await after(idleMs)) && leases.isIdle) await db.warm(1);
  if (await after(staysMs)) await db.warm(Math.ceil(concurrency / 2));
}
