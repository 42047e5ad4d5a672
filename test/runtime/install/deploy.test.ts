// The files for docker compose and systemd: compose and systemd accept them, and what they call is there and does what they
// expect, run as processes of this machine with the environment and the checks of the files.

import { execFile, spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

import { createDatabase } from '../../database.ts';
import type { TestDatabase } from '../../database.ts';
import { until } from '../../workerProcess.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string): Promise<string> => readFile(root + path, 'utf8');
const isMissing = (program: string): boolean => spawnSync(program, ['--version']).error !== undefined;

const service = z.strictObject({
  image: z.string(),
  build: z.strictObject({ context: z.literal('..'), dockerfile: z.string() }).optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  ports: z.array(z.string().startsWith('127.0.0.1:')).default([]),
  volumes: z.array(z.string()).default([]),
  healthcheck: z.strictObject({ test: z.tuple([z.literal('CMD')], z.string()), interval: z.string(), retries: z.number() }).optional(),
  depends_on: z
    .record(z.string(), z.strictObject({ condition: z.enum(['service_healthy', 'service_completed_successfully']) }))
    .default({}),
  restart: z.literal('unless-stopped').optional(),
  stop_grace_period: z.string().optional(),
});
const compose = z
  .strictObject({ services: z.record(z.string(), service), volumes: z.record(z.string(), z.null()) })
  .parse(parse(await read('deploy/compose.yaml'), { merge: true }));
const units = (await readdir(`${root}deploy`)).filter((name) => name.endsWith('.service'));

test('compose has a database, the ledger, a worker and the console, each after what it needs', async () => {
  expect(Object.keys(compose.services)).toEqual(['database', 'install', 'worker', 'console']);
  for (const [name, { image, build, depends_on: needs }] of Object.entries(compose.services)) {
    if (name !== 'database')
      expect([image, await read(build?.dockerfile ?? '')]).toEqual(['work-ledger', expect.stringContaining('ENTRYPOINT ["work-ledger"]')]);
    for (const [needed, { condition }] of Object.entries(needs)) {
      if (condition === 'service_healthy') expect(compose.services[needed]?.healthcheck).toBeDefined();
      else expect(compose.services[needed]).toMatchObject({ command: ['install'] });
    }
  }
  const named = Object.values(compose.services)
    .flatMap(({ volumes }) => volumes.map((volume) => volume.split(':')[0] ?? ''))
    .filter((name) => /^\w+$/.test(name));
  expect(named).toEqual(Object.keys(compose.volumes));
});

const noCompose = isMissing('docker-compose');
if (noCompose) console.warn('deploy/compose.yaml is not read by docker compose: there is no docker-compose');
test.skipIf(noCompose)('docker compose reads it, and says which setting is missing', async () => {
  const config = (env: Record<string, string>) =>
    promisify(execFile)('docker-compose', ['-f', `${root}deploy/compose.yaml`, 'config', '--services'], {
      env: { PATH: process.env['PATH'], ...env },
    });
  expect((await config({ POSTGRES_PASSWORD: 'p', ANTHROPIC_API_KEY: 'k' })).stdout.trim().split('\n').toSorted()).toEqual(
    Object.keys(compose.services).toSorted(),
  );
  await expect(config({ POSTGRES_PASSWORD: 'p' })).rejects.toThrow('a worker asks a model');
  await expect(config({ ANTHROPIC_API_KEY: 'k' })).rejects.toThrow('set a password for the database');
});

test('the image is made from what the package has', async () => {
  const { files } = JSON.parse(await read('package.json')) as { files: string[] };
  const copied = [...(await read('deploy/Dockerfile')).matchAll(/^COPY (.*) \S+$/gm)].flatMap(([, list = '']) => list.split(' '));
  expect(copied.filter((name) => ![...files, 'package.json'].includes(name))).toEqual([]);
});

const noSystemd = isMissing('systemd-analyze');
if (noSystemd) console.warn('the units for systemd are not verified: there is no systemd-analyze');
test.skipIf(noSystemd).each(units)('systemd accepts %s', async (unit) => {
  const { stdout, stderr } = await promisify(execFile)('systemd-analyze', ['verify', `${root}deploy/${unit}`]);
  expect(stdout + stderr).toBe('');
});

// With systemd's own KillMode every process of the unit gets the signal at once: `sleep 8; echo finished` says that it has finished.
test("a worker's unit stops the worker, not the commands of its agents, and waits for longer than the grace", async () => {
  const unit = await read('deploy/work-ledger.service');
  expect(unit).toMatch(/^KillMode=mixed$/m);
  const seconds = (pattern: RegExp): number => Number(pattern.exec(unit)?.[1]);
  expect(seconds(/^TimeoutStopSec=(\d+)$/m)).toBeGreaterThan(seconds(/^ExecStart=.* --grace-seconds (\d+)$/m));
});

describe('as processes of this machine', () => {
  let database: TestDatabase;
  let home: string;
  const started: ChildProcess[] = [];
  beforeAll(async () => {
    database = await createDatabase({ from: null });
    home = await mkdtemp(join(tmpdir(), 'deploy-test-'));
    await writeFile(join(home, 'engineer.toml'), '[faculty]\nname = "engineer"\n[faculty.engage]\nworkspace = "none"\n');
  });
  afterAll(async () => {
    for (const process of started) process.kill('SIGKILL');
    await database?.drop();
    await rm(home, { recursive: true, force: true });
  });

  /** What a file names, as it is on this machine. */
  const here = (text: string): string =>
    text
      .replace(/^postgresql:\/\/postgres:\$\{POSTGRES_PASSWORD\}@database\/work_ledger$/, database.url)
      .replace(/^\$\{ANTHROPIC_API_KEY:\?.*\}$/, 'k')
      .replace(/^(\/etc\/work-ledger)?\/faculties$/, home);
  const environment = (given: Record<string, string> = { DATABASE_URL: database.url, ANTHROPIC_API_KEY: 'k' }): NodeJS.ProcessEnv => ({
    PATH: process.env['PATH'],
    HOME: home,
    DOCKER_HOST: 'unix:///nowhere.sock',
    ...Object.fromEntries(Object.entries(given).map(([name, value]) => [name, here(value)])),
  });
  function start(args: readonly string[], env: NodeJS.ProcessEnv): { child: ChildProcess; output: () => string } {
    let output = '';
    const child = spawn(process.execPath, [`${root}runtime/main.ts`, ...args.map(here)], { cwd: home, env });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    started.push(child);
    return { child, output: () => output };
  }
  async function stopped(child: ChildProcess): Promise<number | null> {
    child.kill('SIGTERM');
    return ((await once(child, 'exit')) as [number | null])[0];
  }
  /** A port that is surely free, in place of the one that stands there. */
  const anyPort = (args: readonly string[]): string[] => (args[0] === 'console' ? [...args, '--port', '0'] : [...args]);
  const portOf = (output: string): string => /^http:\/\/127\.0\.0\.1:(\d+)\/\?token=\S+$/m.exec(output)?.[1] ?? '';

  test('compose: the ledger is installed, the worker starts, the console is healthy, a signal stops both', async () => {
    const { install, worker, console: pages } = compose.services;
    const installed = start(install?.command ?? [], environment(install?.environment));
    expect([(await once(installed.child, 'exit'))[0], installed.output()]).toEqual([
      0,
      expect.stringContaining('installed in schema work_ledger'),
    ]);

    const working = start(worker?.command ?? [], environment(worker?.environment));
    await until(() => working.output().includes('worker started'));
    expect(await database.query(`select name from work_ledger.faculties where is_current`)).toEqual([{ name: 'engineer' }]);

    const served = start(anyPort(pages?.command ?? []), environment(pages?.environment));
    await until(() => portOf(served.output()) !== '');
    const port = portOf(served.output());
    const [, program = '', ...args] = pages?.healthcheck?.test ?? [];
    const isHealthy = (at: string): boolean =>
      spawnSync(
        program,
        args.map((arg) => arg.replace(':4747', `:${at}`)),
        { env: environment() },
      ).status === 0;
    expect([isHealthy(port), isHealthy('1')]).toEqual([true, false]);
    expect(pages?.ports).toEqual(['127.0.0.1:4747:4747']);
    expect(await Promise.all([working, served].map(({ child }) => stopped(child)))).toEqual([0, 0]);
  });

  test.each(units)('%s: what it starts runs until a signal', async (unit) => {
    const [, line = ''] = /^ExecStart=\/usr\/bin\/env work-ledger (.*)$/m.exec(await read(`deploy/${unit}`)) ?? [];
    const running = start(anyPort(line.split(' ')), environment());
    await until(() => /worker started|^following /m.test(running.output()) || portOf(running.output()) !== '');
    expect(await stopped(running.child)).toBe(0);
  });
});
