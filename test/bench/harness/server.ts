// The server of a question: an embedded PostgreSQL with durable commits that nobody else uses, pgbench for what the server does
// by itself, and the CPU that its backends take, which tells more than the clock where the machine is busy.

import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import pg from 'pg';

import { ensureEmbedded, stopEmbedded } from '../../../runtime/install/embedded.ts';
import { installLedger } from '../../../runtime/install/installLedger.ts';
import { startThrowaway } from '../../../runtime/install/throwaway.ts';
import type { Sample } from './question.ts';

const execute = promisify(execFile);

export type Server = {
  /** A database with a ledger in schema work_ledger. */
  url: string;
  admin: pg.Client;
  /** Another connection to it, ended with the server at the latest. */
  connect: () => Promise<pg.Client>;
  /** Another database, empty or with a ledger of its own; its address. */
  database: (name: string, content: 'empty' | 'ledger') => Promise<string>;
  /** CPU that all backends have taken until now, in microseconds; null where the system does not tell. */
  cpu: () => Promise<number | null>;
  /** Bytes of memory that the largest backend has for itself, without the buffers that all share; null where the system does not tell. */
  memory: () => Promise<number | null>;
  /**
   * Transactions a second, and the CPU of one where a connection has made ten of them; `script` as pgbench reads it; each client's :count
   * begins at 0.
   */
  pgbench: (script: string, options: { clients: number; seconds: number; url: string }) => Promise<Sample>;
};

/** What differs from the server's defaults, the same for all contenders. */
const settings: Record<string, string> = { shared_buffers: '1GB', max_wal_size: '8GB', checkpoint_timeout: '30min', jit: 'off' };

export async function withServer<T>(use: (server: Server) => Promise<T>, own: Record<string, string> = {}): Promise<T> {
  const embedded = await startThrowaway({ isDurable: true });
  const { url, dataDir } = embedded;
  const opened: pg.Client[] = [];
  const connect = async (to: string): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: to });
    client.on('error', () => {});
    opened.push(client);
    await client.connect();
    return client;
  };
  try {
    const first = await connect(url);
    for (const [name, value] of Object.entries({ ...settings, ...own }))
      await first.query(`alter system set ${name} to ${first.escapeLiteral(value)}`);
    await first.end();
    await stopEmbedded(dataDir);
    await ensureEmbedded({ dataDir });
    await installLedger(url, 'work_ledger');
    const admin = await connect(url);
    const postmaster = Number((await readFile(join(dataDir, 'cluster', 'postmaster.pid'), 'utf8')).split('\n')[0]);
    const cpu = (): Promise<number | null> => cpuOf(admin, postmaster);
    const children = async (): Promise<number> =>
      (await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').catch(() => '')).split(' ').length;
    return await use({
      url,
      admin,
      connect: () => connect(url),
      cpu,
      memory: () => memoryOf(admin),
      async database(name, content) {
        await admin.query(`create database ${name}`);
        await admin.query(`alter database ${name} set search_path to work_ledger, public`);
        const address = url.replace(/[^/]*$/, name);
        if (content === 'ledger') await installLedger(address, 'work_ledger');
        return address;
      },
      async pgbench(script, options) {
        const run = async (length: string[]): Promise<{ perSecond: number; transactions: number; cpu: number | null }> => {
          const [before, count] = [await cpu(), await children()];
          const done = await pgbench(options.url, script, options.clients, length);
          for (let n = 0; n < 100 && (await children()) > count; n++) await sleep(10); // its backends are counted when they are gone
          const after = await cpu();
          return { ...done, cpu: before === null || after === null ? null : after - before };
        };
        // Each connection compiles functions and plans anew. How much of that falls to a transaction hangs on how many a busy machine
        // makes, so it is taken off.
        const begun = await run(['-t', '10']);
        const all = await run(['-T', String(options.seconds)]);
        return {
          value: all.perSecond,
          cpu: all.cpu === null || begun.cpu === null ? null : (all.cpu - begun.cpu) / (all.transactions - begun.transactions),
        };
      },
    });
  } finally {
    await Promise.allSettled(opened.map((client) => client.end()));
    await embedded.stop();
  }
}

async function backends(admin: pg.Client): Promise<number[]> {
  const { rows } = await admin.query<{ pid: number }>(
    `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
  );
  return rows.map(({ pid }) => pid);
}

async function memoryOf(admin: pg.Client): Promise<number | null> {
  const held = await Promise.all(
    (await backends(admin)).map(async (pid) => {
      const sizes = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
      return [...sizes.matchAll(/^Private_\w+:\s+(\d+) kB$/gm)].reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0);
    }),
  );
  return Math.max(0, ...held) || null;
}

/** Backends that ended are counted with the postmaster, which waited for them; those that live are asked for one by one. */
async function cpuOf(admin: pg.Client, postmaster: number): Promise<number | null> {
  const tick = 10_000; // microseconds, on every Linux
  const stat = async (pid: number): Promise<number[]> =>
    (await readFile(`/proc/${pid}/stat`, 'utf8'))
      .replace(/^.*\) /, '')
      .split(' ')
      .map(Number);
  try {
    const [, , , , , , , , , , , , , cutime = 0, cstime = 0] = await stat(postmaster);
    const living = await Promise.all(
      (await backends(admin)).map(
        async (pid) => Number((await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => '0')).split(' ')[0]) / 1000,
      ),
    );
    return living.reduce((sum, one) => sum + one, (cutime + cstime) * tick);
  } catch {
    return null;
  }
}

/** pgbench of PATH, or the newest of Debian's; null: there is none on this machine. */
export async function findPgbench(): Promise<string | null> {
  const debian = '/usr/lib/postgresql';
  const versions = await readdir(debian).catch(() => []);
  for (const path of [
    'pgbench',
    ...versions.toSorted((a, b) => Number(b) - Number(a)).map((version) => join(debian, version, 'bin', 'pgbench')),
  ]) {
    if (
      await execute(path, ['--version']).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  return null;
}

async function pgbench(
  url: string,
  script: string,
  clients: number,
  length: readonly string[],
): Promise<{ perSecond: number; transactions: number }> {
  const path = await findPgbench();
  if (path === null) throw new Error('there is no pgbench here');
  const { hostname, username, pathname } = new URL(url);
  const directory = await mkdtemp(join(tmpdir(), 'pgbench-'));
  try {
    const file = join(directory, 'script.sql');
    await writeFile(file, script);
    const { stdout, stderr } = await execute(
      path,
      [
        '-h',
        decodeURIComponent(hostname),
        '-U',
        username,
        '-n',
        '-M',
        'prepared',
        '-D',
        'count=0',
        '-c',
        String(clients),
        '-j',
        String(Math.min(clients, 2)),
        ...length,
        '-f',
        file,
        pathname.slice(1),
      ],
      { env: { ...process.env, PGOPTIONS: '-c search_path=work_ledger,public' } },
    );
    const perSecond = Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1]);
    const transactions = Number(/^number of transactions actually processed: (\d+)/m.exec(stdout)?.[1]);
    if (!(perSecond > 0) || /^number of failed transactions: [1-9]/m.test(stdout)) throw new Error(`pgbench: ${stdout}${stderr}`);
    return { perSecond, transactions };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
