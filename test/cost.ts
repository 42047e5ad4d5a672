// What a query costs, as a count: the same on any machine, however busy it is.

import type pg from 'pg';

/** The blocks of tables and their indexes that were asked for in this database so far. Those of catalogs are not among them. */
const fetched = `
  select sum(coalesce(heap_blks_read + heap_blks_hit, 0) + coalesce(idx_blks_read + idx_blks_hit, 0)
    + coalesce(toast_blks_read + toast_blks_hit, 0) + coalesce(tidx_blks_read + tidx_blks_hit, 0))::integer as blocks
    from pg_statio_user_tables`;

/**
 * Rows and buffers of a query, those of its functions with them. Not those of catalogs: a connection reads them once, and again whenever other
 * databases of the server have changed so much that it forgets what it knows. Nobody else may work in this database.
 */
export async function costOf(client: pg.Client, query: string): Promise<{ rows: number; buffers: number }> {
  await client.query(query);
  let [rows, buffers] = [0, Infinity];
  // An autovacuum that passes by reads blocks of its own: the least of three counts is the query's.
  for (let n = 0; n < 3; n++) {
    const before = await blocks(client);
    const { rowCount } = await client.query(query);
    [rows, buffers] = [rowCount ?? 0, Math.min(buffers, (await blocks(client)) - before)];
  }
  return { rows, buffers };
}

/** The same of what is done in connections of its own, which are closed by the time that it returns. */
export async function blocksOf(client: pg.Client, look: () => Promise<void>): Promise<number> {
  const before = await blocks(client);
  await look();
  // A server process says what it read when it ends.
  for (;;) {
    const { rows } = await client.query(
      `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
    );
    if (rows.length === 0) return (await blocks(client)) - before;
  }
}

/**
 * Vacuums and analyzes, so that each row is known to be visible to all, as an index-only scan wants it. Vacuum passes over the rows that are newer
 * than a snapshot held elsewhere in this database, as an autovacuum holds one while it analyzes: that one is waited for.
 */
export async function vacuumAll(client: pg.Client): Promise<void> {
  for (;;) {
    const { rowCount } = await client.query(
      `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_xmin is not null`,
    );
    if (rowCount === 0) break;
  }
  await client.query('vacuum analyze');
}

async function blocks(client: pg.Client): Promise<number> {
  await client.query('select pg_stat_force_next_flush()');
  const { rows } = await client.query<{ blocks: number }>(fetched);
  return rows[0]?.blocks ?? 0;
}
