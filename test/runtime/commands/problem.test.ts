// What a person is told where a server runs but takes no connection now, which is not that it is to be started, or needs too long.

import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';

import { expect, inject, test } from 'vitest';

import { withIo } from '../../../runtime/commands/io.ts';
import { problem } from '../../../runtime/commands/problem.ts';
import { withConnection } from '../../../runtime/ledger/connection.ts';
import { cli } from '../../cli.ts';

/** A server that refuses every connection as PostgreSQL does. */
async function refusing(code: string, says: string): Promise<AsyncDisposable & { url: string }> {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${says}\0\0`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(fields.length + 4);
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => socket.end(Buffer.concat([Buffer.from('E'), length, fields])));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `postgresql://me@127.0.0.1:${(server.address() as AddressInfo).port}/app`,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}

test.each([
  [
    '53300',
    'sorry, too many clients already',
    /cannot be reached: sorry, too many clients already\. It runs, and has no connection left: [^\n]*\n$/,
  ],
  [
    '57P03',
    'the database system is starting up',
    /cannot be reached: the database system is starting up\. It starts, stops or recovers: try again[^\n]*\n$/,
  ],
])('%s', async (code, says, told) => {
  await using server = await refusing(code, says);
  const { code: exit, stderr } = await cli(['list'], { env: { PATH: process.env['PATH'], DATABASE_URL: server.url } });
  expect(stderr).toMatch(told);
  expect(exit).toBe(1);
});

test('a statement that the server stopped for its time', async () => {
  const stopped: unknown = await withConnection({ connectionString: `${inject('serverUrl')}postgres`, statement_timeout: 20 }, (client) =>
    client.query('select pg_sleep(60)').catch((error: unknown) => error),
  );
  const stderr = new PassThrough();
  expect(withIo({ stdin: process.stdin, stdout: stderr, stderr }, () => problem(stopped, 'DATABASE_URL'))).toBe(1);
  stderr.end();
  expect(await text(stderr)).toMatch(/^error: the database stopped a statement after a minute, .*it changed nothing/);
});
