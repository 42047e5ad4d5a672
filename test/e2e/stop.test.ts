// SIGTERM in the middle of an iteration: nothing is lost, no job stays locked, the next worker goes on at once.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { openDb } from '../../runtime/db.ts';
import type { Db } from '../../runtime/db.ts';
import { scriptOf, startScriptedModel, withFaults } from '../../runtime/scriptedModel.ts';
import type { ScriptedModel } from '../../runtime/scriptedModel.ts';
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
const final = (id: string) => until(async () => {
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
  expect(await database.query('select lease_token from ledger.work_items where lease_token is not null')).toEqual([]);

  const next = await startWorkerProcess({ url: database.url, modelUrl: model.url, leaseSeconds: 30 });
  expect((await final(item.id)).state).toBe('completed'); // long before the lease of the first would have run out
  await next.end('SIGTERM');
});

test('during an unsafe tool its process group is killed and the model learns how it ended', async () => {
  model = await startScriptedModel(scriptOf([{ content: [{ type: 'tool_use', name: 'bash', input: { command: 'echo begun; sleep 60' } }] }, done]));
  const worker = await startWorkerProcess({ url: database.url, modelUrl: model.url, leaseSeconds: 30 });
  const item = await db.workSubmit({ workType: 'mend', description: 'x' });
  await until(async () => (await db.toolCalls(item.id))[0]?.status === 'running');
  expect(await worker.end('SIGTERM'), worker.log()).toBe(0);
  expect(await lockedJobs()).toEqual([]);
  expect((await db.toolCalls(item.id)).map((row) => row.status)).toEqual(['failed']);

  const next = await startWorkerProcess({ url: database.url, modelUrl: model.url, leaseSeconds: 30 });
  expect((await final(item.id)).state).toBe('completed');
  expect(model.requests.at(-1)?.body).toContain('begun');
  await next.end('SIGTERM');
});
