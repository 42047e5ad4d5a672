// Checks of what a program passes: one without types may pass anything.

import { UsageError } from './errors.ts';

/** What a value is, for a message. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Throws UsageError if it is not a text. */
export function checkText(name: string, value: unknown): asserts value is string {
  if (typeof value !== 'string') throw new UsageError(`${name} must be text, not ${kindOf(value)}`);
}

/** Throws UsageError if it does not say which activity of work is told; undefined is left to a default. */
export function checkActivity(activity: unknown): void {
  if (activity === undefined || activity === 'all' || activity === 'new' || activity === 'none') return;
  throw new UsageError(`activity must be all, new or none, not ${typeof activity === 'string' ? `"${activity}"` : kindOf(activity)}`);
}

/** Throws UsageError if it cannot name a schema; '' would be an error of syntax in every query. */
export function checkSchema(schema: unknown): asserts schema is string {
  checkText('schema', schema);
  if (schema === '') throw new UsageError('schema is empty: give the name of the schema that the ledger is in');
}
