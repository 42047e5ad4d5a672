// The primary of a standby from which pages are read.

import { openDb } from '../ledger/db.ts';
import type { Db } from '../ledger/db.ts';
import { checkStandby, isCaughtUp } from '../ledger/standby.ts';

/**
 * The ledger on which a console acts if its pages are read on a standby. Connects at the first action: until then, and while it is down,
 * the pages do without it.
 */
export class Primary {
  readonly #url: string;
  readonly #standby: Db;
  #opening: Promise<Db> | null = null;

  constructor(url: string, standby: Db) {
    this.#url = url;
    this.#standby = standby;
  }

  /** Resolves when the standby shows the action's effect, or after a time limit; then the page says how far it is behind. */
  async act<T>(action: (db: Db) => Promise<T>): Promise<T> {
    const db = await (this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = null;
      throw error;
    }));
    const done = await action(db);
    await isCaughtUp(this.#standby, db);
    return done;
  }

  async close(): Promise<void> {
    await this.#opening?.then(
      (db) => db.close(),
      () => {},
    );
  }

  async #open(): Promise<Db> {
    const db = await openDb(this.#url, this.#standby.schema, { maximumPoolSize: 2 });
    try {
      await checkStandby(this.#standby, db);
      return db;
    } catch (error) {
      await db.close();
      throw error;
    }
  }
}
