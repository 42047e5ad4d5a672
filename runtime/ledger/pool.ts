// Access to the SQL functions: connections, and call(name, args, schema). Rows are parsed by their schema on arrival (answers.ts), and the
// results are typed. Every call is safe to repeat (the SQL side is idempotent), so a call whose connection died, or that was rolled back by
// a deadlock or for want of room, or caught by an upgrade, is repeated until it succeeds or PATIENCE_MS has passed.

import { setTimeout as sleep } from 'node:timers/promises';

import { createPool, createTypeParserPreset, SchemaValidationError, sql } from 'slonik';
import type { DatabasePool, FragmentSqlToken, Interceptor, PrimitiveValueExpression, QuerySqlToken, ValueExpression } from 'slonik';
import { z } from 'zod';

import { storableText } from '../../plv8/storable.ts';
import { atFailpoints } from '../failpoint.ts';
import { withoutKnown } from '../secrets/known.ts';
import { keepGiven } from '../secrets/ofEnvironment.ts';
import { checkLedger, OtherLedger } from './checkLedger.ts';
import { NoConnection } from './connection.ts';
import { pinnedDriver } from './driver.ts';
import { errorCodes, LedgerError, messageOf, noWritesWords, sqlState } from './errors.ts';
import { lastUsedFirst } from './lastUsedFirst.ts';
import type { PinnedClient } from './pinned.ts';
import { isConnectionLost, refusalOf } from './reachable.ts';

/** By position, or by name; the types of the function's parameters decide how a text is parsed. */
type Arguments = readonly ValueExpression[] | Record<string, ValueExpression>;
type ValueRow<T> = z.ZodObject<{ value: z.ZodType<T> }>;
type Run = <Schema extends z.ZodType>(query: () => QuerySqlToken<Schema>) => Promise<readonly z.output<Schema>[]>;

/** Calls the functions and queries the views of a ledger. */
export type Calls = ReturnType<typeof callsOf> & {
  /** The same, but never repeated. */
  once: ReturnType<typeof callsOf>;
};

/** Who acts: the holder of a token, given as the token's SHA-256 in hexadecimal; or a name for which the login role vouches. */
export type Person = { token: string } | { name: string };

/**
 * How long a call is repeated while the server is unreachable: less than the lease, so that a worker gives up before another takes over.
 */
const PATIENCE_MS = 20_000;

/**
 * `holdsProcess` false: the process may end while the pool is open, but not in the middle of a call. `patienceMs`: how long a call is
 * repeated while the server is unreachable; default: 20,000. `open`: a connection made with configOfCalls(), which is used first and closed
 * with the pool.
 */
export type PoolOptions = { holdsProcess?: boolean; patienceMs?: number; open?: PinnedClient };

export async function openPool(
  url: string,
  schema: string,
  maximumPoolSize: number,
  { holdsProcess = true, patienceMs = PATIENCE_MS, open }: PoolOptions = {},
): Promise<{
  /** The rows of a query, which is never repeated. */
  ask: Run;
  calls: Calls;
  callsAs: (person: Person) => Calls;
  warm: (connections: number, what?: 'work' | 'look') => Promise<void>;
  close: () => Promise<void>;
}> {
  keepGiven(url);
  const poolOf = (connection?: PinnedClient): Promise<DatabasePool> =>
    createPool(url, {
      driverFactory: pinnedDriver({ holdsProcess, open: connection }),
      maximumPoolSize: 1,
      interceptors: [storableArguments, validateRows],
      typeParsers: [
        ...createTypeParserPreset().filter((p) => !['timestamptz', 'timestamp', 'int8'].includes(p.name)),
        ...isoTimestamps,
        int8AsNumber,
      ],
      queryRetryLimit: 0,
      // A new connection has to compile and plan everything again, so existing ones are kept.
      idleTimeout: 'DISABLE_TIMEOUT',
      maximumConnectionAge: 'DISABLE_TIMEOUT',
      // Nothing here changes session state, so a connection is returned as it is (saves 0.24 ms a call).
      resetConnection: async () => {},
    });
  open?.hold(false); // as if there were none yet, so that a program that makes no call can end
  const others = Array.from({ length: maximumPoolSize - 1 }, () => poolOf()); // each connects at first use
  const pools = await Promise.all([...others, poolOf(open)]); // the last is used first
  for (const pool of pools) pool.on('error', () => {}); // an idle connection died: the next call gets a new one
  const { inLine, whenIdle } = lastUsedFirst(pools);

  const once: Run = async <Schema extends z.ZodType>(query: () => QuerySqlToken<Schema>) =>
    (await inLine((pool) => pool.any(made(query)))) as readonly z.output<Schema>[];
  const said = async (error: unknown): Promise<unknown> =>
    (isSomethingMissing(error) && (await refusal(url, schema))) ||
    (isConnectionLost(error) ? new NoConnection(url, refusalOf(error)) : translate(error));
  const unrepeated =
    (ask: Run): Run =>
    async (query) => {
      try {
        return await ask(query);
      } catch (error) {
        throw await said(error);
      }
    };
  const repeated =
    (ask: Run): Run =>
    async (query) => {
      const deadline = performance.now() + patienceMs;
      let wasCaught = false;
      for (let delay = 100; ; delay = Math.min(delay * 2, 2000)) {
        try {
          return await ask(query);
        } catch (error) {
          const isCaught: boolean = !wasCaught && isCaughtByUpgrade(error);
          wasCaught ||= isCaught;
          if (!(isConnectionLost(error) || isRolledBack(error) || isCaught) || performance.now() + delay > deadline)
            throw await said(error);
          await sleep(delay);
        }
      }
    };
  /**
   * Opens that many connections, all of them by default. For `work`, each does a dry run of what an iteration calls; for `look`, each reads
   * the newest request, if there is one.
   */
  const warm = async (connections: number, what: 'work' | 'look' = 'work'): Promise<void> => {
    const named = (name: string) => sql.identifier([schema, name]);
    const dryRun =
      what === 'work'
        ? sql.unsafe`select ${named('worker_warm_up')}()`
        : sql.unsafe`
      select length(${named('context_at')}(t.turn_id)::text)
        from (select turn_id from ${named('v_turns')} where call_number is not null order by turn_id desc limit 1) t`;
    await Promise.all(Array.from({ length: connections }, () => inLine((pool) => pool.query(dryRun))));
  };
  /** Runs queries in a transaction in a person's name, which the ledger verifies there before anything else. */
  const asPerson =
    (person: Person): Run =>
    async <Schema extends z.ZodType>(query: () => QuerySqlToken<Schema>) => {
      const [setting, value] = 'token' in person ? ['work_ledger.person_token', person.token] : ['work_ledger.person', person.name];
      return (await inLine((pool) =>
        pool.transaction(async (transaction) => {
          await transaction.query(sql.unsafe`select set_config(${setting}, ${value}, true)`);
          await transaction.query(sql.unsafe`select ${sql.identifier([schema, 'person_current'])}()`);
          return transaction.any(made(query));
        }, 0),
      )) as readonly z.output<Schema>[];
    };
  const callsBy = (ask: Run): Calls => ({ ...callsOf(schema, repeated(ask)), once: callsOf(schema, unrepeated(ask)) });
  return {
    ask: once,
    calls: callsBy(once),
    callsAs: (person) => callsBy(asPerson(person)),
    warm,
    close: async () => {
      await whenIdle();
      await Promise.all(pools.map((pool) => pool.end()));
      await open?.end(); // perhaps no call was made
    },
  };
}

function callsOf(schema: string, run: Run) {
  const named = (name: string) => sql.identifier([schema, name]);
  const invoked = (name: string, args: Arguments): FragmentSqlToken => {
    const given = isByName(args) ? Object.entries(args).map(([key, value]) => sql.fragment`${sql.identifier([key])} => ${value}`) : args;
    return given.length === 0 ? sql.fragment`${named(name)}()` : sql.fragment`${named(name)}(${sql.join(given, sql.fragment`, `)})`;
  };
  const values = async <T>(name: string, args: Arguments, schemaOf: z.ZodType<T>): Promise<T[]> => {
    const row: ValueRow<T> = z.object({ value: schemaOf });
    return (await atFailpoints(name, () => run(() => sql.type(row)`select ${invoked(name, args)} as value`))).map(({ value }) => value);
  };
  const rows = <Schema extends z.ZodType>(name: string, args: Arguments, schemaOf: Schema) =>
    atFailpoints(name, () => run(() => sql.type(schemaOf)`select * from ${invoked(name, args)}`));
  return {
    /** The name of a view, table or function, qualified with the ledger's schema. */
    named,
    schema,
    /** A function call, for use within a query. */
    invoked,
    run,
    /** The first row of a query. */
    one: async <Schema extends z.ZodType>(query: () => QuerySqlToken<Schema>) => theOnly(await run(query)),
    /** The value that a function returns. */
    call: async <T>(name: string, args: Arguments, schemaOf: z.ZodType<T>): Promise<T> => theOnly(await values(name, args, schemaOf)),
    /** The values that a set-returning function returns. */
    values,
    /** The row that a function returns. */
    row: async <Schema extends z.ZodType>(name: string, args: Arguments, schemaOf: Schema) => theOnly(await rows(name, args, schemaOf)),
    /** The rows that a function returns. */
    rows,
  };
}

/**
 * Makes a query with its arguments. An argument of the wrong type, such as a Date or a list in place of text, is reported as the caller's
 * mistake.
 */
function made<Query>(query: () => Query): Query {
  try {
    return query();
  } catch (error) {
    if (error instanceof RangeError || error instanceof LedgerError) throw error; // too deep, or already reported
    throw new LedgerError(
      'WL002',
      `an argument cannot be used: ${messageOf(error)}`,
      '',
      'It is missing, or not of the type that is asked for.',
    );
  }
}

const isByName = (args: Arguments): args is Record<string, ValueExpression> => !Array.isArray(args);

function theOnly<T>([row]: readonly T[]): T {
  if (row === undefined) throw new Error('the ledger returned no row');
  return row;
}

/** slonik does not validate rows; this checks every row against the schema of its query. */
const validateRows: Interceptor = {
  name: 'validate rows',
  transformRowAsync: async (context, query, row) => {
    if (!context.resultParser) return row;
    const result = await context.resultParser['~standard'].validate(row);
    if (result.issues) throw new SchemaValidationError(query, row, result.issues);
    return result.value as typeof row;
  },
};

/**
 * Makes arguments from models, tools, code and people storable as text in Postgres, without the secrets that this process knows. JSON goes
 * through storableJson().
 */
const storableArguments: Interceptor = {
  name: 'storable arguments',
  transformQuery: (_, query) => ({ ...query, values: query.values.map(storableArgument) }),
};

function storableArgument(value: PrimitiveValueExpression): PrimitiveValueExpression {
  if (typeof value === 'string') return withoutKnown(storableText(value));
  return Array.isArray(value) ? value.map(storableArgument) : value;
}

const isoTimestamps = ['timestamptz', 'timestamp'].map((name) => ({ name, parse: (value: string) => value }));
const int8AsNumber = { name: 'int8', parse: Number };

/**
 * The transaction was rolled back in favour of another, or because the disk was full, perhaps only while a query of somebody else filled it
 * with temporary files. It changed nothing.
 */
function isRolledBack(error: unknown): boolean {
  return ['40001', '40P01', '53100'].includes(sqlState(error) ?? '');
}

/**
 * Errors of a statement that waited for an upgrade: it began with functions that are now replaced or gone, and rows whose columns have
 * changed. It changed nothing; repeated once, it calls the new functions.
 */
function isCaughtByUpgrade(error: unknown): boolean {
  const code = sqlState(error);
  return (
    ['42804', '42846', '42883', '42703', '42P01'].includes(code ?? '') ||
    (code === '0A000' && messageOf(refusalOf(error)).startsWith('cached plan')) ||
    (code === 'XX000' && messageOf(refusalOf(error)).startsWith('cache lookup failed'))
  );
}

/** The error to report if the ledger was upgraded meanwhile and no longer serves this program. */
const refusal = (url: string, schema: string): Promise<OtherLedger | null> =>
  checkLedger(url, schema).then(
    () => null,
    (error: unknown) => (error instanceof OtherLedger ? error : null),
  );

/** Something that the program asked for is not in the database. */
const isSomethingMissing = (error: unknown): boolean => ['42P01', '42703', '42883', '3F000'].includes(sqlState(error) ?? '');

export function translate(error: unknown): unknown {
  const words = noWritesWords(error);
  if (words !== null) return new Error(words, { cause: error });
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string' && cause.code in errorCodes) {
      const { detail, hint } = cause as { detail?: string; hint?: string };
      return new LedgerError(cause.code, cause.message, detail ?? '', hint ?? '');
    }
    if ('code' in cause && cause.code === '3F000')
      return new Error(`${cause.message}: no ledger was installed there (work-ledger install)`, { cause: error });
    if ('code' in cause && ['42P01', '42703', '42883'].includes(cause.code as string)) {
      return new Error(`${cause.message}. Is the ledger of this program's version, and complete? Run work-ledger doctor to find out`, {
        cause: error,
      });
    }
  }
  return error;
}
