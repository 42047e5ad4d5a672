// Addresses that name several servers: the one that is wanted is found by everything that makes connections.

import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import pg from 'pg';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

import { serversOf, shownUrl } from '../../../runtime/ledger/address.ts';
import { NoConnection, withConnection } from '../../../runtime/ledger/connection.ts';
import { openDb } from '../../../runtime/ledger/db.ts';
import { listen } from '../../../runtime/ledger/listener.ts';
import { isConnectionLost } from '../../../runtime/ledger/reachable.ts';
import { Client } from '../../../runtime/ledger/servers.ts';
import { createDatabase } from '../../database.ts';
import type { TestDatabase } from '../../database.ts';
import { until } from '../../workerProcess.ts';

let database: TestDatabase;
/** A server that is frozen: it is connected to, and says nothing. */
const frozen = createServer(() => {});
beforeAll(async () => {
  database = await createDatabase();
  await new Promise<void>((resolve) => frozen.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  frozen.close();
  await database?.drop();
});

/** The test's database behind other servers, which come first. */
const behind = (servers: string, more: string): string => database.url.replace('@', `@${servers},`) + more;
const dead = '127.0.0.1:1';
const stuck = (): string => `127.0.0.1:${(frozen.address() as AddressInfo).port}`;

test.each([
  ['postgresql://h/app', null],
  ['postgresql://me:p%40ss@h:1/app?sslmode=require', null],
  ['/tmp/run app', null],
  ['postgresql://h/app?target_session_attrs=read-write', { wanted: 'read-write', servers: [{ name: 'h', address: 'postgresql://h/app' }] }],
  [
    'postgres://me:p@a:1,b,[::1]:3/app?sslmode=require&target_session_attrs=primary',
    {
      wanted: 'primary',
      servers: [
        { name: 'a:1', address: 'postgres://me:p@a:1/app?sslmode=require' },
        { name: 'b', address: 'postgres://me:p@b/app?sslmode=require' },
        { name: '[::1]:3', address: 'postgres://me:p@[::1]:3/app?sslmode=require' },
      ],
    },
  ],
  [
    'postgresql://me@%2Ftmp%2Frun,h/app',
    {
      wanted: 'any',
      servers: [
        { name: '/tmp/run', address: 'postgresql://me@%2Ftmp%2Frun/app' },
        { name: 'h', address: 'postgresql://me@h/app' },
      ],
    },
  ],
  [
    'postgresql:///app?host=a,b&port=1,2&user=me',
    {
      wanted: 'any',
      servers: [
        { name: 'a:1', address: 'postgresql:///app?user=me&host=a&port=1' },
        { name: 'b:2', address: 'postgresql:///app?user=me&host=b&port=2' },
      ],
    },
  ],
  [
    'postgresql:///app?host=a,b&port=7',
    {
      wanted: 'any',
      servers: [
        { name: 'a:7', address: 'postgresql:///app?host=a&port=7' },
        { name: 'b:7', address: 'postgresql:///app?host=b&port=7' },
      ],
    },
  ],
])('%s names its servers', (address, servers) => {
  expect(serversOf(address)).toEqual(servers);
});

test('an address that wants what there is not is refused', () => {
  expect(() => serversOf('postgresql://a,b/app?target_session_attrs=writable')).toThrow(
    'target_session_attrs of an address is one of any, read-write,',
  );
});

test.each([
  ['is down', () => dead],
  ['is frozen', stuck],
])('where the first server %s, everything that connects finds the next one', async (_, first) => {
  const url = behind(first(), '?target_session_attrs=read-write');
  expect(
    await withConnection({ connectionString: url }, async (client) => (await client.query<{ n: number }>('select 1 as n')).rows),
  ).toEqual([{ n: 1 }]);

  const pool = new pg.Pool({ Client, connectionString: url, max: 2 });
  pool.on('error', () => {});
  expect((await pool.query<{ name: string }>('select current_database() as name')).rows[0]?.name).toBe(
    new URL(database.url).pathname.slice(1),
  );
  await pool.end();

  const db = await openDb(url, 'ledger');
  expect(await db.ask(() => sql.type(z.object({ n: z.number() }))`select 2 as n`)).toEqual([{ n: 2 }]);

  const heard: string[] = [];
  const listener = listen(url, ['servers'], { onNotification: (_channel, payload) => void heard.push(payload) });
  await until(async () => {
    await database.query(`notify servers, 'here'`);
    return heard.length > 0;
  });
  await listener.close();
  await db.close();
});

test('a server that is not what is wanted is named, and waiting may help', async () => {
  const wanting = (attribute: string): Promise<unknown> =>
    withConnection({ connectionString: behind(dead, `?target_session_attrs=${attribute}`) }, async () => 'connected').catch(
      (error: unknown) => error,
    );
  const found = await wanting('standby');
  expect(found).toBeInstanceOf(NoConnection);
  expect((found as Error).message).toMatch(
    /cannot be reached: no server there is a standby: 127\.0\.0\.1:1 connect ECONNREFUSED .*; \/.* is a primary$/,
  );
  expect(isConnectionLost(found)).toBe(true);
  for (const attribute of ['any', 'primary', 'read-write', 'prefer-standby']) expect(await wanting(attribute)).toBe('connected');
  expect(String(await wanting('read-only'))).toContain('takes writes');
});

test('a server that is set to read only is no server for writing', async () => {
  const role = `reads_${new URL(database.url).pathname.slice(1)}`;
  await database.query(`create role ${role} login; alter role ${role} set default_transaction_read_only = on`);
  const as = (attribute: string): Promise<unknown> =>
    withConnection(
      { connectionString: `${database.url.replace('postgres@', `${role}@`)}?target_session_attrs=${attribute}` },
      async () => 'connected',
    ).catch((error: unknown) => error);
  expect(String(await as('read-write'))).toMatch(/no server there takes writes: .* is read-only/);
  expect(await as('read-only')).toBe('connected');
  // Which timeline a server is on, and of which system, is told to everybody.
  const told = await withConnection({ connectionString: database.url.replace('postgres@', `${role}@`) }, (client) =>
    client.query('select pg_walfile_name(pg_current_wal_insert_lsn()), system_identifier from pg_control_system()'),
  );
  expect(told.rowCount).toBe(1);
  await database.query(`drop role ${role}`);
});

test('where every server refuses, waiting does not help', async () => {
  const refused = await withConnection(
    { connectionString: database.url.replace(/@(.*)\/.*$/, '@$1,$1/nowhere') },
    async () => 'connected',
  ).catch((error: unknown) => error);
  expect(String(refused)).toContain('refuses: database "nowhere" does not exist');
  expect(isConnectionLost(refused)).toBe(false);
});

test('an address of several servers is printed without its password', () => {
  expect(shownUrl('postgresql://me:s3cret@a:1,b:2/app?target_session_attrs=read-write')).toBe(
    'postgresql://me:***@a:1,b:2/app?target_session_attrs=read-write',
  );
});
