// A connection with the settings that the ledger requires, whatever the defaults of role and database are. It detects whether it leads to
// the server itself or to a pooler.
//
// At the start of a connection a server announces which of its processes will answer. If another one answers, something in between shares
// connections, and each transaction may run in another process (PgBouncer with pool_mode = transaction). There nothing outlives a
// transaction: each statement is sent together with its settings as one transaction, in one go, without waiting for answers in between, and
// no statement is prepared under a name. Startup parameters are never sent, since poolers reject them.

import type pg from 'pg';

import { Client } from './servers.ts';

type Ask = (query: string | pg.QueryConfig, values?: unknown[]) => Promise<pg.QueryResult>;
type Callback = (error: unknown, result?: unknown) => void;
/** Fields that pg does not declare. */
type Inner = {
  processID: number | null;
  pipeline: boolean;
  connection: { stream: { destroyed: boolean; destroy(): void; ref(): void; unref(): void } };
};

const CONNECT_MS = 10_000;
const IDLE_IN_TRANSACTION_MS = 60_000;
/** If a server has not answered this long after it should have ended a statement, the answer is not coming. */
const SILENCE_MS = 10_000;

export class PinnedClient extends Client {
  /** Whether something in between gives each transaction any of its connections. Known once connected. */
  isPooled = false;

  /** Drops the connection at once, whatever it waits for. */
  abandon(): void {
    (this as unknown as Inner).connection.stream.destroy();
  }

  /** Sets whether it keeps the process alive. */
  hold(isHeld: boolean): void {
    const { stream } = (this as unknown as Inner).connection;
    if (isHeld) stream.ref();
    else stream.unref();
  }

  /**
   * `statement_timeout` and `lock_timeout` in ms, default: none; `connectionTimeoutMillis`, default: 10 s, which also applies to a pooler
   * that has no free connection.
   */
  constructor({ statement_timeout, lock_timeout, idle_in_transaction_session_timeout, ...config }: pg.ClientConfig = {}) {
    const limit = statement_timeout || 0;
    super({ connectionTimeoutMillis: CONNECT_MS, ...(limit > 0 && { query_timeout: limit + SILENCE_MS }), ...config });
    const pins = {
      statement_timeout: limit,
      lock_timeout: lock_timeout ?? 0,
      idle_in_transaction_session_timeout: idle_in_transaction_session_timeout ?? IDLE_IN_TRANSACTION_MS,
      transaction_timeout: 0,
      standard_conforming_strings: 'on',
      row_security: 'on', // if off, queries of graphile-worker's tables are rejected instead of following its policies
      DateStyle: 'ISO, MDY',
      IntervalStyle: 'postgres',
      jit: 'off', // queries are short, and compiling a plan that only looks expensive takes longer than running it
    };
    this.on('error', () => {}); // a pool adds its listener only once it has the connection, which may break before
    const inner = this as unknown as Inner;
    const open = super.connect.bind(this);
    const send = super.query.bind(this) as Ask;
    const begin = `begin isolation level read committed; select ${settings(pins, true)}`;

    const ask: Ask = async (query, values) => {
      try {
        return await send(query, values);
      } catch (error) {
        if (isSilence(error)) inner.connection.stream.destroy(); // a late answer must not reach the next query
        throw error;
      }
    };

    const connected = async (): Promise<pg.Client> => {
      await open();
      try {
        const isOwn = `pg_backend_pid() = ${inner.processID ?? 'null'}`;
        const pinned = settings({ ...pins, default_transaction_isolation: 'read committed', idle_session_timeout: 0 }, false);
        const {
          rows: [found],
        } = await ask({
          text: `select ${isOwn} as is_own, case when ${isOwn} then ${pinned} end`,
          query_timeout: config.connectionTimeoutMillis ?? CONNECT_MS,
        } as pg.QueryConfig);
        this.isPooled = inner.pipeline = found.is_own !== true;
        return this;
      } catch (error) {
        await this.end().catch(() => {});
        throw error;
      }
    };

    const askPooled: Ask = async (query, values) => {
      const asked: pg.QueryConfig = typeof query === 'string' ? { text: query } : query;
      const { name: _, ...unnamed } = asked;
      if (this.getTransactionStatus() !== 'I') return ask(unnamed, values);
      if (opensTransaction.test(unnamed.text)) return ask(unnamed.text.replace(opensTransaction, begin));
      const answers = await Promise.allSettled([ask(begin), ask(unnamed, values), ask('commit')]);
      for (const answer of answers) if (answer.status === 'rejected') throw answer.reason;
      return (answers[1] as PromiseFulfilledResult<pg.QueryResult>).value;
    };

    this.connect = ((callback?: Callback) => answered(connected(), callback)) as pg.Client['connect'];
    this.query = ((query: string | pg.QueryConfig | pg.Submittable, values?: unknown[] | Callback, callback?: Callback) => {
      if (typeof query === 'object' && 'submit' in query) return super.query(query);
      const [given, told] = typeof values === 'function' ? [undefined, values] : [values, callback];
      return answered((this.isPooled ? askPooled : ask)(query, given), told);
    }) as pg.Client['query'];
    const close = super.end.bind(this);
    this.end = ((callback?: Callback) => {
      // Waiting for the end of a connection must not last forever if nothing else keeps the process alive. A socket that is gone already
      // would keep a listener for each ref().
      const { stream } = inner.connection;
      if (!stream.destroyed) stream.ref();
      this.hold = () => {};
      return answered(close(), callback);
    }) as pg.Client['end'];
  }
}

/** The server, or something in between, did not answer in time. */
export const isSilence = (error: unknown): boolean => error instanceof Error && error.message === 'Query read timeout';

const opensTransaction = /^\s*(?:begin|start transaction)\s*(?=;|$)/i;

/** An expression that applies the settings that this version of PostgreSQL knows: for the session, or for the transaction. */
function settings(pins: Record<string, string | number>, isLocal: boolean): string {
  const set = ([name, value]: [string, string | number]): string =>
    `case when current_setting('${name}', true) is not null then set_config('${name}', '${value}', ${isLocal}) end`;
  return `concat(${Object.entries(pins).map(set).join(', ')})`;
}

function answered<T>(answer: Promise<T>, callback: Callback | undefined): Promise<T> | undefined {
  if (callback === undefined) return answer;
  void answer.then((value) => callback(null, value), callback); // oxlint-disable-line promise/no-callback-in-promise -- as pg's own pool asks
  return undefined;
}
