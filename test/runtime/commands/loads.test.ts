// Each command loads what it uses and nothing else: of the packages in package.json, by name, and SQLite, which is Node's own. It connects once.

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import packageJson from '../../../package.json' with { type: 'json' };
import { createDatabase } from '../../database.ts';
import type { TestDatabase } from '../../database.ts';
import { dockerSocket, noDocker } from '../../docker.ts';
import { recorder } from '../../recorder.ts';
import { startWorkerProcess, until } from '../../workerProcess.ts';

const start = fileURLToPath(new URL('../../../runtime/start.ts', import.meta.url));

let database: TestDatabase;
let directory: string;
beforeAll(async () => {
  database = await createDatabase();
  directory = await mkdtemp(join(tmpdir(), 'loads-test-'));
});
afterAll(async () => {
  await database?.drop();
  await rm(directory, { recursive: true, force: true });
});

/** What a command loaded, and the code that it ended with. */
async function loads(args: readonly string[], cwd?: string): Promise<{ exitCode: number; packages: string[] }> {
  const file = join(directory, 'loaded');
  const env = {
    PATH: process.env['PATH'],
    HOME: directory,
    DATABASE_URL: database.url,
    WORK_LEDGER_DATA_DIR: join(directory, 'data'),
    LOADED: file,
  };
  const exitCode = await new Promise<number>((resolve) => {
    const child = execFile(process.execPath, ['--import', recorder, start, ...args], { env, cwd }, (error) =>
      resolve(typeof error?.code === 'number' ? error.code : 0),
    );
    child.stdin?.end();
  });
  return { exitCode, packages: await packagesIn(file) };
}

async function packagesIn(file: string): Promise<string[]> {
  const urls = (await readFile(file, 'utf8')).split('\n');
  const names = Object.keys({ ...packageJson.dependencies, ...packageJson.optionalDependencies, ...packageJson.peerDependencies }).filter(
    (name) => urls.some((url) => url.includes(`/node_modules/${name}/`)),
  );
  return [...names.toSorted(), ...urls.filter((url) => url === 'node:sqlite')];
}

// slonik itself uses OpenTelemetry's API; the SDK belongs to nobody but who exports spans.
const ofALedger = ['@opentelemetry/api', 'commander', 'pg', 'slonik', 'zod'];

test.each([
  ['--version', ['commander']],
  ['--help', ['commander']],
  ['down', ['commander', 'pg']],
  ['install', ['commander', 'pg']],
  ['show', ofALedger],
  ['submit --type task something', ofALedger],
  ['digest', ofALedger],
  ['trace 00000000-0000-0000-0000-000000000000', ofALedger, 1],
  // A client waits for its hooks at each prompt: no parser of all commands, no pool, no schemas of rows.
  ...['session-start', 'user-prompt', 'pre-tool-use', 'post-tool-use', 'pre-compact', 'stop', 'session-end'].map(
    (name): [string, string[]] => [`hook ${name}`, ['pg']],
  ),
  ['hook --conversation one stop', ['pg']],
  ['hook nothing', ofALedger, 2],
  ['list', ofALedger],
  ['sessions', ofALedger],
  ['logs 00000000-0000-0000-0000-000000000000', ofALedger, 1],
  ['import test/fixtures/claudeCode.jsonl', ofALedger],
  ['mcp', ['@modelcontextprotocol/server', 'commander', 'zod']],
] as [string, string[], number?][])('%s', async (line, packages, exitCode = 0) => {
  expect(await loads(line.split(' '))).toEqual({ exitCode, packages });
});

test.each(['list', 'cost', 'submit --type task something'])('%s connects once', async (line) => {
  const sessions = async (): Promise<number> => {
    // A session is counted when it is over, before it leaves the list of those that there are.
    await until(async () => {
      const others = await database.query(`select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`);
      return others.length === 0;
    });
    const [found] = await database.query<{ count: number }>(
      `select pg_stat_get_db_sessions(oid)::integer as count from pg_database where datname = current_database()`,
    );
    return found?.count ?? Number.NaN;
  };
  const before = await sessions();
  expect((await loads(line.split(' '))).exitCode).toBe(0);
  expect((await sessions()) - before).toBe(1);
});

test('a hook in a project that has a name: TOML is read, no other key is checked', async () => {
  const project = await mkdtemp(join(directory, 'project-'));
  await writeFile(join(project, 'work-ledger.toml'), 'project = "shop"\nnonsense = 1\n');
  expect(await loads(['hook', 'user-prompt'], project)).toEqual({ exitCode: 0, packages: ['pg', 'toml-eslint-parser'] });
  expect(await database.query(`select project from ledger.work_items where project = 'shop'`)).toEqual([{ project: 'shop' }]);
});

test('work, which has no server of tools and no model to call', async () => {
  const { exitCode, packages } = await loads(['work']);
  expect(exitCode, 'there is no key').toBe(2);
  expect(packages).toContain('graphile-worker');
  expect(packages).not.toContain('dockerode');
  expect(packages).not.toContain('@anthropic-ai/sdk');
  expect(packages).not.toContain('@modelcontextprotocol/client');
  expect(packages).not.toContain('@modelcontextprotocol/server');
  expect(packages).not.toContain('node:sqlite');
});

test.skipIf(noDocker !== null)(
  'a worker loads dockerode when there is a daemon, and what reads pages when there is one to read',
  async () => {
    const socket = join(directory, 'docker.sock');
    const workerLoads = async (during: (log: () => string) => Promise<void>): Promise<string[]> => {
      const file = join(directory, 'loaded-by-worker');
      const worker = await startWorkerProcess({
        url: database.url,
        modelUrl: 'http://127.0.0.1:9',
        leaseSeconds: 3,
        dockerHost: `unix://${socket}`,
        env: { NODE_OPTIONS: `--import=${recorder}`, LOADED: file },
      });
      await during(() => worker.log());
      expect(await worker.end('SIGTERM')).toBe(0);
      return packagesIn(file);
    };
    const without = await workerLoads(
      async (log) => void (await until(() => log().includes('until one does, execute_code is not offered'))),
    );
    expect(without).toContain('graphile-worker');
    expect(without).not.toContain('dockerode');
    expect(without).not.toContain('htmlparser2');
    const offered = (): Promise<unknown[]> => database.query(`select from ledger.abilities where name = 'execute_code'`);
    const later = await workerLoads(async (log) => {
      await until(() => log().includes('until one does, execute_code is not offered'));
      expect(await offered()).toEqual([]);
      await symlink(dockerSocket, socket);
      await until(async () => (await offered()).length > 0);
    });
    expect(later).toContain('dockerode');
  },
);
