// Has the server compile and plan what an iteration runs before there is work.

import { setTimeout as sleep } from 'node:timers/promises';

import type { Db } from '../ledger/db.ts';
import type { Leases } from './leases.ts';

/** How long a worker must have been idle before its first connection is warmed, and how much longer before half of them are. */
const WHEN = { idleMs: 1000, staysMs: 10_000 };

/**
 * Warms one connection before the first job, unless the worker already has work, which warms connections anyway; and half of them once the
 * worker has run for a while, since a short-lived one would warm them in vain. Each costs the server 34 MB; work opens the other half.
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
