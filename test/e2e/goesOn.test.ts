// A worker goes on with an item from iteration to iteration, under one lease and in one job, until something more urgent waits.

import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { defineTool, ok } from '../../runtime/tools/tool.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import type { Worker } from '../../runtime/worker/worker.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { until } from '../workerProcess.ts';

let database: TestDatabase;
let db: Db;
let model: ScriptedModel;
let worker: Worker;
/** What happens while the tool of the first iteration runs. */
let meanwhile: () => Promise<unknown> = async () => {};
const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.strictObject({}),
  effect: 'pure',
  risk: 'safe',
  execute: async () => {
    await meanwhile();
    return ok('seen');
  },
});

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});
afterEach(async () => {
  meanwhile = async () => {};
  await worker?.stop();
  await model?.close();
});

const use = { content: [{ type: 'tool_use', name: 'look', input: {} }] };
const done = { content: [{ type: 'text', text: 'Done.' }] };

/** A worker with one slot, where each item looks once and is done. */
async function start(concurrency = 1): Promise<void> {
  model = await startScriptedModel(scriptOf([use, done]));
  worker = await startWorker({
    url: database.url,
    schema: 'ledger',
    tools: [look],
    log: pino({ level: 'silent' }),
    concurrency,
    model: createModelClient({ apiKey: 'k', baseURL: model.url }),
    docker: null,
  });
  await db.facultySave({ name: 'worker', accepts: ['part'], engage: { tools: ['look'] } });
}

/** The items in the order in which the model was asked about them. */
const asked = (): (string | undefined)[] => model.requests.map(({ body }) => /# Work item (\S{36})/.exec(body)?.[1]);
const over = (id: string) => until(async () => ((await db.workItem(id))?.resolved_at ? true : null));
const claims = async (id: string): Promise<number | undefined> =>
  (await database.query<{ n: number }>(`select lease_generation as n from ledger.foci where work_item_id = '${id}'`))[0]?.n;

// The first: it counts.
test('the connections of a worker are there and warm before there is work', async () => {
  await start(3);
  // What was rolled back is counted, too: three turns for one connection at once, and for two of three connections later.
  await until(
    async () =>
      (await database.query<{ n: number }>(`select n_tup_ins::int as n from pg_stat_user_tables where relname = 'turns'`))[0]?.n ===
      3 + 2 * 3,
  );
  expect(await database.query('select from ledger.turns')).toHaveLength(0);
});

test('an item that nobody waits behind is claimed once, and its last job goes with it', async () => {
  await start();
  const { id } = await db.workSubmit({ workType: 'part', description: 'x' });
  await over(id);
  expect(await claims(id)).toBe(1);
  await until(async () => ((await database.query(`select from graphile_worker.jobs`)).length === 0 ? true : null));
});

test.each([
  { priority: 1, who: 'what is more urgent comes between two iterations' },
  { priority: 0, who: 'what is as urgent waits a little' },
])('$who', async ({ priority }) => {
  await start();
  let other = '';
  meanwhile = async () => (other ||= (await db.workSubmit({ workType: 'part', description: 'y', priority })).id);
  const { id } = await db.workSubmit({ workType: 'part', description: 'x' });
  await over(id);
  await over(other);
  expect(asked()).toEqual(priority > 0 ? [id, other, other, id] : [id, id, other, other]);
  expect(await claims(id)).toBe(priority > 0 ? 2 : 1);
});

test('a worker that is asked to stop lets the iteration end and gives the item back', async () => {
  await start();
  const stopping = Promise.withResolvers<void>();
  meanwhile = async () => void worker.stop().then(stopping.resolve, stopping.reject);
  const { id } = await db.workSubmit({ workType: 'part', description: 'x' });
  await stopping.promise;
  expect(asked()).toEqual([id]);
  const [left] = await database.query<{ iteration: number; lease_hash: string | null; jobs: number }>(`
    select f.iteration, e.lease_hash, (select count(*)::int from graphile_worker.jobs where locked_at is null) as jobs
      from ledger.foci f join ledger.fences e on e.work_item_id = f.work_item_id where f.work_item_id = '${id}'`);
  expect(left).toEqual({ iteration: 1, lease_hash: null, jobs: 1 });
});
