// await_child_work for a client. In a focus the loop waits; here the client waits, and nothing is held meanwhile.

import { setTimeout as sleep } from 'node:timers/promises';

import { z } from 'zod';

import { isFinal } from '../ledger/answers.ts';
import type { Db } from '../ledger/db.ts';

const POLL_MS = 500;
/** So often at least, so that the time limits of clients start over. */
const REPORT_MS = 5000;

const waitInput = z.object({ work_item_ids: z.array(z.string()), timeout_seconds: z.number().optional() });

/** How long it has waited, of how many seconds at most. */
export type Report = (seconds: number, total: number, message: string) => Promise<void>;

/** What check_child_work says when all children are over, the time is over, or `signal` fires. */
export async function awaitChildWork(
  db: Db,
  workItemId: string,
  input: Record<string, unknown>,
  signal: AbortSignal,
  report: Report,
): Promise<unknown> {
  const { work_item_ids: ids, timeout_seconds: timeout = 300 } = waitInput.parse(input);
  const check = (): Promise<unknown> => db.abilityInvoke('check_child_work', { work_item_ids: ids }, workItemId);
  await check(); // refuses what is no child of this item before anybody waits for it
  const startedAt = performance.now();
  let reported = { at: -Infinity, message: '' };
  for (;;) {
    const states = await Promise.all(ids.map(async (id) => (await db.workItem(id))?.state));
    const over = states.filter((state) => state !== undefined && isFinal(state)).length;
    const seconds = (performance.now() - startedAt) / 1000;
    if (over === ids.length || seconds >= timeout || signal.aborted) return check();
    const message = `${over} of ${ids.length} finished: ${[...new Set(states)].map((state) => `${states.filter((one) => one === state).length} ${state}`).join(', ')}`;
    if (message !== reported.message || performance.now() - reported.at >= REPORT_MS) {
      await report(Math.round(seconds * 1000) / 1000, timeout, message);
      reported = { at: performance.now(), message };
    }
    await sleep(Math.min(POLL_MS, timeout * 1000), undefined, { signal }).catch(() => {});
  }
}
