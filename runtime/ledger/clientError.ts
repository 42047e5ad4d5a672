// Errors of a program's calls, as one of three classes: LedgerError, NoConnection, OtherLedger.

import { UnexpectedStateError } from 'slonik';

import { shownUrl } from './address.ts';
import { OtherLedger } from './checkLedger.ts';
import { NoConnection } from './connection.ts';
import { LedgerError, messageOf, noRightHint, sqlState, UsageError } from './errors.ts';
import { isConnectionLost, refusalOf } from './reachable.ts';

/** Hints for errors that have none; sql/README.md says more about the ledger's own codes. */
const hints: Record<string, string> = {
  WL001: 'Check the id, and that databaseUrl and schema are those of the ledger that has it.',
  WL002: 'The message names the argument.',
  WL003: 'Submit a new work item, or go on with this one by continue() or retry().',
  WL004: 'Stop: another worker drives the item.',
  WL005: 'Only read until the attempt is over.',
  WL006: 'Use another key, external id or name.',
  WL007: 'Record a correction.',
  WL008: 'Look at the state: item() has it.',
  WL009: 'Do without, or raise the budget by setBudget().',
  WL010: 'Use the version of work-ledger that the ledger serves.',
  WL011: 'Use the address that the message names.',
  '22P02': 'An id is a UUID, as submit() and list() return it; find() takes a part of one.',
  '25006': 'Let databaseUrl name the primary.',
  '42501': `${noRightHint}.`,
};

const NO_VALUE_HINT = 'The message has the argument, which is not of the type that the method takes.';
const NO_ARGUMENT_HINT = 'It is missing, or not of the type that is asked for.';
const NO_JSON_HINT = 'Pass plain values: no bigint, no object that contains itself, and none nested too deeply.';
const ANY_HINT = 'The code is one of PostgreSQL; its appendix "Error Codes" says what it means.';

/**
 * Calls `use` for a program. Rejects, and never throws, with the error that clientError() makes; with `url` null, which is that of no
 * database, with the one that argumentError() makes.
 */
export async function clientErrors<T>(url: unknown, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    throw url === null ? argumentError(error) : clientError(error, typeof url === 'string' ? url : '');
  }
}

/**
 * The error of a call as its caller gets it. Errors that do not come from the database, such as an aborted signal, are returned as they
 * are. `url`: the database's address.
 */
export function clientError(error: unknown, url: string): unknown {
  if (error instanceof LedgerError)
    return error.hint === '' ? new LedgerError(error.code, error.message, error.detail, hints[error.code] ?? ANY_HINT) : error;
  if (sqlState(error) === 'ERR_INVALID_URL')
    return new LedgerError('WL002', `"${shownUrl(url)}" is not the address of a database`, '', 'Correct databaseUrl, or DATABASE_URL.');
  if (error instanceof NoConnection || error instanceof OtherLedger) return error;
  if (isConnectionLost(error) || /^(28|3D)/.test(sqlState(error) ?? '')) return new NoConnection(url, refusalOf(error));
  if (error instanceof UnexpectedStateError && error.message.startsWith('Connection pool '))
    return new LedgerError(
      'WL008',
      'this LedgerClient is closed',
      '',
      'Open another one by LedgerClient.open(); await what is under way before close().',
    );
  const code = sqlState(error);
  if (code === null || !/^[0-9A-Z]{5}$/.test(code)) return argumentError(error);
  const said = refusalOf(error);
  const { detail, hint } = said as { detail?: string; hint?: string };
  const isOfId = code !== '22P02' || /\buuid\b/.test(messageOf(said)); // unreadable numbers and list members have the same code
  return new LedgerError(code, messageOf(said), detail ?? '', hint ?? (isOfId ? hints[code] : NO_VALUE_HINT) ?? ANY_HINT);
}

/**
 * WL002 for an argument that cannot be used: a UsageError, or a TypeError, as for null in place of options or a number in place of a list.
 * Any other error is returned as it is.
 */
export function argumentError(error: unknown): unknown {
  if (error instanceof UsageError) return new LedgerError('WL002', error.message, '', hints['WL002'] ?? ANY_HINT);
  const hint = isNotJson(error) ? NO_JSON_HINT : error instanceof TypeError ? NO_ARGUMENT_HINT : null;
  if (hint === null) return error;
  return new LedgerError('WL002', `an argument cannot be used: ${messageOf(error)}`, '', hint, { cause: error });
}

/** What JSON.stringify() throws; its errors have no code. */
const isNotJson = (error: unknown): boolean =>
  (error instanceof TypeError && /circular structure to JSON|serialize a BigInt/.test(error.message)) ||
  (error instanceof RangeError && error.message.includes('call stack'));
