// Opens the ledger for a command.

import type { Settings } from '../config.ts';
import { checkLedger } from '../install/checkLedger.ts';
import { findLedger } from '../install/findLedger.ts';
import { openDb } from '../ledger/db.ts';
import type { Db } from '../ledger/db.ts';

/** The caller closes it. */
export async function openLedger(settings: Settings, maximumPoolSize = 3): Promise<{ db: Db; url: string }> {
  const place = await findLedger(settings);
  await checkLedger(place.url, place.schema);
  return { db: await openDb(place.url, place.schema, { maximumPoolSize }), url: place.url };
}

/** Opens the ledger for the duration of one command. */
export async function withLedger<T>(settings: Settings, use: (db: Db, url: string) => Promise<T>): Promise<T> {
  const { db, url } = await openLedger(settings);
  try {
    return await use(db, url);
  } finally {
    await db.close();
  }
}
