// What a query costs, as a count: the same on any machine, however busy it is.

import type pg from 'pg';

type Plan = { 'Actual Rows': number; 'Shared Hit Blocks': number; 'Shared Read Blocks': number };

/**
 * Rows and buffers of a query, those of its functions with them. The lesser of two runs after a first one: catalogs are read once for each
 * connection, and once more whenever other databases of the server have made so many that what this connection knows is reset.
 */
export async function costOf(client: pg.Client, query: string): Promise<{ rows: number; buffers: number }> {
  await client.query(query);
  const runs: { rows: number; buffers: number }[] = [];
  for (let run = 0; run < 2; run++) {
    const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(`explain (analyze, buffers, format json) ${query}`);
    const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
    if (!plan) throw new Error('there is no plan');
    runs.push({ rows: plan['Actual Rows'], buffers: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] });
  }
  return runs.reduce((least, run) => (run.buffers < least.buffers ? run : least));
}
