// Ctrl-C ends each command that takes long with the code that docs/commands.md has: 130 where something was to end by itself, 0 where it
// runs until a signal.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { ensureEmbedded, stopEmbedded } from '../../runtime/install/embedded.ts';
import { withConnection } from '../../runtime/ledger/connection.ts';
import { createDatabase, isWaitedFor } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { inTerminal } from '../terminal.ts';
import { until } from '../workerProcess.ts';

const session = fileURLToPath(new URL('../fixtures/claudeCode.jsonl', import.meta.url));
const main = fileURLToPath(new URL('../../runtime/start.ts', import.meta.url));
let database: TestDatabase;
let directory: string;
let item: string;
beforeAll(async () => {
  database = await createDatabase();
  directory = await mkdtemp(join(tmpdir(), 'work-ledger-test-'));
  item = (await database.query<{ id: string }>(`select id from ledger.work_submit('wait', 'Nobody takes it')`))[0]?.id ?? '';
  await database.query(`select ledger.retention_policy_save('100 years')`);
});
afterAll(async () => {
  await database?.drop();
  await rm(directory, { recursive: true, force: true });
});

type Started = { says(): string; interrupted(): Promise<number> };
function start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Started {
  const child = spawn(process.execPath, [main, ...args], {
    cwd: directory,
    env: { PATH: process.env['PATH'], HOME: directory, DATABASE_URL: database.url, WORK_LEDGER_SCHEMA: 'ledger', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  return {
    says: () => said,
    async interrupted() {
      child.kill('SIGINT');
      const [code, signal] = await ended;
      return signal === 'SIGINT' ? 130 : (code ?? -1); // as a shell says it
    },
  };
}

test.each([
  ['logs', () => ['logs', item, '--follow', '--json'], () => watchedNow(), 130],
  ['list --watch', () => ['list', '--watch', '--all'], (said: string) => said.includes(item), 0],
  ['console', () => ['console', '--port', '0'], (said: string) => said.includes('http://'), 0],
  ['follow', () => ['follow', directory], (said: string) => said.includes('following'), 0],
  ['work', () => ['work', '--all-projects'], (said: string) => said.includes('it works on'), 0],
] as const)('%s', async (_, args, isReady, code) => {
  const started = start(args(), { ANTHROPIC_API_KEY: 'none' });
  await until(async () => isReady(started.says()));
  expect(await started.interrupted(), started.says()).toBe(code);
});

/** Who follows an item says so to the ledger. */
const watchedNow = async (): Promise<boolean> =>
  (await database.query(`select from ledger.fences where work_item_id = '${item}' and watch_ends_at > now()`)).length > 0;

/** An address of the database where nothing is answered any more after `freeze()`, though connections stay. */
async function freezing(): Promise<{ url: string; freeze(): void; close(): void }> {
  const { hostname, port } = new URL(database.url);
  const sockets: Socket[] = [];
  let isFrozen = false;
  const server = createServer((client) => {
    const behind = hostname.startsWith('%2F')
      ? connect(`${decodeURIComponent(hostname)}/.s.PGSQL.${port || 5432}`)
      : connect(Number(port || 5432), hostname);
    sockets.push(client, behind);
    for (const one of [client, behind]) one.on('error', () => {});
    client.on('close', () => behind.destroy()).on('data', (chunk) => isFrozen || behind.write(chunk));
    behind.on('close', () => client.destroy()).on('data', (chunk) => isFrozen || client.write(chunk));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(database.url);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    freeze: () => void (isFrozen = true),
    close() {
      server.close();
      for (const one of sockets) one.destroy();
    },
  };
}

test.each([
  ['logs', () => ['logs', item, '--follow', '--json'], () => watchedNow(), 130],
  ['list --watch', () => ['list', '--watch', '--all'], (said: string) => said.includes(item), 0],
  ['console', () => ['console', '--port', '0'], (said: string) => said.includes('token'), 0],
] as const)('%s, while the database does not answer: the first Ctrl-C is enough', async (_, args, isReady, code) => {
  await database.query(`update ledger.fences set watch_ends_at = null where work_item_id = '${item}'`);
  const frozen = await freezing();
  try {
    const started = start(args(), { DATABASE_URL: frozen.url });
    await until(async () => isReady(started.says()));
    frozen.freeze();
    await new Promise((resolve) => setTimeout(resolve, 1500)); // so that it asks something
    const began = performance.now();
    expect(await started.interrupted(), started.says()).toBe(code);
    expect(performance.now() - began).toBeLessThan(20_000); // by itself it would end after a minute
  } finally {
    frozen.close();
  }
});

test.each([
  ['verify', () => ['verify'], 'fences'],
  ['import', () => ['import', session], 'work_items'],
  ['retention --run', () => ['retention', '--run'], 'locks'],
] as const)('%s, while it waits for the database', async (_, args, table) => {
  await withConnection({ connectionString: database.url }, async (client) => {
    await client.query(`begin; lock table ledger.${table} in access exclusive mode`);
    const started = start(args());
    await until(() => isWaitedFor(database, `ledger.${table}`));
    expect(await started.interrupted(), started.says()).toBe(130);
  });
});

test('up, while it makes its cluster: nothing runs, and the next one makes it whole', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'work-ledger-up-'));
  await chmod(dataDir, 0o755);
  const env = { WORK_LEDGER_DATA_DIR: dataDir, DATABASE_URL: undefined, WORK_LEDGER_SCHEMA: undefined };
  // However fast it is, it is not done before the signal comes.
  const unfinished = `data:text/javascript,${encodeURIComponent(`
    import files from 'node:fs/promises';
    import { syncBuiltinESMExports } from 'node:module';
    const { rename } = files;
    files.rename = (from, to) => (from.endsWith('cluster.new') ? new Promise(() => setInterval(() => {}, 1e6)) : rename(from, to));
    syncBuiltinESMExports();`)}`;
  try {
    const started = start(['up'], { ...env, NODE_OPTIONS: `--import=${unfinished}` });
    await until(() => existsSync(join(dataDir, 'cluster.new')));
    expect(await started.interrupted(), started.says()).toBe(130);
    expect(existsSync(join(dataDir, 'cluster'))).toBe(false);
    // A terminal interrupts initdb, too; here it ends by itself.
    await until(() => spawnSync('pgrep', ['-f', dataDir]).status === 1);
    const { url } = await ensureEmbedded({ dataDir, isDurable: false });
    expect(await withConnection({ connectionString: url }, async (client) => (await client.query('select 1 as n')).rows)).toEqual([
      { n: 1 },
    ]);
  } finally {
    await stopEmbedded(dataDir);
    await rm(dataDir, { recursive: true, force: true });
  }
});

test.each([
  ['verify', ['verify'], /verified (\d+) of \1 work items.*verified \1 work items: no problems/],
  ['import', ['import', session], /1 of 1: .*imported 1 of 1 files: 1 sessions, of which \d+ turns and \d+ calls are new/],
  ['retention', ['retention', '--run'], /0 of 0 trees, \d+ rows.*erased 0 trees, \d+ rows/],
] as const)('%s says on a terminal how far it has come, and how it ended', async (_, args, says) => {
  const terminal = await inTerminal(
    [process.execPath, main, ...args],
    { columns: 160, rows: 40 },
    { PATH: process.env['PATH'], HOME: directory, DATABASE_URL: database.url, WORK_LEDGER_SCHEMA: 'ledger' },
  );
  const { code, written } = await terminal.ended;
  expect({ code, written: written.replaceAll(/\s+/g, ' ') }).toEqual({ code: 0, written: expect.stringMatching(says) });
});
