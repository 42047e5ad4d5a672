// absurd: a task with a checkpoint for each step. Its SDK is on npm, its SQL is not.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import pg from 'pg';

import { plainText } from '../harness/text.ts';
import { peerPackage, STEP_BYTES } from './contender.ts';
import type { Peer } from './contender.ts';

type Task = { step(name: string, run: () => Promise<string>): Promise<string> };
type Sdk = {
  Absurd: new (options: { db: pg.Pool; queueName: string }) => {
    createQueue(name: string): Promise<void>;
    registerTask(options: { name: string }, run: (params: { steps: number }, task: Task) => Promise<void>): void;
    spawn(name: string, params: { steps: number }): Promise<unknown>;
    startWorker(options: { concurrency: number }): Promise<{ close(): Promise<void> }>;
    close(): Promise<void>;
  };
};

/** `directory`: a clone of earendil-works/absurd. */
export const absurd = (directory: string | null): Peer => ({
  name: 'absurd, step',
  content: 'empty',
  async prepare(url) {
    if (directory === null) return 'its SQL is not on npm: --absurd names a clone of earendil-works/absurd at 0.4.0';
    const file = join(directory, 'sql', 'absurd.sql');
    if (!existsSync(file)) return `there is no ${file}`;
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(await readFile(file, 'utf8'));
    await client.end();
    return null;
  },
  async open(url) {
    const { Absurd } = await peerPackage<Sdk>('absurd-sdk');
    const pool = new pg.Pool({ connectionString: url, max: 4 });
    const app = new Absurd({ db: pool, queueName: 'bench' });
    await app.createQueue('bench');
    let begun = (): void => {};
    let ended = (): void => {};
    app.registerTask({ name: 'work' }, async ({ steps }, task) => {
      begun();
      for (let n = 1; n <= steps; n++) await task.step(`step ${n}`, async () => plainText(STEP_BYTES));
      ended();
    });
    const worker = await app.startWorker({ concurrency: 1 });
    return {
      async work(steps) {
        await Promise.all([new Promise<void>((resolve) => (ended = resolve)), app.spawn('work', { steps })]);
      },
      async begin() {
        await Promise.all([new Promise<void>((resolve) => (begun = resolve)), app.spawn('work', { steps: 0 })]);
      },
      async close() {
        await worker.close();
        await app.close();
        await pool.end().catch(() => {}); // closed with the app where it owns the pool
      },
    };
  },
});
