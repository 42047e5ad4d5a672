// await_child_work and wait_for for an MCP client. In a focus the loop waits; here the client waits, and nothing is held meanwhile.

import { setTimeout as sleep } from 'node:timers/promises';

import { z } from 'zod';

import { isFinal } from '../ledger/answers.ts';
import type { Db } from '../ledger/db.ts';

const POLL_MS = 500;
/** The interval at which progress is reported at least, so that the time limits of clients start over. */
const REPORT_MS = 5000;

const waitInput = z.object({
  work_item_ids: z.array(z.string()).default([]),
  claim: z.string().optional(),
  until: z.string().optional(),
  timeout_seconds: z.number().optional(),
});

/** Reports how long it has waited, and how many seconds it waits at most; null: until a time that the database's clock decides. */
export type Report = (seconds: number, total: number | null, message: string) => Promise<void>;

export const isWait = (name: string): name is 'await_child_work' | 'wait_for' => name === 'await_child_work' || name === 'wait_for';

/** Returns the state once all of that work is over, the time is up, or `signal` fires. */
export async function wait(
  db: Db,
  name: 'await_child_work' | 'wait_for',
  workItemId: string,
  input: Record<string, unknown>,
  signal: AbortSignal,
  report: Report,
): Promise<unknown> {
  const { work_item_ids: ids, claim, until, timeout_seconds: seconds } = waitInput.parse(input);
  const ask = (more: object): Promise<unknown> =>
    name === 'await_child_work'
      ? db.abilityInvoke('check_child_work', { work_item_ids: ids }, workItemId)
      : db.abilityInvoke(
          name,
          {
            ...(ids.length > 0 && { work_item_ids: ids }),
            ...(claim !== undefined && { claim }),
            ...(until !== undefined && { until }),
            ...more,
          },
          workItemId,
        );
  const stands = (): Promise<unknown> => ask({ timeout_seconds: 0 });
  const isTimed = ids.length === 0 && claim === undefined && until === undefined && seconds !== undefined;
  await (isTimed ? stands() : ask({})); // rejects what cannot be waited for before waiting begins
  const isAsked = name === 'wait_for' && (claim !== undefined || until !== undefined);
  const timeout = seconds ?? (isAsked && until !== undefined ? null : 300);
  const startedAt = performance.now();
  let reported = { at: -Infinity, message: '' };
  for (;;) {
    const said = isAsked ? await ask({}) : null;
    if (said !== null) return said;
    const states = await Promise.all(ids.map(async (id) => (await db.workItem(id))?.state));
    const over = states.filter((state) => state !== undefined && isFinal(state)).length;
    const waited = (performance.now() - startedAt) / 1000;
    if ((claim === undefined && ids.length > 0 && over === ids.length) || (timeout !== null && waited >= timeout) || signal.aborted)
      return stands();
    const message = `${over} of ${ids.length} finished: ${[...new Set(states)].map((state) => `${states.filter((one) => one === state).length} ${state}`).join(', ')}`;
    if (message !== reported.message || performance.now() - reported.at >= REPORT_MS) {
      await report(Math.round(waited * 1000) / 1000, timeout, ids.length > 0 ? message : 'it waits');
      reported = { at: performance.now(), message };
    }
    await sleep(Math.min(POLL_MS, Math.max((timeout ?? Infinity) - waited, 0) * 1000 + 1), undefined, { signal }).catch(() => {});
  }
}
