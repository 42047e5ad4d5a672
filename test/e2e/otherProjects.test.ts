// Two projects on one ledger, each with the faculty that `init` writes: work is done where it was asked for, whoever drives it, and no worker
// drives what it was not started for.

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { createModelClient } from '../../runtime/model/callModel.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { builtinTools } from '../../runtime/tools/builtinTools.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import type { Worker } from '../../runtime/worker/worker.ts';
import { cliOrFail } from '../cli.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { until } from '../workerProcess.ts';

const main = fileURLToPath(new URL('../../runtime/start.ts', import.meta.url));
let database: TestDatabase;
let model: ScriptedModel;
let base: string;
let a: string;
let b: string;
let workers: Worker[] = [];
let children: ChildProcess[] = [];

beforeAll(async () => {
  database = await createDatabase();
  base = await realpath(await mkdtemp(join(tmpdir(), 'projects-test-')));
  [a, b] = [join(base, 'a'), join(base, 'b')];
  model = await startScriptedModel((_, { exchange }) => ({
    content:
      exchange === 0
        ? [{ type: 'tool_use', name: 'write_file', input: { path: 'done.txt', content: 'here' } }]
        : [{ type: 'text', text: 'Done.' }],
  }));
  for (const directory of [a, b]) {
    await mkdir(join(directory, 'part'), { recursive: true });
    await typed(directory, 'init');
    const file = join(directory, 'engineer.toml');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^workspace = .*$/m, 'workspace = "host"'));
  }
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  for (const child of children) {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  }
  workers = [];
  children = [];
});
afterAll(async () => {
  await model?.close();
  await database?.drop();
  await rm(base, { recursive: true, force: true });
});

const env = (): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: base,
  DOCKER_HOST: 'unix:///nowhere.sock',
  DATABASE_URL: database.url,
  ANTHROPIC_API_KEY: 'test-key',
  ANTHROPIC_BASE_URL: model.url,
  WORK_LEDGER_WORKSPACE_ROOTS: base,
  WORK_LEDGER_COMMANDS_AS: process.env['WORK_LEDGER_COMMANDS_AS'] ?? '',
});
const typed = async (cwd: string, ...args: string[]): Promise<string> => (await cliOrFail(args, { env: env(), cwd })).stdout.trim();

/** A worker as somebody starts it in a directory; what it logs. */
async function working(cwd: string, ...args: string[]): Promise<() => string> {
  const child = spawn(process.execPath, [main, 'work', '--grace-seconds', '1', ...args], {
    env: env(),
    cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  children.push(child);
  let log = '';
  child.stderr.on('data', (chunk) => (log += chunk));
  await until(() => {
    if (child.exitCode !== null) throw new Error(`the worker ended: ${log}`);
    return log.includes('it works on');
  });
  return () => log;
}

type Done = { state: string; project: string | null };
const done = async (id: string): Promise<Done> =>
  (await database.query<Done>(`select state, project from ledger.v_work_list where work_item_id = '${id}'`))[0]!;
const isOver = (id: string): Promise<unknown> => until(async () => (await done(id)).state === 'completed');
/** The directories in which something was done since the last time. */
async function places(): Promise<string[]> {
  const found: string[] = [];
  for (const place of ['a', 'a/part', 'b', 'b/part']) {
    const file = join(base, place, 'done.txt');
    const isThere = await rm(file).then(
      () => true,
      () => false,
    );
    if (isThere) found.push(place);
  }
  return found;
}

test('two projects with the same faculty: each task is done in its own directory', async () => {
  const inA = await working(a);
  const inB = await working(b);
  expect(inA()).toContain(`it works on what is queued in project ${a}, and in none; --all-projects: in any`);
  expect(await database.query('select name, project from ledger.v_faculties order by project')).toEqual([
    { name: 'engineer', project: a },
    { name: 'engineer', project: b },
  ]);
  const first = await typed(a, 'submit', 'Task of A', '--type', 'task');
  await isOver(first);
  expect(await places()).toEqual(['a']);
  const second = await typed(b, 'submit', 'Task of B', '--type', 'task');
  await isOver(second);
  expect(await places()).toEqual(['b']);
  expect([(await done(first)).project, (await done(second)).project]).toEqual([a, b]);
  expect(inB()).not.toContain(first);
  expect(await database.query('select project from ledger.v_workers order by project')).toEqual([{ project: a }, { project: b }]);
});

test('run works in its directory, though another project has a faculty of that name', async () => {
  await typed(b, 'faculty', 'engineer.toml');
  await typed(a, 'run', 'A task that is run');
  expect(await places()).toEqual(['a']);
});

test('what a session delegates is done in its directory, by its project', async () => {
  await typed(b, 'faculty', 'engineer.toml');
  await working(a);
  await working(b);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [main, 'mcp'], env: env(), cwd: join(a, 'part'), stderr: 'inherit' }),
  );
  try {
    const { content } = (await client.callTool({
      name: 'spawn_child_work',
      arguments: { work_type: 'task', description: 'A part' },
    })) as { content: { text: string }[] };
    const id = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(content[0]?.text ?? '')?.[0] ?? '';
    await isOver(id);
    expect(await places()).toEqual(['a/part']);
  } finally {
    await client.close();
  }
});

test('no worker drives what it was not started for', async () => {
  const start = async (project: string | null): Promise<Worker> => {
    const worker = await startWorker({
      url: database.url,
      schema: 'ledger',
      model: createModelClient({ apiKey: 'k', baseURL: model.url }),
      tools: builtinTools,
      log: pino({ level: 'silent' }),
      docker: null,
      workspaceRoots: [base],
      project,
    });
    workers.push(worker);
    return worker;
  };
  const rows = <T extends pg.QueryResultRow>(text: string): Promise<T[]> => database.query<T>(text);
  await rows(
    `select from ledger.faculty_save('{"name": "anybody", "accepts": ["free"], "engage": {"workspace": "none", "ledger_nudge_interval": 0}}')`,
  );
  const submit = (project: string | null): Promise<{ id: string; project: string | null }[]> =>
    rows(
      `select id, project from generate_series(1, 4) n, ledger.work_submit('free', 'Work ' || n, p_project => ${project === null ? 'null' : `'${project}'`})`,
    );
  const open = (): Promise<{ project: string | null }[]> =>
    rows(`select distinct project from ledger.work_items where work_type = 'free' and resolved_at is null order by project nulls first`);
  // Who drove what: every claim of these items, as it is made.
  await database.query(`
    create table public.driven (project text, worker text, at timestamptz default clock_timestamp());
    create function public.drives() returns trigger language plpgsql security definer as $$
    begin
      insert into public.driven
      select w.project, coalesce(k.project, 'all') from ledger.work_items w, ledger.workers k
       where w.id = new.work_item_id and k.id = new.lease_owner and w.work_type = 'free';
      return null;
    end $$;
    create trigger drives after update of lease_owner on ledger.foci for each row when (new.lease_owner is not null) execute function public.drives()`);

  const first = await start('a');
  for (const project of ['a', 'b', 'c', null]) await submit(project);
  const reasons = (): Promise<{ state: string; state_reason: string | null }[]> =>
    rows(
      `select distinct state, state_reason from ledger.work_items where work_type = 'free' and resolved_at is null order by state_reason`,
    );
  await until(async () => (await open()).length === 2 && (await reasons()).length === 2);
  expect(await open()).toEqual([{ project: 'b' }, { project: 'c' }]);
  await until(async () => (await reasons()).every(({ state }) => state === 'waiting'));
  expect(await reasons()).toEqual([
    { state: 'waiting', state_reason: 'waits for a worker for project "b"' },
    { state: 'waiting', state_reason: 'waits for a worker for project "c"' },
  ]);
  await start('b');
  await until(async () => (await open()).length === 1);
  expect(await open()).toEqual([{ project: 'c' }]);
  await submit(null);
  await until(async () => (await open()).length === 1);
  await start(null);
  await until(async () => (await open()).length === 0);
  for (const project of ['a', 'b', 'c', null]) await submit(project);
  await until(async () => (await open()).length === 0);
  await first.stop();
  await submit('a');
  await until(async () => (await open()).length === 0);
  expect(
    await rows(`select distinct project, worker from public.driven where worker <> 'all' and project is not null order by 1, 2`),
  ).toEqual([
    { project: 'a', worker: 'a' },
    { project: 'b', worker: 'b' },
  ]);
  // None was tried in vain, again and again.
  expect(
    await rows(
      `select work_item_id from ledger.foci f join ledger.work_items w on w.id = f.work_item_id where w.work_type = 'free' and f.attempt > 1`,
    ),
  ).toEqual([]);
});
