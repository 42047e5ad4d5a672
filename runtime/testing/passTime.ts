// Lets time pass for the ledger of a test: what is due later becomes due sooner. Ledger functions read the server's clock, which is
// unchanged.

import { withConnection } from '../ledger/connection.ts';
import { UsageError } from '../ledger/errors.ts';

/** In lock order (sql/README.md): fences, calls, models, jobs. */
const statements = [
  `select from fences f join work_items w on w.id = f.work_item_id where w.resolved_at is null order by w.id for no key update of f`,
  `update tool_calls set wait_ends_at = wait_ends_at - $1::interval where status = 'waiting'`,
  `update approvals set expires_at = expires_at - $1::interval where decided_at is null`,
  `update models set cooldown_ends_at = cooldown_ends_at - $1::interval where cooldown_ends_at is not null`,
  `update work_items set run_at = run_at - $1::interval where resolved_at is null and run_at > clock_timestamp() and isfinite(run_at)`,
  `update graphile_worker._private_jobs set run_at = run_at - $1::interval where run_at > clock_timestamp()`,
];

export function passTime(databaseUrl: string, time: string): Promise<void> {
  return withConnection({ connectionString: databaseUrl }, async (client) => {
    const isAhead = await client
      .query<{ is_ahead: boolean }>(`select $1::interval > interval '0' as is_ahead`, [time])
      .then(({ rows }) => rows[0]?.is_ahead ?? false)
      .catch(() => false);
    if (!isAhead) throw new UsageError(`"${time}" is no time that passes; one is "1 day" or "90 seconds"`);
    await client.query(`begin; set local search_path = work_ledger, pg_temp`);
    for (const statement of statements) await client.query(statement, statement.includes('$1') ? [time] : []);
    await client.query('commit');
  });
}
