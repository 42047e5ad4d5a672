// A ledger that is opened when it is first used, once per process, and does not keep a finished program from ending.

import { isObject } from '../../plv8/isObject.ts';
import { findDatabase, schemaOn } from '../install/findLedger.ts';
import { withConnection } from '../ledger/connection.ts';
import { dbOf } from '../client.ts';
import type { LedgerClient } from '../client.ts';
import { checkAddress } from '../ledger/checkAddress.ts';
import { argumentError, clientErrors } from '../ledger/clientError.ts';
import { openDb } from '../ledger/db.ts';
import type { Db } from '../ledger/db.ts';
import { UsageError } from '../ledger/errors.ts';
import { checkSchema, kindOf } from '../ledger/given.ts';

/** `url`: address of the database (default: DATABASE_URL, otherwise the embedded one); or `ledger`: an open ledger, closed by its owner. */
export type LedgerAddress = { url?: string; schema?: string; ledger?: LedgerClient };

const MAX_CONNECTIONS = 4;

export class LazyLedger {
  readonly #address: LedgerAddress;
  #opening: Promise<{ db: Db; url: string | null }> | undefined;
  #users = 0;

  constructor(address: LedgerAddress = {}) {
    this.#address = address;
    if (address.ledger) this.#opening = Promise.resolve({ db: dbOf(address.ledger), url: null });
  }

  /** Rejects as the methods of LedgerClient do. */
  use<T>(work: (db: Db) => Promise<T>): Promise<T> {
    return clientErrors(this.#address.url, async () => work((await this.open()).db));
  }

  /** `url`: the address to listen at; null if the ledger was given open. */
  open(): Promise<{ db: Db; url: string | null }> {
    const opening = (this.#opening ??= this.#open());
    opening.catch(() => {
      if (this.#opening === opening) this.#opening = undefined; // the next call tries again
    });
    return opening;
  }

  /** Whether nobody else uses it. */
  get isLastUser(): boolean {
    return this.#users <= 1;
  }

  /** Adds a user; each must call close() once. */
  hold(): void {
    this.#users++;
  }

  /** Closes the ledger with its last user, unless it was given open; it is opened again if used again. */
  async close(): Promise<void> {
    if (this.#users > 0) this.#users--;
    if (this.#users > 0 || this.#address.ledger) return;
    const opening = this.#opening;
    this.#opening = undefined;
    await (await opening?.catch(() => undefined))?.db.close();
  }

  async #open(): Promise<{ db: Db; url: string }> {
    const { url, schema } = this.#address;
    const { url: found } = await findDatabase(url === undefined ? {} : { databaseUrl: url });
    const named = await withConnection({ connectionString: found }, (client) => schemaOn(client, schema === undefined ? {} : { schema }));
    return { db: await openDb(found, named, { maximumPoolSize: MAX_CONNECTIONS, holdsProcess: false }), url: found };
  }
}

const byAddress = new Map<string, LazyLedger>();
const byDb = new WeakMap<Db, LazyLedger>();

/** Throws LedgerError WL002 for anything but the options of an address. */
function checkGiven(options: unknown): void {
  try {
    if (!isObject(options)) throw new UsageError(`the options must be an object, not ${kindOf(options)}`);
    if (options['url']) checkAddress(options['url']);
    if (options['schema']) checkSchema(options['schema']);
    if (options['ledger']) dbOf(options['ledger'] as LedgerClient);
  } catch (error) {
    throw argumentError(error);
  }
}

/** The instance for this address in this process. Throws LedgerError WL002 for anything but an address. */
export function ledgerAt(address: LedgerAddress): LazyLedger {
  checkGiven(address);
  const { url, schema, ledger } = address;
  if (ledger) {
    const there = byDb.get(dbOf(ledger)) ?? new LazyLedger({ ledger });
    byDb.set(dbOf(ledger), there);
    return there;
  }
  const place = { ...(url !== undefined && { url }), ...(schema !== undefined && { schema }) };
  const key = JSON.stringify(place);
  const there = byAddress.get(key) ?? new LazyLedger(place);
  byAddress.set(key, there);
  return there;
}
