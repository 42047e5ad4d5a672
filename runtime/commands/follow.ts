// Watches a work item until it ends: its entries as they come, and what its agent says and calls. Notifications make it prompt, polling
// makes it reliable.

import { ActivityReader } from '../ledger/activity.ts';
import type { ActivityEvent } from '../ledger/activity.ts';
import { isFinal } from '../ledger/answers.ts';
import type { CountedItem, LedgerEntry } from '../ledger/answers.ts';
import type { Db } from '../ledger/db.ts';
import { listen } from '../ledger/listener.ts';
import { positionText } from '../ledger/position.ts';
import type { Position, TurnTold } from '../ledger/position.ts';

/** An entry of its ledger, or agent activity. `position`: follow() can continue after it, in any process. */
export type WorkEvent = ({ kind: 'entry'; entry: LedgerEntry } | ActivityEvent) & { position: string };

/**
 * Yields every entry, once and in order, and the agent's activity: none ('none'), that of the current turn and later ones ('new'), or all
 * ('all'). Yields 'looked' after each look, at least once a second. `after`: only what follows that position. Returns the item when it is
 * final or paused, or after one more look when `signal` fires.
 */
export async function* eventsOf(
  db: Db,
  url: string,
  workItemId: string,
  activity: 'none' | 'new' | 'all',
  signal: AbortSignal,
  after: Position | null = null,
): AsyncGenerator<WorkEvent | { kind: 'looked' }, CountedItem | null> {
  let wake = (): void => {};
  const onAbort = (): void => wake();
  signal.addEventListener('abort', onAbort);
  let timer: NodeJS.Timeout | undefined;
  const listener = listen(url, ['work_ledger', 'work_item_completed', ...(activity === 'none' ? [] : ['work_activity'])], {
    onNotification: (_channel, payload) => payload === workItemId && wake(),
    onConnected: () => wake(),
  });
  const reader = new ActivityReader(db, workItemId, after?.turn);
  let seq = after?.seq ?? 0;
  const positionAt = (turn: TurnTold | null): string => positionText(workItemId, { seq, turn, isEnd: false });
  let watchedUntil = 0;
  try {
    if (activity !== 'none') await reader.begin(activity === 'all');
    for (;;) {
      const isLast = signal.aborted; // everything up to then is still yielded
      if (performance.now() > watchedUntil) {
        await db.ledgerWatch(workItemId, 60);
        watchedUntil = performance.now() + 30_000;
      }
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
        timer = setTimeout(resolve, 1000);
      });
      const item = await db.workItem(workItemId);
      // Activity is read before the entries, so that no call is yielded before an entry that was recorded before the call ended.
      let { told } = reader;
      const acts: [ActivityEvent, TurnTold | null][] = [];
      if (activity !== 'none') for await (const act of reader.read()) acts.push([act, reader.told]);
      const entries = await db.ledgerSince(workItemId, seq);
      let next = 0;
      const recorded = function* (isDue: (entry: LedgerEntry) => boolean): Generator<WorkEvent> {
        for (let entry = entries[next]; entry && isDue(entry); entry = entries[++next]) {
          seq = entry.seq;
          yield { kind: 'entry', entry, position: positionAt(told) };
        }
      };
      for (const [act, toldThen] of acts) {
        yield* recorded((entry) => isBefore(entry, act));
        told = toldThen;
        yield { ...act, position: positionAt(told) };
      }
      yield* recorded(() => true);
      yield { kind: 'looked' };
      if (isLast || (item && (isFinal(item.state) || item.state === 'paused'))) return item;
      await woken;
      clearTimeout(timer);
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    await listener.close();
  }
}

/**
 * A generator that `return()` also ends while it waits for its next value; a plain generator would end only after that. `begin` is given
 * two signals: one that fires on `return()` and when `signal` does, and one that fires only on `return()`.
 */
export function leavable<T, Last>(
  signal: AbortSignal | undefined,
  begin: (signal: AbortSignal, left: AbortSignal) => AsyncGenerator<T, Last>,
): AsyncGenerator<T, Last> {
  const left = new AbortController();
  const events = begin(signal ? AbortSignal.any([signal, left.signal]) : left.signal, left.signal);
  const leave = events.return.bind(events);
  events.return = (value) => {
    left.abort();
    return leave(value);
  };
  return events;
}

/** Both may be from one transaction: then an entry comes after the text of the response and before the end of the call that made it. */
function isBefore(entry: LedgerEntry, act: ActivityEvent): boolean {
  const behind = Date.parse(act.at ?? '') - Date.parse(entry.created_at);
  return behind > 0 || (behind === 0 && act.kind === 'call');
}

type Handlers = { onEntry?(entry: LedgerEntry): void; onActivity?(event: ActivityEvent): void; onPoll?(workItemId: string): Promise<void> };

/**
 * Passes every entry to `onEntry`, once and in order, and what the agent says and calls meanwhile to `onActivity`. Resolves with the item
 * when it is final or paused, or when `signal` fires.
 */
export async function follow(
  db: Db,
  url: string,
  workItemId: string,
  handlers: Handlers,
  signal: AbortSignal = new AbortController().signal,
): Promise<CountedItem | null> {
  const events = eventsOf(db, url, workItemId, handlers.onActivity ? 'new' : 'none', signal);
  try {
    for (;;) {
      const next = await events.next();
      if (next.done) return next.value;
      if (next.value.kind === 'looked') await handlers.onPoll?.(workItemId);
      else if (next.value.kind === 'entry') handlers.onEntry?.(next.value.entry);
      else handlers.onActivity?.(next.value);
    }
  } finally {
    await events.return(null);
  }
}

/** `follow()` through a conversation: if a later item continues one that has ended, it is followed next. Resolves with the last item. */
export async function followOn(
  db: Db,
  url: string,
  workItemId: string,
  handlers: Handlers,
  signal: AbortSignal = new AbortController().signal,
): Promise<CountedItem | null> {
  let ended = await follow(db, url, workItemId, handlers, signal);
  while (ended !== null && ended.next_id !== null && isFinal(ended.state) && !signal.aborted)
    ended = await follow(db, url, ended.next_id, handlers, signal);
  return ended;
}
