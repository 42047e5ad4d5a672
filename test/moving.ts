// Two servers, the first with what logical replication wants, and ledgers of them for tests that move one to the other.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type pg from 'pg';

import { ensureEmbedded, stopEmbedded } from '../runtime/install/embedded.ts';
import { installLedger } from '../runtime/install/installLedger.ts';
import { startThrowaway } from '../runtime/install/throwaway.ts';
import { withConnection } from '../runtime/ledger/connection.ts';
import { until } from './workerProcess.ts';

const main = fileURLToPath(new URL('../runtime/start.ts', import.meta.url));

/** `url`: of any database. */
export type Server = { url: (database: string) => string; stop: () => Promise<void> };
export type OwnServer = Server & {
  log(): Promise<string>;
  /** From now on it asks this role for its password. */
  askPassword(role: string): Promise<void>;
};

/** One whose ledgers can be moved away. */
export async function startSource(): Promise<OwnServer> {
  const server = await startThrowaway({ isDurable: false });
  await ask(server.url, `alter system set wal_level = 'logical'`);
  await stopEmbedded(server.dataDir);
  await ensureEmbedded({ dataDir: server.dataDir, isDurable: false });
  return serverAt(server);
}

export const startTarget = async (): Promise<OwnServer> => serverAt(await startThrowaway({ isDurable: false }));

const serverAt = ({ url, dataDir, stop }: { url: string; dataDir: string; stop: () => Promise<void> }): OwnServer => ({
  url: (database) => url.replace(/[^/]*$/, database),
  stop,
  log: () => readFile(join(dataDir, 'postgres.log'), 'utf8'),
  async askPassword(role) {
    const rules = join(dataDir, 'cluster', 'pg_hba.conf');
    await writeFile(rules, `local all,replication ${role} scram-sha-256\n${await readFile(rules, 'utf8')}`);
    await ask(url, 'select pg_reload_conf()');
  },
});

export const ask = <Row extends pg.QueryResultRow>(url: string, sql: string, ...values: unknown[]): Promise<Row[]> =>
  withConnection(
    { connectionString: url },
    async (client) => (await client.query<Row>(sql, values.length === 0 ? undefined : values)).rows,
  );

/** A database of the same name on both, with a ledger in schema work_ledger of the first, which the role owns. */
export async function pair(from: Server, to: Server, role = 'postgres'): Promise<{ source: string; target: string }> {
  const name = `move_${randomBytes(4).toString('hex')}`;
  for (const server of [from, to]) {
    await ask(server.url('postgres'), `create database ${name} owner ${role}`);
    await ask(server.url('postgres'), `alter database ${name} set search_path to work_ledger, public`);
  }
  await installLedger(from.url(name), 'work_ledger');
  return { source: from.url(name), target: to.url(name) };
}

export type Ended = { code: number | null; stdout: string; stderr: string };

/** `work-ledger move` in a process of its own. */
export type Move = {
  /** Resolves when it has printed this. */
  says(text: string): Promise<void>;
  kill(): void;
  /** As Ctrl-C does; resolves when it has heard it. */
  interrupt(): Promise<void>;
  ended: Promise<Ended>;
};

export function startMove(source: string, args: readonly string[], failpoints = ''): Move {
  const child = spawn(process.execPath, [main, 'move', '--schema', 'work_ledger', ...args], {
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      DATABASE_URL: source,
      ...(failpoints !== '' && { WORK_LEDGER_FAILPOINTS: failpoints }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const ended = once(child, 'close').then(([code]): Ended => ({ code: code as number | null, stdout, stderr }));
  const says = async (text: string): Promise<void> =>
    void (await until(() => {
      if (stderr.includes(text)) return true;
      if (child.exitCode !== null) throw new Error(`the move ended with ${child.exitCode}: ${stdout}${stderr}`);
      return false;
    }));
  return {
    says,
    async interrupt() {
      child.kill('SIGINT');
      await says('stopping at the next safe point');
    },
    kill: () => void child.kill('SIGKILL'),
    ended,
  };
}

export const moved = (source: string, ...args: string[]): Promise<Ended> => startMove(source, args).ended;

/** Of a ledger: whether it is written, or what it says instead. */
export async function writing(url: string, item: string): Promise<string> {
  return ask(url, `select from work_ledger.ledger_append($1, 'note', 'Written')`, item).then(
    () => 'written',
    (error: unknown) => (error as Error).message.replace(/(to|from) .*:/, '$1 …:'),
  );
}

/** What a move leaves behind while it is not over. */
export async function leftOvers(source: string, target: string): Promise<string[]> {
  const found = [
    ...(await ask<{ name: string }>(
      source,
      `select 'publication' as name from pg_publication union all select 'slot' from pg_replication_slots where database = current_database() union all
      select 'trigger' from pg_trigger where tgname = 'refuse_moved'`,
    )),
    ...(await ask<{ name: string }>(
      target,
      `select 'subscription' as name from pg_subscription where subdbid = (select oid from pg_database where datname = current_database())`,
    )),
  ];
  return [...new Set(found.map(({ name }) => name))];
}

/** What is wrong with a ledger: invariants, chains, code. */
export const faultsOf = async (url: string): Promise<unknown[]> => [
  ...(await ask(url, 'select * from work_ledger.work_ledger_check()')),
  ...(await ask(url, 'select * from work_ledger.ledger_verify()')),
];
