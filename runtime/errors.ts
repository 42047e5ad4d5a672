// The ledger's own error codes, as SQL raises them (sql/README.md has the same list), the class they arrive as, and a user's mistakes.

export const errorCodes = {
  WL001: 'not found',
  WL002: 'invalid argument',
  WL003: 'work item finished',
  WL004: 'lease lost',
  WL005: 'work item driven by a focus',
  WL006: 'idempotency key reused',
  WL007: 'append-only',
  WL008: 'wrong state',
  WL009: 'budget used up',
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** A refusal by the ledger itself; branch on `code`, never on the message. */
export class LedgerError extends Error {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly hint: string;

  constructor(code: ErrorCode, message: string, detail: string, hint: string) {
    super(message);
    this.name = 'LedgerError';
    this.code = code;
    this.detail = detail;
    this.hint = hint;
  }
}

/** A mistake in how a command was called or in a file that it was given; ends it with exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** True where the work item is no longer this worker's: finished, cancelled or taken over. */
export function isLeaseLost(error: unknown): boolean {
  return error instanceof LedgerError && (error.code === 'WL003' || error.code === 'WL004' || error.code === 'WL005');
}
