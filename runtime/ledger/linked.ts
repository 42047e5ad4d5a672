// What linked ledgers say, each asked by a connection of its own with a limit of its own: one that hangs costs nobody else anything, and
// its reader no more than that limit, whatever the server does with the statement that nobody waits for any more.

import { setTimeout as sleep } from 'node:timers/promises';

import type { Db } from './db.ts';
import { messageOf } from './errors.ts';
import { oneConnection } from './oneConnection.ts';
import { PinnedClient } from './pinned.ts';

/** More than a link's connect_timeout of 3 s, after which its server says itself what is wrong. */
const LIMIT_MS = 5000;

/** The digest of each linked ledger, or a sentence that says why there is none, in the order of their names. Never later than its limit. */
export async function linkedDigests(
  db: Pick<Db, 'ledgerLinks' | 'awarenessDigestLinked' | 'schema'>,
  url: string,
  limitMs = LIMIT_MS,
): Promise<Promise<string>[]> {
  return (await db.ledgerLinks()).map(({ name }) => linkedDigest(db, url, name, limitMs));
}

async function linkedDigest(db: Pick<Db, 'awarenessDigestLinked' | 'schema'>, url: string, name: string, limitMs: number): Promise<string> {
  const client = new PinnedClient({ connectionString: url, statement_timeout: limitMs, connectionTimeoutMillis: limitMs });
  client.on('error', () => {}); // whoever asks hears of it
  const over = new AbortController();
  const asked = (async (): Promise<string> => {
    await client.connect();
    return oneConnection(client, db.schema).text('awareness_digest_linked', 'awareness_digest_linked', name);
  })();
  // A second later, so that what the statement says when its time is up is heard.
  const late = sleep(limitMs + 1000, null, { signal: over.signal }).catch(() => null);
  try {
    const says = await Promise.race([asked, late]);
    return says ?? (await db.awarenessDigestLinked(name));
  } catch (error) {
    return `Ledger "${name}" is not told of: ${messageOf(error)}.`;
  } finally {
    over.abort();
    asked.catch(() => {});
    client.abandon(); // a goodbye would wait for the statement
  }
}
