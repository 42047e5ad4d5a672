// The ledger's error codes, as SQL raises them (sql/README.md has the same list), their class, and the class of usage errors.

export const errorCodes = {
  WL001: 'not found',
  WL002: 'invalid argument',
  WL003: 'work item finished',
  WL004: 'lease lost',
  WL005: 'work item driven by a focus',
  WL006: 'key or name taken',
  WL007: 'append-only',
  WL008: 'wrong state',
  WL009: 'no room',
  WL010: 'version not served',
  WL011: 'ledger moved',
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** One of PostgreSQL's codes, such as 22P02 (not an id) or 42501 (not allowed). */
export type SqlState = string & Record<never, never>;

/** An error raised by the ledger or, in LedgerClient, by its database. Branch on `code`, never on the message. */
export class LedgerError extends Error {
  readonly code: ErrorCode | SqlState;
  readonly detail: string;
  /** What to do about it. */
  readonly hint: string;

  constructor(code: ErrorCode | SqlState, message: string, detail: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LedgerError';
    this.code = code;
    this.detail = detail;
    this.hint = hint;
  }
}

/** A mistake in how a command was called, or in a file given to it; the command ends with exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** True if this worker no longer drives the work item: it was finished, cancelled, taken over, or moved to another server. */
export function isLeaseLost(error: unknown): boolean {
  return error instanceof LedgerError && ['WL003', 'WL004', 'WL005', 'WL011'].includes(error.code);
}

/** True if the work that a call refers to, such as a session's, was erased or has ended. */
export function isItemOver(error: unknown): boolean {
  return error instanceof LedgerError && ['WL001', 'WL003'].includes(error.code);
}

/** Codes for what the database cannot store: bytes, escapes, depth (a RangeError in JavaScript), size. */
const unstorable = new Set(['22021', '22P05', '54000', '54001']);

/** True if the data itself cannot be stored, so that retrying cannot help. */
export function isUnstorable(error: unknown): boolean {
  return error instanceof RangeError || unstorable.has(sqlState(error) ?? '');
}

/** The code of the database or the system in an error or one of its causes. */
export function sqlState(error: unknown): string | null {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
  }
  return null;
}

/** Whether the database could not parse a time or an interval. */
export const isNoTime = (error: unknown): boolean => ['22007', '22008', '22009', '22015'].includes(sqlState(error) ?? '');

/** True if PostgreSQL cannot parse a text as a function signature, or has no such function. */
export const isNoFunction = (error: unknown): boolean =>
  ['22P02', '42601', '42602', '42704', '42725', '42883', '3F000'].includes(sqlState(error) ?? '');

/** What to tell the user if the server accepts no writes; null: that is not the problem. */
export function noWritesWords(error: unknown): string | null {
  if (sqlState(error) !== '25006') return null;
  let said = error;
  while (said instanceof Error && said.cause instanceof Error) said = said.cause;
  return `${messageOf(said)}: this server only reads (a standby, or set so). Let DATABASE_URL name the primary, and WORK_LEDGER_READ_URL a standby for reading`;
}

/** Hint for the case that the database denies a role access to something in the ledger. */
export const noRightHint = 'The role that is logged in may not do this: docs/operating.md, "Roles", says what each role may';

/** The message of an error, or of anything else that was thrown: a program's tool may throw what no text can be made of. */
export function messageOf(error: unknown): string {
  if (error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd')
    return 'the directory that this program was started in no longer exists: change to another one';
  try {
    return String(typeof error === 'object' && error !== null && 'message' in error ? error.message : error);
  } catch {
    return 'an object without a message was thrown';
  }
}
