// The ids that people type.

import { z } from 'zod';

import { UsageError } from '../ledger/errors.ts';

/** The id as it was typed; whether there is such a thing, the ledger says. */
export function idOf(text: string, what = 'work item'): string {
  if (!z.guid().safeParse(text).success) throw new UsageError(`"${text}" is not the id of a ${what}; "work-ledger list" shows those of work items`);
  return text;
}
