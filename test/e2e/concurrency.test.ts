// max_concurrent, held exactly by any number of workers. Two hundred items of three faculties on four of them: test/long/concurrency.

import { afterAll, beforeAll, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { awaits, call, calls, done, spawn, startTeam } from '../team.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

/** The most activations of a faculty that lay over the beginning of one, from rows. */
const mostAtOnce = async (faculty: string): Promise<number | undefined> =>
  (
    await database.query<{ most: number }>(`
    select max((select count(*) from ledger.foci o where o.faculty = f.faculty and o.created_at <= f.created_at and coalesce(o.ended_at, 'infinity') > f.created_at))::int as most
      from ledger.foci f where f.faculty = '${faculty}'`)
  )[0]?.most;

test('two workers together never have more items of a faculty under way than it allows', async () => {
  const model = await startTeam({
    Work: ({ exchange }) =>
      exchange === 0 ? { ...calls(call('ledger_append', { entry_type: 'note', content: 'at work' })), delayMs: 50 } : done('Done'),
  });
  await db.facultySave({ name: 'middle', accepts: ['middle'], max_concurrent: 3, awareness: { enabled: false } });
  for (let n = 0; n < 16; n++) await db.workSubmit({ workType: 'middle', description: `Work ${n}` });
  const workers = await Promise.all(
    [1, 2].map(() => startWorkerProcess({ url: database.url, modelUrl: model.url, args: ['--concurrency', '4', '--schema', 'ledger'] })),
  );
  await until(async () => (await database.query(`select from ledger.work_items where resolved_at is null limit 1`)).length === 0);
  await Promise.all(workers.map((worker) => worker.end('SIGTERM')));
  await model.close();
  expect([2, 3]).toContain(await mostAtOnce('middle'));
  expect(await database.query(`select from ledger.work_items where state <> 'completed' or slot_faculty is not null`)).toEqual([]);
});

test('a parent that waits gives its place to its child', async () => {
  await db.facultySave({ name: 'narrow', accepts: ['narrow'], max_concurrent: 1, awareness: { enabled: false } });
  const model = await startTeam({
    Parent: ({ exchange, children }) =>
      exchange === 0 ? calls(spawn('Child', { work_type: 'narrow' })) : exchange === 1 ? calls(awaits(children)) : done('Joined'),
    Child: () => done('Done'),
  });
  const worker = await startWorkerProcess({ url: database.url, modelUrl: model.url, args: ['--schema', 'ledger'] });
  const item = await db.workSubmit({ workType: 'narrow', description: 'Parent' });
  await until(async () => (await db.workItem(item.id))?.state === 'completed');
  await worker.end('SIGTERM');
  await model.close();
});
