// Debian's PgBouncer before the server of the run, in transaction mode: each transaction of a client may be in another backend.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { until } from './workerProcess.ts';

const program = '/usr/sbin/pgbouncer';

/** Why it cannot be started here; null: it can, or must. */
export const noPgbouncer: string | null =
  existsSync(program) || process.env['CI'] ? null : `there is no ${program} (apt-get install pgbouncer)`;
if (noPgbouncer !== null) console.log(`Tests behind a pooler are skipped: ${noPgbouncer}`);

export type Pgbouncer = {
  /** The address of a database of the server, by the pooler. */
  through(url: string): string;
  /** A shell command that tells it something, for instance PAUSE. */
  tell(command: string): string;
  /** A shell command that makes it lead to another database from now on, of another server, too, where clients ask for one of that name. */
  lead(name: string, to: string): string;
  log(): Promise<string>;
  stop(): Promise<void>;
};

/** `url`: any database of the server. `poolSize`: how many connections to a database its clients share. */
export async function startPgbouncer(url: string, options: { poolSize: number; mode?: 'transaction' | 'session' }): Promise<Pgbouncer> {
  const socketDir = decodeURIComponent(new URL(url).hostname);
  const directory = await mkdtemp(join(tmpdir(), 'wl-pgbouncer-'));
  const { uid, gid } = await stat(join(socketDir, '.s.PGSQL.5432'));
  const port = await freePort();
  const ini = join(directory, 'pgbouncer.ini');
  await writeFile(
    ini,
    `[databases]
* = host=${socketDir} port=5432 user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
admin_users = postgres
pool_mode = ${options.mode ?? 'transaction'}
default_pool_size = ${options.poolSize}
max_client_conn = 500
logfile = ${join(directory, 'log')}
`,
  );
  for (const path of [directory, ini]) await chown(path, uid, gid);
  const child = spawn(program, ['-q', ini], { cwd: '/', stdio: 'ignore', ...(process.getuid?.() === 0 && { uid, gid }) });
  const log = (): Promise<string> => readFile(join(directory, 'log'), 'utf8').catch(() => '');
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${await log()}`);
    return answers(port);
  });
  const at = (database: string): string => `postgresql://postgres@127.0.0.1:${port}/${database}`;
  const tell = (command: string): string => `psql -qX -v ON_ERROR_STOP=1 '${at('pgbouncer')}' -c '${command}'`;
  return {
    through: (to) => at(new URL(to).pathname.slice(1)),
    log,
    tell,
    lead: (name, to) =>
      `sed -i -e '/^${name} = /d' -e '1a ${name} = host=${decodeURIComponent(new URL(to).hostname)} dbname=${new URL(to).pathname.slice(1)} user=postgres' '${ini}' && ${tell('RELOAD')}`,
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket
      .once('connect', () => resolve(true))
      .once('error', () => resolve(false))
      .once('close', () => socket.destroy());
    socket.once('connect', () => socket.end());
  });
