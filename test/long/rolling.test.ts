// A rolling deployment: the ledger is upgraded first, while workers work on it; then workers of both versions work side by side, and
// each goes on with what the other left. A worker that the new version does not serve stops by itself and gives back what it holds.
// The older version is this one; the newer one is made up (test/nextVersion.ts).

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';

import { installLedger } from '../../runtime/install/installLedger.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import { scriptOf, withFaults } from '../../runtime/model/script.ts';
import type { ScriptedReply } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import { version } from '../../sql/extensionSource.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { makeNextVersion, nextVersion } from '../nextVersion.ts';
import { forget, startWorkerProcess, until } from '../workerProcess.ts';
import type { WorkerProcess } from '../workerProcess.ts';

const thisMain = fileURLToPath(new URL('../../runtime/main.ts', import.meta.url));
let serving: Awaited<ReturnType<typeof makeNextVersion>>;
let breaking: Awaited<ReturnType<typeof makeNextVersion>>;
let database: TestDatabase;
let db: Db;
let model: ScriptedModel | undefined;
let directory: string;
const workers: WorkerProcess[] = [];

beforeAll(async () => {
  serving = await makeNextVersion(version());
  breaking = await makeNextVersion(nextVersion);
  directory = await mkdtemp(join(tmpdir(), 'rolling-'));
});
afterAll(async () => {
  serving?.remove();
  breaking?.remove();
  await rm(directory, { recursive: true, force: true });
});
beforeEach(async () => {
  database = await createDatabase({ from: null });
  await installLedger(database.url, 'ledger');
  db = await openDb(database.url, 'ledger');
  await db.facultySave({ name: 'engineer', accepts: ['mend'], engage: { workspace: 'none' } });
});
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.end('SIGKILL').catch(() => {});
  await model?.close();
  model = undefined;
  await db?.close();
  await database?.drop();
});

const environment = (): Record<string, string> => ({ WORK_LEDGER_SCHEMA: 'ledger' });

async function start(main: string, leaseSeconds = 10): Promise<WorkerProcess> {
  const worker = await startWorkerProcess({ url: database.url, modelUrl: model?.url ?? '', leaseSeconds, main, env: environment() });
  workers.push(worker);
  return worker;
}

function cli(main: string, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const env = { PATH: process.env['PATH'], HOME: directory, DATABASE_URL: database.url, ANTHROPIC_API_KEY: 'k', ...environment() };
    execFile(process.execPath, [main, ...args], { cwd: directory, env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

const note = (content: string): ScriptedReply => ({
  content: [{ type: 'tool_use', name: 'ledger_append', input: { entry_type: 'note', content } }],
});
const done: ScriptedReply = { content: [{ type: 'text', text: 'Done.' }] };
const finalOf = (id: string) =>
  until(async () => {
    const item = await db.workItem(id);
    return item?.resolved_at ? item : null;
  });
const contents = async (id: string): Promise<string[]> => (await db.ledgerRead(id, null, null)).map((entry) => entry.content);
const upgrade = (main: string) => cli(main, 'install');
const upgraded = { code: 0, stdout: `ledger ${nextVersion} upgraded from ${version()} in schema ledger (script)\n` };

test('work under way goes on over an upgrade, and workers of both versions go on with what the other left', async () => {
  // The model falls silent twice: each time another worker has to go on.
  model = await startScriptedModel(
    withFaults(scriptOf([note('one'), note('two'), note('three'), note('four'), done]), { 1: [{ stall: true }], 3: [{ stall: true }] }),
  );
  // No lease ends by itself: how often the model is asked is counted.
  const older = await start(thisMain, 60);
  const item = await db.workSubmit({ workType: 'mend', description: 'x' });
  await until(() => model?.requests.length === 2);
  expect(await upgrade(serving.main)).toMatchObject(upgraded);
  expect(await database.query(`select tenant from ledger.work_items`)).toEqual([{ tenant: 'tenant of x' }]);

  // The older worker still drives the item, on the upgraded ledger; it is killed, and one of the newer version goes on.
  expect(await database.query(`select state from ledger.work_items`)).toEqual([{ state: 'running' }]);
  const newer = await start(serving.main, 60);
  expect(
    (await database.query<{ version: string }>(`select version from ledger.v_workers where is_alive order by version`)).map(
      (one) => one.version,
    ),
  ).toEqual([version(), nextVersion]);
  await older.end('SIGKILL');
  await forget(database, `pid = ${older.pid}`);
  await until(() => model?.requests.length === 5);
  expect(await contents(item.id)).toEqual(['one', 'two', 'three']);

  // And the other way: the newer one is killed, and one of the older version, started on the upgraded ledger, goes on.
  await start(thisMain, 60);
  await newer.end('SIGKILL');
  await forget(database, `pid = ${newer.pid}`);
  expect((await finalOf(item.id)).state).toBe('completed');
  expect(await contents(item.id)).toEqual(['one', 'two', 'three', 'four']);
  expect(model.requests).toHaveLength(7); // two of them wasted
});

test('both versions take work from one queue until it is empty', async () => {
  model = await startScriptedModel(scriptOf([note('seen'), done]));
  await start(thisMain);
  const before = await Promise.all([1, 2, 3].map((n) => db.workSubmit({ workType: 'mend', description: `before ${n}` })));
  expect(await upgrade(serving.main)).toMatchObject(upgraded);
  await start(serving.main);
  const after = await Promise.all([1, 2, 3].map((n) => db.workSubmit({ workType: 'mend', description: `after ${n}` })));
  for (const { id } of [...before, ...after]) {
    expect((await finalOf(id)).state).toBe('completed');
    expect(await contents(id)).toEqual(['seen']);
  }
});

test('programs of this version work with a newer ledger that serves them, and do not install over it', async () => {
  expect(await upgrade(serving.main)).toMatchObject(upgraded);
  const submitted = await cli(thisMain, 'submit', 'x', '--type', 'mend');
  expect(submitted.code).toBe(0);
  expect((await cli(thisMain, 'show', submitted.stdout.trim())).stdout).toContain('queued');
  await (await openDb(database.url, 'ledger')).close();
  expect(await cli(thisMain, 'install')).toEqual({
    code: 1,
    stdout: '',
    stderr: `error: the ledger in schema "ledger" is version ${nextVersion}, this program is version ${version()}: use work-ledger ${nextVersion}\n`,
  });
  expect(await database.query('select ledger.work_ledger_version() as version')).toEqual([{ version: nextVersion }]);
});

test('a newer program asks for an upgrade of an older ledger, and changes nothing by itself', async () => {
  for (const command of [['work'], ['run', 'x'], ['up'], ['submit', 'x', '--type', 'mend'], ['console', '--port', '0']]) {
    expect(await cli(serving.main, ...command), command.join(' ')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `is version ${version()}, this program is version ${nextVersion}: bring it up with work-ledger install --schema ledger`,
      ),
    });
  }
  expect(await database.query('select ledger.work_ledger_version() as version')).toEqual([{ version: version() }]);
});

test('a worker that the upgraded ledger does not serve gives back what it holds and stops; another version goes on', async () => {
  model = await startScriptedModel(withFaults(scriptOf([note('one'), note('two'), done]), { 1: [{ stall: true }] }));
  const older = await start(thisMain);
  const item = await db.workSubmit({ workType: 'mend', description: 'x' });
  await until(() => model?.requests.length === 2);
  expect(await upgrade(breaking.main)).toMatchObject(upgraded);
  expect(await older.ended, older.log()).toBe(1);
  expect(older.log()).toContain(
    `this ledger has version ${nextVersion} and serves programs of versions ${nextVersion} to ${nextVersion}; this one is ${version()}`,
  );
  expect(await database.query(`select w.state, f.lease_owner from ledger.work_items w join ledger.foci f on f.id = w.focus_id`)).toEqual([
    { state: 'running', lease_owner: null },
  ]);
  expect(await database.query('select 1 from graphile_worker.jobs where locked_at is not null')).toEqual([]);
  await start(breaking.main);
  await until(
    async () =>
      (await database.query<{ state: string }>(`select state from ledger.work_items where id = '${item.id}'`))[0]?.state === 'completed',
  );
  expect(await database.query(`select content from ledger.work_ledger order by seq`)).toEqual([{ content: 'one' }, { content: 'two' }]);
});

test('whatever is not served says so in one sentence: commands, a worker of a program, a database opened by one, and one that was open', async () => {
  const worker = await startWorker({
    url: database.url,
    schema: 'ledger',
    tools: [],
    log: pino({ level: 'silent' }),
    docker: null,
    leaseSeconds: 1,
    model: createModelClient({ apiKey: 'k', baseURL: 'http://127.0.0.1:9' }),
  });
  expect(await upgrade(breaking.main)).toMatchObject(upgraded);
  expect(await worker.ended).toMatchObject({
    name: 'OtherLedger',
    message: expect.stringContaining(`serves programs of versions ${nextVersion} to`),
  });
  await worker.stop(); // does no harm

  const sentence = `the ledger in schema "ledger" is version ${nextVersion}, this program is version ${version()}: use work-ledger ${nextVersion}`;
  for (const command of [
    ['work'],
    ['run', 'x'],
    ['up'],
    ['submit', 'x', '--type', 'mend'],
    ['show'],
    ['console', '--port', '0'],
    ['install'],
  ]) {
    expect(await cli(thisMain, ...command), command.join(' ')).toEqual({ code: 1, stdout: '', stderr: `error: ${sentence}\n` });
  }
  await expect(openDb(database.url, 'ledger')).rejects.toThrow(sentence);
  await expect(
    startWorker({
      url: database.url,
      schema: 'ledger',
      tools: [],
      model: createModelClient({ apiKey: 'k', baseURL: 'http://127.0.0.1:9' }),
    }),
  ).rejects.toThrow(sentence);
  // A function that is gone with the upgrade.
  await database.query('drop function ledger.ledger_read_formatted cascade');
  await expect(db.ledgerReadFormatted((await db.workSubmit({ workType: 'mend', description: 'x' })).id)).rejects.toThrow(sentence);
});

test('consoles and MCP servers end when the ledger does not serve them any more, with one sentence', async () => {
  const env = {
    PATH: process.env['PATH'],
    HOME: directory,
    DATABASE_URL: database.url,
    WORK_LEDGER_MCP_TOKEN: 'a-token-of-this-test',
    ...environment(),
  };
  const servers = [['console', '--port', '0'], ['mcp'], ['mcp', '--http', '--port', '0']].map((args) => {
    const child = spawn(process.execPath, [thisMain, ...args], { cwd: directory, env });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    return { child, args, output: () => output, ended: once(child, 'exit') as Promise<[number | null]> };
  });
  const [, stdio] = servers;
  const say = (message: object): void => void stdio?.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  say({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  });
  say({ method: 'notifications/initialized' });
  say({ id: 2, method: 'tools/call', params: { name: 'awareness_digest', arguments: {} } });
  await until(() =>
    servers.every(
      ({ child, output, args }) =>
        child.exitCode !== null || output().includes(args[1] === undefined && args[0] === 'mcp' ? '"id":2' : 'http://127.0.0.1'),
    ),
  );
  expect(await upgrade(breaking.main)).toMatchObject(upgraded);
  for (const { ended, output } of servers) {
    expect((await ended)[0], output()).toBe(1);
    expect(output()).toContain(`error: the ledger was upgraded to version ${nextVersion} and does not serve this program any more`);
  }
});
