// The replication of a move: the target subscribes to the source's publication, copies its tables, follows it, and stops.

import { setTimeout as sleep } from 'node:timers/promises';

import { withoutPassword } from '../ledger/address.ts';
import { sqlState } from '../ledger/errors.ts';
import { movedTables, subscriptionOn } from './ends.ts';
import type { End } from './ends.ts';

/** `fetchFrom`: the source's address as the target's server reaches it. */
export async function subscribe(source: End, target: End, fetchFrom: string): Promise<void> {
  const { name } = source;
  await dropSlot(source); // left by an attempt that failed
  await source.client.query(`drop publication if exists ${name}`);
  await source.client.query(
    `create publication ${name} for table ${movedTables()
      .map((table) => `${source.quoted}.${table}`)
      .join(', ')} with (publish = 'insert, update, delete')`,
  );
  // The statement contains the password, which must not be written to the server's log. Only a superuser can set this.
  await target.client
    .query(`set log_statement = 'none'; set log_min_error_statement = 'panic'; set log_min_duration_statement = -1`)
    .catch(() => {});
  try {
    await target.client.query(
      `create subscription ${name} connection ${target.client.escapeLiteral(fetchFrom)} publication ${name} with (slot_name = '${name}')`,
    );
  } catch (error) {
    if (!['08006', '08001', '2F003', '42501'].includes(sqlState(error) ?? '')) throw error;
    throw new Error(
      `the target's server does not get the rows from ${withoutPassword(fetchFrom).address}: ${(error as Error).message}. --fetch-from says how it reaches the source`,
      { cause: error },
    );
  }
}

/** Resolves when every table has been copied and the target is at most 4 MB of log behind. */
export async function copied(
  source: End,
  target: End,
  { say, progress, stopped }: { say: (text: string) => void; progress: (text: string) => void; stopped: AbortSignal },
): Promise<void> {
  let errors = 0;
  for (; ; await sleep(200)) {
    stopped.throwIfAborted();
    const {
      rows: [at],
    } = await target.client.query<{ ready: number; all: number; errors: number }>(
      `
      select count(*) filter (where r.srsubstate = 'r')::integer as ready, count(r.srrelid)::integer as all, coalesce(max(e.apply_error_count + e.sync_error_count), 0)::integer as errors
        from pg_subscription s left join pg_subscription_rel r on r.srsubid = s.oid left join pg_stat_subscription_stats e on e.subid = s.oid
       where s.subname = $1`,
      [source.name],
    );
    if (at !== undefined && at.errors > errors) {
      errors = at.errors;
      say(`the target met ${errors === 1 ? 'an error' : `${errors} errors`}, and tries again: its server's log says what`);
    }
    const behind = await bytesBehind(source, null);
    if (at !== undefined && at.all > 0 && at.ready === at.all && behind < 2 ** 22) break;
    progress(
      at !== undefined && at.ready < at.all
        ? `copying: ${at.ready} of ${at.all} tables`
        : `following: the target is ${Math.ceil(behind / 2 ** 20)} MB behind`,
    );
  }
  // else its first queries are planned for empty tables
  for (const table of movedTables()) await target.client.query(`analyze ${target.quoted}.${table}`);
}

const PATIENCE_MS = 60_000;

/** Resolves when the target has on its disk what the source had committed when this was called. */
export async function caughtUp(source: End, stopped: AbortSignal): Promise<void> {
  const {
    rows: [now],
  } = await source.client.query<{ end: string }>('select pg_current_wal_flush_lsn()::text as end');
  for (const deadline = performance.now() + PATIENCE_MS; (await bytesBehind(source, now?.end ?? null)) > 0; await sleep(20)) {
    stopped.throwIfAborted();
    if (performance.now() > deadline) throw new Error('the target did not catch up within a minute: look at the log of its server');
  }
}

/** `end`: a position in the source's log; null: its current end. */
async function bytesBehind(source: End, end: string | null): Promise<number> {
  const {
    rows: [slot],
  } = await source.client.query<{ bytes: string }>(
    'select pg_wal_lsn_diff(coalesce($2::pg_lsn, pg_current_wal_flush_lsn()), confirmed_flush_lsn) as bytes from pg_replication_slots where slot_name = $1',
    [source.name, end],
  );
  if (slot === undefined)
    throw new Error(`the source has lost the replication slot ${source.name}: run "work-ledger move --undo", then start again`);
  return Number(slot.bytes);
}

/** Stops following. What the target has stays. */
export async function unsubscribe(source: End, target: End): Promise<void> {
  const { name } = source;
  if ((await subscriptionOn(target, name)) === 'none') return;
  // Without a slot, dropping the subscription does not contact the source, which may be gone.
  for (const statement of [
    `alter subscription ${name} disable`,
    `alter subscription ${name} set (slot_name = none)`,
    `drop subscription ${name}`,
  ])
    await target.client.query(statement);
}

/** Lets the source discard the log that it kept for the target. */
export async function dropSlot(source: End): Promise<void> {
  for (const deadline = performance.now() + PATIENCE_MS; ; await sleep(50)) {
    if (performance.now() > deadline) throw new Error(`the source's replication slot ${source.name} is still in use: repeat the command`);
    const {
      rows: [slot],
    } = await source.client.query<{ active_pid: number | null }>('select active_pid from pg_replication_slots where slot_name = $1', [
      source.name,
    ]);
    if (slot === undefined) return;
    try {
      if (slot.active_pid === null) await source.client.query('select pg_drop_replication_slot($1)', [source.name]);
      else await source.client.query('select pg_terminate_backend($1)', [slot.active_pid]);
    } catch (error) {
      // It is in use again, or gone.
      if (!['55006', '42704'].includes(sqlState(error) ?? '')) throw error;
    }
  }
}
