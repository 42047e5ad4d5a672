// Who is told what arrives of a response, and who is not.

import { pino } from 'pino';
import { expect, test } from 'vitest';

import { Watchers } from '../../../runtime/focus/watchers.ts';
import type { Claimed } from '../../../runtime/ledger/answers.ts';
import type { Db } from '../../../runtime/ledger/db.ts';
import { until } from '../../workerProcess.ts';

const claimOf = (workItemId: string): Claimed => ({ work_item_id: workItemId, lease: 'l' }) as Claimed;

test('a hint that comes ahead of the response is not lost, and one for other work changes nothing', async () => {
  const shown: string[] = [];
  const db = { turnStream: async (_lease: unknown, turnId: string) => shown.push(turnId) > 0 } as unknown as Db;
  const watchers = new Watchers(db, pino({ level: 'silent' }));
  watchers.came('watched');
  for (const id of ['watched', 'other']) {
    const showing = watchers.show(claimOf(id), `the turn of ${id}`, false);
    showing.grew(() => [{ type: 'text', text: 'I' }]);
    showing.end();
  }
  expect(shown).toEqual(['the turn of watched']);
});

test('whoever begins to watch while the answer "nobody does" is under way is shown what has arrived', async () => {
  let count = 0;
  const db = {
    turnStream: async () => {
      count++;
      if (count === 1) watchers.came('watched');
      return count > 1;
    },
  } as unknown as Db;
  const watchers = new Watchers(db, pino({ level: 'silent' }));
  const showing = watchers.show(claimOf('watched'), 'a turn', true);
  showing.grew(() => [{ type: 'text', text: 'I' }]);
  await until(() => count === 2);
  showing.end();
});

test('the end of a response that was broken off hides nothing of the one that its worker hears next', async () => {
  const shown: string[] = [];
  const db = { turnStream: async (_lease: unknown, turnId: string) => shown.push(turnId) > 0 } as unknown as Db;
  const watchers = new Watchers(db, pino({ level: 'silent' }));
  const brokenOff = watchers.show(claimOf('interrupted'), 'first', false);
  const next = watchers.show(claimOf('interrupted'), 'second', false);
  next.grew(() => [{ type: 'text', text: 'I' }]);
  brokenOff.end();
  watchers.came('interrupted');
  expect(shown).toEqual(['second']);
  next.end();
});

test.each(['text', 'thinking'])('of a character that arrives in halves, no half is shown: %s', async (key) => {
  const shown: unknown[] = [];
  const db = {
    turnStream: async (_lease: unknown, _turnId: string, [block]: Record<string, unknown>[]) => shown.push(block?.[key]) > 0,
  } as unknown as Db;
  const showing = new Watchers(db, pino({ level: 'silent' })).show(claimOf('watched'), 'a turn', true);
  showing.grew(() => [{ type: key, [key]: 'I am \ud83d' }]);
  await until(() => shown.length === 1);
  showing.grew(() => [{ type: key, [key]: 'I am \ud83d\ude00' }]);
  await until(() => shown.length === 2);
  expect(shown).toEqual(['I am ', 'I am 😀']);
  showing.end();
});

test('however fast a response arrives, it is shown once a second, and at last all of it', async () => {
  const shown: { at: number; text: unknown }[] = [];
  const db = {
    turnStream: async (_lease: unknown, _turnId: string, [block]: { text: unknown }[]) =>
      shown.push({ at: performance.now(), text: block?.text }) > 0,
  } as unknown as Db;
  const showing = new Watchers(db, pino({ level: 'silent' })).show(claimOf('watched'), 'a turn', true);
  let said = '';
  while (shown.length < 2) {
    said += '. '; // what has no end yet may become a secret
    const text = said;
    showing.grew(() => [{ type: 'text', text }]);
    await new Promise(setImmediate);
  }
  await until(() => shown.at(-1)?.text === said);
  for (const [n, { at }] of shown.entries()) expect(at - (shown[n - 1]?.at ?? -Infinity)).toBeGreaterThan(990);
  showing.end();
});
