// What a person is told where a server runs but takes no connection now: not that it is to be started.

import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import { expect, test } from 'vitest';

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
