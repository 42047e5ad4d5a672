// A real worker in a process of its own: started as a user starts it, and killed as the world kills it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../runtime/start.ts', import.meta.url));

/** Lets workers serve the directories that tests make, also as root (vitest.config.ts). */
export const servesTests = {
  WORK_LEDGER_WORKSPACE_ROOTS: process.env['WORK_LEDGER_WORKSPACE_ROOTS'],
  WORK_LEDGER_COMMANDS_AS: process.env['WORK_LEDGER_COMMANDS_AS'],
};

export type WorkerProcess = {
  pid: number;
  log(): string;
  /** The exit code of one that ends by itself. */
  ended: Promise<number | null>;
  /** Sends the signal and waits for the end; resolves with the exit code, null after a kill. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  signal(signal: NodeJS.Signals): void;
};

export async function startWorkerProcess(options: {
  url: string;
  modelUrl: string;
  args?: string[];
  leaseSeconds?: number;
  dockerHost?: string;
  apiKey?: string;
  env?: Record<string, string>;
  main?: string;
  /** Words that go before the command, to start it elsewhere. */ within?: string[];
  owner?: { uid: number; gid: number };
}): Promise<WorkerProcess> {
  const [program, ...words] = [...(options.within ?? []), process.execPath];
  // For work from anywhere; a program of a release knows no projects.
  const serves = options.main === undefined ? ['--all-projects'] : [];
  const child = spawn(program, [...words, options.main ?? main, 'work', ...serves, '--grace-seconds', '1', ...(options.args ?? [])], {
    ...options.owner,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      DATABASE_URL: options.url,
      DOCKER_HOST: options.dockerHost ?? process.env['DOCKER_HOST'],
      ANTHROPIC_API_KEY: options.apiKey ?? 'test-key',
      ANTHROPIC_BASE_URL: options.modelUrl,
      ...servesTests,
      WORK_LEDGER_LEASE_SECONDS: String(options.leaseSeconds ?? 30),
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stdout.on('data', (chunk) => (log += chunk));
  child.stderr.on('data', (chunk) => (log += chunk));
  const ended = once(child, 'exit') as Promise<[number | null]>;
  await until(() => {
    if (child.exitCode !== null) throw new Error(`the worker ended: ${log}`);
    return log.includes('worker started');
  });
  return {
    pid: child.pid ?? 0,
    log: () => log,
    ended: ended.then(([code]) => code),
    signal: (signal) => void child.kill(signal),
    async end(signal) {
      child.kill(signal);
      const [code] = await ended;
      return code;
    },
  };
}

/**
 * Waits until the condition holds; polls, because nothing in a test may depend on a notification. The time is a fuse against hanging, for
 * the busiest machine.
 */
export async function until<T>(condition: () => T | Promise<T>, seconds = 300): Promise<T & {}> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > deadline) throw new Error(`waited ${seconds} s in vain for: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** As if time had passed: the leases of these workers have run out, and nobody has heard of them for long. */
export const forget = (database: { query(sql: string): Promise<unknown> }, which: string, schema = 'ledger'): Promise<unknown> =>
  database.query(`
    update ${schema}.foci set lease_expires_at = now() where lease_owner in (select id from ${schema}.workers where ${which});
    update ${schema}.workers set seen_at = now() - interval '1 hour' where ${which}`);
