// A ledger that is written on a primary and read on a standby of it, which shows a moment later what was written.

import { setTimeout as sleep } from 'node:timers/promises';

import { sql } from 'slonik';
import { z } from 'zod';

import { UsageError } from './errors.ts';
import type { Calls } from './pool.ts';

/**
 * How old what a server shows may be. 0: of a primary, and of a standby that is connected and has replayed what was sent to it; else the age of the
 * newest transaction that it shows: it is at most that far behind, since nothing may have been written meanwhile. Null: it has replayed none since it was started.
 */
export const behind = z.object({ is_standby: z.boolean(), seconds: z.number().nullable() });
export const behindColumns = sql.fragment`
  pg_is_in_recovery() as is_standby,
  case when not pg_is_in_recovery() or pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() and exists (select from pg_stat_wal_receiver) then 0
       else floor(greatest(0, extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())))::float8 end as seconds`;

export const standby = ({ one, once }: Calls) => ({
  behind: () => one(() => sql.type(behind)`select ${behindColumns}`),

  /** The end of what has been written here, for hasReplayed() of a standby. */
  writtenEnd: async () => (await once.one(() => sql.type(z.object({ lsn: z.string() }))`select pg_current_wal_insert_lsn()::text as lsn`)).lsn,

  /** Whether it shows what its primary had written then; one that was promoted does not wait for it. */
  hasReplayed: async (lsn: string) => (await once.one(() => sql.type(z.object({ is: z.boolean() }))`select not pg_is_in_recovery() or pg_last_wal_replay_lsn() >= ${lsn}::pg_lsn as is`)).is,

  /** The same of a server and of its standbys; null: it does not tell. */
  serverName: () => once.one(() => sql.type(z.object({ name: z.string() }))`select system_identifier::text || '/' || current_database() as name from pg_control_system()`).then(({ name }) => name, () => null),
});
type Server = ReturnType<typeof standby>;

/** Longer than a standby takes that has anything like the machine of its primary. */
const PATIENCE_MS = 3000;
const LOOK_MS = 25;

/** Resolves when the standby shows all that has been written until now; false: it does not yet, or the primary is not there to say what that is. */
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

/** Throws if both servers tell which they are, and one is no copy of the other. */
export async function checkStandby(reads: Server, primary: Server): Promise<void> {
  const [one, other] = await Promise.all([reads.serverName(), primary.serverName()]);
  if (one !== null && other !== null && one !== other) throw new UsageError('the address for reading (WORK_LEDGER_READ_URL) leads to another server than a standby of the database that is written to');
}
