// A tree of fifty work items while workers are killed every moment: all finish, every child's result is delivered once.

import { afterAll, beforeAll, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { awaits, call, calls, done, spawn, startTeam } from '../team.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';
import type { WorkerProcess } from '../workerProcess.ts';

const KILLS = Number(process.env['KILLS'] ?? 6);
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

test(`${KILLS} kills`, async () => {
  const branches = [1, 2, 3, 4, 5, 6, 7];
  const model = await startTeam({
    Root: ({ exchange, children }) =>
      exchange === 0 ? calls(...branches.map((n) => spawn(`Branch ${n}`))) : exchange === 1 ? calls(awaits(children, 600)) : done('All'),
    Branch: ({ exchange, children, description }) =>
      exchange === 0
        ? calls(...[1, 2, 3, 4, 5, 6].map((n) => spawn(`Part ${n} of ${description}`)))
        : exchange === 1
          ? calls(awaits(children, 600))
          : done(description),
    Part: ({ exchange, description }) =>
      exchange < 3
        ? { ...calls(call('ledger_append', { entry_type: 'finding', content: `${description} ${exchange}` })), delayMs: 150 }
        : done(description),
  });
  await db.facultySave({
    name: 'any',
    accepts: ['root', 'part'],
    awareness: { enabled: false },
    recover: { max_attempts: 100 },
    engage: { ledger_nudge_interval: 0 },
  });
  const root = await db.workSubmit({ workType: 'root', description: 'Root' });
  const start = (): Promise<WorkerProcess> =>
    startWorkerProcess({ url: database.url, modelUrl: model.url, leaseSeconds: 2, args: ['--schema', 'ledger', '--concurrency', '6'] });
  const workers = await Promise.all([start(), start()]);
  const isOver = async (): Promise<boolean> => (await db.workItem(root.id))?.state === 'completed';
  try {
    for (let kill = 0; kill < KILLS && !(await isOver()); kill++) {
      await new Promise((resolve) => setTimeout(resolve, 400));
      await workers[kill % 2]?.end('SIGKILL');
      workers[kill % 2] = await start();
    }
    await until(isOver);
  } finally {
    await Promise.all(workers.map((worker) => worker.end('SIGTERM')));
    await model.close();
  }
  const [tree] = await database.query<Record<string, number>>(`
    select count(*)::int as items, count(*) filter (where state = 'completed')::int as completed, sum((select ledger_count from ledger.fences where work_item_id = id))::int as findings,
           (select count(*)::int from ledger.inbox where kind = 'child_result') as results,
           (select count(*)::int from ledger.inbox where kind = 'child_result' and consumed_at is not null and num_nonnulls(tool_call_id, turn_id) = 1) as delivered
      from ledger.work_items where root_id = '${root.id}'`);
  expect(tree).toEqual({ items: 50, completed: 50, findings: 126, results: 49, delivered: 49 });
  const [attempts] = await database.query<{ generations: number }>(`select max(lease_generation)::int as generations from ledger.foci`);
  expect(attempts?.generations).toBeGreaterThan(1); // a lease is kept from iteration to iteration, but over a kill
});
