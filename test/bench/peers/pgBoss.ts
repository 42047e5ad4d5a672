// pg-boss: a job for each step, sent, fetched and completed by its own calls, so that no poll is waited for; begin() waits for its worker.

import { plainText } from '../harness/text.ts';
import { peerPackage, STEP_BYTES } from './contender.ts';
import type { Peer } from './contender.ts';

type Sdk = {
  PgBoss: new (options: { connectionString: string; useListenNotify: boolean }) => {
    on(event: 'error', listener: (error: Error) => void): void;
    start(): Promise<unknown>;
    stop(options: { graceful: boolean }): Promise<void>;
    createQueue(name: string, options?: { notify: boolean }): Promise<void>;
    send(name: string, data: Record<string, unknown>): Promise<string | null>;
    fetch(name: string): Promise<{ id: string }[]>;
    complete(name: string, id: string): Promise<unknown>;
    work(name: string, run: () => Promise<void>): Promise<string>;
  };
};

export const pgBoss: Peer = {
  name: 'pg-boss, job',
  content: 'empty',
  async open(url) {
    const { PgBoss } = await peerPackage<Sdk>('pg-boss');
    const boss = new PgBoss({ connectionString: url, useListenNotify: true });
    boss.on('error', () => {});
    await boss.start();
    await boss.createQueue('steps');
    await boss.createQueue('begins', { notify: true });
    let begun = (): void => {};
    await boss.work('begins', async () => begun());
    return {
      async work(steps) {
        for (let n = 1; n <= steps; n++) {
          await boss.send('steps', { text: plainText(STEP_BYTES) });
          for (const { id } of await boss.fetch('steps')) await boss.complete('steps', id);
        }
      },
      async begin() {
        await Promise.all([new Promise<void>((resolve) => (begun = resolve)), boss.send('begins', {})]);
      },
      close: () => boss.stop({ graceful: false }),
    };
  },
};
