// The primary of a standby whose pages are read.

import { openDb } from '../ledger/db.ts';
import type { Db } from '../ledger/db.ts';
import { checkStandby, isCaughtUp } from '../ledger/standby.ts';

/**
 * Where a console acts whose pages are read on a standby. It is connected to with the first action: until then, and when it is down, the
 * pages do without it.
 */
export class Primary {
  readonly #url: string;
  readonly #standby: Db;
  #opening: Promise<Db> | null = null;

  constructor(url: string, standby: Db) {
    this.#url = url;
    this.#standby = standby;
  }

  /** Resolves when the standby shows what was done; else the page says how far it is behind. */
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
