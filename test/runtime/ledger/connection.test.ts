import { expect, test } from 'vitest';

import { shownUrl } from '../../../runtime/ledger/address.ts';
import { NoConnection } from '../../../runtime/ledger/connection.ts';
import { PinnedClient } from '../../../runtime/ledger/pinned.ts';

test.each([
  ['postgresql://me:s3cret@db.example:5432/app', 'postgresql://me:***@db.example:5432/app'],
  ['postgres://me:p%40ss@h/app?sslmode=require', 'postgres://me:***@h/app?sslmode=require'],
  ['postgresql://postgres@%2Ftmp%2Frun/work_ledger', 'postgresql://postgres@%2Ftmp%2Frun/work_ledger'],
  ['postgresql://h/app', 'postgresql://h/app'],
])('%s is printed without its password', (url, shown) => {
  expect(shownUrl(url)).toBe(shown);
});

test.each([
  [{ message: 'getaddrinfo ENOTFOUND h', code: 'ENOTFOUND', hostname: 'h' }, 'there is no host h (ENOTFOUND)'],
  [
    { message: 'connect ECONNREFUSED 127.0.0.1:1', code: 'ECONNREFUSED', address: '127.0.0.1', port: 1 },
    'nothing listens at 127.0.0.1:1 (ECONNREFUSED)',
  ],
  [{ message: 'connect ENOENT /run/x', code: 'ENOENT', address: '/run/x' }, 'there is no socket /run/x (ENOENT)'],
  [
    { message: 'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string' },
    'it asks for a password, and none is given (in the address, PGPASSWORD or ~/.pgpass)',
  ],
  [{ message: 'timeout expired' }, 'timeout expired'],
])('what the driver says as %o is a sentence', ({ message, ...more }, said) => {
  expect(new NoConnection('postgresql://h/app', Object.assign(new Error(message), more)).message).toBe(
    `the database postgresql://h/app cannot be reached: ${said}`,
  );
});

test('a connection that is gone can be ended again and again, as a listener does while the server is away', async () => {
  const client = new PinnedClient({ host: '127.0.0.1', port: 9 });
  await expect(client.connect()).rejects.toThrow('ECONNREFUSED');
  for (let i = 0; i < 20; i++) await client.end();
  const { stream } = (client as unknown as { connection: { stream: NodeJS.EventEmitter } }).connection;
  expect(stream.listenerCount('connect')).toBeLessThan(10); // from then on Node warns
});
