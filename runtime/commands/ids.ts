// The ids that people type, and where they find them.

import { z } from 'zod';

import { UsageError } from '../ledger/errors.ts';

const shownBy = {
  'work item': '"work-ledger list" shows those that there are',
  'tool call': '"work-ledger approve" shows those that wait for approval',
  turn: 'those of a work item: work-ledger sql "select id, depth from turns where work_item_id = \'ID\' order by depth"',
} as const;

/** The id as it was typed; whether there is such a thing, the ledger says. */
export function idOf(text: string, what: keyof typeof shownBy = 'work item'): string {
  if (!z.guid().safeParse(text).success) throw new UsageError(`"${text}" is not the id of a ${what}; ${shownBy[what]}`);
  return text;
}

/** What to do where the ledger says that there is no such thing; null: it said something else. */
export function whereItIs(message: string): string | null {
  const what = (Object.keys(shownBy) as (keyof typeof shownBy)[]).find((one) => message.startsWith(`there is no ${one} `));
  return what === undefined ? null : shownBy[what];
}
