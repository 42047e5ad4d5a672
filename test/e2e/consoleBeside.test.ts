// The console where another command opens it: beside the demo, and with the embedded database. Each prints an address that a person
// opens, and ends at Ctrl-C, which a terminal sends to everything that the command has started.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { until } from '../workerProcess.ts';

const main = fileURLToPath(new URL('../../runtime/start.ts', import.meta.url));
let database: TestDatabase;
let directory: string;
const begun: Command[] = [];

beforeAll(async () => {
  database = await createDatabase();
  directory = await mkdtemp(join(tmpdir(), 'console-beside-test-'));
  await chmod(directory, 0o755); // where this is root, the embedded server is another user's
});
afterEach(() => begun.splice(0).forEach((one) => one.kill()));
afterAll(async () => {
  await database?.drop();
  await rm(directory, { recursive: true, force: true });
});

/** A command in a terminal of its own. */
class Command {
  readonly #child;
  readonly #ended: Promise<unknown[]>;
  #isOver = false;
  says = '';

  constructor(env: NodeJS.ProcessEnv, ...args: string[]) {
    this.#child = spawn(process.execPath, [main, ...args], {
      env: { PATH: process.env['PATH'], HOME: directory, ...env },
      cwd: directory,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#ended = once(this.#child, 'exit');
    this.#child.once('close', () => (this.#isOver = true));
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream.on('data', (chunk) => (this.says += chunk));
  }

  /** Waits for it to be said; what it is. */
  async said(pattern: RegExp): Promise<string> {
    return until(() => {
      const found = pattern.exec(this.says)?.[0];
      if (found === undefined && this.#isOver) throw new Error(`it ended: ${this.says}`);
      return found;
    });
  }

  /** Its exit code. */
  async exited(): Promise<unknown> {
    return (await this.#ended)[0];
  }

  /** Ctrl-C; its exit code. */
  interrupted(): Promise<unknown> {
    process.kill(-(this.#child.pid ?? 0), 'SIGINT');
    return this.exited();
  }

  kill(): void {
    if (this.#child.exitCode === null && this.#child.signalCode === null) process.kill(-(this.#child.pid ?? 0), 'SIGKILL');
  }
}

function begin(env: NodeJS.ProcessEnv, ...args: string[]): Command {
  const command = new Command(env, ...args);
  begun.push(command);
  return command;
}

/** Opens the printed address as a browser does: the token becomes a cookie; then reads pages. */
async function opened(printed: string): Promise<(path: string) => Promise<string>> {
  const entered = await fetch(printed, { redirect: 'manual' });
  expect(entered.status).toBe(303);
  const cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  return async (path) => {
    const answer = await fetch(new URL(path, printed), { headers: { cookie } });
    expect([path, answer.status]).toEqual([path, 200]);
    return answer.text();
  };
}
const address = /http:\S+\?token=\S+/;

test('the team of the demo is watched while it works and afterwards, until Ctrl-C', async () => {
  const demo = begin({ DATABASE_URL: database.url, CONSOLE: '1' }, 'demo', '--install', '--scene', 'team');
  const page = await opened(await demo.said(address));
  await demo.said(/lead [0-9a-f]{4} +running/);
  expect(await page('/')).toMatch(/demo-lead/);
  await demo.said(/Done: all of them are completed\.[\s\S]*The console stays open until Ctrl-C\./);
  expect((await page('/work')).match(/href="\/work\/[0-9a-f-]{36}"/g)?.length).toBeGreaterThanOrEqual(4);
  const [{ schema } = { schema: '' }] = await database.query<{ schema: string }>(
    "select nspname as schema from pg_namespace where nspname ~ '^work_ledger_demo_'",
  );
  const [delegated] = await database.query<{ id: string }>(`select id from ${schema}.work_items where work_type = 'demo-lead'`);
  const lead = await page(`/work/${delegated?.id}`);
  expect(lead).toContain('completed');
  expect(lead).toContain('name="form_token"'); // who opened the printed address may act
  expect(await demo.interrupted()).toBe(0);
});

test('Ctrl-C before the end of the demo ends the console with it', async () => {
  const demo = begin({ DATABASE_URL: database.url, CONSOLE: '1' }, 'demo', '--install', '--scene', 'team');
  const printed = await demo.said(address);
  await demo.said(/lead [0-9a-f]{4} +running/);
  expect(await demo.interrupted()).toBe(130);
  expect(demo.says).not.toContain('stays open');
  await expect(fetch(printed)).rejects.toThrow();
});

test('up --console starts the embedded database with a ledger and serves its pages; Ctrl-C ends the console, not the database', async () => {
  const env = { WORK_LEDGER_DATA_DIR: join(directory, 'data') };
  try {
    const up = begin(env, 'up', '--console', '--port', '0');
    const page = await opened(await up.said(address));
    expect(await up.said(/ledger \S+ in schema work_ledger/)).toBeTruthy();
    expect(await page('/')).toContain('Queue');
    expect(await up.interrupted()).toBe(0);
    expect(await begin(env, 'list').exited()).toBe(0);
  } finally {
    const down = begin(env, 'down');
    expect.soft(await down.said(/.+/)).toMatch(/^stopped the embedded database/);
  }
});
