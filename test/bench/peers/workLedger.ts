// Work Ledger: a real worker, whose model runs in another process. Each response calls a tool that gives 4 KB, each fifth also
// records a step, which closes the block of calls before it; the context is kept as it is by default.

import { pino } from 'pino';
import pg from 'pg';
import { z } from 'zod';

import { openDb } from '../../../runtime/ledger/db.ts';
import { createModelClient } from '../../../runtime/model/callModel.ts';
import { defineTool } from '../../../runtime/tools/tool.ts';
import { startWorker } from '../../../runtime/worker/worker.ts';
import { startModel } from '../harness/model.ts';
import type { Model } from '../harness/model.ts';
import { plainText } from '../harness/text.ts';
import { STEP_BYTES } from './contender.ts';
import type { Contender, Peer } from './contender.ts';

export const look = defineTool({
  name: 'look',
  description: 'Looks at the next thing.',
  input: z.strictObject({ n: z.number() }),
  effect: 'pure',
  risk: 'safe',
  execute: async () => ({ content: plainText(STEP_BYTES), isError: false }),
});

/** The faculty of the bench; nothing of the context's policy but that the window never ends. */
export async function saveFaculty(url: string): Promise<void> {
  const db = await openDb(url, 'work_ledger');
  await db.facultySave({
    name: 'bench',
    accepts: ['bench'],
    engage: { tools: ['look'], max_turns: 1_000_000, context_window: 2_000_000_000 },
  });
  await db.close();
}

export const workLedger: Peer = {
  name: 'Work Ledger, iteration',
  content: 'ledger',
  open: async (url) => {
    const model = await startModel();
    const working = await openWorker(url, model);
    return { ...working, close: async () => (await working.close(), model.close()) };
  },
};

export type OpenWorker = Contender & {
  begin(): Promise<void>;
  /** One response of so many words, streamed. */
  write(words: number): Promise<void>;
  /** The ends of so many items, whoever submitted them. */
  ends(count: number): Promise<void>;
};

/** A worker of this process; it tells of ends by the ledger's own notification. */
export async function openWorker(url: string, model: Model, concurrency = 1): Promise<OpenWorker> {
  const worker = await startWorker({
    url,
    schema: 'work_ledger',
    model: createModelClient({ apiKey: 'none', baseURL: model.url }),
    tools: [look],
    log: pino({ level: 'silent' }),
    concurrency,
    docker: null,
  });
  await saveFaculty(url);
  const listener = new pg.Client({ connectionString: url });
  await listener.connect();
  await listener.query('listen work_item_completed');
  const ended = new Set<string>();
  const waiting = new Set<() => void>();
  listener.on('notification', ({ payload = '' }) => {
    ended.add(payload);
    for (const check of waiting) check();
  });
  const until = (isSo: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (!isSo()) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });
  const done = async (description: string): Promise<void> => {
    const { id } = await worker.client.submit({ workType: 'bench', description });
    await until(() => ended.has(id));
    ended.delete(id);
    const item = await worker.client.item(id);
    if (item.state !== 'completed') throw new Error(`the work is ${item.state}: ${item.state_reason}`);
  };
  return {
    work: (steps) => done(`Look ${steps} times`),
    write: (words) => done(`Write ${words} words`),
    async ends(count) {
      await until(() => ended.size >= count);
      for (const id of [...ended].slice(0, count)) ended.delete(id);
    },
    async begin() {
      const asked = model.asked();
      await Promise.all([worker.client.submit({ workType: 'bench', description: 'Look 0 times' }), asked]);
    },
    async close() {
      await worker.stop();
      await listener.end();
    },
  };
}
