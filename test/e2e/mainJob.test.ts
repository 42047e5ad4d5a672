// The main job, from work_submit to done: a real worker process, the real SDK, real tools on a real project.

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { layOutProject, task } from '../../runtime/commands/demo/project.ts';
import { demoReplies } from '../../runtime/commands/demo/script.ts';
import type { WorkItem } from '../../runtime/ledger/answers.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { validateRequest } from '../../runtime/model/validateRequest.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';
import type { WorkerProcess } from '../workerProcess.ts';

let database: TestDatabase;
let db: Db;
let model: ScriptedModel;
let worker: WorkerProcess;
let workspace: string;
let item: WorkItem;

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  workspace = await mkdtemp(join(tmpdir(), 'work-ledger-test-'));
  await layOutProject(workspace);
  const faculty = join(workspace, 'engineer.toml');
  await writeFile(
    faculty,
    `
[faculty]
name = "engineer"
accepts = ["mend"]

[faculty.engage]
workspace = "host"
workspace_dir = "."
tools = ["read_file", "write_file", "edit_file", "glob", "grep", "bash"]
`,
  );
  model = await startScriptedModel(scriptOf(demoReplies));
  worker = await startWorkerProcess({ url: database.url, modelUrl: model.url, args: ['--faculty', faculty] });
  const submitted = await db.workSubmit({ workType: 'mend', description: task });
  item = await until(async () => {
    const now = await db.workItem(submitted.id);
    return now?.resolved_at ? now : null;
  });
});

afterAll(async () => {
  await worker?.end('SIGTERM');
  await model?.close();
  await db?.close();
  await database?.drop();
  await rm(workspace, { recursive: true, force: true });
});

test("the work item is completed with the agent's summary", () => {
  expect(item.state, worker.log()).toBe('completed');
  expect(item.outcome_data?.['summary']).toContain('All three tests pass');
});

test('the project is mended: its own tests pass', async () => {
  expect(await readFile(join(workspace, 'src/money.js'), 'utf8')).toContain('Math.round');
  await expect(promisify(execFile)(process.execPath, ['--test'], { cwd: workspace })).resolves.toBeDefined();
});

test('plan, steps, finding and decision are in the ledger, numbered without a gap', async () => {
  const entries = await db.ledgerRead(item.id, null, null);
  expect(entries.map((entry) => entry.seq)).toEqual(entries.map((_, index) => index + 1));
  expect(entries.map((entry) => entry.entry_type)).toEqual(['plan', 'step', 'finding', 'decision', 'step', 'step']);
});

test('every request was valid and can be rebuilt byte for byte', async () => {
  const turns = await db.turnIds(item.id);
  expect(turns).toHaveLength(demoReplies.length);
  const rebuilt = await Promise.all(turns.map((turn) => db.contextAt(turn)));
  expect(model.requests.map((request) => request.body)).toEqual(rebuilt);
  for (const body of rebuilt) expect(validateRequest(JSON.parse(body))).toEqual([]);
});

test('every request begins with the messages of the one before', () => {
  // The marks of the cache move; no prefix depends on them.
  const messages = model.requests.map((request) =>
    JSON.stringify(JSON.parse(request.body).messages, (key, value: unknown) => (key === 'cache_control' ? undefined : value)),
  );
  for (let n = 1; n < messages.length; n++) {
    expect(messages[n]?.startsWith(messages[n - 1]?.slice(0, -2) ?? '?')).toBe(true);
  }
});

test('each turn knows how long its response took, and how long its first token', async () => {
  const turns = await database.query<{ whole: number; first: number }>(
    `select duration_ms as whole, first_token_ms as first from ledger.turns where work_item_id = '${item.id}'`,
  );
  expect(turns).toHaveLength(demoReplies.length);
  for (const { whole, first } of turns) {
    expect(first).toBeTypeOf('number');
    expect(whole).toBeGreaterThanOrEqual(first);
  }
});

test('the failing test was really run: the model was shown its output', () => {
  const second = model.requests[2]?.body ?? '';
  expect(second).toContain('no cent is lost');
  expect(second).toContain('88.9');
});

test('the API key is in no row, no log and no request body', async () => {
  const tables = await database.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'ledger'::regnamespace and relkind = 'r'`,
  );
  for (const { name } of tables) {
    const rows = await database.query<{ row: string }>(`select t::text as row from ledger.${name} t`);
    expect(
      rows.filter((row) => row.row.includes('test-key')),
      name,
    ).toEqual([]);
  }
  expect(worker.log()).not.toContain('test-key');
  expect(model.requests.filter((request) => request.body.includes('test-key'))).toEqual([]);
});

test('a second work item is told of it', async () => {
  const next = await db.workSubmit({ workType: 'review', description: 'Review the rounding' });
  const digest = await db.awarenessDigest(next.id);
  expect(digest).toContain('[Engineer/mend] The test "no cent is lost"');
  expect(digest).toContain('toCents() in src/money.js truncates');
});
