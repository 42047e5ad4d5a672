// How far a standby is behind its primary.

import { sql } from 'slonik';
import { z } from 'zod';

import type { Calls } from './pool.ts';

/**
 * How old a server's data may be, in seconds. 0 for a primary, and for a standby that is connected and has replayed everything it received.
 * Otherwise the age of the newest transaction it shows: an upper bound, since nothing may have been written since. Null: it has replayed
 * none since it started.
 */
export const behind = z.object({ is_standby: z.boolean(), seconds: z.number().nullable() });
export const behindColumns = sql.fragment`
  pg_is_in_recovery() as is_standby,
  case when not pg_is_in_recovery() or pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() and exists (select from pg_stat_wal_receiver) then 0
       else floor(greatest(0, extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())))::float8 end as seconds`;

export const lag = ({ one, once }: Calls) => ({
  behind: () => one(() => sql.type(behind)`select ${behindColumns}`),

  /** The current end of the write-ahead log, for hasReplayed() of a standby. */
  writtenEnd: async () =>
    (await once.one(() => sql.type(z.object({ lsn: z.string() }))`select pg_current_wal_insert_lsn()::text as lsn`)).lsn,

  /** Whether it shows what its primary had written at that position; a promoted standby does not wait for it. */
  hasReplayed: async (lsn: string) =>
    (
      await once.one(
        () => sql.type(z.object({ is: z.boolean() }))`select not pg_is_in_recovery() or pg_last_wal_replay_lsn() >= ${lsn}::pg_lsn as is`,
      )
    ).is,

  /** The same for a server and its standbys; null: it does not tell. */
  serverName: () =>
    once
      .one(
        () =>
          sql.type(
            z.object({ name: z.string() }),
          )`select system_identifier::text || '/' || current_database() as name from pg_control_system()`,
      )
      .then(
        ({ name }) => name,
        () => null,
      ),
});
