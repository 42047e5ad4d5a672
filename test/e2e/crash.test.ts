// What a crash leaves behind, and how another worker goes on from it.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { scriptOf, withFaults } from '../../runtime/model/script.ts';
import type { ScriptedReply } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { forget, startWorkerProcess, until } from '../workerProcess.ts';
import type { WorkerProcess } from '../workerProcess.ts';

let database: TestDatabase;
let db: Db;
let workspace: string;
let model: ScriptedModel | undefined;
const workers: WorkerProcess[] = [];

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});
beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'work-ledger-test-'));
});
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.end('SIGKILL').catch(() => {});
  await model?.close();
  await rm(workspace, { recursive: true, force: true });
});

const call = (name: string, input: Record<string, unknown>) => ({ type: 'tool_use', name, input });
const note = (content: string) => call('ledger_append', { entry_type: 'note', content });
const done: ScriptedReply = { content: [{ type: 'text', text: 'Done.' }] };

async function setUp(script: Parameters<typeof startScriptedModel>[0]) {
  model = await startScriptedModel(script);
  await db.facultySave({
    name: 'engineer',
    accepts: ['mend'],
    engage: { workspace: 'host', workspace_dir: workspace, tools: ['read_file', 'bash', 'slow_look'] },
  });
  const url = model.url;
  return {
    // No lease runs out because the machine is busy: that of who is killed or frozen is ended by hand.
    start: async (leaseSeconds = 60) => {
      const toolFile = join(workspace, 'slowLook.ts');
      await writeFile(toolFile, slowLook);
      const worker = await startWorkerProcess({ url: database.url, modelUrl: url, leaseSeconds, args: ['--tools', toolFile] });
      workers.push(worker);
      return worker;
    },
  };
}

/** A pure tool that takes its time the first time it is called, and leaves a line for each call. */
const slowLook = `
import { appendFileSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from '${import.meta.resolve('zod')}';
export default {
  name: 'slow_look', description: 'Looks slowly.', input: z.strictObject({}), effect: 'pure', risk: 'safe',
  async execute(_input, context) {
    appendFileSync(context.workspace.root + '/looked', 'x');
    if (readFileSync(context.workspace.root + '/looked', 'utf8') === 'x') await sleep(60_000, undefined, { signal: context.signal }).catch(() => {});
    return { content: 'seen', isError: false };
  },
};
`;

async function kill(worker: WorkerProcess): Promise<void> {
  await worker.end('SIGKILL');
  await forget(database, `pid = ${worker.pid}`);
}

const final = (id: string) =>
  until(async () => {
    const item = await db.workItem(id);
    return item?.resolved_at ? item : null;
  });

test('kill -9 in the middle of a model call: another worker asks again, nothing is lost or doubled', async () => {
  const { start } = await setUp(
    withFaults(scriptOf([{ content: [note('one')] }, { content: [note('two')] }, done]), { 1: [{ stall: true }] }),
  );
  const first = await start();
  const item = await db.workSubmit({ workType: 'mend', description: 'x' });
  await until(() => (model?.requests.length ?? 0) === 2);
  await kill(first);
  await start();
  expect((await final(item.id)).state).toBe('completed');
  expect((await db.ledgerRead(item.id, null, null)).map((entry) => entry.content)).toEqual(['one', 'two']);
  expect(model?.requests).toHaveLength(4); // one of them wasted
  expect(model?.requests[2]?.body).toBe(model?.requests[1]?.body);
});

test('kill -9 in the middle of a pure tool: the call runs again, its finished sibling does not', async () => {
  const { start } = await setUp(scriptOf([{ content: [note('sibling'), call('slow_look', {})] }, done]));
  const first = await start();
  const item = await db.workSubmit({ workType: 'mend', description: 'x' });
  await until(async () => (await readFile(join(workspace, 'looked'), 'utf8').catch(() => '')) === 'x');
  await until(async () => (await db.ledgerRead(item.id, null, null)).length === 1);
  await kill(first);
  await start();
  expect((await final(item.id)).state).toBe('completed');
  expect(await readFile(join(workspace, 'looked'), 'utf8')).toBe('xx');
  expect((await db.ledgerRead(item.id, null, null)).map((entry) => entry.content)).toEqual(['sibling']);
  expect((await db.toolCalls(item.id)).map((row) => [row.tool_name, row.status, row.attempts])).toEqual([
    ['ledger_append', 'completed', 1],
    ['slow_look', 'completed', 2],
  ]);
  expect(model?.requests).toHaveLength(2); // the response was stored: no second call for it
});

test('kill -9 in the middle of an unsafe tool: it is not repeated, and the model is told that it may have happened', async () => {
  const { start } = await setUp(scriptOf([{ content: [call('bash', { command: 'echo paid >> payments; sleep 60' })] }, done]));
  const first = await start();
  const item = await db.workSubmit({ workType: 'mend', description: 'x' });
  await until(async () => (await readFile(join(workspace, 'payments'), 'utf8').catch(() => '')) === 'paid\n');
  await kill(first);
  await start();
  expect((await final(item.id)).state).toBe('completed');
  expect(await readFile(join(workspace, 'payments'), 'utf8')).toBe('paid\n');
  expect((await db.toolCalls(item.id)).map((row) => row.status)).toEqual(['uncertain']);
  expect(model?.requests[1]?.body).toContain('may or may not have happened');
});

test('a frozen worker that wakes up after its lease is refused: nothing of it is written', async () => {
  const { start } = await setUp(
    withFaults(scriptOf([{ content: [note('one')], delayMs: 1 }, done]), {
      0: [{ content: [note('from the zombie')], delayMs: 4000 }],
    }),
  );
  const first = await start();
  const item = await db.workSubmit({ workType: 'mend', description: 'x' });
  await until(() => (model?.requests.length ?? 0) === 1);
  first.signal('SIGSTOP');
  await forget(database, `pid = ${first.pid}`);
  const second = await start();
  expect((await final(item.id)).state, second.log()).toBe('completed');
  first.signal('SIGCONT');
  await until(() => first.log().includes('lease lost'));
  expect((await db.ledgerRead(item.id, null, null)).map((entry) => entry.content)).toEqual(['one']);
  expect(await db.turnIds(item.id)).toHaveLength(2);
});

test('kill -9 leaves no job locked for ever', async () => {
  const { start } = await setUp(withFaults(scriptOf([done]), { 0: [{ stall: true }] }));
  const first = await start(3);
  const item = await db.workSubmit({ workType: 'mend', description: 'x' });
  await until(() => (model?.requests.length ?? 0) === 1);
  await kill(first);
  await start(3);
  await final(item.id);
  await until(async () => (await database.query('select 1 from graphile_worker.jobs')).length === 0);
});
