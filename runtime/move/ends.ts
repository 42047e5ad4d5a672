// The two ends of a move: connections to both, and what exists of the move at each. The state of a move is kept nowhere else, so that a
// command that was killed can be repeated by looking.

import { createHash } from 'node:crypto';

import type pg from 'pg';

import { tables } from '../../sql/extensionSource.ts';
import { shownUrl } from '../ledger/address.ts';
import { connect, NoConnection } from '../ledger/connection.ts';
import { sqlState, UsageError } from '../ledger/errors.ts';

export type End = {
  client: pg.Client;
  url: string;
  schema: string;
  /** The schema, quoted. */
  quoted: string;
  /** Host, port and database, for messages. */
  address: string;
  /** Identifies this ledger on this server; publication, subscription and slot of a move from here have this name. */
  name: string;
};

/** The side of a move that a ledger is on, from the triggers that reject writes; null: it accepts writes. */
export type Fence = { direction: 'to' | 'from'; peer: string; address: string } | null;

/**
 * Tables that are not moved: those about transactions of the server, what an installation writes, roles of the server, and what a crash
 * empties.
 */
const staying = ['erasing', 'installed_code', 'ledger_roles', 'locks', 'turn_streams'];
export const movedTables = (): string[] =>
  tables()
    .filter((name) => !staying.includes(name))
    .toSorted();

/** `option`: where the address was given. */
export async function openEnd(url: string, schema: string, option: string): Promise<End> {
  const client = await connect({ connectionString: url, keepAlive: true }).catch((error: unknown) => {
    throw error instanceof NoConnection && option !== '' ? new UsageError(`${error.message}. Correct ${option}`) : error;
  });
  if (client.isPooled) {
    await client.end();
    throw new UsageError(`${addressOf(url)} is a pooler: a move requires the addresses of the servers themselves`);
  }
  // Rows are compared as text, so both ends must format them alike.
  await client.query(`
    set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0; set search_path = pg_catalog; set timezone = 'UTC'; set datestyle = 'ISO'; set intervalstyle = 'postgres';
    set bytea_output = 'hex'; set extra_float_digits = 1; set default_transaction_isolation = 'read committed'`);
  const {
    rows: [found],
  } = await client
    .query<{ system: string; database: string }>(
      'select system_identifier::text as system, current_database()::text as database from pg_control_system()',
    )
    .catch(async (error: unknown) => {
      await client.end();
      throw sqlState(error) === '42501'
        ? new UsageError(
            `the server at ${addressOf(url)} does not tell role ${client.user ?? ''} which server it is: grant execute on function pg_control_system() to it`,
          )
        : error;
    });
  const identity = createHash('sha256')
    .update(JSON.stringify([found?.system, found?.database, schema]))
    .digest('hex')
    .slice(0, 12);
  return { client, url, schema, quoted: client.escapeIdentifier(schema), address: addressOf(url), name: `work_ledger_move_${identity}` };
}

function addressOf(url: string): string {
  const bare = shownUrl(url)
    .replace(/^\w+:\/\//, '')
    .replace(/[?#].*$/s, '')
    .replace(/^[^@/]*@/, '');
  try {
    return decodeURIComponent(bare);
  } catch {
    return bare;
  }
}

const rowsOf = async <Row extends pg.QueryResultRow>({ client }: End, query: string, ...values: unknown[]): Promise<Row[]> =>
  (await client.query<Row>(query, values)).rows;

/** Null also if there is no ledger. */
export async function fenceOf(end: End): Promise<Fence> {
  if ((await rowsOf(end, 'select where to_regprocedure($1) is not null', `${end.quoted}._moved()`)).length === 0) return null;
  return (await rowsOf<NonNullable<Fence>>(end, `select direction, peer, address from ${end.quoted}._moved()`))[0] ?? null;
}

export const hasLedger = async (end: End): Promise<boolean> =>
  (await rowsOf(end, 'select where to_regclass($1) is not null', `${end.quoted}.work_ledger`)).length > 0;

export const isPublished = async (source: End): Promise<boolean> =>
  (await rowsOf(source, 'select from pg_publication where pubname = $1', source.name)).length > 0;

/** Whether the target follows the source; broken: it did, but its subscription was disabled or has lost its slot. */
export async function subscriptionOn(target: End, name: string): Promise<'none' | 'broken' | 'there'> {
  const [found] = await rowsOf<{ is_whole: boolean }>(
    target,
    `
    select subenabled and subslotname is not null as is_whole from pg_subscription where subname = $1 and subdbid = (select oid from pg_database where datname = current_database())`,
    name,
  );
  return found === undefined ? 'none' : found.is_whole ? 'there' : 'broken';
}

/**
 * Statements that make this end reject every writer from the commit on; transactions that are writing are waited for. `direction`: where
 * its rows go to, or come from.
 */
export function fenceSql(end: End, direction: 'to' | 'from', other: End): string {
  const given = [direction, other.name, other.address].map((text) => end.client.escapeLiteral(text)).join(', ');
  // Every writer locks a fence first: while all fences are locked, no session that waits for this one holds a lock that it needs next.
  return [
    `lock table ${end.quoted}.fences in exclusive mode`,
    ...tables().flatMap((table) => [
      `create or replace trigger refuse_moved before insert or update or delete or truncate on ${end.quoted}.${table} for each statement execute function ${end.quoted}._refuse_moved(${given})`,
      `alter table ${end.quoted}.${table} enable always trigger refuse_moved`,
    ]),
  ].join(';\n');
}

export const unfenceSql = (end: End): string =>
  tables()
    .map((table) => `drop trigger if exists refuse_moved on ${end.quoted}.${table}`)
    .join(';\n');

/** Runs statements in a transaction. Its lock timeout is short; callers retry for a minute (patiently() in install/). */
export async function inTransaction({ client }: End, statements: string): Promise<void> {
  try {
    // Commits synchronously even on a server set to asynchronous commits. The timeout exceeds deadlock_timeout: by then a vacuum in the way
    // has yielded.
    await client.query(`begin; set local synchronous_commit = on; set local lock_timeout = '2s'; ${statements}; commit`);
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}
