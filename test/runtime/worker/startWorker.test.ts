// What a worker that a program starts is not told in vain.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

import Docker from 'dockerode';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { LedgerError } from '../../../runtime/ledger/errors.ts';
import { createModelClient } from '../../../runtime/model/callModel.ts';
import { startWorker } from '../../../runtime/worker/worker.ts';
import type { WorkerOptions } from '../../../runtime/worker/worker.ts';
import { createDatabase } from '../../database.ts';
import type { TestDatabase } from '../../database.ts';
import { until } from '../../workerProcess.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(async () => {
  await database?.drop();
});

const model = createModelClient({ apiKey: 'k', baseURL: 'http://127.0.0.1:9' });
/** The code with which it rejects. */
async function refused(options: Partial<WorkerOptions>): Promise<string> {
  const log = pino({ level: 'silent' });
  const started = startWorker({ url: database.url, schema: 'ledger', tools: [], docker: null, log, model, ...options });
  const error = await started.then(
    async (worker) => {
      await worker.stop();
      return new Error('it has started');
    },
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof LedgerError)) throw error;
  expect(error.hint).not.toBe('');
  return error.code;
}

test.for([0, -1, NaN, Infinity])('numbers with which none works: %s', async (n) => {
  expect(await refused({ leaseSeconds: n })).toBe('WL002');
  expect(await refused({ concurrency: n })).toBe('WL002');
  if (n !== 0) expect(await refused({ graceSeconds: n })).toBe('WL002');
});

test('half an item, and more than a worker drives', async () => {
  expect(await refused({ concurrency: 1.5 })).toBe('WL002');
  expect(await refused({ concurrency: 20_000 })).toBe('WL002');
});

test('a model that cannot be called', async () => {
  expect(await refused({ model: {} as WorkerOptions['model'] })).toBe('WL002');
  expect(await refused({ tools: [null] as never })).toBe('WL002');
});

test.for<[string, unknown]>([
  ['schema', ''],
  ['schema', null],
  ['host', 7],
  ['project', {}],
  ['workspaceRoots', '/srv'],
  ['ownDirectories', [null]],
  ['http', { port: 0 }],
  ['http', { host: '127.0.0.1', port: 'socket' }],
  ['docker', 'unix:///var/run/docker.sock'],
  ['log', 'warn'],
  ['tools', [{ name: 'a:b', execute: () => {} }]],
])('an option of another type than it must be: %j', async ([name, value]) => {
  expect(await refused({ [name]: value })).toBe('WL002');
});

test.for(['', 'nonsense', 'localhost:5432/shop', 7, null])('what is no address is not waited for: %j', async (url) => {
  expect(await refused({ url: url as string })).toBe('WL002');
});

test('what the database or the system refuses is an error of the project', async () => {
  expect(await refused({ treeId: 'x' })).toBe('22P02');
  expect(await refused({ http: { host: '127.0.0.1', port: 99_999 } })).toBe('WL002');
});

test('a program that closes the client of its worker stops nothing; when the worker has stopped, the client is closed', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const worker = await startWorker({ url: database.url, schema: 'ledger', tools: [], docker: null, log, model });
  try {
    await worker.client.as({ name: 'anna' }).close();
    await worker.client.close();
    expect(await worker.client.list()).toEqual([]);
  } finally {
    await worker.stop();
  }
  await expect(worker.client.list()).rejects.toMatchObject({ code: 'WL008' });
  expect(lines).toEqual([]);
});

test('that a connection of its jobs was lost is a short line', async () => {
  const lines: string[] = [];
  const worker = await startWorker({
    url: database.url,
    schema: 'ledger',
    tools: [],
    docker: null,
    model,
    log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }),
  });
  try {
    await database.query(`
      select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'work-ledger jobs' and state = 'idle'`);
    const lost = (): string[] => lines.filter((line) => line.includes('jobs connection lost'));
    await until(() => lost().length > 0);
    for (const line of lost()) expect(Object.keys(JSON.parse(line).err)).not.toContain('client');
  } finally {
    await worker.stop();
  }
});

test('a Docker daemon that hangs keeps no worker from starting, nor from stopping', async () => {
  const server = createServer(() => {}); // accepts connections, and says nothing
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const docker = new Docker({ protocol: 'http', host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const worker = await startWorker({ url: database.url, schema: 'ledger', tools: [], docker, log, model });
  await worker.stop();
  expect(lines).toContainEqual(expect.stringContaining('no Docker daemon answers'));
  server.close();
});

test('a command that is stopped while its worker waits for the database ends', async () => {
  const { username, hostname, port, pathname } = new URL(database.url);
  const host = decodeURIComponent(hostname);
  let isAway = false;
  const server = createServer((client) => {
    client.on('error', () => {});
    if (isAway) client.destroy();
    else {
      const upstream = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port || 5432}`) : connect(Number(port), host);
      upstream.on('error', () => {});
      client.on('data', (chunk) => (isAway ||= chunk.includes('v_faculties'))); // the last that is asked before the worker is started
      client.pipe(upstream).pipe(client);
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `postgresql://${username}@127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`;
  const main = fileURLToPath(new URL('../../../runtime/start.ts', import.meta.url));
  const child = spawn(process.execPath, [main, 'work', '--all-projects'], {
    env: { PATH: process.env['PATH'], DATABASE_URL: url, WORK_LEDGER_SCHEMA: 'ledger', ANTHROPIC_API_KEY: 'k' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => (said += String(chunk)));
  const ended = once(child, 'exit');
  await until(() => said.includes('waiting for it') || child.exitCode !== null);
  child.kill('SIGTERM');
  expect(await ended, said).toEqual([0, null]);
  expect(said).toContain('stopped before the worker had started');
  server.close();
});
