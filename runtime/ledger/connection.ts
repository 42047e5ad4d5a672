// Single connections to the server. A connection without a listener for its errors ends the process when the server goes
// away, so connections are made in this file only.

import pg from 'pg';

import { shownUrl } from './address.ts';

/** The database does not let us in; `cause` is what the driver said. */
export class NoConnection extends Error {
  override name = 'NoConnection';
  /** Its address as it may be printed. */
  readonly url: string;

  constructor(url: string, cause: unknown) {
    super(`the database ${shownUrl(url)} ${/^(28|3D|42)/.test(codeOf(cause)) ? 'refuses' : 'cannot be reached'}: ${reasonOf(cause)}`, { cause });
    this.url = shownUrl(url);
  }
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '');

/** Where a name has several addresses, the driver's error is a list of errors without a message of its own. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return [...new Set(error.errors.map((one: unknown) => reasonOf(one)))].join(', ');
  return error instanceof Error ? error.message || codeOf(error) : String(error);
}

/** Opens a connection; the caller ends it. A connection that breaks rejects its open queries, and does nothing else. */
export async function connect(options: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({ connectionTimeoutMillis: 10_000, ...options });
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
export async function withConnection<T>(options: pg.ClientConfig, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connect(options);
  try {
    return await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}
