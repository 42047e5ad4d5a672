// `work-ledger run` works in the directory that it was given, on its own item and what that delegates, and on nothing else.

import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import type { ScriptedReply } from '../../runtime/model/script.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { call, calls, done, startTeam } from '../team.ts';
import type { Seen } from '../team.ts';
import { forget, servesTests, startWorkerProcess, until } from '../workerProcess.ts';

const main = fileURLToPath(new URL('../../runtime/start.ts', import.meta.url));
let database: TestDatabase;
let model: ScriptedModel;
let directory: string;
const roles: Record<string, (seen: Seen) => ScriptedReply> = {};

beforeAll(async () => {
  database = await createDatabase();
  directory = await realpath(await mkdtemp(join(tmpdir(), 'run-test-')));
  model = await startTeam(roles);
});
afterAll(async () => {
  await model?.close();
  await database?.drop();
  await rm(directory, { recursive: true, force: true });
});

const environment = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: directory,
  DATABASE_URL: database.url,
  ANTHROPIC_API_KEY: 'k',
  ANTHROPIC_BASE_URL: model.url,
  DOCKER_HOST: 'unix:///nowhere.sock',
  WORK_LEDGER_LEASE_SECONDS: '60',
  ...servesTests,
});

async function project(name: string): Promise<string> {
  await mkdir(join(directory, name));
  return join(directory, name);
}

function run(cwd: string, task: string, ...args: string[]): ChildProcess {
  return spawn(process.execPath, [main, 'run', task, '--workspace', '.', '--grace-seconds', '0', ...args], {
    cwd,
    env: environment(),
    stdio: 'ignore',
  });
}
const ended = async (child: ChildProcess): Promise<number | null> =>
  child.exitCode === null && child.signalCode === null ? ((await once(child, 'exit')) as [number | null])[0] : child.exitCode;

const items = (like: string): Promise<{ id: string; state: string; attempts: number }[]> =>
  database.query(`select id, state, attempts from ledger.work_items where description like '${like}%' order by created_at`);

/** Leaves the name of the task in the directory that it is worked on in, and says what was in the way. */
const mark =
  (name: string) =>
  ({ exchange, results }: Seen): ScriptedReply =>
    exchange === 0 ? calls(call('bash', { command: `pwd > ${name}` })) : done(results.join('|'));

test('two runs side by side work each in its own directory, delegate there, and leave alone what else is queued', async () => {
  const [one, two] = [await project('one'), await project('two')];
  await database.query(
    `select ledger.faculty_save('{"name": "other", "accepts": ["other"]}'), ledger.work_submit('other', 'queued: before')`,
  );
  for (const name of ['one', 'two']) {
    roles[`lead ${name}`] = ({ exchange, children, results }) =>
      exchange === 0
        ? calls(call('bash', { command: 'pwd > lead' }), call('spawn_child_work', { work_type: 'task', description: `part ${name}` }))
        : exchange === 1
          ? calls(call('await_child_work', { work_item_ids: children }))
          : done(results.join('|'));
    roles[`part ${name}`] = mark('part');
  }
  roles['queued'] = mark('queued');
  const both = [run(one, 'lead one'), run(two, 'lead two')];
  expect(await Promise.all(both.map(ended))).toEqual([0, 0]);
  for (const place of [one, two]) {
    expect((await readdir(place)).toSorted()).toEqual(['lead', 'part']);
  }
  expect(await items('queued')).toMatchObject([{ state: 'queued' }]);
  expect(await items('part')).toMatchObject([{ state: 'completed' }, { state: 'completed' }]);
});

/** An ordinary worker, which takes up whatever is queued. */
const startOrdinary = () =>
  startWorkerProcess({ url: database.url, modelUrl: model.url, leaseSeconds: 60, dockerHost: 'unix:///nowhere.sock' });

test('a further attempt works where the first one did, whatever was run in between', async () => {
  const [first, second] = [await project('first'), await project('second')];
  let said: ScriptedReply = { stall: true };
  let isAsked = false;
  roles['tried twice'] = ({ exchange }) => {
    if (exchange === 0) return calls(call('bash', { command: 'pwd >> tried' }));
    isAsked = true;
    return said;
  };
  roles['in between'] = mark('between');
  const begun = run(first, 'tried twice');
  await until(() => isAsked);
  begun.kill('SIGINT');
  await ended(begun);
  expect(await ended(run(second, 'in between'))).toBe(0);

  // The model has failed so often that with one more error the attempt is over.
  await database.query(
    `update ledger.foci set model_error_count = 19 where work_item_id = (select id from ledger.work_items where description = 'tried twice')`,
  );
  said = { error: { status: 500, type: 'api_error' } };
  const worker = await startOrdinary();
  await until(async () => (await items('tried twice'))[0]?.attempts === 2);
  said = done('done');
  await until(async () => (await items('tried twice'))[0]?.state === 'completed');
  expect(await readFile(join(first, 'tried'), 'utf8')).toBe(`${first}\n${first}\n`);
  expect(await readdir(second)).toEqual(['between']);
  expect(await worker.end('SIGTERM')).toBe(0);
});

test('when a run is killed, an ordinary worker goes on in the same directory', async () => {
  const place = await project('killed');
  let isHeld = true;
  roles['outlives it'] = ({ exchange, results }) =>
    exchange === 0
      ? calls(call('bash', { command: 'pwd > begun' }))
      : isHeld
        ? { stall: true }
        : exchange === 1
          ? calls(call('bash', { command: 'pwd > ended' }))
          : done(results.join('|'));
  const killed = run(place, 'outlives it');
  await until(async () => (await readdir(place)).includes('begun'));
  const [item] = await items('outlives it');
  await until(async () => (await database.query(`select from ledger.workers where tree_id = '${item?.id}'`)).length === 1);

  // An ordinary worker that is there meanwhile is not rung for.
  const worker = await startOrdinary();
  await until(async () => (await database.query(`select from ledger.workers`)).length === 2);
  killed.kill('SIGKILL');
  await ended(killed);
  await forget(database, `pid = ${killed.pid}`);
  isHeld = false;
  await until(async () => (await items('outlives it'))[0]?.state === 'completed').catch((error: Error) => {
    throw new Error(`${error.message}\n${worker.log()}`);
  });
  expect((await readdir(place)).toSorted()).toEqual(['begun', 'ended']);
  expect(await worker.end('SIGTERM')).toBe(0);
});

test('a run that sleeps for longer than its lease, while others look after its work, goes on when it wakes up', async () => {
  let [isAsked, isAwake] = [false, false];
  roles['sleeps'] = () => {
    isAsked = true;
    return isAwake ? done('Woken') : { stall: true };
  };
  const sleeper = run(await project('asleep'), 'sleeps');
  await until(() => isAsked);
  sleeper.kill('SIGSTOP');
  await forget(database, `pid = ${sleeper.pid}`);
  await database.query('select ledger.work_sweep()');
  expect(await database.query(`select from ledger.workers where pid = ${sleeper.pid}`)).toEqual([]);
  isAwake = true;
  sleeper.kill('SIGCONT');
  expect(await ended(sleeper)).toBe(0);
});

test('a directory that is not there is wrong usage, and nothing is submitted', async () => {
  const before = (await items('')).length;
  const code = await new Promise((resolve) => {
    execFile(
      process.execPath,
      [main, 'run', 'x', '--workspace', 'nowhere'],
      { cwd: directory, env: environment() },
      (error, _stdout, stderr) => resolve({ code: error?.code, stderr }),
    );
  });
  expect(code).toMatchObject({ code: 2, stderr: expect.stringContaining('--workspace nowhere is not a directory') });
  expect((await items('')).length).toBe(before);
});
