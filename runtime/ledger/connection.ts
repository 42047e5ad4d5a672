// Single connections to the server. A connection without a listener for its errors ends the process when the server goes
// away, so single connections are made here only.

import type pg from 'pg';

import { shownUrl } from './address.ts';
import { PinnedClient } from './pinned.ts';

/** The database does not let us in; `cause` is what the driver said. */
export class NoConnection extends Error {
  override name = 'NoConnection';
  /** Its address as it may be printed. */
  readonly url: string;

  constructor(url: string, cause: unknown) {
    super(`the database ${shownUrl(url)} ${/^(28|3D|42)/.test(codeOf(cause)) ? 'refuses' : 'cannot be reached'}: ${reasonOf(cause)}`, {
      cause,
    });
    this.url = shownUrl(url);
  }
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '');

/** Where a name has several addresses, the driver's error is a list of errors without a message of its own. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '')
    return [...new Set(error.errors.map((one: unknown) => reasonOf(one)))].join(', ');
  if (!(error instanceof Error)) return String(error);
  const { hostname, address, port } = error as { hostname?: string; address?: string; port?: number };
  const code = codeOf(error);
  if (code === 'ENOTFOUND') return `there is no host ${hostname} (ENOTFOUND)`;
  if (code === 'ENOENT' && address !== undefined) return `there is no socket ${address} (ENOENT)`;
  if (code === 'ECONNREFUSED') return `nothing listens at ${[address, port].filter((part) => part !== undefined).join(':')} (ECONNREFUSED)`;
  if (/client password must be/.test(error.message))
    return 'it asks for a password, and none is given (in the address, PGPASSWORD or ~/.pgpass)';
  return error.message || code;
}

/** How long a statement may take. */
const STATEMENT_MS = 60_000;

/** Of a connection by which the ledger's functions are called. */
export const configOfCalls = (connectionString: string): pg.ClientConfig => ({
  connectionString,
  statement_timeout: STATEMENT_MS,
  keepAlive: true,
});

/** Opens a connection; the caller ends it. A connection that breaks rejects its open queries, and does nothing else. */
export async function connect(options: pg.ClientConfig): Promise<PinnedClient> {
  const client = new PinnedClient(options);
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    throw options.connectionString === undefined ? error : new NoConnection(options.connectionString, error);
  }
}

/** Opens a connection for the duration of `use`. */
export async function withConnection<T>(options: pg.ClientConfig, use: (client: PinnedClient) => Promise<T>): Promise<T> {
  const client = await connect(options);
  try {
    return await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}
