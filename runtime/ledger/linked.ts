// Digests of linked ledgers. Each is queried on its own connection with its own time limit: a ledger that hangs delays no other, and delays
// the reader by no more than the limit, whatever the server does with the abandoned statement.

import { setTimeout as sleep } from 'node:timers/promises';

import type { Db } from './db.ts';
import { messageOf } from './errors.ts';
import { oneConnection } from './oneConnection.ts';
import { PinnedClient } from './pinned.ts';

/** More than a link's connect_timeout of 3 s, after which its server reports the error itself. */
const LIMIT_MS = 5000;

/** The digest of each linked ledger, or a sentence that says why there is none, ordered by name. Never takes longer than the limit. */
export async function linkedDigests(
  db: Pick<Db, 'ledgerLinks' | 'awarenessDigestLinked' | 'schema'>,
  url: string,
  limitMs = LIMIT_MS,
): Promise<Promise<string>[]> {
  return (await db.ledgerLinks()).map(({ name }) => linkedDigest(db, url, name, limitMs));
}

async function linkedDigest(db: Pick<Db, 'awarenessDigestLinked' | 'schema'>, url: string, name: string, limitMs: number): Promise<string> {
  const client = new PinnedClient({ connectionString: url, statement_timeout: limitMs, connectionTimeoutMillis: limitMs });
  client.on('error', () => {}); // the pending call reports it
  const over = new AbortController();
  const asked = (async (): Promise<string> => {
    await client.connect();
    return oneConnection(client, db.schema).text('awareness_digest_linked', 'awareness_digest_linked', name);
  })();
  // A second later, so that the statement's own timeout error arrives first.
  const late = sleep(limitMs + 1000, null, { signal: over.signal }).catch(() => null);
  try {
    const says = await Promise.race([asked, late]);
    return says ?? (await db.awarenessDigestLinked(name));
  } catch (error) {
    return `Ledger "${name}" is not told of: ${messageOf(error)}.`;
  } finally {
    over.abort();
    asked.catch(() => {});
    client.abandon(); // a regular end would wait for the statement
  }
}
