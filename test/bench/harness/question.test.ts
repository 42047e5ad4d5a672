// How figures are made of what was measured: by median, round by round, against goals.

import { expect, test } from 'vitest';

import { goals, judge } from './goals.ts';
import { plot } from './plot.ts';
import { linesOf, spread, takeTurns } from './question.ts';
import type { Line } from './question.ts';
import { table } from './report.ts';

test('every variant has its turn in each round, and another one begins', async () => {
  const order: string[] = [];
  const turn = (name: string) => async (): Promise<number> => order.push(name);
  const samples = await takeTurns(3, { a: turn('a'), b: turn('b') });
  expect(order).toEqual(['a', 'b', 'b', 'a', 'a', 'b']);
  expect(samples.get('b')).toEqual([2, 3, 6]);
});

test('a ratio is that of the same round, so that a slow one does not count', () => {
  const [, line] = linesOf(
    new Map([
      ['plain', [10, 100, 10]],
      ['ours', [20, 200, 20]],
    ]),
    { unit: 'ms', of: 'plain' },
  );
  expect(line).toMatchObject({ name: 'ours', median: 20, against: [{ of: 'plain', median: 2, low: 2, high: 2 }] });
  const costs = (...cpus: number[]) => cpus.map((cpu) => ({ value: 1, cpu }));
  const [, dearer] = linesOf(
    new Map([
      ['plain INSERT', costs(10, 10, 100)],
      ['ledger_append', costs(40, 400, 400)],
    ]),
    { unit: 'entries/s', of: 'plain INSERT', at: 16 },
  );
  expect(dearer).toMatchObject({ cpu: 400, against: [{ cpu: 4 }] });
  expect(judge('append', [dearer!]).find(({ goal }) => goal.by === 'cpu')).toMatchObject({ value: 4, isMet: true });
});

test('the middle half lies between the quartiles', () => {
  expect(spread([5, 1, 4, 2, 3])).toEqual({ median: 3, low: 2, high: 4 });
});

test('a ratio that does not reach half of its goal is far off, in whichever direction', () => {
  const lines = (name: string, cpu: number, ratio: number): Line => ({
    name,
    unit: 'entries/s',
    at: 16,
    count: 1,
    median: 1,
    low: 1,
    high: 1,
    cpu,
    against: [{ of: 'plain INSERT', median: ratio, low: ratio, high: ratio }],
  });
  const byCpu = (cpu: number, ratio: number) =>
    judge('append', [lines('plain INSERT', 10, 1), lines('ledger_append', cpu, ratio)]).toSorted((a, b) => a.value - b.value);
  expect([40, 90, 110].map((cpu) => byCpu(cpu, 0.6)[1])).toMatchObject([
    { isMet: true, isFarOff: false },
    { isMet: false, isFarOff: false },
    { isMet: false, isFarOff: true },
  ]);
  // By the clock it is the disk's affair.
  expect([0.6, 0.2].map((ratio) => byCpu(40, ratio)[0])).toMatchObject([
    { isMet: true, isFarOff: false },
    { isMet: false, isFarOff: false },
  ]);
  const told = (ratio: number): Line => ({
    ...lines('', 1, ratio),
    name: 'awareness_digest',
    unit: 'ms',
    at: 10_000_000,
    against: [{ of: 'an entry by its key', median: ratio, low: ratio, high: ratio }],
  });
  expect([4, 9, 11].map((ratio) => judge('digest', [told(ratio)])[0])).toMatchObject([
    { isMet: true, isFarOff: false },
    { isMet: false, isFarOff: false },
    { isMet: false, isFarOff: true },
  ]);
  // Where the goal was missed before, against that.
  expect(
    [
      [19, 18],
      [37, 18],
      [11, 4],
    ].map(([now = 0, kept = 0]) => judge('digest', [told(now)], [told(kept)])[0]),
  ).toMatchObject([{ isFarOff: false }, { isFarOff: true }, { isFarOff: true }]);
});

test('a goal has one direction', () => {
  for (const { atLeast, atMost } of goals) expect([atLeast, atMost].filter((one) => one !== undefined)).toHaveLength(1);
});

test('a table has each figure, and a plot each name', () => {
  const lines: Line[] = [1, 10, 100].flatMap((at) =>
    ['a', 'b < c'].map((name) => ({ name, unit: 'ms', at, count: 3, median: at * 2, low: at, high: at * 3 })),
  );
  const result = { question: 'x', asks: 'Why?', axis: 'things', date: '2026-01-02', machine: 'm', isQuick: false, lines };
  expect(table(result)).toBe(
    [
      '| things | unit | 1 | 10 | 100 | against |',
      '| --- | ---: | ---: | ---: | ---: | ---: |',
      '| a | ms | 2 (1 to 3) | 20 (10 to 30) | 200 (100 to 300) |  |',
      '| b < c | ms | 2 (1 to 3) | 20 (10 to 30) | 200 (100 to 300) |  |',
    ].join('\n'),
  );
  expect(plot(result)).toContain('b &lt; c');
  expect(plot(result)).not.toContain('NaN');
});
