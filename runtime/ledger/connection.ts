// Single connections to the server. A connection without an error listener ends the process when the server goes away, so all single
// connections are made here.

import type pg from 'pg';

import { shownUrl } from './address.ts';
import { PinnedClient } from './pinned.ts';

/** Connecting to the database failed; `cause` is the driver's error. */
export class NoConnection extends Error {
  override name = 'NoConnection';
  /** Its address, fit to be printed. */
  readonly url: string;

  constructor(url: string, cause: unknown) {
    super(`the database ${shownUrl(url)} ${/^(28|3D|42)/.test(codeOf(cause)) ? 'refuses' : 'cannot be reached'}: ${reasonOf(cause)}`, {
      cause,
    });
    this.url = shownUrl(url);
  }
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '');

/** OpenSSL's words for a certificate that nobody known here vouches for. */
const unknownAuthority = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** If a name has several addresses, the driver throws a list of errors without a message of its own. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '')
    return [...new Set(error.errors.map((one: unknown) => reasonOf(one)))].join(', ');
  if (!(error instanceof Error)) return String(error);
  const { hostname, address, port } = error as { hostname?: string; address?: string; port?: number };
  const code = codeOf(error);
  if (code === 'ENOTFOUND') return `there is no host ${hostname} (ENOTFOUND)`;
  if (code === 'ENOENT' && address !== undefined) return `there is no socket ${address} (ENOENT)`;
  if (code === 'ECONNREFUSED') return `nothing listens at ${[address, port].filter((part) => part !== undefined).join(':')} (ECONNREFUSED)`;
  if (code === 'ERR_INVALID_URL') return 'it is not an address of the form postgresql://user@host:5432/database';
  if (/client password must be/.test(error.message))
    return 'it asks for a password, and none is given (in the address, PGPASSWORD or ~/.pgpass)';
  if (error.message.endsWith(', no encryption')) return `${error.message} (if it wants TLS, add sslmode=require to the address)`;
  if (error.message === 'The server does not support SSL connections') return 'it has no TLS, which sslmode (or PGSSLMODE) asks for';
  if (unknownAuthority.has(code)) return `${error.message} (sslrootcert names the file with the certificate of its authority)`;
  return error.message || code;
}

/** The time limit of a statement. */
const STATEMENT_MS = 60_000;

/** The configuration of a connection that calls the ledger's functions. */
export const configOfCalls = (connectionString: string): pg.ClientConfig => ({
  connectionString,
  statement_timeout: STATEMENT_MS,
  keepAlive: true,
});

/** Opens a connection, which the caller must end. If it breaks, its open queries reject and nothing else happens. */
export async function connect(options: pg.ClientConfig): Promise<PinnedClient> {
  let client: PinnedClient | undefined;
  try {
    client = new PinnedClient(options); // throws if it cannot read the address
    client.on('error', () => {});
    await client.connect();
    return client;
  } catch (error) {
    await client?.end().catch(() => {});
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
