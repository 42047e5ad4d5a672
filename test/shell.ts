// A person at a shell: types the commands of a block of the docs, one after another, in a home with `work-ledger` on its path.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect } from 'vitest';

import { commandsOf, root, wordsOf } from './pages.ts';
import type { Block } from './pages.ts';
import { servesTests } from './workerProcess.ts';

export type Ran = { code: number; stdout: string; stderr: string };

/** Its input is at its end. */
export const run = (directory: string, env: NodeJS.ProcessEnv, program: string, ...args: string[]): Promise<Ran> =>
  new Promise((resolve) => {
    const child = execFile(program, args, { cwd: directory, env, maxBuffer: 1e8 }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
    child.stdin?.end();
  });

export const literally = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
export const uuid = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g;

/**
 * Each expected line comes in this order; … stands for anything, an id for any id, a time of day for any, an age (just now, 12s, 2m ago) for
 * any, a figure with a unit (3.2k, 78 %, 0.35 s) for any such figure. How long a call took, which is told of slow ones, may stand after it.
 */
export function expectOutput(actual: string, expected: readonly string[]): void {
  const plain = (text: string): string =>
    text
      .replaceAll(uuid, 'ID')
      .replaceAll(/\b\d\d:\d\d:\d\d\b/g, 'TIME')
      .replaceAll(/\b(?:just now|\d+[smhd](?: ago)?)(?!\w)/g, 'AGE')
      .replaceAll(/\b\d+(?:\.\d+)?( ?(?:[sk]\b|%))/g, 'N$1')
      .replace(/ \(N s\)$/, '')
      .replaceAll(/(?<=\S) +/g, ' ')
      .trimEnd();
  const lines = actual.split('\n').map(plain);
  let from = 0;
  for (const line of expected.filter((one) => one !== '…')) {
    const pattern = new RegExp(`^${plain(line).split('…').map(literally).join('.*')}$`);
    const found = lines.findIndex((one, i) => i >= from && pattern.test(one));
    expect(found, `${line}\nis not in what was printed from line ${from} on:\n${lines.join('\n')}`).toBeGreaterThanOrEqual(0);
    from = found + 1;
  }
}

export class Shell {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;

  private constructor(home: string, env: NodeJS.ProcessEnv) {
    this.home = home;
    this.env = env;
  }

  static async open(env: NodeJS.ProcessEnv): Promise<Shell> {
    const home = await mkdtemp(join(tmpdir(), 'docs-test-'));
    await mkdir(join(home, 'bin'));
    await symlink(join(root, 'work-ledger'), join(home, 'bin', 'work-ledger'));
    return new Shell(home, {
      PATH: `${join(home, 'bin')}:${process.env['PATH']}`,
      HOME: home,
      DOCKER_HOST: 'unix:///nowhere.sock',
      ...servesTests,
      ...env,
    });
  }

  /**
   * Types a block. Each command prints what the block shows and ends with 0, or with what `echo $?` after it shows; one that serves goes on
   * until
   * the block's end, and ends with 0 then.
   * `names`: what stands in the block, by what is typed for it. An id that a command prints is typed for `ID`, and for any id, from then
   * on; the schema of a ledger of its own
   * for `SCHEMA`.
   */
  async type(block: Block, names: Record<string, string> = {}, more: NodeJS.ProcessEnv = {}): Promise<void> {
    const env = { ...this.env, ...more };
    const meant = { ...names };
    const serving: Serving[] = [];
    try {
      const commands = commandsOf(block);
      for (const [i, { words, output }] of commands.entries()) {
        if (words === 'echo $?') continue;
        const next = commands[i + 1];
        const typed = Object.entries(meant).reduce(
          (line, [name, value]) => line.replaceAll(new RegExp(`\\b${literally(name)}\\b`, 'g'), value),
          words.replaceAll(uuid, 'ID'),
        );
        const [, name, value] = /^export (\w+)=(\S+)$/.exec(typed) ?? [];
        if (name) env[name] = value;
        else if (serves(typed)) serving.push(await this.#start(typed, env));
        else {
          const { code, stdout, stderr } = await run(this.home, env, 'sh', '-c', typed);
          expect(String(code), `${typed}\n${stdout}${stderr}`).toBe(next?.words === 'echo $?' ? next.output[0] : '0');
          expectOutput(`${stdout}\n${stderr}`, output);
          const [id] = stdout.match(new RegExp(`^${uuid.source}$`, 'm')) ?? [];
          if (id) meant['ID'] = id;
          const [schema] = /\bwork_ledger_demo_[0-9a-f]{16}\b/.exec(stdout + stderr) ?? [];
          if (schema) meant['SCHEMA'] = schema;
        }
      }
    } finally {
      for (const one of serving) await one.end();
    }
  }

  /** Started once it says that it is, or where: by then it heeds signals. */
  async #start(typed: string, env: NodeJS.ProcessEnv): Promise<Serving> {
    const child = spawn('sh', ['-c', `exec ${typed.replace(/ &$/, '')}`], { cwd: this.home, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    const ended = once(child, 'exit') as Promise<[number | null]>;
    const begun = new Promise<void>((resolve) => {
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (chunk) => {
          said += chunk;
          if (/worker started|http:/.test(said)) resolve();
        });
      }
    });
    await Promise.race([begun, ended]);
    return {
      async end() {
        child.kill('SIGTERM');
        const [code] = await ended;
        expect(code, `${typed}\n${said}`).toBe(0);
      },
    };
  }

  close(): Promise<void> {
    return rm(this.home, { recursive: true, force: true });
  }
}

type Serving = { end(): Promise<void> };

const serves = (typed: string): boolean => {
  const [program, name, ...args] = wordsOf(typed);
  return program === 'work-ledger' && (['console', 'work'].includes(name ?? '') || (name === 'mcp' && args.includes('--http')));
};
