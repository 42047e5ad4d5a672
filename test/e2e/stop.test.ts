// SIGTERM in the middle of an iteration: nothing is lost, no job stays locked, the next worker goes on at once.

import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import { scriptOf, withFaults } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { defineTool, ok } from '../../runtime/tools/tool.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';

let database: TestDatabase;
let db: Db;
let model: ScriptedModel | undefined;
let workspace: string;

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  workspace = await mkdtemp(join(tmpdir(), 'work-ledger-test-'));
  await db.facultySave({ name: 'engineer', accepts: ['mend'], engage: { workspace: 'host', workspace_dir: workspace, tools: ['bash'] } });
});
afterEach(() => model?.close());
afterAll(async () => {
  await db?.close();
  await database?.drop();
  await rm(workspace, { recursive: true, force: true });
});

const done = { content: [{ type: 'text', text: 'Done.' }] };
const lockedJobs = () => database.query('select 1 from graphile_worker.jobs where locked_at is not null');
const final = (id: string) =>
  until(async () => {
    const item = await db.workItem(id);
    return item?.resolved_at ? item : null;
  });

test('during a model call the iteration is given back', async () => {
  model = await startScriptedModel(withFaults(scriptOf([done]), { 0: [{ stall: true }] }));
  const worker = await startWorkerProcess({ url: database.url, modelUrl: model.url, leaseSeconds: 30 });
  const item = await db.workSubmit({ workType: 'mend', description: 'x' });
  await until(() => model?.requests.length === 1);
  expect(await worker.end('SIGTERM'), worker.log()).toBe(0);
  expect(await lockedJobs()).toEqual([]);
  expect(await database.query('select lease_hash from ledger.fences where lease_hash is not null')).toEqual([]);

  const next = await startWorkerProcess({ url: database.url, modelUrl: model.url, leaseSeconds: 30 });
  expect((await final(item.id)).state).toBe('completed'); // long before the lease of the first would have run out
  await next.end('SIGTERM');
});

test('during an unsafe tool its process group is killed and the model learns how it ended', async () => {
  model = await startScriptedModel(
    scriptOf([{ content: [{ type: 'tool_use', name: 'bash', input: { command: 'echo begun; touch said; sleep 600' } }] }, done]),
  );
  const worker = await startWorkerProcess({ url: database.url, modelUrl: model.url, leaseSeconds: 30 });
  const item = await db.workSubmit({ workType: 'mend', description: 'x' });
  await until(async () => (await db.toolCalls(item.id))[0]?.status === 'running' && existsSync(join(workspace, 'said')));
  expect(await worker.end('SIGTERM'), worker.log()).toBe(0);
  expect(await lockedJobs()).toEqual([]);
  expect((await db.toolCalls(item.id)).map((row) => row.status)).toEqual(['failed']);

  const next = await startWorkerProcess({ url: database.url, modelUrl: model.url, leaseSeconds: 30 });
  expect((await final(item.id)).state).toBe('completed');
  const { messages } = JSON.parse(model.requests.at(-1)?.body ?? '') as { messages: object[] };
  expect(JSON.stringify(messages.at(-1))).toContain('begun');
  await next.end('SIGTERM');
});

/** A worker in this process, which gives its work back at once when it is stopped. */
const startHere = (modelUrl: string, more: Partial<Parameters<typeof startWorker>[0]> = {}) =>
  startWorker({
    url: database.url,
    schema: 'ledger',
    tools: [],
    log: pino({ level: 'silent' }),
    docker: null,
    graceSeconds: 0,
    model: createModelClient({ apiKey: 'k', baseURL: modelUrl }),
    ...more,
  });

test('during a pure tool the call is left open, whatever the tool says when it is stopped, and the next worker makes it again', async () => {
  let runs = 0;
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    input: z.strictObject({}),
    effect: 'pure',
    risk: 'safe',
    async execute(_input, { signal }) {
      if (++runs > 1) return ok('seen');
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return ok('hardly begun');
    },
  });
  model = await startScriptedModel(scriptOf([{ content: [{ type: 'tool_use', name: 'look', input: {} }] }, done]));
  const worker = await startHere(model.url, { tools: [look] });
  await db.facultySave({ name: 'looker', accepts: ['look'], engage: { tools: ['look'] } });
  const item = await db.workSubmit({ workType: 'look', description: 'x' });
  await until(() => runs === 1);
  await worker.stop();
  const calls = () => database.query(`select status, result #>> '{}' as result from ledger.tool_calls where work_item_id = '${item.id}'`);
  expect(await calls()).toEqual([{ status: 'running', result: null }]);

  const next = await startHere(model.url, { tools: [look] });
  expect((await final(item.id)).state).toBe('completed');
  expect(await calls()).toEqual([{ status: 'completed', result: 'seen' }]);
  await next.stop();
});

test('of two pure tools that are stopped neither is settled, though its worker would not keep the first result', async () => {
  let runs = 0;
  const wait = defineTool({
    name: 'wait',
    description: 'Waits.',
    input: z.strictObject({}),
    effect: 'pure',
    risk: 'safe',
    async execute(_input, { signal }) {
      runs++;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return ok('hardly begun');
    },
  });
  const use = { type: 'tool_use' as const, name: 'wait', input: {} };
  model = await startScriptedModel(scriptOf([{ content: [use, use] }, done]));
  const worker = await startHere(model.url, { tools: [wait] });
  await db.facultySave({ name: 'waiter', accepts: ['wait'], engage: { tools: ['wait'] } });
  const item = await db.workSubmit({ workType: 'wait', description: 'x' });
  const calls = () => database.query(`select status, result from ledger.tool_calls where work_item_id = '${item.id}'`);
  await until(async () => runs === 2 && (await calls()).length === 2); // stored without results, for which it waits now
  await worker.stop();
  const open = { status: 'running', result: null };
  expect(await calls()).toEqual([open, open]);
});

test('a result that the after_tool hook has not seen when the worker stops never reaches the model', async () => {
  const shout = defineTool({
    name: 'shout',
    description: 'Shouts.',
    input: z.strictObject({}),
    effect: 'unsafe',
    risk: 'safe',
    execute: async () => ok('what was SHOUTED'),
  });
  model = await startScriptedModel(scriptOf([{ content: [{ type: 'tool_use', name: 'shout', input: {} }] }, done]));
  const worker = await startHere(model.url, { tools: [shout] });
  await db.facultySave({
    name: 'shouter',
    accepts: ['shout'],
    engage: { workspace: 'host', workspace_dir: workspace, tools: ['shout'] },
    hooks: { after_tool: 'touch looking; while [ ! -e never ]; do sleep 0.05; done', timeout: 300 },
  });
  const item = await db.workSubmit({ workType: 'shout', description: 'x' });
  await until(() => existsSync(join(workspace, 'looking')));
  await worker.stop();
  expect(await db.toolCalls(item.id)).toMatchObject([{ status: 'failed' }]);

  const next = await startHere(model.url, { tools: [shout] });
  expect((await final(item.id)).state).toBe('completed');
  expect(model.requests.at(-1)?.body).toContain('Its result is withheld: its worker had to stop before the after_tool hook saw it.');
  expect(model.requests.at(-1)?.body).not.toContain('SHOUTED');
  await next.stop();
});

test('a pure call whose after_tool hook the worker did not wait for is made again', async () => {
  let runs = 0;
  const ask = defineTool({
    name: 'ask',
    description: 'Asks.',
    input: z.strictObject({}),
    effect: 'pure',
    risk: 'safe',
    execute: async () => ok(`answer ${++runs}`),
  });
  model = await startScriptedModel(scriptOf([{ content: [{ type: 'tool_use', name: 'ask', input: {} }] }, done]));
  const worker = await startHere(model.url, { tools: [ask] });
  await db.facultySave({
    name: 'asker',
    accepts: ['ask'],
    engage: { workspace: 'host', workspace_dir: workspace, tools: ['ask'] },
    hooks: { after_tool: 'touch asked; while [ ! -e answered ]; do sleep 0.05; done', timeout: 300 },
  });
  const item = await db.workSubmit({ workType: 'ask', description: 'x' });
  await until(() => existsSync(join(workspace, 'asked')));
  await worker.stop();
  expect(await db.toolCalls(item.id)).toMatchObject([{ status: 'running' }]);

  await writeFile(join(workspace, 'answered'), '');
  const next = await startHere(model.url, { tools: [ask] });
  expect((await final(item.id)).state).toBe('completed');
  expect(model.requests.at(-1)?.body).toContain('answer 2');
  await next.stop();
});

test('no worker stops before a job that is over is written back', async () => {
  let answer = (): void => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  model = await startScriptedModel(scriptOf([{ ...done, afterEvent: () => answered }]));
  const worker = await startHere(model.url, { graceSeconds: 60 });
  const item = await db.workSubmit({ workType: 'mend', description: 'x' });
  await until(() => model?.requests.length === 1);
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  await holder.query('begin; select from graphile_worker._private_jobs where locked_at is not null for update');
  answer();
  expect((await final(item.id)).state).toBe('completed');
  await until(
    async () =>
      (
        await database.query(
          `select from pg_stat_activity where datname = current_database() and application_name = 'work-ledger jobs' and wait_event_type = 'Lock' and query like '%delete%'`,
        )
      ).length === 1,
  );
  let isStopped = false;
  const stopped = worker.stop().then(() => (isStopped = true));
  await (await startHere(model.url, { graceSeconds: 60 })).stop(); // one that has nothing to wait for
  expect(await database.query('select from ledger.workers')).toHaveLength(1); // it has not signed off
  expect(isStopped).toBe(false);
  await holder.query('rollback');
  await stopped;
  expect(await lockedJobs()).toEqual([]);
  await holder.end();
});
