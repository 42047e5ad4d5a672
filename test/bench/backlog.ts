// Does a backlog slow down what is done with it? A claim, a submit, a sweep, and a worker that takes one trivial item after the other.

import type pg from 'pg';

import { against, lineOf, timed } from './harness/question.ts';
import type { Line, Question } from './harness/question.ts';
import { startModel } from './harness/model.ts';
import { withServer } from './harness/server.ts';
import { openWorker, saveFaculty } from './peers/workLedger.ts';

export const backlog: Question = {
  asks: 'Does a backlog slow down what is done with it?',
  axis: 'items that wait',
  measure: ({ quick, say }) =>
    withServer(async ({ url, admin }) => {
      await admin.query(`select ability_register('look', 'Looks.', '{"type": "object"}', 'pure', 'safe')`);
      await saveFaculty(url);
      const lines: Line[] = [];
      const add = (line: Line): void => {
        const first = lines.find(({ name, unit }) => name === line.name && unit === line.unit);
        lines.push(first ? against(line, { ...first, name: `that at ${first.at}` }) : line);
      };
      for (const size of quick ? [100, 1000, 3000] : [1000, 10_000, 100_000]) {
        await submitUntil(admin, size);
        say(`backlog: ${size}`);
        const [count, warm] = quick ? [20, 10] : [60, 10]; // the first ones plan
        const submits: number[] = [];
        for (let n = 0; n < count; n++) submits.push(await timed(() => admin.query(`select from work_submit('bench', 'Look 0 times')`)));
        add(lineOf('work_submit', 'ms', submits.slice(warm), size));
        const { rows } = await admin.query<{ id: string }>(
          `select id from work_items where state = 'queued' order by md5(id::text) limit $1`,
          [count],
        );
        const claims: number[] = [];
        for (const { id } of rows) {
          await admin.query('begin');
          claims.push(await timed(() => admin.query(`select focus_claim($1, 'bench', 3600)`, [id])));
          await admin.query('rollback');
        }
        add(lineOf('focus_claim', 'ms', claims.slice(warm), size));
        const sweep = await explained(admin, 'select work_sweep()');
        add(lineOf('work_sweep', 'ms', [sweep.ms], size));
        add(lineOf('work_sweep', 'buffers', [sweep.buffers], size));
        add(lineOf('a worker, from item to item', 'ms', await workThrough(url, quick ? 10 : 100), size));
      }
      return lines.toSorted((a, b) => a.unit.localeCompare(b.unit) || a.name.localeCompare(b.name));
    }),
};

async function submitUntil(admin: pg.Client, size: number): Promise<void> {
  const waiting = async (): Promise<number> =>
    Number((await admin.query<{ n: string }>(`select count(*) as n from work_items where state = 'queued'`)).rows[0]?.n);
  for (let n = await waiting(); n < size; n += 1000)
    await admin.query(`select count(work_submit('bench', 'Look 0 times')) from generate_series(1, $1::integer)`, [
      Math.min(1000, size - n),
    ]);
  await admin.query('vacuum analyze');
}

export async function explained(admin: pg.Client, query: string, values: unknown[] = []): Promise<{ ms: number; buffers: number }> {
  type Plan = { 'Actual Total Time': number; 'Shared Hit Blocks': number; 'Shared Read Blocks': number };
  const explain = async (): Promise<Plan | undefined> =>
    (await admin.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(`explain (analyze, buffers, format json) ${query}`, values)).rows[0]?.[
      'QUERY PLAN'
    ][0]?.Plan;
  await explain(); // catalogs are read once for each connection
  const plan = await explain();
  if (!plan) throw new Error(`there is no plan of ${query}`);
  return { ms: plan['Actual Total Time'], buffers: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] };
}

/** Milliseconds between the ends of items, when one worker takes them one by one. */
async function workThrough(url: string, count: number): Promise<number[]> {
  const model = await startModel();
  const worker = await openWorker(url, model);
  try {
    await worker.ends(5); // connections, plans
    const times: number[] = [];
    for (let n = 0; n < count; n++) times.push(await timed(() => worker.ends(1)));
    return times;
  } finally {
    await worker.close();
    await model.close();
  }
}
