// A runner that ended is replaced, whatever becomes of its end.

import { pino } from 'pino';
import { expect, test } from 'vitest';

import type { Leases } from '../../../runtime/worker/leases.ts';
import type { Runner } from '../../../runtime/worker/runner.ts';
import { tendRunner } from '../../../runtime/worker/tendRunner.ts';

/** `stops`: its end comes to an end. */
function runner(workerId: string, stops: boolean) {
  const ended = Promise.withResolvers<void>();
  const stopped: number[] = [];
  const made: Runner = {
    leases: { workerId } as Leases,
    ended: ended.promise,
    stop: (graceSeconds) => {
      stopped.push(graceSeconds);
      return stops ? Promise.resolve() : new Promise(() => {});
    },
  };
  return { made, stopped, end: () => ended.resolve() };
}

test('one whose end hangs is replaced, and the next one, whose start fails at first', async () => {
  const [first, second, third] = [runner('first', false), runner('second', true), runner('third', true)];
  const coming = [() => Promise.reject(new Error('not reachable')), async () => second.made, async () => third.made];
  const started = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const stopping = new AbortController();
  let n = 0;
  const start = (): Promise<Runner> => {
    started[n]?.resolve();
    return coming[n++]?.() ?? Promise.reject(new Error('one too many'));
  };
  const tended = tendRunner(first.made, start, pino({ level: 'silent' }), stopping.signal, 1);
  first.end();
  await started[1]?.promise;
  second.end();
  await started[2]?.promise;
  stopping.abort();
  await tended.stop(5);
  expect(tended.leases.workerId).toBe('third');
  expect([first.stopped, second.stopped, third.stopped]).toEqual([[0], [0], [5]]);
});
