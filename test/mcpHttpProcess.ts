// What answers MCP over HTTP in a process of its own, as a user starts it: `work-ledger mcp --http` or another command.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { until } from './workerProcess.ts';

const main = fileURLToPath(new URL('../runtime/start.ts', import.meta.url));

export type McpHttpProcess = {
  url: URL;
  pid: number;
  /** All that it printed, on both streams. */
  log(): string;
  /** Sends the signal and waits for the end; resolves with the exit code, null after a kill. */
  end(signal: NodeJS.Signals): Promise<number | null>;
};

/** `token`: in its environment; null: it is told where it stands by its `args`. */
export async function startMcpHttp(options: {
  databaseUrl: string;
  token: string | null;
  command?: string[];
  port?: number;
  args?: string[];
}): Promise<McpHttpProcess> {
  const child = spawn(
    process.execPath,
    [main, ...(options.command ?? ['mcp', '--http']), '--port', String(options.port ?? 0), ...(options.args ?? [])],
    {
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        DATABASE_URL: options.databaseUrl,
        ...(options.token !== null && { WORK_LEDGER_MCP_TOKEN: options.token }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let log = '';
  child.stdout.on('data', (chunk) => (log += chunk));
  child.stderr.on('data', (chunk) => (log += chunk));
  const ended = once(child, 'exit') as Promise<[number | null]>;
  const address = await until(() => {
    if (child.exitCode !== null) throw new Error(`the server ended: ${log}`);
    return /^http:\S+$/m.exec(log)?.[0];
  });
  return {
    url: new URL(address),
    pid: child.pid ?? 0,
    log: () => log,
    async end(signal) {
      child.kill(signal);
      const [code] = await ended;
      return code;
    },
  };
}
