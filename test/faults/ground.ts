// Where faults are played: a ledger that was made for them and goes with them. In a schema of its own on a server that others use, too,
// or on a server of its own, which can also be crashed.

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { NetConnectOpts } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { isAlive } from '../../sandbox/isAlive.ts';
import { ensureEmbedded } from '../../runtime/install/embedded.ts';
import { installLedger } from '../../runtime/install/installLedger.ts';
import { makeScratch } from '../../runtime/install/scratchLedger.ts';
import { startThrowaway } from '../../runtime/install/throwaway.ts';
import { withConnection } from '../../runtime/ledger/connection.ts';

export type Ground = {
  url: string;
  schema: string;
  /**
   * Where a proxy connects to (each time anew: it may change), and the address of the database behind a proxy on that port, for the
   * workers.
   */
  server: NetConnectOpts;
  behind(port: number): string;
  /** Ends every connection of the workers. */
  terminate(): Promise<void>;
  /**
   * The server dies and comes back: at once as on "pg_ctl stop -m immediate", or by SIGKILL to all its processes. Null: others use it, too.
   */
  crash: ((how: 'immediate' | 'kill') => Promise<void>) | null;
  remove(): Promise<void>;
};

/** Of the connections of workers, and of no others. */
export const marker = `work-ledger-faults-${randomBytes(4).toString('hex')}`;

export const terminate = (url: string) => (): Promise<void> =>
  withConnection({ connectionString: url }, async (client) => {
    await client.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and pid <> pg_backend_pid()', [
      marker,
    ]);
  });

/** As durable as one of a user. */
export async function ownServer(): Promise<Ground> {
  const { url, dataDir, stop } = await startThrowaway({ isDurable: true });
  const schema = 'work_ledger';
  await installLedger(url, schema);
  return {
    url,
    schema,
    server: { path: socketOf(url) },
    behind: (port) => `postgresql://postgres@127.0.0.1:${port}/work_ledger?application_name=${marker}`,
    terminate: terminate(url),
    crash: async (how) => {
      await crash(dataDir, how);
      await ensureEmbedded({ dataDir, isDurable: true });
    },
    remove: stop,
  };
}

/** The socket of an embedded server. */
export const socketOf = (url: string): string => join(decodeURIComponent(new URL(url).hostname), '.s.PGSQL.5432');

/** Resolves when none of its processes is left. */
export async function crash(dataDir: string, how: 'immediate' | 'kill'): Promise<void> {
  const pid = Number((await readFile(join(dataDir, 'cluster', 'postmaster.pid'), 'utf8')).split('\n')[0]);
  if (isAlive(pid) && how === 'kill') process.kill(pid, 'SIGSTOP'); // from here on it has no more children than are listed
  const children =
    how === 'immediate'
      ? []
      : (await promisify(execFile)('pgrep', ['-P', String(pid)]).catch(() => ({ stdout: '' }))).stdout
          .split('\n')
          .filter(Boolean)
          .map(Number);
  if (isAlive(pid)) process.kill(pid, how === 'immediate' ? 'SIGQUIT' : 'SIGKILL');
  for (const child of children) if (isAlive(child)) process.kill(child, 'SIGKILL');
  for (const one of [pid, ...children]) while (await isRunning(one)) await sleep(50);
}

/** A zombie, which nobody reaps in some containers, does not run. */
const isRunning = async (pid: number): Promise<boolean> =>
  isAlive(pid) && !/^\d+ \(.*\) Z /.test(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''));

/** A schema in a database that is there. */
export async function ownSchema(url: string): Promise<Ground> {
  const address = new URL(url);
  const host = decodeURIComponent(address.hostname || 'localhost');
  const scratch = await makeScratch(url);
  return {
    url,
    schema: scratch.schema,
    remove: () => scratch.remove(),
    server: host.startsWith('/') ? { path: join(host, `.s.PGSQL.${address.port || 5432}`) } : { host, port: Number(address.port || 5432) },
    behind: (port) => {
      const through = new URL(url);
      through.hostname = '127.0.0.1';
      through.port = String(port);
      through.searchParams.set('application_name', marker);
      return through.href;
    },
    terminate: terminate(url),
    crash: null,
  };
}
