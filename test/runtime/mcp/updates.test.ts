// What watches a resource: told of changes that nobody notified of, and its watch never lapses.

import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';

import { openDb } from '../../../runtime/ledger/db.ts';
import type { Db } from '../../../runtime/ledger/db.ts';
import { Updates } from '../../../runtime/mcp/updates.ts';
import { createDatabase } from '../../database.ts';
import type { TestDatabase } from '../../database.ts';
import { until } from '../../workerProcess.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
});
afterEach(() => void vi.restoreAllMocks());
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const unwatched = async (id: string): Promise<boolean> =>
  (await database.query(`select from ledger.fences where work_item_id = '${id}' and watch_ends_at > now()`)).length === 0;

test('an append that nobody notified of is seen by the next look', async () => {
  const { id } = await db.workSubmit({ workType: 'x', description: 'x' });
  const updates = new Updates(db, 'postgresql://nobody@127.0.0.1:1/nowhere'); // where no notification comes from
  let told = 0;
  await updates.watch({ kind: 'ledger', workItemId: id }, () => told++);
  await database.query(`update ledger.fences set watch_ends_at = null where work_item_id = '${id}'`);
  await db.ledgerAppend(id, 'note', 'unheard');
  await until(() => told === 1);
  expect(await unwatched(id)).toBe(true);
  await updates.close();
});

test('a watch is renewed before it ends', async () => {
  const { id } = await db.workSubmit({ workType: 'x', description: 'x' });
  const updates = new Updates(db, database.url);
  await updates.watch({ kind: 'ledger', workItemId: id }, () => {});
  await database.query(`update ledger.fences set watch_ends_at = null where work_item_id = '${id}'`);
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + 31_000); // half of the watch is over
  await until(async () => !(await unwatched(id)));
  await updates.close();
});
