// Where Citus distributes the schema, a ledger is not installed, in either form, and nothing is made. Debian has no package of Citus: its
// catalogs are made as its own scripts make them, and nothing else of it is asked.

import { afterEach, beforeEach, expect, test } from 'vitest';

import { installLedger, readyLedger } from '../../../runtime/install/installLedger.ts';
import { installScript } from '../../../runtime/install/installScript.ts';
import { createDatabase } from '../../database.ts';
import type { TestDatabase } from '../../database.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase({ from: null });
  await database.query(`set allow_system_table_mods = on;
    create table pg_catalog.pg_dist_partition (logicalrelid regclass not null, partmethod "char" not null, partkey text, colocationid integer default 0 not null, repmodel "char" default 'c' not null);
    create table pg_catalog.pg_dist_schema (schemaid oid not null primary key, colocationid integer not null unique)`);
});
afterEach(() => database.drop());

const says = (what: string): { code: string; message: string } => ({
  code: '0A000',
  message: `${what} distributed by Citus, which rejects queries of an iteration and leaves shards without the triggers of an append-only ledger: use a schema that is not distributed, and other servers for other ledgers`,
});
const schemas = async (): Promise<string[]> =>
  (await database.query<{ name: string }>(`select nspname as name from pg_namespace where nspname !~ '^(pg_|information)' order by 1`)).map(
    ({ name }) => name,
  );

test('a schema that is distributed, or has a table that is', async () => {
  await database.query(`create schema spread; create schema mixed; create table mixed.theirs (id integer);
    insert into pg_dist_schema values ('spread'::regnamespace, 1); insert into pg_dist_partition values ('mixed.theirs', 'h', 'id')`);
  for (const schema of ['spread', 'mixed']) {
    for (const begin of [installLedger, readyLedger])
      await expect(begin(database.url, schema)).rejects.toMatchObject(says(`schema "${schema}" is`));
    await expect(database.query((await installScript(null, schema, null)) ?? '')).rejects.toMatchObject(says(`schema "${schema}" is`));
    await expect(database.query(`create extension work_ledger schema ${schema}`)).rejects.toMatchObject(says(`schema "${schema}" is`));
  }
  expect(await schemas()).toEqual(['mixed', 'public', 'spread']);
  expect(await installLedger(database.url, 'beside')).toMatchObject({ changed: true });
});

test("where every new schema is distributed, before graphile-worker's is made", async () => {
  await database.query(
    `do $$ begin execute format('alter database %I set citus.enable_schema_based_sharding = on', current_database()); end $$`,
  );
  await expect(installLedger(database.url, 'ledger')).rejects.toMatchObject(says('new schemas are'));
  expect(await schemas()).toEqual(['public']);
});

test('a ledger whose tables were distributed later is not upgraded', async () => {
  await installLedger(database.url, 'ledger');
  await database.query(`insert into pg_dist_partition values ('ledger.turns', 'h', 'id')`);
  await expect(installLedger(database.url, 'ledger')).rejects.toMatchObject(says('schema "ledger" is'));
  await database.query('delete from pg_dist_partition');
  expect(await installLedger(database.url, 'ledger')).toMatchObject({ changed: false });
});
