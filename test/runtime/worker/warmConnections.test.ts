// When a worker has connections warmed. That they are is seen in test/e2e/goesOn.test.ts.

import { expect, test } from 'vitest';

import { warmConnections } from '../../../runtime/worker/warmConnections.ts';

test.each([
  { who: 'one that meets no work: its first connection, then half of them', isIdle: true, isStopping: false, warmed: [1, 3] },
  { who: 'one that meets work: half of them later, since the work warms its own', isIdle: false, isStopping: false, warmed: [3] },
  { who: 'one that is to stop: none', isIdle: true, isStopping: true, warmed: [] },
])('$who', async ({ isIdle, isStopping, warmed }) => {
  const asked: number[] = [];
  const db = { warm: async (connections: number) => void asked.push(connections) };
  const stopping = isStopping ? AbortSignal.abort() : new AbortController().signal;
  await warmConnections(db, 5, { isIdle }, stopping, { idleMs: 1, staysMs: 1 });
  expect(asked).toEqual(warmed);
});
