// PgBouncer in transaction mode, from Debian's package, before one database that clients call "app".

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { withConnection } from '../runtime/ledger/connection.ts';
import { until } from './workerProcess.ts';

const program = '/usr/sbin/pgbouncer';

/** Null: it can be started here; else why not. */
export const noPooler: string | null = !existsSync(program) ? `there is no ${program} (apt-get install pgbouncer)` : !existsSync('/usr/bin/psql') ? 'there is no psql (apt-get install postgresql-client)' : null;

export type Pooler = {
  /** What clients connect to. */
  url: string;
  /** A shell command that tells it something. */
  admin(command: string): string;
  /** A shell command that makes it lead to another database from now on. */
  switchTo(database: string): string;
  stop(): Promise<void>;
};

export async function startPooler(database: string): Promise<Pooler> {
  const directory = await mkdtemp(join(tmpdir(), 'wl-pooler-'));
  await chmod(directory, 0o755);
  const [ini, port] = [join(directory, 'pgbouncer.ini'), 20_000 + Math.floor(Math.random() * 20_000)];
  const placeOf = (url: string): string => `host=${decodeURIComponent(new URL(url).hostname)} dbname=${new URL(url).pathname.slice(1)}`;
  await writeFile(ini, `[databases]
app = ${placeOf(database)} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
admin_users = postgres
pool_mode = transaction
ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout,extra_float_digits
logfile = ${join(directory, 'log')}
`);
  const [, , uid = '', gid = ''] = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':')).find(([name]) => name === 'postgres') ?? [];
  const isRoot = process.getuid?.() === 0; // as which it does not run
  if (isRoot) for (const path of [directory, ini]) await chown(path, Number(uid), Number(gid));
  const child = spawn(program, [ini], { cwd: '/', stdio: 'ignore', ...(isRoot && { uid: Number(uid), gid: Number(gid) }) });
  const url = `postgresql://postgres@127.0.0.1:${port}/app`;
  await until(() => {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}`);
    return withConnection({ connectionString: url }, async () => true).catch(() => false);
  });
  const admin = (command: string): string => `psql -qX -v ON_ERROR_STOP=1 '${url.replace(/app$/, 'pgbouncer')}' -c '${command}'`;
  return {
    url, admin,
    switchTo: (other) => `sed -i 's|^app = .*|app = ${placeOf(other)} user=postgres|' '${ini}' && ${admin('RELOAD')}`,
    async stop() {
      child.kill('SIGKILL');
      if (child.exitCode === null) await once(child, 'exit');
      await rm(directory, { recursive: true, force: true });
    },
  };
}
