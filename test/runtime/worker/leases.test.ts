// The worker's side of a lease: it stops by itself before anybody else may start.

import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { openDb } from '../../../runtime/ledger/db.ts';
import type { Db } from '../../../runtime/ledger/db.ts';
import { Leases } from '../../../runtime/worker/leases.ts';
import { createDatabase } from '../../database.ts';
import type { TestDatabase } from '../../database.ts';
import { until } from '../../workerProcess.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const leasesOf = (of: Db, leaseSeconds: number): Leases =>
  new Leases({
    db: of,
    workerId: 'worker',
    treeId: null,
    project: null,
    concurrency: 2,
    leaseSeconds,
    host: 'here',
    daemon: () => null,
    isAtWork: () => true,
    log: pino({ level: 'silent' }),
  });

/** A worker's leases, and one of them. */
async function holding(leaseSeconds: number) {
  await db.facultySave({ name: 'talker', accepts: ['talk'] });
  const item = await db.workSubmit({ workType: 'talk', description: 'x' });
  const leases = leasesOf(db, leaseSeconds);
  await leases.start();
  const claim = await db.focusClaim(item.id, leases.workerId, 3600);
  if (claim.kind !== 'claimed') throw new Error(claim.kind);
  return { item, leases, claim, held: leases.hold(claim, performance.now()) };
}

test('a lease that was taken away is noticed by the next renewal, though nobody said so', async () => {
  const { item, leases, held } = await holding(3600);
  await leases.check();
  expect(held.signal.aborted).toBe(false);
  await db.workMessage(item.id, 'Stop', true);
  await leases.check();
  expect(held.signal.reason).toBe('lost');
  held.drop();
  leases.stop();
});

test('a lease that was lost unheard stops its work when the same worker takes the next one', async () => {
  const { item, leases, held } = await holding(3600);
  await db.workMessage(item.id, 'Stop', true);
  const claim = await db.focusClaim(item.id, leases.workerId, 3600);
  if (claim.kind !== 'claimed') throw new Error(claim.kind);
  const next = leases.hold(claim, performance.now());
  expect([held.signal.reason, next.signal.aborted]).toEqual(['lost', false]);
  held.drop();
  await leases.check();
  expect(next.signal.aborted).toBe(false);
  await db.workMessage(item.id, 'Stop again', true);
  await leases.check();
  expect(next.signal.reason).toBe('lost'); // the end of the work before did not take it out of the heartbeat
  next.drop();
  leases.stop();
});

test('what is claimed while its worker stops is given back at once', async () => {
  const { leases, held, claim } = await holding(3600);
  leases.stopAll();
  const late = leases.hold({ ...claim, work_item_id: crypto.randomUUID() }, performance.now());
  expect([held.signal.reason, late.signal.reason]).toEqual(['stopping', 'stopping']);
  late.drop();
  held.drop();
  leases.stop();
});

test('that an earlier lease of a focus was taken away stops nothing under the one that came after', async () => {
  const { leases, held, claim } = await holding(3600);
  leases.revoke(`${claim.focus_id}/${claim.lease_generation - 1}`);
  expect(held.signal.aborted).toBe(false);
  leases.revoke(`${claim.focus_id}/${claim.lease_generation}`);
  expect(held.signal.reason).toBe('lost');
  held.drop();
  leases.stop();
});

test('a lease counts from when its renewal was asked for, however late the answer came', async () => {
  const { claim } = await holding(3600);
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  try {
    const answers: ((leases: string[]) => void)[] = [];
    const slow = { leaseRenew: () => new Promise<string[]>((resolve) => answers.push(resolve)) } as unknown as Db;
    const leases = leasesOf(slow, 40);
    const started = leases.start();
    answers.shift()?.([]);
    await started;
    const askedAt = performance.now();
    const held = leases.hold(claim, askedAt);
    await vi.advanceTimersByTimeAsync(10_000); // asked
    await vi.advanceTimersByTimeAsync(26_000); // and answered 26 seconds later; the beats between did not ask again
    answers.shift()?.([claim.lease]);
    await vi.advanceTimersByTimeAsync(0);
    expect([answers.length, held.signal.aborted]).toEqual([0, true]); // 30 seconds after the start, two thirds of 40 were over
    held.drop();
    const next = leases.hold(claim, askedAt);
    await vi.advanceTimersByTimeAsync(4000); // at 40 seconds: 30 after the question, 4 after the answer
    expect(next.signal.reason).toBe('lost');
    leases.stop();
  } finally {
    vi.useRealTimers();
  }
});

test('what is claimed once the database is back goes on, and what was held before is not renewed any more', async () => {
  const { claim: before } = await holding(3600);
  const { claim: after } = await holding(3600);
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  try {
    let isAway = false;
    const renewed: string[][] = [];
    const flaky = {
      async leaseRenew({ leases }: { leases: readonly { lease: string }[] }) {
        if (isAway) throw new Error('away');
        renewed.push(leases.map(({ lease }) => lease));
        return renewed.at(-1);
      },
    } as unknown as Db;
    const leases = leasesOf(flaky, 40);
    await leases.start();
    const old = leases.hold(before, performance.now());
    isAway = true;
    await vi.advanceTimersByTimeAsync(29_000); // two thirds of 40 are over, and the next heartbeat is in a second
    isAway = false;
    const fresh = leases.hold(after, performance.now());
    await vi.advanceTimersByTimeAsync(1000);
    expect([old.signal.reason, fresh.signal.aborted]).toEqual(['lost', false]);
    expect(renewed).toEqual([[], [after.lease]]);
    leases.stop();
  } finally {
    vi.useRealTimers();
  }
});

test('a worker whose heartbeats fail takes its work for lost', async () => {
  const { leases, held } = await holding(3);
  await database.query('alter function ledger.lease_renew rename to out_of_reach');
  await until(() => held.signal.aborted);
  expect(held.signal.reason).toBe('lost');
  held.drop();
  leases.stop();
});
