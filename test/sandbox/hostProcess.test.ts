// Commands on the host: what they may leave behind, and what they may see.

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';

import { runProcess } from '../../sandbox/hostProcess.ts';
import type { RunOptions } from '../../sandbox/workspace.ts';
import { until } from '../workerProcess.ts';

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'process-test-'));
});
afterEach(() => vi.useRealTimers());
afterAll(() => rm(cwd, { recursive: true, force: true }));

const run = (command: string, options: Partial<RunOptions> = {}) =>
  runProcess(command, { cwd, timeoutSeconds: 300, signal: new AbortController().signal, ...options });

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
const pidIn = async (file: string): Promise<number> =>
  Number(
    await until(() =>
      readFile(join(cwd, file), 'utf8').then(
        (text) => text.trim(),
        () => null,
      ),
    ),
  );

/** A command whose time is over once this file is there, however long that takes. */
async function timedOut(command: string, file: string): ReturnType<typeof run> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const running = run(command, { timeoutSeconds: 300 });
  while ((await readFile(join(cwd, file), 'utf8').catch(() => '')) === '') await new Promise(setImmediate);
  await vi.advanceTimersByTimeAsync(300_000 + 2000); // and what does not end then is killed
  vi.useRealTimers();
  return running;
}

test('output, errors and exit code come back apart', async () => {
  expect(await run('echo out; echo err >&2; exit 3')).toMatchObject({ stdout: 'out\n', stderr: 'err\n', exitCode: 3, cause: null });
});

test('a command that is given input does not read what a person has in ~/.bashrc', async () => {
  const home = process.env['HOME'];
  await writeFile(join(cwd, '.bashrc'), 'echo from the bashrc; sleep 3000\n');
  process.env['HOME'] = cwd;
  try {
    expect(await run('cat', { stdin: 'input' })).toMatchObject({ stdout: 'input', cause: null });
  } finally {
    process.env['HOME'] = home;
  }
});

test('a timeout ends the command and all that it started', async () => {
  const result = await timedOut('sleep 300 & echo $! > grandchild; sleep 300', 'grandchild');
  expect(result).toMatchObject({ cause: 'timeout', exitCode: null });
  const pid = await pidIn('grandchild');
  await until(() => !isAlive(pid));
});

test('a command that ignores SIGTERM is killed all the same', async () => {
  const result = await timedOut(`trap '' TERM; echo > trapped; while :; do sleep 0.1; done`, 'trapped');
  expect(result).toMatchObject({ cause: 'timeout', signal: 'SIGKILL' });
});

test('a background process that holds the output open neither hangs the call nor outlives it', async () => {
  const result = await run('sleep 3000 & echo $! > background; echo done');
  expect(result).toMatchObject({ stdout: 'done\n', exitCode: 0 });
  const pid = await pidIn('background');
  await until(() => !isAlive(pid));
});

test('an abort ends it', async () => {
  const controller = new AbortController();
  const running = run('echo $$ > self; sleep 3000', { signal: controller.signal });
  const pid = await pidIn('self');
  controller.abort();
  expect(await running).toMatchObject({ cause: 'abort' });
  await until(() => !isAlive(pid));
});

test('when the worker is killed, the command ends with it', async () => {
  const file = join(cwd, 'worker.ts');
  await writeFile(
    file,
    `
    import { runProcess } from ${JSON.stringify(fileURLToPath(new URL('../../sandbox/hostProcess.ts', import.meta.url)))};
    await runProcess('echo $$ > orphan; sleep 300', { cwd: ${JSON.stringify(cwd)}, timeoutSeconds: 300, signal: new AbortController().signal });
  `,
  );
  const worker = execFile(process.execPath, [file]);
  const pid = await pidIn('orphan');
  worker.kill('SIGKILL');
  await until(() => !isAlive(pid));
});

test('a flood of output keeps its head and its tail', async () => {
  const { stdout } = await run('echo HEAD; head -c 20000000 /dev/zero | tr "\\0" x; echo TAIL', { maxBytes: 1000 });
  expect(stdout.length).toBeLessThan(1200);
  expect(stdout).toMatch(/^HEAD\nx+\n\[… \d+ bytes omitted …\]\nx+TAIL\n$/);
});

test('output just under the cap is whole', async () => {
  const { stdout } = await run('head -c 1000 /dev/zero | tr "\\0" x', { maxBytes: 1000 });
  expect(stdout).toBe('x'.repeat(1000));
});

test('NUL and invalid UTF-8 survive as visible replacements', async () => {
  expect((await run(String.raw`printf 'a\0b\377c'`)).stdout).toBe('a␀b\ufffdc');
});

test('the environment holds no secret, and standard input is empty', async () => {
  process.env['ANTHROPIC_API_KEY'] = 'canary-key';
  process.env['DATABASE_URL'] = 'postgresql://canary';
  process.env['PGPASSWORD'] = 'canary';
  try {
    const { stdout } = await run('env; cat; cat /proc/$PPID/environ 2>/dev/null | head -c 0');
    expect(stdout).not.toContain('canary');
    expect(stdout).toContain('PATH=');
  } finally {
    delete process.env['ANTHROPIC_API_KEY'];
    delete process.env['DATABASE_URL'];
    delete process.env['PGPASSWORD'];
  }
});

test('what the agent writes is an argument, never part of a shell line of ours', async () => {
  expect((await run(`echo "$0" '$(id)' "a b"`)).stdout).toBe('bash $(id) a b\n');
});
