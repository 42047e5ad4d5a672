// Which of its connections a call gets.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import pg from 'pg';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { z } from 'zod';

import { NoConnection } from '../../../runtime/ledger/connection.ts';
import { openDb } from '../../../runtime/ledger/db.ts';
import type { Db } from '../../../runtime/ledger/db.ts';
import { openPool } from '../../../runtime/ledger/pool.ts';
import { createDatabase } from '../../database.ts';
import type { TestDatabase } from '../../database.ts';
import { until } from '../../workerProcess.ts';

const execute = promisify(execFile);
const SIZE = 3;
let database: TestDatabase;
let db: Db;

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger', { maximumPoolSize: SIZE });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const pid = sql.type(z.object({ pid: z.number() }))`select pg_backend_pid() as pid`;
const answering = async (): Promise<number> => (await db.ask(() => pid))[0]?.pid ?? 0;
const atOnce = (calls: number): Promise<number[]> => Promise.all(Array.from({ length: calls }, answering));
async function inARow(calls: number): Promise<number[]> {
  const pids: number[] = [];
  for (let n = 0; n < calls; n++) pids.push(await answering());
  return pids;
}

test('what was opened to look at the ledger is the first connection, and none stays open where nobody asks anything', async () => {
  const others = async (): Promise<number> =>
    (
      await database.query(
        `select from pg_stat_activity where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
      )
    ).length;
  const before = await others();
  const opened = await openDb(database.url, 'ledger', { maximumPoolSize: SIZE });
  expect(await others()).toBe(before + 1);
  await opened.close();
  await until(async () => (await others()) === before, 60);
  await expect(openDb(database.url, 'none', { maximumPoolSize: SIZE })).rejects.toThrow('there is no ledger in schema "none"');
  await until(async () => (await others()) === before, 60);
});

test('what was asked before it is closed is answered, also what waits for a connection; what is asked later is refused', async () => {
  const opened = await openDb(database.url, 'ledger', { maximumPoolSize: 2 });
  const asked = Array.from({ length: 20 }, () => opened.ask(() => pid));
  const closed = opened.close();
  await expect(opened.ask(() => pid)).rejects.toThrow('Connection pool is closed');
  expect((await Promise.all(asked)).flat()).toHaveLength(20);
  await closed;
  await opened.close();
});

test('a pool that loses its server while it closes refuses what waits, instead of trying it call by call', async () => {
  const opened = await openDb(database.url, 'ledger', { maximumPoolSize: 1 });
  const sleeping = sql.type(z.object({}))`select from pg_sleep(600)`;
  const asked = [opened.ask(() => sleeping), ...Array.from({ length: 3 }, () => opened.ask(() => sleeping))];
  const settled = Promise.allSettled(asked);
  await until(async () => (await database.query(`select from pg_stat_activity where query ~ '^select from pg_sleep'`)).length === 1);
  const closed = opened.close();
  await database.query(`select pg_terminate_backend(pid) from pg_stat_activity where query ~ '^select from pg_sleep'`);
  await closed;
  const [lost, ...refused] = (await settled).map((one) => String(one.status === 'rejected' && one.reason));
  expect(lost).not.toContain('Connection pool is closed');
  expect(refused).toEqual(refused.map(() => expect.stringContaining('Connection pool is closed')));
});

test('a pool whose server does not answer closes all the same', async () => {
  const opened = await openDb(database.url, 'ledger', { maximumPoolSize: 1 });
  const sleeping = sql.type(z.object({}))`select from pg_sleep(900)`;
  const settled = Promise.allSettled(Array.from({ length: 3 }, () => opened.ask(() => sleeping)));
  await opened.close();
  expect((await settled).slice(1)).toEqual(Array.from({ length: 2 }, () => expect.objectContaining({ status: 'rejected' })));
});

test('the connection that looked may be lost before anything is asked', async () => {
  const opened = await openDb(database.url, 'ledger', { maximumPoolSize: SIZE });
  try {
    await database.query(
      `select pg_terminate_backend(pid, 60000) from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
    );
    expect(await opened.ask(() => pid), 'which is never repeated').toHaveLength(1);
  } finally {
    await opened.close();
  }
});

test('a program that opened a ledger and asks nothing ends', async () => {
  const open = new URL('../../../runtime/ledger/db.ts', import.meta.url).href;
  const program = `const { openDb } = await import('${open}'); await openDb('${database.url}', 'ledger'); console.log('opened');`;
  const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', program], { timeout: 120_000 });
  expect(stdout).toBe('opened\n');
});

test('calls in a row go through one connection, and no other is opened for them', async () => {
  expect(new Set(await inARow(10)).size).toBe(1);
  expect(
    await database.query(
      `select from pg_stat_activity where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
    ),
  ).toHaveLength(1);
});

test('calls at once get one each, as many as there are, and the others wait; then the one that was used last is taken', async () => {
  expect(new Set(await atOnce(3 * SIZE)).size).toBe(SIZE);
  expect(new Set(await inARow(5)).size).toBe(1);
});

test('while the server takes no new connections, calls go through those that there are', async () => {
  const admin = new pg.Client({ connectionString: `${inject('serverUrl')}postgres` });
  await admin.connect();
  const name = new URL(database.url).pathname.slice(1);
  const allows = (isAllowed: boolean): Promise<unknown> => admin.query(`alter database ${name} allow_connections ${isAllowed}`);
  await atOnce(SIZE);
  const [last = 0] = await inARow(1);
  await database.query('select'); // its own connection, before
  await allows(false);
  try {
    await admin.query('select pg_terminate_backend($1)', [last]);
    expect(await db.workItem('00000000-0000-7000-8000-000000000000')).toBe(null);
    expect((await inARow(5)).includes(last)).toBe(false);
  } finally {
    await allows(true);
    await admin.end();
  }
  expect(new Set(await atOnce(SIZE)).size).toBe(SIZE);
});

test('a server that stays away is named, as where it was away from the beginning', async () => {
  const { calls, close } = await openPool('postgresql://127.0.0.1:9/app', 'ledger', 1, { patienceMs: 0 });
  try {
    for (const by of [calls, calls.once]) {
      const error = await by.call('work_ledger_version', [], z.string()).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(NoConnection);
      expect(error).toMatchObject({
        message: 'the database postgresql://127.0.0.1:9/app cannot be reached: nothing listens at 127.0.0.1:9 (ECONNREFUSED)',
      });
    }
  } finally {
    await close();
  }
});
