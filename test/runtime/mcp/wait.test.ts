import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { openDb } from '../../../runtime/ledger/db.ts';
import type { Db } from '../../../runtime/ledger/db.ts';
import { wait } from '../../../runtime/mcp/wait.ts';
import { createDatabase } from '../../database.ts';
import type { TestDatabase } from '../../database.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
});
afterAll(async () => {
  vi.restoreAllMocks();
  await db?.close();
  await database?.drop();
});

/** What it said, and what it reported until it was told to stop. */
async function waitFor(input: Record<string, unknown>): Promise<{ said: unknown; totals: (number | null)[] }> {
  const { id } = await db.workSubmit({ workType: 'nobody', description: 'Waits' });
  const enough = new AbortController();
  const totals: (number | null)[] = [];
  const said = await wait(db, 'wait_for', id, input, enough.signal, async (_, total) => {
    totals.push(total);
    enough.abort();
  });
  return { said, totals };
}

test('only the clock of the database says when a time has come', async () => {
  const now = Date.now();
  const inAnHour = new Date(now + 3_600_000).toISOString();
  vi.spyOn(Date, 'now').mockReturnValue(now + 10 * 3_600_000);
  expect((await waitFor({ until: inAnHour })).totals).toEqual([null]);
  vi.spyOn(Date, 'now').mockReturnValue(now - 10 * 3_600_000);
  expect(await waitFor({ until: new Date(now - 1000).toISOString() })).toEqual({ said: expect.stringContaining('It is '), totals: [] });
  vi.restoreAllMocks();
  // A form that JavaScript does not read.
  expect((await waitFor({ until: `${inAnHour.slice(0, 19)}+00` })).totals).toEqual([null]);
});

test('of a time and a number of seconds, whichever comes first ends the wait', async () => {
  expect(await waitFor({ until: '2026-01-31T09:00:00Z', timeout_seconds: 3600 })).toMatchObject({ totals: [] });
});
