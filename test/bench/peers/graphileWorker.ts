// graphile-worker: a job for each step, which adds the next one.

import { makeWorkerUtils, run } from 'graphile-worker';
import { pino } from 'pino';

import { graphileLogger } from '../../../runtime/worker/runner.ts';
import { plainText } from '../harness/text.ts';
import { STEP_BYTES } from './contender.ts';
import type { Peer } from './contender.ts';

export const graphileWorker: Peer = {
  name: 'graphile-worker, job',
  content: 'empty',
  async open(url) {
    const logger = graphileLogger(pino({ level: 'silent' }));
    const utils = await makeWorkerUtils({ connectionString: url, logger });
    await utils.migrate();
    let begun = (): void => {};
    let ended = (): void => {};
    const runner = await run({
      connectionString: url,
      concurrency: 1,
      pollInterval: 1000,
      noHandleSignals: true,
      logger,
      taskList: {
        step: async (payload, { addJob }) => {
          const { left } = payload as { left: number };
          begun();
          if (left === 1) ended();
          else if (left > 1) await addJob('step', { left: left - 1, text: plainText(STEP_BYTES) });
        },
      },
    });
    return {
      async work(steps) {
        await Promise.all([
          new Promise<void>((resolve) => (ended = resolve)),
          utils.addJob('step', { left: steps, text: plainText(STEP_BYTES) }),
        ]);
      },
      async begin() {
        await Promise.all([new Promise<void>((resolve) => (begun = resolve)), utils.addJob('step', { left: 0 })]);
      },
      async close() {
        await runner.stop();
        await utils.release();
      },
    };
  },
};
