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
  return {
    url,
    async query<Row extends pg.QueryResultRow>(sql: string) {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      try {
        return (await client.query<Row>(sql)).rows;
      } finally {
        await client.end();
      }
    },
    async drop() {
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}
