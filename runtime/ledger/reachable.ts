// Whether the server can be reached, and waiting until it can.

import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';
import { BackendTerminatedError, BackendTerminatedUnexpectedlyError, ConnectionError, SlonikError } from 'slonik';

import { NoConnection } from './connection.ts';
import { sqlState } from './errors.ts';
import { isSilence } from './pinned.ts';

const unreachable = new Set([
  '57P01',
  '57P02',
  '57P03',
  '53300',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** Connection errors for which waiting cannot help: a wrong password, a database that does not exist. */
const refused = /^(28|3D|42)/;

/**
 * True if the server cannot be reached now, has no free connection, or went away in the middle; whether the last statement took effect is
 * unknown.
 */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof NoConnection) return isConnectionLost(error.cause);
  const code = sqlState(error);
  if (code !== null && refused.test(code)) return false;
  if (code !== null && (code.startsWith('08') || unreachable.has(code))) return true;
  if (error instanceof ConnectionError || error instanceof BackendTerminatedError || error instanceof BackendTerminatedUnexpectedlyError)
    return true;
  // pg sets no code for these.
  return (
    isSilence(error) ||
    (error instanceof Error && /^(Connection terminated|Client has encountered a connection error|timeout expired)/.test(error.message))
  );
}

/** The server's own error for a statement, if the library that sent it says less. */
export const refusalOf = (error: unknown): unknown => (error instanceof SlonikError && error.cause instanceof Error ? error.cause : error);

/**
 * Repeats `use` while the server cannot be reached, and logs that it waits. Throws errors for which waiting cannot help, and when `signal`
 * fires.
 */
export async function whenReachable<T>(use: () => Promise<T>, log: Logger, signal?: AbortSignal): Promise<T> {
  for (let delay = 250; ; delay = Math.min(delay * 2, 5000)) {
    try {
      return await use();
    } catch (error) {
      if (!isConnectionLost(error) || signal?.aborted) throw error;
      log.warn({ err: error }, 'the database cannot be reached: waiting for it');
      await sleep(delay, undefined, signal && { signal });
    }
  }
}
