// Workers are killed again and again while many items are under way: everything finishes, nothing is lost or doubled,
// no request is invalid (the model server is as strict as the real one), no unsafe effect happens twice.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import type { ScriptedReply } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { seed, seededRandom } from '../random.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';
import type { WorkerProcess } from '../workerProcess.ts';

const ITEMS = 8;
const ITERATIONS = Number(process.env['ITERATIONS'] ?? 8);
const KILLS = Number(process.env['KILLS'] ?? 10);
let database: TestDatabase;
let db: Db;
let workspace: string;
beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  workspace = await mkdtemp(join(tmpdir(), 'work-ledger-test-'));
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
  await rm(workspace, { recursive: true, force: true });
});

test(`${KILLS} kills over ${ITEMS} items (SEED=${seed})`, async () => {
  const next = seededRandom();
  const reply = (n: number): ScriptedReply => ({
    delayMs: 50,
    content: [
      { type: 'tool_use', name: 'ledger_append', input: { entry_type: 'step', content: `step ${n}` } },
      { type: 'tool_use', name: 'glob', input: { pattern: '*' } },
      { type: 'tool_use', name: 'bash', input: { command: `sleep 0.1; echo ${n} >> effects; sleep 0.1` } },
      { type: 'tool_use', name: 'ledger_append', input: { entry_type: 'note', content: `note ${n}` } },
    ],
  });
  const model = await startScriptedModel(
    scriptOf([...Array.from({ length: ITERATIONS }, (_, n) => reply(n)), { content: [{ type: 'text', text: 'Done.' }] }]),
  );
  await db.facultySave({
    name: 'engineer',
    accepts: ['mend'],
    recover: { max_attempts: 50 },
    engage: { workspace: 'host', workspace_dir: workspace, tools: ['glob', 'bash'] },
  });
  const items = await Promise.all(Array.from({ length: ITEMS }, (_, n) => db.workSubmit({ workType: 'mend', description: `item ${n}` })));

  const start = (): Promise<WorkerProcess> => startWorkerProcess({ url: database.url, modelUrl: model.url, leaseSeconds: 2 });
  const workers = [await start(), await start()];
  for (let kill = 0; kill < KILLS; kill++) {
    await new Promise((resolve) => setTimeout(resolve, 300 + next() * 1200));
    const victim = Math.floor(next() * workers.length);
    await workers[victim]?.end('SIGKILL');
    workers[victim] = await start();
  }
  for (const item of items) {
    await until(async () => (await db.workItem(item.id))?.resolved_at ?? null);
    expect((await db.workItem(item.id))?.state).toBe('completed');
    const entries = await db.ledgerRead(item.id, null, null);
    expect(entries.map((entry) => entry.seq)).toEqual(entries.map((_, index) => index + 1));
    expect(entries.filter((entry) => entry.entry_type === 'step').map((entry) => entry.content)).toEqual(
      Array.from({ length: ITERATIONS }, (_, n) => `step ${n}`),
    );
    expect(entries.filter((entry) => entry.entry_type === 'note')).toHaveLength(ITERATIONS);
  }

  // Every effect at most once for each call; those that were not reported as uncertain exactly once.
  const effects = (await readFile(join(workspace, 'effects'), 'utf8')).trim().split('\n');
  const [bash] = await database.query<{ calls: number; uncertain: number; most: number }>(`
    select count(*)::int as calls, count(*) filter (where status = 'uncertain')::int as uncertain, max(attempts) as most
      from ledger.tool_calls where tool_name = 'bash'`);
  expect(bash?.calls).toBe(ITEMS * ITERATIONS);
  expect(bash?.most).toBe(1);
  expect(effects.length).toBeLessThanOrEqual(ITEMS * ITERATIONS);
  expect(effects.length).toBeGreaterThanOrEqual(ITEMS * ITERATIONS - (bash?.uncertain ?? 0));

  for (const worker of workers) await worker.end('SIGTERM');
  expect(await database.query('select 1 from graphile_worker.jobs where locked_at is not null')).toEqual([]);
  expect(await database.query('select 1 from ledger.fences where lease_hash is not null')).toEqual([]);
  expect(await database.query(`select 1 from ledger.tool_calls where completed_at is null`)).toEqual([]);
  const rebuilt = new Set<string>();
  for (const item of items) for (const turn of await db.turnIds(item.id)) rebuilt.add(await db.contextAt(turn));
  expect(model.requests.filter((request) => !rebuilt.has(request.body))).toEqual([]);
  await model.close();
});
