// Tools of one response run side by side, at most as many at once as the faculty allows, or one after another.

import { setTimeout as sleep } from 'node:timers/promises';

import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

import { openDb } from '../../runtime/db.ts';
import type { Db } from '../../runtime/db.ts';
import { createModelClient } from '../../runtime/focus/callModel.ts';
import { scriptOf, startScriptedModel } from '../../runtime/scriptedModel.ts';
import { defineTool, ok } from '../../runtime/tools/tool.ts';
import { startWorker } from '../../runtime/worker.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { until } from '../workerProcess.ts';

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

/** Runs ten calls in one response and says how many ran at once at most, in which order they ended, and what the model was told. */
async function runTen(atOnce: number, engage: Record<string, unknown>) {
  let running = 0;
  let started = 0;
  let most = 0;
  const ended: number[] = [];
  const wait = defineTool({
    name: 'wait',
    description: 'Waits.',
    input: z.strictObject({ n: z.int() }),
    effect: 'pure',
    risk: 'safe',
    async execute({ n }) {
      most = Math.max(most, ++running);
      // However slow the machine: the first of them wait for each other.
      if (++started <= atOnce) await until(async () => started >= atOnce);
      await sleep(50 + (10 - n) * 5);
      running--;
      ended.push(n);
      if (n === 3) throw new Error('three is broken');
      return ok(`waited ${n}`);
    },
  });
  const calls = Array.from({ length: 10 }, (_, n) => ({ type: 'tool_use', name: 'wait', input: { n } }));
  const model = await startScriptedModel(scriptOf([{ content: calls }, { content: [{ type: 'text', text: 'Done.' }] }]));
  const worker = await startWorker({
    url: database.url, schema: 'ledger', tools: [wait], log: pino({ level: 'silent' }),
    model: createModelClient({ apiKey: 'k', baseURL: model.url }),
  });
  await db.facultySave({ name: 'waiter', accepts: ['wait'], engage: { tools: ['wait'], ...engage } });
  const item = await db.workSubmit({ workType: 'wait', description: 'x' });
  await until(async () => (await db.workItem(item.id))?.state === 'completed');
  await worker.stop();
  await model.close();
  const results = JSON.parse(model.requests[1]?.body ?? '').messages.at(-1).content as { content: string; is_error?: boolean }[];
  return { most, ended, results };
}

test('at most three of ten at once, results in the order of the calls, one failure alone', async () => {
  const { most, results } = await runTen(3, { max_parallel_tools: 3 });
  expect(most).toBe(3);
  expect(results.map((result) => result.content)).toEqual(
    Array.from({ length: 10 }, (_, n) => (n === 3 ? '[engine] The tool failed: three is broken' : `waited ${n}`)));
  expect(results.filter((result) => result.is_error)).toHaveLength(1);
});

test('eight at once by default', async () => {
  expect((await runTen(8, {})).most).toBe(8);
});

test('one after another, in order, where the faculty switches parallel execution off', async () => {
  const { most, ended } = await runTen(1, { parallel_tool_execution: false });
  expect(most).toBe(1);
  expect(ended).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});
