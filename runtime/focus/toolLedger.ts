// The ledger as tools see it: the functions behind the engine's tools, for the item whose call it is, under its lease.

import { createHash } from 'node:crypto';

import { clientError } from '../ledger/clientError.ts';
import { isConnectionLost } from '../ledger/reachable.ts';
import type { ToolLedger } from '../tools/tool.ts';
import type { Focus } from './focus.ts';

export function ledgerOf(toolCallId: string, { claim: { work_item_id: id, lease }, runtime: { db } }: Focus): ToolLedger {
  /** A key by which a call that runs again after a crash repeats what it wrote instead of writing it twice. */
  const keyOf = (...said: unknown[]): string =>
    `call ${toolCallId} ${createHash('sha256').update(JSON.stringify(said)).digest('hex').slice(0, 16)}`;
  return {
    append: (entryType, content, options = {}) =>
      refused(db.ledgerAppend(id, entryType, content, { ...options, lease, key: keyOf(entryType, content, options) })),
    read: ({ entryType, last } = {}) => refused(db.ledgerRead(id, entryType ?? null, last ?? null)),
    search: async (query, { before } = {}) =>
      String(await refused(db.abilityInvoke('ledger_search', { query, ...(before !== undefined && { before }) }, id, lease))),
    claim: (key, options = {}) => refused(db.claimTake(id, key, { ...options, lease })),
    tell: (to, content) => refused(db.tellAgent(id, to, content, lease)),
  };
}

/** Converts a rejection to the error for programs; a lost connection is rethrown as it is, and the worker waits for the server. */
async function refused<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw isConnectionLost(error) ? error : clientError(error, '');
  }
}
