// Single connections to the server, and what is to be done when there is none. A connection without a listener for its
// errors ends the process when the server goes away: no other file makes one.

import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';
import type { Logger } from 'pino';
import { BackendTerminatedError, BackendTerminatedUnexpectedlyError, ConnectionError } from 'slonik';

import { sqlState } from './errors.ts';

/** Opens a connection; the caller ends it. A connection that breaks rejects what was asked of it, and nothing else. */
export async function connect(options: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({ connectionTimeoutMillis: 10_000, ...options });
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
}

/** Opens a connection for the length of `use`. */
export async function withConnection<T>(options: pg.ClientConfig, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connect(options);
  try {
    return await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}

const unreachable = new Set(['57P01', '57P02', '57P03', '53300', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOENT', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN']);
/** What the server says, in a code, of a connection that waiting does not cure: a wrong password, a database that does not exist. */
const refused = /^(28|3D|42)/;

/** True where the server cannot be reached now, has no place for us, or went away in the middle; nothing is known of what was asked last. */
export function isConnectionLost(error: unknown): boolean {
  const code = sqlState(error);
  if (code !== null && refused.test(code)) return false;
  if (code !== null && (code.startsWith('08') || unreachable.has(code))) return true;
  if (error instanceof ConnectionError || error instanceof BackendTerminatedError || error instanceof BackendTerminatedUnexpectedlyError) return true;
  // pg gives these no code.
  return error instanceof Error && /^(Connection terminated|Client has encountered a connection error|timeout expired)/.test(error.message);
}

/** Repeats `use` while the server cannot be reached, and says that it waits. Throws what waiting does not cure, and when `signal` fires. */
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
