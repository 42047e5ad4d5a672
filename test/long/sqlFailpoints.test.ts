// Whoever comes first to any kind of statement on any table loses its connection there, in the middle of a function: a tree of work with
// tools of every effect, an approval and a compaction is done all the same, each entry once.

import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { entryContents, itemOutcomes } from '../faults/outcomes.ts';
import { setSqlFailpoints } from '../faults/sqlFailpoints.ts';
import { ownWorkload, tools } from '../faults/workload.ts';
import { until } from '../workerProcess.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
});
afterAll(async () => {
  await db?.close();
  await database?.drop(); // the invariants hold
});

test('a connection is lost at every statement that writes', async () => {
  const ledger = { url: database.url, schema: 'ledger' };
  const workload = ownWorkload({ hasCode: false });
  for (const faculty of workload.faculties) await db.facultySave(faculty);
  const points = await setSqlFailpoints(database);
  const model = await startScriptedModel(workload.script);
  const worker = await startWorker({
    url: database.url,
    schema: 'ledger',
    tools,
    leaseSeconds: 4,
    facultyModels: false,
    docker: null,
    log: pino({ level: 'silent' }),
    graceSeconds: 1,
    model: createModelClient({ apiKey: 'k', baseURL: model.url }),
  });
  const items = [];
  for (const n of [0, 1]) items.push((await db.workSubmit(workload.submission(n))).id);
  await db.workMessage(items[0] ?? '', 'A word.', false);
  await until(async () => {
    for (const call of await db.approvals()) await db.toolCallApprove(call.tool_call_id).catch(() => {});
    return (await itemOutcomes(ledger)).every(({ state }) => ['completed', 'failed', 'dead', 'cancelled'].includes(state));
  });
  expect(await itemOutcomes(ledger)).toEqual(Array.from({ length: 6 }, () => expect.objectContaining({ state: 'completed' })));
  const contents = await entryContents(ledger);
  for (const key of items.flatMap((_, n) => [`k${n}`, `k${n}_a`, `k${n}_b`])) {
    for (let step = 0; step < 6; step++)
      expect(
        contents.filter((content) => content === `${key}.${step}`),
        `${key}.${step}`,
      ).toHaveLength(1);
  }
  expect(await points.hit()).toEqual(
    expect.arrayContaining([
      'insert approvals',
      'insert compactions',
      'insert elisions',
      'insert fences',
      'insert foci',
      'insert inbox',
      'insert messages',
      'insert tool_calls',
      'insert turns',
      'insert work_items',
      'insert work_ledger',
      'update approvals',
      'update fences',
      'update foci',
      'update inbox',
      'update sessions',
      'update tool_calls',
      'update turns',
      'update work_items',
    ]),
  );
  await worker.stop();
  await model.close();
});
