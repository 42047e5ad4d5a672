// DBOS: a workflow with a step for each text.

import { plainText } from '../harness/text.ts';
import { peerPackage, STEP_BYTES } from './contender.ts';
import type { Peer } from './contender.ts';

type Sdk = {
  DBOS: {
    setConfig(config: Record<string, unknown>): void;
    registerWorkflow(work: (steps: number) => Promise<void>, options: { name: string }): (steps: number) => Promise<void>;
    runStep<T>(run: () => Promise<T>, options: { name: string }): Promise<T>;
    startWorkflow(work: (steps: number) => Promise<void>): (steps: number) => Promise<unknown>;
    launch(): Promise<void>;
    shutdown(): Promise<void>;
  };
};

let begun = (): void => {};
let registered: ((steps: number) => Promise<void>) | null = null;

export const dbos: Peer = {
  name: 'DBOS, step',
  content: 'empty',
  async open(url) {
    const { DBOS } = await peerPackage<Sdk>('@dbos-inc/dbos-sdk');
    DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, logLevel: 'error', tracingEnabled: false });
    registered ??= DBOS.registerWorkflow(
      async (steps) => {
        begun();
        for (let n = 1; n <= steps; n++) await DBOS.runStep(async () => plainText(STEP_BYTES), { name: 'step' });
      },
      { name: 'work' },
    );
    const work = registered;
    await DBOS.launch();
    return {
      work: (steps) => work(steps),
      async begin() {
        await Promise.all([new Promise<void>((resolve) => (begun = resolve)), DBOS.startWorkflow(work)(0)]);
      },
      close: () => DBOS.shutdown(),
    };
  },
};
