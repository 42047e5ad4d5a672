// Which connection a call gets, and what becomes of those that wait for one.

import { setTimeout as sleep } from 'node:timers/promises';

import { UnexpectedStateError } from 'slonik';

import { isConnectionLost } from './reachable.ts';

/** A closing pool waits this long for the next call to end; slonik then gives those that run as long again. */
const HUNG_MS = 5000;

/**
 * Gives each call the most recently used connection: there its functions are compiled and its statements planned, which takes a new
 * connection many times as long as running them. Other callers wait in order. Each slonik pool has a single connection, since a pool with
 * several hands out the one that was idle longest, so that successive calls go through all of them; and its queue forgets callers that wait
 * for a connection that cannot be opened. `whenIdle` accepts no more calls and resolves when those that run or wait have ended; if the
 * server goes away meanwhile, or nothing ends for five seconds, those that wait are refused.
 */
export function lastUsedFirst<Pool>(pools: readonly Pool[]): {
  inLine: <T>(use: (pool: Pool) => Promise<T>) => Promise<T>;
  whenIdle: () => Promise<void>;
} {
  const idle = [...pools];
  const waiting: PromiseWithResolvers<Pool>[] = [];
  const allEnded = Promise.withResolvers<void>();
  let isClosing = false;
  let ended = 0;
  const refuseWaiting = (): void => waiting.splice(0).forEach((turn) => turn.reject(closed()));
  const inLine = async <T>(use: (pool: Pool) => Promise<T>): Promise<T> => {
    if (isClosing) throw closed();
    let pool = idle.pop();
    if (pool === undefined) {
      const turn = Promise.withResolvers<Pool>();
      waiting.push(turn);
      pool = await turn.promise;
    }
    let isLost = false;
    try {
      return await use(pool);
    } catch (error) {
      isLost = isConnectionLost(error);
      throw error;
    } finally {
      ended++;
      if (isClosing && isLost) refuseWaiting();
      const next = waiting.shift();
      if (next) next.resolve(pool);
      else if (isLost) idle.unshift(pool); // those that are connected come before it
      else idle.push(pool);
      if (isClosing && idle.length === pools.length) allEnded.resolve();
    }
  };
  const whenIdle = async (): Promise<void> => {
    isClosing = true;
    for (let before = -1; idle.length < pools.length && ended !== before;) {
      before = ended;
      await Promise.race([allEnded.promise, sleep(HUNG_MS, undefined, { ref: false })]);
    }
    refuseWaiting();
  };
  return { inLine, whenIdle };
}

const closed = (): Error => new UnexpectedStateError('Connection pool is closed.');
