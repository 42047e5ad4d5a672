// Commands on the host in a process namespace: nothing that they start is left, and nothing outside is reached. Where the machine allows
// none, this is skipped; the doctor and a worker's log say so then.

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { runProcess } from '../../sandbox/hostProcess.ts';
import { HostWorkspace } from '../../sandbox/hostWorkspace.ts';
import { ways, works } from '../../sandbox/namespaces.ts';
import type { Way } from '../../sandbox/namespaces.ts';
import type { RunOptions } from '../../sandbox/workspace.ts';
import { until } from '../workerProcess.ts';

const contained = ways.filter(({ isContained }) => isContained);
const allowed = new Map<Way, boolean>();
for (const way of contained) allowed.set(way, await works(way, null));
const none = ![...allowed.values()].includes(true);
if (none) console.warn('skipped: this machine allows no process namespaces (unshare, bubblewrap)');

let cwd: string;
/** A process of the same user outside. */
let outside: ChildProcess;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'namespaces-test-'));
});
beforeEach(() => {
  outside = spawn('sleep', ['600'], { stdio: 'ignore' });
});
afterEach(() => void outside.kill('SIGKILL'));
afterAll(() => rm(cwd, { recursive: true, force: true }));

const isAlive = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;
const options = { timeoutSeconds: 300, signal: new AbortController().signal };
const isThere = (file: string): Promise<string | null> =>
  readFile(join(cwd, file), 'utf8').then(
    (text) => text.trim(),
    () => null,
  );

/** Seconds that nobody else sleeps for: by them a process is found. */
const unique = (): string => `600.${randomInt(1e9, 1e10)}`;
/** The pids of processes that sleep so long. */
async function sleepers(seconds: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return pids.filter((_, n) => lines[n] === `sleep\0${seconds}\0`).map(Number);
}
/** Waits until none of them is left; kills what is, so that a test that fails leaves nothing. */
async function gone(seconds: string): Promise<void> {
  try {
    await until(async () => (await sleepers(seconds)).length === 0, 60);
  } finally {
    for (const pid of await sleepers(seconds)) process.kill(pid, 'SIGKILL');
  }
}
const leaves = (seconds: string, file: string): string =>
  `setsid sh -c 'echo begun > ${file}; exec sleep ${seconds}' >/dev/null 2>&1 & until [ -s ${file} ]; do sleep 0.05; done`;

describe.skipIf(none)('a command in a workspace on the host', () => {
  test('a child in a session of its own ends with it', async () => {
    const seconds = unique();
    expect(await new HostWorkspace(cwd).run(`${leaves(seconds, 'left')}; echo ended; exit 3`, options)).toMatchObject({
      stdout: 'ended\n',
      exitCode: 3,
    });
    await gone(seconds);
  });

  test('cannot signal a process outside, such as its worker', async () => {
    const { exitCode, stdout } = await new HostWorkspace(cwd).run(`kill -9 ${outside.pid} || echo refused`, options);
    expect([exitCode, stdout]).toEqual([0, 'refused\n']);
    expect(isAlive(outside)).toBe(true);
  });

  test('sees its own processes in /proc and no others', async () => {
    const { stdout } = await new HostWorkspace(cwd).run(`ls /proc | grep -c '^[0-9]'; test -e /proc/${outside.pid} && echo seen`, options);
    expect(Number(stdout.split('\n')[0])).toBeLessThan(12);
    expect(stdout).not.toContain('seen');
  });
});

for (const way of contained) {
  describe.skipIf(!allowed.get(way))(`by ${way.name}`, () => {
    const start = () => ({ prefix: way.prefix(cwd), owner: null, env: {}, isContained: true });
    const run = (command: string, more: Partial<RunOptions> = {}) => runProcess(command, { cwd, start: start(), ...options, ...more });

    test('output, input, directory and exit code are as without', async () => {
      expect(await run('cat; echo err >&2; pwd; echo > /dev/null; exit 3', { stdin: 'in\n' })).toMatchObject({
        stdout: `in\n${cwd}\n`,
        stderr: 'err\n',
        exitCode: 3,
        signal: null,
      });
      expect(await run('kill -9 $$')).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
      expect(await run('id -u; stat -c %u .')).toMatchObject({ stdout: `${process.getuid?.()}\n${process.getuid?.()}\n` });
      expect((await run('exit 255')).exitCode).toBe(255);
    });

    test('what ignores or heeds SIGTERM ends after it has been asked to', async () => {
      for (const [command, ends] of [
        [`trap 'echo bye; exit 7' TERM; echo > FILE; while :; do sleep 0.05; done`, { stdout: 'bye\n', exitCode: 7 }],
        [`trap '' TERM; echo > FILE; while :; do sleep 0.05; done`, { signal: 'SIGKILL' }],
        [`echo > FILE; sleep 600`, { signal: 'SIGTERM' }],
      ] as const) {
        const abort = new AbortController();
        const file = `begun-${randomInt(1e9)}`;
        const running = run(command.replace('FILE', file), { signal: abort.signal });
        await until(async () => (await isThere(file)) !== null);
        abort.abort();
        expect(await running, command).toMatchObject({ ...ends, cause: 'abort' });
      }
    });

    test('when the worker is killed all of it ends, also what killed the watchdog', async () => {
      for (const first of [
        '',
        '[ $$ -lt 20 ] || exit; for p in /proc/[0-9]*; do case ${p#/proc/} in 1|$$|$PPID) ;; *) kill -9 ${p#/proc/};; esac; done 2>/dev/null; ',
      ]) {
        const seconds = unique();
        const program = join(cwd, 'worker.ts');
        await writeFile(
          program,
          `
          import { runProcess } from ${JSON.stringify(fileURLToPath(new URL('../../sandbox/hostProcess.ts', import.meta.url)))};
          await runProcess(process.argv[2], { cwd: process.argv[3], timeoutSeconds: 300, signal: new AbortController().signal, start: ${JSON.stringify(start())} });
        `,
        );
        const worker = spawn(process.execPath, [program, `${first}${leaves(seconds, `alive-${seconds}`)}; sleep ${seconds}`, cwd], {
          stdio: 'ignore',
        });
        await until(async () => (await isThere(`alive-${seconds}`)) !== null && (await sleepers(seconds)).length >= 1);
        worker.kill('SIGKILL');
        await gone(seconds);
      }
    });

    test('a machine without bash uses sh', async () => {
      const bin = await mkdtemp(join(cwd, 'bin-'));
      for (const program of ['sh', 'unshare', 'setpriv', 'bwrap']) await symlink(`/usr/bin/${program}`, join(bin, program));
      expect(await runProcess('echo $0', { cwd, ...options, start: { ...start(), env: { PATH: bin } } })).toMatchObject({ stdout: 'sh\n' });
    });
  });
}
