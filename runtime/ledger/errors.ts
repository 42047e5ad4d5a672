// The ledger's own error codes, as SQL raises them (sql/README.md has the same list), their class, and the class of a user's mistakes.

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

/** One of PostgreSQL's own, such as 22P02 (not an id) or 42501 (not allowed). */
export type SqlState = string & Record<never, never>;

/** An error raised by the ledger itself or, of LedgerClient, by its database; branch on `code`, never on the message. */
export class LedgerError extends Error {
  readonly code: ErrorCode | SqlState;
  readonly detail: string;
  /** What to do about it. */
  readonly hint: string;

  constructor(code: ErrorCode | SqlState, message: string, detail: string, hint: string) {
    super(message);
    this.name = 'LedgerError';
    this.code = code;
    this.detail = detail;
    this.hint = hint;
  }
}

/** A mistake in how a command was called, or in a file that it was given; the command ends with exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** True if this worker no longer drives the work item: finished, cancelled, taken over, or on another server by now. */
export function isLeaseLost(error: unknown): boolean {
  return error instanceof LedgerError && ['WL003', 'WL004', 'WL005', 'WL011'].includes(error.code);
}

/** True if work that a call names, such as that of a session, is erased or has ended. */
export function isItemOver(error: unknown): boolean {
  return error instanceof LedgerError && ['WL001', 'WL003'].includes(error.code);
}

/** What the database cannot store: bytes, escapes, depth (in JavaScript a RangeError), size. */
const unstorable = new Set(['22021', '22P05', '54000', '54001']);

/** True if the fault is in the data to be stored, so that retrying cannot help. */
export function isUnstorable(error: unknown): boolean {
  return error instanceof RangeError || unstorable.has(sqlState(error) ?? '');
}

/** The code of the database or of the system that an error, or one of its causes, carries. */
export function sqlState(error: unknown): string | null {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
  }
  return null;
}

/** Whether the database could not read a time or an interval. */
export const isNoTime = (error: unknown): boolean => ['22007', '22008', '22009', '22015'].includes(sqlState(error) ?? '');

/** PostgreSQL cannot read a text as the signature of a function, or has none of that signature. */
export const isNoFunction = (error: unknown): boolean =>
  ['22P02', '42601', '42602', '42704', '42725', '42883', '3F000'].includes(sqlState(error) ?? '');

/** What to say where the server takes no writes; null: that is not what is wrong. */
export function noWritesWords(error: unknown): string | null {
  if (sqlState(error) !== '25006') return null;
  let said = error;
  while (said instanceof Error && said.cause instanceof Error) said = said.cause;
  return `${messageOf(said)}: this server only reads (a standby, or set so). Let DATABASE_URL name the primary, and WORK_LEDGER_READ_URL a standby for reading`;
}

/** What to do where the database refuses a role something that is the ledger's. */
export const noRightHint = 'The role that is logged in may not do this: docs/operating.md, "Roles", says what each role may';

/** The message of an error, or of anything else that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
