// A small storm in each run: a worker dies at every failpoint, the database breaks in every way that it can; nothing is lost, doubled or
// stuck. The same count finds what a naive program would do to its users.

import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { seed } from '../random.ts';
import { points } from './crew.ts';
import { ownSchema, ownServer } from './ground.ts';
import { isClean, scorecardText } from './scorecard.ts';
import type { Scorecard } from './scorecard.ts';
import { storm } from './storm.ts';
import type { StormOptions } from './storm.ts';
import { ownWorkload } from './workload.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase({ from: null });
});
afterAll(() => database?.drop());

const options: Omit<StormOptions, 'ground'> = {
  workload: ownWorkload({ hasCode: false }),
  seed,
  kills: 0,
  databaseFaults: 0,
  places: 2,
  leaseSeconds: 3,
  hasDocker: false,
  patienceSeconds: 120,
};

/** Those that this work comes to. */
const reached = points.filter((name) => !/code|nested/.test(name));

test(`a worker dies at each of ${reached.length} failpoints, the server in each way (SEED=${seed})`, async () => {
  const ground = await ownServer();
  try {
    const card = await storm({
      ...options,
      ground,
      kills: reached.length,
      databaseFaults: 7,
      first: {
        deaths: reached.map((name) => ({ at: `${name}=kill` })),
        faults: [
          ...(['cut_before', 'cut_after', 'drip', 'black_hole'] as const).map((kind) => ({ kind, text: 'iteration_step' })),
          ...(['terminate', 'immediate', 'kill'] as const).map((kind) => ({ kind, text: '' })),
        ],
      },
    });
    console.log(scorecardText(card));
    expect(card).toMatchObject({ lost: [], doubled: [], stuck: [], failed: [], violations: [] });
    expect(card.kills).toBeGreaterThanOrEqual(reached.length);
    expect(Object.keys(card.faults)).toEqual(
      expect.arrayContaining(['cut_before', 'cut_after', 'drip', 'black_hole', 'terminate', 'immediate', 'kill']),
    );
    expect(card.acknowledged).toBeGreaterThan(0);
  } finally {
    await ground.remove();
  }
});

test('who tells a client before it is recorded is found out', async () => {
  const ground = await ownSchema(database.url);
  const card = await storm({
    ...options,
    ground,
    databaseFaults: 3,
    naive: 'acknowledges_early',
    first: { faults: [1, 2, 3].map(() => ({ kind: 'cut_before', text: `ledger_append($1, 'note'` })) },
  });
  expect(card.lost.length).toBeGreaterThan(0);
  expect(isClean(card)).toBe(false);
  await ground.remove();
});

test('who runs again what must not run twice is found out', async () => {
  const ground = await ownSchema(database.url);
  const card = await storm({
    ...options,
    ground,
    kills: 4,
    naive: 'repeats_unsafe',
    first: { deaths: [1, 1, 1, 1].map((nth) => ({ at: `after_tool:${nth}=kill` })) },
  });
  expect(card.doubled.length).toBeGreaterThan(0);
  expect(isClean(card)).toBe(false);
  await ground.remove();
  // And nothing is left where it was played.
  expect(await database.query(`select nspname from pg_namespace where nspname like 'work_ledger%'`)).toEqual([]);
  expect(await database.query(`select identifier from graphile_worker._private_tasks`)).toEqual([]);
});

test('it ends no connections but those of its own workers', async () => {
  const ground = await ownSchema(database.url);
  const { hostname, pathname } = new URL(database.url);
  const worker = new URL(ground.behind(1)).searchParams.get('application_name');
  const clients = [null, worker].map(
    (name) =>
      new pg.Client({
        connectionString: `postgresql://postgres@${hostname}${pathname}${name === null ? '' : `?application_name=${name}`}`,
      }),
  );
  for (const client of clients) client.on('error', () => {});
  await Promise.all(clients.map((client) => client.connect()));
  await ground.terminate();
  const [other, own] = clients;
  await expect(other?.query('select 1')).resolves.toMatchObject({ rowCount: 1 });
  await expect(own?.query('select 1')).rejects.toThrow();
  await other?.end();
  await ground.remove();
});

test('the scorecard says what was found', () => {
  const clean: Scorecard = {
    seed: 7,
    seconds: 65.2,
    items: 20,
    completed: 20,
    iterations: 160,
    kills: 6,
    freezes: 1,
    faults: { cut_after: 1, kill: 1 },
    acknowledged: 349,
    effects: 370,
    lost: [],
    doubled: [],
    uncertain: 5,
    uncertainHappened: 4,
    stuck: [],
    failed: [],
    violations: [],
  };
  expect(isClean(clean)).toBe(true);
  expect(scorecardText(clean)).toMatch(
    /^seed 7, 65 s: 20 of 20 work items completed, 160 iterations\nkills +6 +and 1 processes frozen.*\nfaults +2 +cut after 1, kill 1\nacknowledged +349 .*\neffects +370 .*\nlost +0\ndoubled +0\nuncertain +5 .*4 of them had begun\nstuck +0\nfailed +0\nviolations +0 /,
  );
  for (const list of ['lost', 'doubled', 'stuck', 'failed', 'violations'] as const) {
    expect(isClean({ ...clean, [list]: ['this one'] })).toBe(false);
    expect(scorecardText({ ...clean, [list]: ['this one'] })).toMatch(new RegExp(`\n${list} +1.*\n {4}this one`));
  }
});
