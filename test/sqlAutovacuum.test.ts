// What counts rows read counts them the same where autovacuum has been: it may have seen a table with the pages of rows that were rolled
// back, and without rows.

import { readFileSync } from 'node:fs';

import pg from 'pg';
import { expect, test } from 'vitest';

import { createDatabase } from './database.ts';
import { runPgtap, wrongOf } from './pgtap.ts';

test.each(['context_at/reads_its_own_turns_in_a_new_ledger.test.sql'])('%s', async (file) => {
  const database = await createDatabase();
  const played = async (): Promise<string[]> => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query('set search_path to ledger, work_test, public');
    try {
      return wrongOf(await runPgtap(client, readFileSync(new URL(`sql/${file}`, import.meta.url), 'utf8')));
    } finally {
      await client.end();
    }
  };
  expect(await played()).toEqual([]);
  await database.query('analyze');
  expect(
    await database.query(`select relpages > 0 as has_pages, reltuples from pg_class where oid = 'ledger.tool_calls'::regclass`),
  ).toEqual([{ has_pages: true, reltuples: 0 }]);
  expect(await played()).toEqual([]);
  await database.drop();
});
