// A ledger with a row in every table, and what its tables hold: for tests of what a dump or an upgrade carries over.

import { readFile } from 'node:fs/promises';

import type pg from 'pg';

type Asked = { query<Row extends pg.QueryResultRow>(sql: string): Promise<Row[]> };

/** Plays test/everyTable.sql, each statement in a transaction of its own. */
export async function fillTables(database: Asked, schema: string): Promise<void> {
  const statements = (await readFile(new URL('everyTable.sql', import.meta.url), 'utf8')).split(/(?<=;)\n(?=select|insert|do)/);
  for (const statement of statements) await database.query(`set search_path to ${schema}, public; ${statement}`);
}

const tablesOf = async (database: Asked, schema: string): Promise<string[]> =>
  (
    await database.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = '${schema}'::regnamespace and relkind = 'r' order by 1`,
    )
  ).map(({ name }) => name);

/** The rows of users, by table. */
export async function rowsOf(database: Asked, schema: string): Promise<Map<string, Record<string, unknown>[]>> {
  const found = new Map<string, Record<string, unknown>[]>();
  for (const table of await tablesOf(database, schema)) {
    const rows = await database.query<{ row: Record<string, unknown> }>(
      `select to_jsonb(t) as row from ${schema}.${table} t where (to_jsonb(t) ->> 'is_builtin') is distinct from 'true' order by t::text`,
    );
    found.set(
      table,
      rows.map(({ row }) => row),
    );
  }
  return found;
}
