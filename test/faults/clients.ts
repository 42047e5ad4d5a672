// Those who use a ledger while it storms: they submit work, approve calls, interrupt, ask for compactions, and append entries of their own,
// of which they remember what they were told.

import { setTimeout as sleep } from 'node:timers/promises';

import { withConnection } from '../../runtime/ledger/connection.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import type { Ground } from './ground.ts';
import { itemOutcomes } from './outcomes.ts';
import type { Witness } from './witness.ts';
import type { Workload } from './workload.ts';

type ClientOptions = {
  ground: Ground;
  /** Straight to the server, and through the proxy that breaks. */
  db: Db;
  told: Db;
  witness: Witness;
  workload: Workload;
  random: () => number;
  /** So many roots are open at a time. */
  open: number;
  /** Breaks the rule on purpose: tells before it is recorded, by a connection of its own to this address. */
  naiveUrl: string | null;
};

export type Clients = {
  /** No new work, nothing but approvals. */
  calm(): Promise<void>;
  stop(): Promise<void>;
};

export function startClients({ ground, db, told, witness, workload, random, open, naiveUrl }: ClientOptions): Clients {
  const calm = new AbortController();
  const over = new AbortController();
  const until = async (signal: AbortSignal, everyMs: number, act: () => Promise<unknown>): Promise<void> => {
    while (!signal.aborted) {
      // While the server is away nobody is told anything.
      await act().catch(() => {});
      await sleep(everyMs, undefined, { signal }).catch(() => {});
    }
  };
  let submitted = 0;
  let appended = 0;
  let notebook: string | null = null;
  const submit = async (): Promise<void> => {
    const items = await itemOutcomes(ground);
    // Children count as half of a root.
    const busy = items.filter(({ state }) => !['completed', 'failed', 'dead', 'cancelled'].includes(state)).length / 2;
    for (let n = busy; n < open && !calm.signal.aborted; n++) {
      await db.workSubmit(workload.submission(submitted));
      submitted++;
    }
  };
  const append = async (): Promise<void> => {
    notebook ??= (await db.journal.sessionCreate('faults', 'What clients say')).id;
    const content = `client.${appended++}`;
    witness.asked(content, content);
    if (naiveUrl === null) await told.ledgerAppend(notebook, 'note', content, { key: content });
    witness.acknowledged(content, content);
    if (naiveUrl !== null)
      await withConnection({ connectionString: naiveUrl }, (client) =>
        client.query(`select from ${client.escapeIdentifier(db.schema)}.ledger_append($1, 'note', $2)`, [notebook, content]),
      );
  };
  const approve = async (): Promise<void> => {
    for (const call of await db.approvals())
      await (random() < 0.9 ? db.toolCallApprove(call.tool_call_id) : db.toolCallReject(call.tool_call_id, 'not now')).catch(() => {});
  };
  const meddle = async (): Promise<void> => {
    const running = (await itemOutcomes(ground)).filter(({ state }) => ['running', 'waiting', 'queued'].includes(state));
    const one = running[Math.floor(random() * running.length)];
    if (one) await (random() < 0.7 ? db.workMessage(one.id, 'A word.', random() < 0.5) : db.console.compact(one.id, null));
  };
  const busy = [until(calm.signal, 500, submit), until(calm.signal, 50, append), until(calm.signal, 700, meddle)];
  const approving = until(over.signal, 200, approve);
  const stopCalm = async (): Promise<void> => {
    calm.abort();
    await Promise.all(busy);
  };
  return {
    calm: stopCalm,
    async stop() {
      over.abort();
      await stopCalm();
      await approving;
    },
  };
}
