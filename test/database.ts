// A database of its own for each test file, made from the template in some 50 ms. Files are copied: through the WAL it takes twice the CPU.

import { randomBytes } from 'node:crypto';

import pg from 'pg';
import { inject } from 'vitest';

import { template } from './globalSetup.ts';

export type TestDatabase = {
  url: string;
  query<Row extends pg.QueryResultRow>(sql: string): Promise<Row[]>;
  /** Fails if work_ledger_check() finds anything in a ledger there. `unchecked`: it is not asked, and why. */
  drop(options?: { unchecked?: string }): Promise<void>;
};

/** Whether somebody waits for a lock on a table there. Another database may have a table of the same number: all are copies of one template. */
export const isWaitedFor = async (database: Pick<TestDatabase, 'query'>, table: string): Promise<boolean> =>
  (
    await database.query(`
      select from pg_locks l join pg_database d on d.oid = l.database
       where d.datname = current_database() and l.relation = '${table}'::regclass and not l.granted`)
  ).length > 0;

/** How long the databases of this file were executing statements; known of those that are dropped. */
export const executed = { seconds: 0 };

/** With `from: null` an empty database; else one with graphile-worker, pgTAP and the extension in schema `ledger`. */
export async function createDatabase(options: { from?: string | null } = {}): Promise<TestDatabase> {
  const serverUrl = inject('serverUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const from = options.from === undefined ? template : options.from;
  const admin = new pg.Client({ connectionString: `${serverUrl}postgres` });
  await admin.connect();
  await admin.query(`create database ${name} strategy file_copy${from ? ` template ${from}` : ''}`);
  await admin.query(`alter database ${name} set search_path to ledger, public`);
  const url = `${serverUrl}${name}`;
  /** Kept for the next query; whoever asks while it is in use, or has lost it, connects anew. */
  let idle: pg.Client | null = null;
  const take = async (): Promise<pg.Client> => {
    const kept = idle;
    idle = null;
    if (kept) return kept;
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {
      if (idle === client) idle = null;
    });
    await client.connect();
    return client;
  };
  return {
    url,
    async query<Row extends pg.QueryResultRow>(sql: string) {
      const client = await take();
      try {
        const { rows } = await client.query<Row>(sql);
        // Settings of a database are those of connections that begin after them.
        if (idle === null && client.getTransactionStatus() === 'I' && !/\balter (database|role)\b/.test(sql)) idle = client;
        return rows;
      } finally {
        if (idle !== client) await client.end();
      }
    },
    async drop({ unchecked } = {}) {
      await idle?.end();
      const found = unchecked === undefined ? await violationsIn(url) : [];
      const { rows } = await admin.query<{ active: number }>(
        'select active_time / 1000 as active from pg_stat_database where datname = $1',
        [name],
      );
      executed.seconds += rows[0]?.active ?? 0;
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
      if (found.length > 0) throw new Error(`the ledger does not hold what it must:\n${found.join('\n')}`);
    },
  };
}

/** What work_ledger_check() finds in every ledger of a database. */
export async function violationsIn(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: ledgers } = await client.query<{ call: string }>(
      `select format('%s(null)', oid::regproc) as call from pg_proc where proname = 'work_ledger_check'`,
    );
    const found: string[] = [];
    for (const { call } of ledgers)
      found.push(
        ...(
          await client.query<{ found: string }>(`select format('%s of %s: %s', invariant, work_item_id, says) as found from ${call}`)
        ).rows.map((row) => row.found),
      );
    return found;
  } finally {
    await client.end();
  }
}
