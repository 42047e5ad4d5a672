// What labels the volumes of a ledger's work: the same for everybody who works with it, and another one for every other ledger.

import { expect, test } from 'vitest';

import { installLedger } from '../../runtime/install/installLedger.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import { createDatabase } from '../database.ts';

test('a ledger is known by its server, its database and its schema, to whatever role', async () => {
  const [one, other] = [await createDatabase(), await createDatabase()];
  await installLedger(one.url, 'beside');
  const role = `somebody_${process.pid}`;
  await one.query(
    `create role ${role} login; grant usage on schema ledger to ${role}; grant execute on all functions in schema ledger to ${role}`,
  );
  const idOf = async (url: string, schema = 'ledger'): Promise<string> => {
    const db = await openDb(url, schema);
    try {
      return await db.ledgerId();
    } finally {
      await db.close();
    }
  };
  const as = one.url.replace('postgres@', `${role}@`);
  const own = await idOf(one.url);
  expect(own).toMatch(/^[0-9a-f]{16}$/);
  expect(await idOf(as)).toBe(own);
  expect(new Set([own, await idOf(one.url, 'beside'), await idOf(other.url)]).size).toBe(3);
  // Where the server keeps its identity to itself.
  await one.query('revoke execute on function pg_control_system() from public');
  expect(await idOf(as)).not.toBe(own);
  await one.query('grant execute on function pg_control_system() to public');
  await one.query(`revoke all on schema ledger from ${role}; revoke all on all functions in schema ledger from ${role}; drop role ${role}`);
  await one.drop();
  await other.drop();
});
