// The ids that people type, and where they find them.

import { z } from 'zod';

import type { Db } from '../ledger/db.ts';
import { LedgerError, UsageError } from '../ledger/errors.ts';
import { whereOf } from './where.ts';
import type { Where } from './where.ts';

const shownBy = {
  'work item': '"work-ledger list" shows the newest',
  'tool call': '"work-ledger approve" shows those that wait for approval',
  turn: 'those of a work item: work-ledger sql "select id, depth from turns where work_item_id = \'ID\' order by depth"',
} as const;

export const isWhole = (text: string): boolean => z.guid().safeParse(text).success;

/** The id as it was typed; the ledger checks whether it exists. */
export function idOf(text: string, what: keyof typeof shownBy = 'work item'): string {
  if (!isWhole(text)) throw new UsageError(`"${text}" is not the id of a ${what}; ${shownBy[what]}`);
  return text;
}

/** The work item that was typed: its id, a part of it, or "last", which refers to the project of this directory or command. */
export async function itemIdOf(db: Pick<Db, 'workId'>, text: string, where: Where = {}): Promise<string> {
  if (isWhole(text)) return text;
  const project = process.env['WORK_LEDGER_PROJECT'];
  try {
    return await db.workId(text, await whereOf({ ...(project && { project }), ...where }));
  } catch (error) {
    if (error instanceof LedgerError && error.code === 'WL002') throw new UsageError(`${error.message}. ${error.hint}`);
    throw error;
  }
}

/** The hint for the ledger's error that something does not exist; null: it is another error. */
export function whereItIs(message: string): string | null {
  const what = (Object.keys(shownBy) as (keyof typeof shownBy)[]).find((one) => message.startsWith(`there is no ${one} `));
  return what === undefined ? null : shownBy[what];
}
