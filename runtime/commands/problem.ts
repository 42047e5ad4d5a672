// Errors as people see them: one line with what to do about it, and a stack only if DEBUG is set.

import { NoConnection } from '../ledger/connection.ts';
import { LedgerError, messageOf, noRightHint, noWritesWords, sqlState, UsageError } from '../ledger/errors.ts';
import { isConnectionLost, refusalOf } from '../ledger/reachable.ts';
import { withoutSecrets } from '../secrets/known.ts';
import { whereItIs } from './ids.ts';
import { exit, note } from './output.ts';

/**
 * Prints the error on stderr, with DEBUG set also its stack, and returns the exit code. `addressFrom`: where the database's address was
 * given.
 */
export function problem(error: unknown, addressFrom: string): number {
  note(withoutSecrets(`error: ${sentenceOf(error, addressFrom)}`, 'log'));
  if (process.env['DEBUG']) note(withoutSecrets(String(error instanceof Error ? error.stack : error), 'log'));
  return error instanceof UsageError ? exit.usage : exit.error;
}

/** What to do if the server runs but accepts no connection now. */
const BUSY: Record<string, string> = {
  '53300': 'It runs, and has no connection left: end programs that hold some, or raise its max_connections',
  '57P03': 'It starts, stops or recovers: try again in a moment',
};

function sentenceOf(error: unknown, addressFrom: string): string {
  if (error instanceof NoConnection) {
    const busy = BUSY[sqlState(error.cause) ?? ''];
    if (busy !== undefined) return `${error.message}. ${busy}`;
    return `${error.message}. ${isConnectionLost(error) ? 'Start it, or correct' : 'Correct'} ${addressFrom}; without an address the embedded PostgreSQL is used`;
  }
  if (error instanceof LedgerError) {
    const next = error.hint || (error.code === 'WL001' ? whereItIs(error.message) : null);
    return `${error.message} (${error.code})${next ? `. ${next}` : ''}`;
  }
  const { code, path } = (error ?? {}) as NodeJS.ErrnoException;
  if (typeof path === 'string' && code === 'ENOENT') return `there is no ${path}`;
  if (code === 'EISDIR') return typeof path === 'string' ? `${path} is a directory, not a file` : 'this is a directory, not a file';
  if (typeof path === 'string' && (code === 'EACCES' || code === 'EPERM')) return `${path} may not be read or written by you`;
  if (sqlState(error) === '57014' && /statement timeout/.test(messageOf(refusalOf(error))))
    return 'the database stopped a statement after a minute, the longest that a command waits; it changed nothing. Try again when the server is less busy, or call the function in psql, which sets no limit';
  const said = noWritesWords(error) ?? messageOf(refusalOf(error));
  return sqlState(error) === '42501' && said.startsWith('permission denied for ') ? `${said}. ${noRightHint}` : said;
}
