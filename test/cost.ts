// What a query costs, as a count: the same on any machine, however busy it is.

import type pg from 'pg';

type Plan = { 'Actual Rows': number; 'Shared Hit Blocks': number; 'Shared Read Blocks': number };

/** Rows and buffers of a query, those of its functions with them; run twice, since catalogs are read once for each connection. */
export async function costOf(client: pg.Client, query: string): Promise<{ rows: number; buffers: number }> {
  await client.query(query);
  const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(`explain (analyze, buffers, format json) ${query}`);
  const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
  if (!plan) throw new Error('there is no plan');
  return { rows: plan['Actual Rows'], buffers: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] };
}
