// What a work item did and was told, read from its rows.

import type { Activity, CountedItem, LedgerEntry } from '../ledger/answers.ts';
import { BEFORE_ALL } from '../ledger/activity.ts';
import type { Db } from '../ledger/db.ts';
import { LedgerError } from '../ledger/errors.ts';

export type SeenCall = { name: string; input: Record<string, unknown>; status: string };
export type Seen = {
  item: CountedItem;
  entries: readonly LedgerEntry[];
  calls: readonly SeenCall[];
  /** The texts of its requests as the model got them, one per turn. */
  requests: readonly string[];
};

/** Throws if there is no such item. */
export async function seenOf(db: Db, workItemId: string): Promise<Seen> {
  const item = await db.workItem(workItemId);
  if (item === null) throw new LedgerError('WL001', `there is no work item ${workItemId}`, '', '');
  const requests: string[] = [];
  for (let after: string | undefined = BEFORE_ALL; after !== undefined;) {
    const turns: Activity[] = (await db.workActivity(workItemId, after)).filter((turn) => turn.turn_id !== after);
    for (const turn of turns) requests.push(await db.contextAt(turn.turn_id));
    after = turns.at(-1)?.turn_id;
  }
  // work_activity() cuts their inputs to a line.
  const calls = (await db.toolCalls(workItemId)).map(({ tool_name, input, status }) => ({
    name: tool_name,
    input: input as Record<string, unknown>,
    status,
  }));
  return { item, entries: await db.ledgerSince(workItemId, 0), calls, requests };
}
