// max_concurrent, held exactly by any number of workers: two hundred items of three faculties on four worker processes.

import { afterAll, beforeAll, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { call, done, startTeam } from '../team.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';

const limits = { narrow: 1, middle: 3, wide: 10 } as const;
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

test('never more at once than a faculty allows, all done, the urgent first', async () => {
  const names = [...Array<string>(40).fill('narrow'), ...Array<string>(60).fill('middle'), ...Array<string>(100).fill('wide')];
  // The wide ones are answered when four of them are asked at once.
  const wide = new Set<string>();
  const four = Promise.withResolvers<void>();
  const model = await startTeam({
    Work: ({ exchange, description }) => {
      if (exchange > 0) return done('Done');
      const isWide = names[Number(description.slice(5))] === 'wide';
      if (isWide && wide.add(description).size === 4) four.resolve();
      const content = [call('ledger_append', { entry_type: 'note', content: 'at work' })];
      return { content, delayMs: 10, afterEvent: () => (isWide ? four.promise : undefined) };
    },
  });
  for (const [name, limit] of Object.entries(limits))
    await db.facultySave({ name, accepts: [name], max_concurrent: limit, awareness: { enabled: false } });
  for (const [n, name] of names.entries()) await db.workSubmit({ workType: name, description: `Work ${n}`, priority: n % 3 });
  const workers = await Promise.all(
    [1, 2, 3, 4].map(() =>
      startWorkerProcess({ url: database.url, modelUrl: model.url, args: ['--concurrency', '6', '--schema', 'ledger'] }),
    ),
  );
  const most = new Map<string, number>();
  try {
    await until(async () => {
      const taken = await database.query<{ faculty: string; n: number }>(
        `select slot_faculty as faculty, count(*)::int as n from ledger.work_items where slot_faculty is not null group by 1`,
      );
      for (const { faculty, n } of taken) most.set(faculty, Math.max(most.get(faculty) ?? 0, n));
      return (await database.query(`select from ledger.work_items where resolved_at is null limit 1`)).length === 0;
    });
  } finally {
    await Promise.all(workers.map((worker) => worker.end('SIGTERM')));
    await model.close();
  }
  // From rows: how many activations of a faculty lay over the beginning of each.
  const overlaps = await database.query<{ faculty: string; most: number; done: number }>(`
    select f.faculty, max((select count(*) from ledger.foci o where o.faculty = f.faculty and o.created_at <= f.created_at and o.ended_at > f.created_at))::int as most,
           count(*) filter (where f.outcome = 'completed')::int as done
      from ledger.foci f group by 1 order by 1`);
  expect(overlaps.map(({ faculty, most: n }) => [faculty, n <= limits[faculty as keyof typeof limits]])).toEqual([
    ['middle', true],
    ['narrow', true],
    ['wide', true],
  ]);
  expect(overlaps.map(({ faculty, done: n }) => [faculty, n])).toEqual([
    ['middle', 60],
    ['narrow', 40],
    ['wide', 100],
  ]);
  for (const [faculty, n] of most) expect(n).toBeLessThanOrEqual(limits[faculty as keyof typeof limits]);
  expect(overlaps.find(({ faculty }) => faculty === 'wide')?.most).toBeGreaterThan(3); // the narrow ones in front of the queue block nobody
  const order = await database.query<{ priority: number }>(
    `select priority from ledger.work_items where work_type = 'narrow' order by started_at`,
  );
  expect(order.map((row) => row.priority)).toEqual(order.map((row) => row.priority).toSorted((a, b) => b - a));
  expect(await database.query(`select from ledger.work_items where slot_faculty is not null`)).toEqual([]);
});
