// A long conversation: what the next iteration, an old request, a replay, a fork and a compaction cost with 100, 1,000 and 2,000 turns.

import type pg from 'pg';

import { openDrive } from './harness/drive.ts';
import type { Drive } from './harness/drive.ts';
import { against, lineOf } from './harness/question.ts';
import type { Line, Question } from './harness/question.ts';
import { withServer } from './harness/server.ts';

export const turns: Question = {
  asks: 'What does a long conversation cost?',
  axis: 'turns',
  measure: ({ quick, say }) =>
    withServer(async ({ admin }) => {
      const driven = await openDrive(admin, {});
      const sizes = quick ? [40, 80, 160] : [100, 1000, 2000];
      const lines: Line[] = [];
      let n = 0;
      for (const size of sizes) {
        await driven.drive(n, size);
        n = size;
        await admin.query('vacuum analyze');
        say(`turns: ${size}`);
        for (const [name, sample] of Object.entries(samples(admin, driven, size))) {
          const values: number[] = [];
          const isLong = name.startsWith('context_replay');
          for (let round = 0; round < (isLong ? 2 : quick ? 9 : 20); round++) values.push(await undone(admin, sample));
          const line = lineOf(name, 'ms', values.slice(isLong ? 1 : 6), size); // the first ones plan
          const first = lines.find((one) => one.name === name);
          lines.push(first ? against(line, { ...first, name: `that at ${first.at}` }) : line);
        }
      }
      return lines.toSorted((a, b) => a.name.localeCompare(b.name));
    }),
};

/** What it takes, and afterwards nothing has happened. */
async function undone(admin: pg.Client, sample: () => Promise<number>): Promise<number> {
  await admin.query('begin');
  try {
    return await sample();
  } finally {
    await admin.query('rollback');
  }
}

function samples(admin: pg.Client, { item, claim, begin }: Drive, size: number): Record<string, () => Promise<number>> {
  const ms = async (sql: string, values: unknown[] = []): Promise<number> => {
    const startedAt = performance.now();
    await admin.query(sql, values);
    return performance.now() - startedAt;
  };
  const turnAt = async (iteration: number): Promise<string> =>
    (
      await admin.query<{ id: string }>(`select id from turns where work_item_id = $1 and iteration = $2 and turn_type = 'normal'`, [
        item,
        iteration,
      ])
    ).rows[0]?.id ?? '';
  return {
    iteration_begin: async () => (await begin(await claim())).ms,
    'context_at, the newest turn': async () => ms('select context_at($1)', [await turnAt(size)]),
    'context_at, the turn in the middle': async () => ms('select context_at($1)', [await turnAt(size / 2)]),
    'context_replay, a turn': async () => (await ms('select * from context_replay($1)', [item])) / size,
    'work_fork, until its first request': async () => {
      const turn = await turnAt(size - 1);
      const startedAt = performance.now();
      const {
        rows: [fork],
      } = await admin.query<{ id: string }>('select id from work_fork($1)', [turn]);
      const {
        rows: [claimed],
      } = await admin.query<{ lease: string }>(`select focus_claim($1, 'bench', 3600) ->> 'lease' as lease`, [fork?.id]);
      await admin.query('select iteration_begin($1, $2)', [fork?.id, claimed?.lease]);
      return performance.now() - startedAt;
    },
    'iteration_begin that compacts': async () => {
      await admin.query('select context_compact($1)', [item]);
      return (await begin(await claim())).ms;
    },
  };
}
