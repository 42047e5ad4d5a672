// What work_ledger_doctor() finds outside of its own transaction: transactions that others hold open, rows that nobody cleans up,
// listeners.

import { afterAll, beforeAll, expect, test } from 'vitest';

import { listen } from '../../runtime/ledger/listener.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { Session } from '../session.ts';
import { until } from '../workerProcess.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

const found = async (code: string): Promise<string[]> =>
  (
    await database.query<{ says: string }>(
      `select severity || ': ' || says as says from ledger.work_ledger_doctor() where code = '${code}'`,
    )
  ).map(({ says }) => says);

test('a transaction that is open for long is named, with its process', async () => {
  const session = await Session.open(database.url);
  await session.run('begin; select 1');
  expect(await found('transactions')).toEqual(['fine: no transaction has been open for long']);
  await database.query(`select set_config('work_ledger.now', (now() + interval '11 minutes')::text, false)`);
  expect(await found('transactions')).toEqual([expect.stringContaining(`warning: process ${session.pid} (`)]);
  await database.query('reset work_ledger.now');
  await session.run('rollback');
  await session.close();
});

test('who holds what the ledger waits for is named, not those who wait', async () => {
  const [holder, first, second] = await Promise.all([1, 2, 3].map(() => Session.open(database.url)));
  const id = String(await first!.run(`select id from ledger.work_submit('analyze', 'x')`));
  const append = `select ledger.ledger_append('${id}', 'note', 'x')`;
  await holder!.run(
    `set application_name = 'psql of somebody'; begin; select from ledger.fences where work_item_id = '${id}' for no key update`,
  );
  const waiting = first!.begin(append);
  expect(await waiting.waitsFor(holder!)).toBe(true);
  const behind = second!.begin(append);
  expect(await behind.waitsFor(first!)).toBe(true);
  expect(await found('locks')).toEqual(['fine: nothing blocks the ledger']); // not yet
  await database.query(`select set_config('work_ledger.now', (now() + interval '1 minute')::text, false)`);
  expect(await found('locks')).toEqual([
    expect.stringMatching(
      new RegExp(
        `^error: process ${holder!.pid} \\(role postgres, psql of somebody, idle in transaction, .*\\) holds a lock that 2 sessions of the ledger have waited for since`,
      ),
    ),
  ]);
  await database.query('reset work_ledger.now');
  await holder!.run('rollback');
  expect([await waiting.outcome, await behind.outcome]).toEqual(['done', 'done']);
  await Promise.all([holder, first, second].map((session) => session!.close()));
});

test('rows that nobody cleans up are counted', async () => {
  await database.query(`alter table ledger.sweep_walks set (autovacuum_enabled = false)`);
  await database.query(`insert into ledger.sweep_walks (walk) values ('due')`);
  await database.query(`do $$ begin for n in 1..10001 loop update ledger.sweep_walks set job_id = n; end loop; end $$`);
  await until(async () => (await found('vacuum')).some((says) => /table sweep_walks has \d+ dead rows and 1 /.test(says)));
});

test('a listener that reaches the server is seen', async () => {
  await database.query(`select from ledger.lease_renew('w', '{}', '{}', 'here', 7, null, 4)`);
  expect(await found('listener')).toEqual([expect.stringContaining('none listens')]);
  const listener = listen(database.url, ['work_ledger'], { onNotification: () => {} });
  await until(async () => (await found('listener'))[0] === 'fine: workers are notified at once');
  await listener.close();
});
