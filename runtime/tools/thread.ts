// Processes input from a model or a page in a separate thread. However long it takes, the worker's main thread keeps running
// (it renews the leases), and a time limit can end it.

import { Worker } from 'node:worker_threads';

export class TooSlow extends Error {
  override name = 'TooSlow';
}

/** The total time allowed for all inputs of a thread. */
export const MAX_MILLISECONDS = 10_000;
const MAX_MEMORY_MB = 512;

const program = `
const { parentPort, workerData } = require('node:worker_threads');
const answer = (work) => {
  try {
    parentPort.postMessage({ output: work() });
  } catch (error) {
    parentPort.postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
};
import(workerData.module).then((module) => {
  let run;
  answer(() => { run = module[workerData.name](workerData.settings); });
  parentPort.on('message', (input) => answer(() => run(input)));
});
`;

type Answer<Output> = { output: Output } | { error: string };

export class Thread<Input, Output> {
  readonly #worker: Worker;
  #milliseconds: number;

  private constructor(module: string, name: string, settings: unknown, milliseconds: number) {
    this.#milliseconds = milliseconds;
    this.#worker = new Worker(program, {
      eval: true,
      workerData: { module, name, settings },
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
    });
  }

  /**
   * Starts a thread. `module` is a URL; the function that it exports under `name` is called with the settings and returns the function to
   * run. Throws what that function throws, and TooSlow.
   */
  static async start<Input, Output>(
    module: string,
    name: string,
    settings: unknown,
    milliseconds = MAX_MILLISECONDS,
  ): Promise<Thread<Input, Output>> {
    const thread = new Thread<Input, Output>(module, name, settings, milliseconds);
    try {
      await thread.#answer(() => {});
      return thread;
    } catch (error) {
      await thread.end();
      throw error;
    }
  }

  /** Processes one input at a time. Throws TooSlow once all inputs together have exceeded their time. */
  ask(input: Input): Promise<Output> {
    return this.#answer(() => this.#worker.postMessage(input));
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  async #answer(ask: () => void): Promise<Output> {
    const startedAt = performance.now();
    try {
      return await new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new TooSlow('it takes too long')), this.#milliseconds);
        this.#worker.removeAllListeners();
        this.#worker.once('message', (answer: Answer<Output>) => {
          clearTimeout(timer);
          if ('error' in answer) reject(new Error(answer.error));
          else resolve(answer.output);
        });
        this.#worker.once('error', (error) => {
          clearTimeout(timer);
          reject(error);
        });
        ask();
      });
    } finally {
      this.#milliseconds -= performance.now() - startedAt;
    }
  }
}
