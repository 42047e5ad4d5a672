// How far a standby is behind its primary.

import { sql } from 'slonik';
import { z } from 'zod';

import type { Calls } from './pool.ts';

/**
 * How old what a server shows may be. 0: of a primary, and of a standby that is connected and has replayed what was sent to it; else the
 * age of the
 * newest transaction that it shows: it is at most that far behind, since nothing may have been written meanwhile. Null: it has replayed
 * none since it was started.
 */
export const behind = z.object({ is_standby: z.boolean(), seconds: z.number().nullable() });
export const behindColumns = sql.fragment`
  pg_is_in_recovery() as is_standby,
  case when not pg_is_in_recovery() or pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() and exists (select from pg_stat_wal_receiver) then 0
       else floor(greatest(0, extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())))::float8 end as seconds`;

export const lag = ({ one, once }: Calls) => ({
  behind: () => one(() => sql.type(behind)`select ${behindColumns}`),

  /** The end of what has been written here, for hasReplayed() of a standby. */
  writtenEnd: async () =>
    (await once.one(() => sql.type(z.object({ lsn: z.string() }))`select pg_current_wal_insert_lsn()::text as lsn`)).lsn,

  /** Whether it shows what its primary had written then; one that was promoted does not wait for it. */
  hasReplayed: async (lsn: string) =>
    (
      await once.one(
        () => sql.type(z.object({ is: z.boolean() }))`select not pg_is_in_recovery() or pg_last_wal_replay_lsn() >= ${lsn}::pg_lsn as is`,
      )
    ).is,

  /** The same of a server and of its standbys; null: it does not tell. */
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
