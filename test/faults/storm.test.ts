// A small storm in each run: a worker dies at every failpoint, the database breaks in every way that it can; nothing is lost, doubled or
// stuck. The same count finds what a naive program would do to its users.

import { afterAll, beforeAll, expect, test } from 'vitest';

import { points } from '../../runtime/faults/crew.ts';
import { ownSchema, ownServer } from '../../runtime/faults/ground.ts';
import { seed } from '../../runtime/faults/random.ts';
import { isClean, scorecardText } from '../../runtime/faults/scorecard.ts';
import { storm } from '../../runtime/faults/storm.ts';
import type { StormOptions } from '../../runtime/faults/storm.ts';
import { ownWorkload } from '../../runtime/faults/workload.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase({ from: null });
});
afterAll(() => database?.drop());

const options: Omit<StormOptions, 'ground'> = { workload: ownWorkload({ hasCode: false }), seed, kills: 0, databaseFaults: 0, places: 2, leaseSeconds: 3, hasDocker: false, patienceSeconds: 120 };

/** Those that this work comes to. */
const reached = points.filter((name) => !/code|nested/.test(name));

test(`a worker dies at each of ${reached.length} failpoints, the server in each way (SEED=${seed})`, async () => {
  const ground = await ownServer();
  try {
    const card = await storm({
      ...options, ground, kills: reached.length, databaseFaults: 7,
      first: {
        deaths: reached.map((name) => ({ at: `${name}=kill` })),
        faults: [...(['cut_before', 'cut_after', 'drip', 'black_hole'] as const).map((kind) => ({ kind, text: 'turn_record' })), ...(['terminate', 'immediate', 'kill'] as const).map((kind) => ({ kind, text: '' }))],
      },
    });
    console.log(scorecardText(card));
    expect(card).toMatchObject({ lost: [], doubled: [], stuck: [], failed: [], violations: [] });
    expect(card.kills).toBeGreaterThanOrEqual(reached.length);
    expect(Object.keys(card.faults)).toEqual(expect.arrayContaining(['cut_before', 'cut_after', 'drip', 'black_hole', 'terminate', 'immediate', 'kill']));
    expect(card.acknowledged).toBeGreaterThan(0);
  } finally {
    await ground.remove();
  }
});

test('who tells a client before it is recorded is found out', async () => {
  const ground = await ownSchema(database.url);
  const card = await storm({ ...options, ground, databaseFaults: 3, naive: 'acknowledges_early', first: { faults: [1, 2, 3].map(() => ({ kind: 'cut_before', text: 'ledger_append' })) } });
  expect(card.lost.length).toBeGreaterThan(0);
  expect(isClean(card)).toBe(false);
  await ground.remove();
});

test('who runs again what must not run twice is found out', async () => {
  const ground = await ownSchema(database.url);
  const card = await storm({ ...options, ground, kills: 4, naive: 'repeats_unsafe', first: { deaths: [1, 1, 1, 1].map((nth) => ({ at: `after_tool:${nth}=kill` })) } });
  expect(card.doubled.length).toBeGreaterThan(0);
  expect(isClean(card)).toBe(false);
  await ground.remove();
  // And nothing is left where it was played.
  expect(await database.query(`select nspname from pg_namespace where nspname like 'work_ledger%'`)).toEqual([]);
  expect(await database.query(`select identifier from graphile_worker._private_tasks`)).toEqual([]);
});
