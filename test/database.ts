// A database of its own for each test file, made from the template in some 50 ms.

import { randomBytes } from 'node:crypto';

import pg from 'pg';
import { inject } from 'vitest';

import { template } from './globalSetup.ts';

export type TestDatabase = {
  url: string;
  query<Row extends pg.QueryResultRow>(sql: string): Promise<Row[]>;
  drop(): Promise<void>;
};

/** With `from: null` an empty database; else one with graphile-worker, pgTAP and the extension in schema `ledger`. */
export async function createDatabase(options: { from?: string | null } = {}): Promise<TestDatabase> {
  const serverUrl = inject('serverUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const from = options.from === undefined ? template : options.from;
  const admin = new pg.Client({ connectionString: `${serverUrl}postgres` });
  await admin.connect();
  await admin.query(`create database ${name}${from ? ` template ${from}` : ''}`);
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
    async drop() {
      await idle?.end();
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}
