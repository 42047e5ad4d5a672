// The commands that make one query or one change.

import { z } from 'zod';

import type { Settings } from '../config.ts';
import type { Db } from '../ledger/db.ts';
import { UsageError } from '../ledger/errors.ts';
import { follow } from './follow.ts';
import { entryLine, exit, itemLine, itemText, print, visible, Words } from './output.ts';
import { withLedger } from './withLedger.ts';

export type SubmitOptions = Settings & {
  type: string;
  params?: string;
  faculty?: string;
  priority?: number;
  parent?: string;
  dedupKey?: string;
  externalId?: string;
  maxAttempts?: number;
  runAt?: string;
  idempotencyKey?: string;
  budget?: string[];
};

export const submit = (description: string, options: SubmitOptions): Promise<number> =>
  withLedger(options, async (db) => {
    const item = await db.workSubmit({
      workType: options.type,
      description,
      ...(options.params !== undefined && { params: parseParams(options.params) }),
      ...(options.faculty !== undefined && { faculty: options.faculty }),
      ...(options.priority !== undefined && { priority: options.priority }),
      ...(options.parent !== undefined && { parentId: options.parent }),
      ...(options.dedupKey !== undefined && { dedupKey: options.dedupKey }),
      ...(options.externalId !== undefined && { externalId: options.externalId }),
      ...(options.maxAttempts !== undefined && { maxAttempts: options.maxAttempts }),
      ...(options.runAt !== undefined && { runAt: options.runAt }),
      ...(options.idempotencyKey !== undefined && { idempotencyKey: options.idempotencyKey }),
      ...(options.budget && { budget: Object.fromEntries(options.budget.map(parseAmount)) }),
    });
    print(item, item.id, options.json ?? false);
    return exit.ok;
  });

/** "tokens=200000". */
function parseAmount(text: string): [resource: string, amount: number] {
  const [, resource, amount] = /^(\w+)=(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  if (resource === undefined) throw new UsageError(`"${text}" is not a budget; one is tokens=200000 (or money, seconds, calls, children)`);
  return [resource, Number(amount)];
}

export const budget = (workItemId: string, amounts: string[], options: Settings): Promise<number> =>
  withLedger(options, async (db) => {
    for (const [resource, amount] of amounts.map(parseAmount)) await db.budgetSet(uuid(workItemId), resource, amount);
    const budgets = await db.budgets(uuid(workItemId));
    print(budgets, budgets.map((one) => `${one.resource.padEnd(8)}  ${one.spent} of ${one.amount}${one.reserved === '0' ? '' : `, ${one.reserved} held`}`).join('\n') || 'no budget of its own',
      options.json ?? false);
    return exit.ok;
  });

function parseParams(text: string): Record<string, unknown> {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  } catch {
    throw new UsageError('--params must be a JSON object');
  }
}

export const show = (workItemId: string | undefined, options: Settings): Promise<number> =>
  withLedger(options, async (db) => {
    if (workItemId === undefined) {
      const items = await db.workItems(20);
      print(items, items.length > 0 ? items.map(itemLine).join('\n') : 'no work items yet: work-ledger submit "..."', options.json ?? false);
      return exit.ok;
    }
    const item = await itemOf(db, workItemId);
    const calls = await db.toolCalls(item.id);
    const progress = await db.workProgress(item.id);
    const lines = [
      itemText(item),
      `  turns      ${progress.turns} (${progress.tokens} tokens)`,
      `  calls      ${calls.length}${calls.length > 0 ? `: ${[...new Set(calls.map((call) => call.tool_name))].join(', ')}` : ''}`,
    ];
    print({ ...item, turns: progress.turns, tokens: progress.tokens, tool_calls: calls }, lines.join('\n'), options.json ?? false);
    return exit.ok;
  });

export const ledger = (workItemId: string, options: Settings & { type?: string; last?: number; formatted?: boolean }): Promise<number> =>
  withLedger(options, async (db) => {
    if (options.formatted) {
      const text = await db.ledgerReadFormatted(uuid(workItemId));
      print({ text }, visible(text), options.json ?? false);
      return exit.ok;
    }
    const entries = await db.ledgerRead(uuid(workItemId), options.type ?? null, options.last ?? null);
    print(entries, entries.length > 0 ? entries.map(entryLine).join('\n') : '(no entries)', options.json ?? false);
    return exit.ok;
  });

export const tail = (workItemId: string, options: Settings): Promise<number> =>
  withLedger(options, async (db, url) => {
    const item = await itemOf(db, workItemId);
    const interrupted = new AbortController();
    process.once('SIGINT', () => interrupted.abort());
    const words = new Words();
    const ended = await follow(db, url, item.id, {
      onEntry: (entry) => {
        words.end();
        print(entry, entryLine(entry), options.json ?? false);
      },
      onActivity: (event) => (options.json ? print(event, '', true) : words.show(event)),
    }, interrupted.signal);
    words.end();
    if (!interrupted.signal.aborted && ended && !options.json) print(ended, itemText(ended), false);
    return exit.ok;
  });

export const digest = (workItemId: string | undefined, options: Settings): Promise<number> =>
  withLedger(options, async (db) => {
    const text = await db.awarenessDigest(workItemId === undefined ? null : uuid(workItemId));
    print({ text }, visible(text), options.json ?? false);
    return exit.ok;
  });

export const cancel = (workItemId: string, options: Settings & { reason?: string }): Promise<number> =>
  withLedger(options, async (db) => {
    const items = await db.workCancel(uuid(workItemId), options.reason ?? null);
    print(items, items.length > 0 ? items.map(itemLine).join('\n') : 'nothing to cancel: it is finished', options.json ?? false);
    return exit.ok;
  });

export const message = (workItemId: string, text: string, options: Settings & { interrupt?: boolean }): Promise<number> =>
  withLedger(options, async (db) => {
    const id = await db.workMessage(uuid(workItemId), text, options.interrupt ?? false);
    print({ id }, options.interrupt ? 'said, and interrupted' : 'will be said with its next request', options.json ?? false);
    return exit.ok;
  });

export const fork = (turnId: string, text: string | undefined, options: Settings & { faculty?: string }): Promise<number> =>
  withLedger(options, async (db) => {
    const item = await db.workFork(uuid(turnId), text ?? null, options.faculty ?? null);
    print(item, item.id, options.json ?? false);
    return exit.ok;
  });

export const pause = (workItemId: string, options: Settings & { reason?: string }): Promise<number> =>
  withLedger(options, async (db) => {
    const item = await db.workPause(uuid(workItemId), options.reason ?? null);
    print(item, item.state === 'paused' ? itemLine(item) : 'pauses when its iteration is over', options.json ?? false);
    return exit.ok;
  });

export const approvals = (options: Settings): Promise<number> =>
  withLedger(options, async (db) => {
    const waiting = await db.approvals();
    const lines = waiting.map((one) => `${one.tool_call_id}  ${one.risk}  ${one.tool_name} ${JSON.stringify(one.input).slice(0, 200)}  (work item ${one.work_item_id}, until ${one.expires_at})`);
    print(waiting, visible(lines.join('\n') || 'nothing waits for an approval'), options.json ?? false);
    return exit.ok;
  });

export const approve = (toolCallId: string, options: Settings): Promise<number> =>
  withLedger(options, async (db) => {
    const decision = await db.toolCallApprove(uuid(toolCallId, 'tool call'));
    print({ decision }, decision, options.json ?? false);
    return exit.ok;
  });

export const reject = (toolCallId: string, options: Settings & { reason?: string }): Promise<number> =>
  withLedger(options, async (db) => {
    const decision = await db.toolCallReject(uuid(toolCallId, 'tool call'), options.reason ?? null);
    print({ decision }, decision, options.json ?? false);
    return exit.ok;
  });

export const resume = (workItemId: string, options: Settings): Promise<number> =>
  withLedger(options, async (db) => {
    const item = await db.workResume(uuid(workItemId));
    print(item, itemLine(item), options.json ?? false);
    return exit.ok;
  });

async function itemOf(db: Db, workItemId: string) {
  const item = await db.workItem(uuid(workItemId));
  if (!item) throw new Error(`there is no work item ${workItemId}`);
  return item;
}

function uuid(text: string, what = 'work item'): string {
  if (!z.guid().safeParse(text).success) throw new UsageError(`"${text}" is not a ${what} id`);
  return text;
}
