// Many open pages: there are so many streams and no more, of one visitor, of strangers, of all; what they ask at once is asked once.

import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { startConsole } from '../../runtime/console/server.ts';
import type { Console } from '../../runtime/console/server.ts';
import { MOST_STREAMS, Pace, shared, Streams } from '../../runtime/console/streams.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { until } from '../workerProcess.ts';

let database: TestDatabase;
let running: Console;
beforeAll(async () => {
  database = await createDatabase();
  running = await startConsole({ url: database.url, schema: 'ledger', port: 0 });
});
afterAll(async () => {
  await running?.close();
  await database?.drop();
});

/** The beginning of an answer, which stays open. */
const opened = (headers: Record<string, string> = {}): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port: running.port, path: '/events?page=/', headers }, (answer) => {
      answer.on('error', () => {}).resume();
      resolve(answer);
    })
      .on('error', reject)
      .end();
  });
const statusOf = ({ statusCode }: IncomingMessage): number => statusCode ?? 0;
const counted = (answers: IncomingMessage[]): Record<number, number> =>
  Object.fromEntries([...Map.groupBy(answers, statusOf)].map(([status, all]) => [status, all.length]));

test('1,500 streams of somebody without the token, and as many with it: most are refused, pages are served, and others are let in', async () => {
  const cookie =
    (await fetch(`${running.address}?token=${running.token}`, { redirect: 'manual' })).headers.get('set-cookie')?.split(';')[0] ?? '';
  const all: IncomingMessage[] = [];
  for (let n = 0; n < 15; n++) all.push(...(await Promise.all(Array.from({ length: 100 }, () => opened()))));
  expect(counted(all)).toEqual({ 200: MOST_STREAMS.visitor, 503: 1500 - MOST_STREAMS.visitor });
  expect((await fetch(running.address)).status).toBe(200);
  const own: IncomingMessage[] = [];
  for (let n = 0; n < 15; n++) own.push(...(await Promise.all(Array.from({ length: 100 }, () => opened({ cookie })))));
  expect(counted(own)).toEqual({ 200: MOST_STREAMS.visitor, 503: 1500 - MOST_STREAMS.visitor });
  expect((await fetch(running.address, { headers: { cookie } })).status).toBe(200);
  // Who leaves makes room.
  expect(statusOf(await opened())).toBe(503);
  for (const one of all) one.destroy();
  await until(async () => {
    const again = await opened();
    const isIn = statusOf(again) === 200;
    again.destroy();
    return isIn;
  });
  for (const one of own) one.destroy();
});

test('strangers leave room for those who are known, and nobody takes it twice', () => {
  const streams = new Streams();
  const open = (who: string, isKnown: boolean, n: number): (() => void)[] =>
    Array.from({ length: n }, () => streams.open(who, isKnown)).filter((close) => close !== null);
  const first = open('10.0.0.1', false, 100);
  expect(first.length).toBe(MOST_STREAMS.visitor);
  expect(open('10.0.0.2', false, 100).length).toBe(MOST_STREAMS.strangers - MOST_STREAMS.visitor);
  const known = ['a', 'b', 'c', 'd', 'e'].flatMap((who) => open(who, true, 100));
  expect(known.length).toBe(MOST_STREAMS.all - MOST_STREAMS.strangers);
  for (let n = 0; n < 3; n++) first[0]?.(); // it ends once
  expect(open('10.0.0.1', false, 5).length).toBe(1);
});

test('what open pages cost makes their next look later, and no later than five seconds', async () => {
  let now = 1000;
  const pace = new Pace(() => now);
  const taking = (ms: number) => async (): Promise<void> => void (now += ms);
  expect(pace.left).toBeLessThanOrEqual(0);
  await pace.look(taking(5));
  expect(pace.left).toBe(995);
  await pace.spend(taking(10));
  expect(pace.left).toBe(2985); // 15 ms of 3,000
  await pace.spend(taking(1000));
  expect(pace.left).toBe(5000 - 1015);
  now += 5000;
  expect(pace.left).toBeLessThanOrEqual(0);
  await expect(pace.look(() => Promise.reject(new Error('the database is away')))).rejects.toThrow('away');
  expect(pace.left).toBeLessThanOrEqual(0);
});

test('a part that takes long rests, by the least of what it took, and others do not', async () => {
  let now = 1000;
  const pace = new Pace(() => now);
  const restOf = async (part: string, ms: number): Promise<number> => {
    await pace.read(part, async () => void (now += ms));
    return pace.restOf(part);
  };
  expect(pace.restOf('cheap')).toBe(0);
  expect(await restOf('cheap', 1)).toBe(500);
  const rests: number[] = [];
  for (const ms of [100, 40, 100, 100, 100, 100, 100, 100, 20]) rests.push(await restOf('dear', ms));
  expect(rests).toEqual([5000, 5000, 5000, 5000, 20_000, 20_000, 30_000, 30_000, 10_000]);
  await expect(pace.read('dear', () => Promise.reject(new Error('the database is away')))).rejects.toThrow('away');
  expect(await restOf('cheap', 1)).toBe(500);
  for (let n = 0; n < 3000; n++) {
    await pace.read(`page ${n}`, async () => {});
    if (n % 500 === 0) await pace.read('dear', async () => void (now += 20)); // what is read is remembered, what was read long ago is not
  }
  expect([pace.restOf('dear'), pace.restOf('cheap')]).toEqual([10_000, 0]);
});

test('each page is told of a part when it has rested for that page, whatever other pages read', async () => {
  let now = 1000;
  const pace = new Pace(() => now);
  const read = (): Promise<void> => pace.read('/part/dear', async () => void (now += 10));
  for (let n = 0; n < 5; n++) await read();
  const [wall, desk] = [pace.forPage((part) => `/part/${part}`), pace.forPage((part) => `/part/${part}`)];
  expect([
    ...wall([
      ['dear', 'v1'],
      ['cheap', 'v1'],
    ]),
  ]).toEqual([
    ['dear', 'v1'],
    ['cheap', 'v1'],
  ]);
  for (let n = 2; n < 5; n++) {
    now += 1000;
    await read(); // by another page, or by hand
    expect([
      ...wall([
        ['dear', `v${n}`],
        ['cheap', `v${n}`],
      ]),
    ]).toEqual([['cheap', `v${n}`]]);
    expect([...wall([['dear', 'v1']])]).toEqual([['dear', 'v1']]);
  }
  expect([...desk([['dear', 'v4']])]).toEqual([['dear', 'v4']]);
  now += 2000;
  expect([...wall([['dear', 'v4']])]).toEqual([['dear', 'v4']]);
  expect([...desk([['dear', 'v5']])]).toEqual([]);
});

test('what is asked at once is asked once, and each answer is of after the question', async () => {
  let asked = 0;
  const held: (() => void)[] = [];
  const ask = shared(
    () =>
      new Promise<number>((resolve) => {
        const n = ++asked;
        held.push(() => resolve(n));
      }),
  );
  const [first, ...later] = Array.from({ length: 100 }, () => ask());
  expect(asked).toBe(1);
  held[0]?.();
  expect(await first).toBe(1);
  await until(async () => held.length === 2);
  held[1]?.();
  expect(new Set(await Promise.all(later))).toEqual(new Set([2]));
  const failing = shared(() => Promise.reject(new Error('the database is away')));
  await expect(Promise.allSettled([failing(), failing(), failing()])).resolves.toMatchObject([
    { status: 'rejected' },
    { status: 'rejected' },
    { status: 'rejected' },
  ]);
});
