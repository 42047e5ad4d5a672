// A command line as a user types it, run in this process: it saves the second that another one takes to start. What asks something of a
// process of its own (signals, a terminal, what it loads, the secrets of its environment, what a child of its prints) is started as one.

import { Readable, Writable } from 'node:stream';

import { main } from '../runtime/main.ts';

export type Ended = { code: number; stdout: string; stderr: string };

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
let last: Promise<unknown> = Promise.resolve();

/** One after another: environment and directory are those of the process, for as long as a command runs. */
export function cli(args: readonly string[], options: { env: NodeJS.ProcessEnv; cwd?: string; stdin?: string }): Promise<Ended> {
  const ended = last.then(() => typed(args, options));
  last = ended.catch(() => {});
  return ended;
}

/** As execFile() does: an exit code other than 0 is an error that has it. */
export async function cliOrFail(
  args: readonly string[],
  options: { env: NodeJS.ProcessEnv; cwd?: string; stdin?: string },
): Promise<Ended> {
  const ended = await cli(args, options);
  if (ended.code !== 0) throw Object.assign(new Error(`work-ledger ${args.join(' ')}: ${ended.stderr}`), ended);
  return ended;
}

async function typed(
  args: readonly string[],
  { env, cwd, stdin = '' }: { env: NodeJS.ProcessEnv; cwd?: string; stdin?: string },
): Promise<Ended> {
  const before = {
    env: { ...process.env },
    cwd: process.cwd(),
    title: process.title,
    heard: signals.map((signal) => process.listeners(signal)),
  };
  const [stdout, stderr] = [new Kept(), new Kept()];
  const streams = { stdin: Readable.from([stdin]), stdout, stderr, exitCode: 0 };
  setEnvironment(env);
  if (cwd !== undefined) process.chdir(cwd);
  try {
    await main(args, streams);
  } finally {
    setEnvironment(before.env);
    process.chdir(before.cwd);
    process.title = before.title;
    for (const [i, signal] of signals.entries()) {
      for (const listener of process.listeners(signal).filter((one) => !before.heard[i]?.includes(one)))
        process.removeListener(signal, listener);
    }
  }
  return { code: streams.exitCode, stdout: stdout.text, stderr: stderr.text };
}

function setEnvironment(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value;
}

class Kept extends Writable {
  text = '';
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += String(chunk);
    done();
  }
}
