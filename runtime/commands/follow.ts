// Watches a work item: its entries as they come, until it ends. Notifications make it prompt, polling makes it reliable.

import { ActivityReader } from '../ledger/activity.ts';
import type { ActivityEvent } from '../ledger/activity.ts';
import { isFinal } from '../ledger/answers.ts';
import type { CountedItem, LedgerEntry } from '../ledger/answers.ts';
import type { Db } from '../ledger/db.ts';
import { listen } from '../ledger/listener.ts';

/**
 * Passes every entry to `onEntry`, once and in order, and what the agent says and calls meanwhile to `onActivity`; resolves with the item
 * when it is final or paused, or when `signal` fires.
 */
export async function follow(
  db: Db,
  url: string,
  workItemId: string,
  handlers: { onEntry?(entry: LedgerEntry): void; onActivity?(event: ActivityEvent): void; onPoll?(): Promise<void> },
  signal: AbortSignal = new AbortController().signal,
): Promise<CountedItem | null> {
  let wake = (): void => {};
  const listener = listen(url, ['work_ledger', 'work_item_completed', ...(handlers.onActivity ? ['work_activity'] : [])], {
    onNotification: (_channel, payload) => payload === workItemId && wake(),
    onConnected: () => wake(),
  });
  const activity = new ActivityReader(db, workItemId);
  let seq = 0;
  let watchedUntil = 0;
  try {
    if (handlers.onActivity) await activity.begin();
    while (!signal.aborted) {
      if (performance.now() > watchedUntil) {
        await db.ledgerWatch(workItemId, 60);
        watchedUntil = performance.now() + 30_000;
      }
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, 1000);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      const item = await db.workItem(workItemId);
      for (const entry of await db.ledgerSince(workItemId, seq)) {
        handlers.onEntry?.(entry);
        seq = entry.seq;
      }
      if (handlers.onActivity) for await (const event of activity.read()) handlers.onActivity(event);
      await handlers.onPoll?.();
      if (item && (isFinal(item.state) || item.state === 'paused')) return item;
      await woken;
    }
    return await db.workItem(workItemId);
  } finally {
    await listener.close();
  }
}
