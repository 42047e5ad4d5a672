// Monitors whether graphile-worker is alive: it gives up when it cannot write a job back, and does not always report that. While it has a
// free slot, it asks for jobs every second and gets an answer.

import type { WorkerEvents } from 'graphile-worker';

export class Pulse {
  readonly #concurrency: number;
  readonly #quietMs: number;
  readonly #gone = Promise.withResolvers<void>();
  #timer: NodeJS.Timeout | undefined;
  #answeredAt = performance.now();
  #busy = 0;

  constructor(events: WorkerEvents, concurrency: number, leaseSeconds: number) {
    this.#concurrency = concurrency;
    this.#quietMs = Math.max(leaseSeconds, 10) * 1000;
    for (const event of ['pool:fatalError', 'pool:gracefulShutdown'] as const) events.on(event, () => this.#gone.resolve());
    for (const event of ['worker:getJob:empty', 'job:start'] as const) events.on(event, () => (this.#answeredAt = performance.now()));
  }

  /** From now on, silence is treated as its end. */
  watch(): void {
    let silent = 0;
    this.#timer = setInterval(() => {
      silent = this.isAtWork() ? 0 : silent + 1; // after a process was suspended, its first answer is late too
      if (silent === 3) this.#gone.resolve();
    }, 1000);
  }

  /** Resolves when graphile-worker reports its end, or is silent after watch(). */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  isAtWork(): boolean {
    return this.#busy >= this.#concurrency || performance.now() - this.#answeredAt < this.#quietMs;
  }

  /** Runs a job; a slot that has a job does not ask for one. */
  async during(job: () => Promise<void>): Promise<void> {
    this.#busy++;
    try {
      await job();
    } finally {
      this.#busy--;
      this.#answeredAt = performance.now();
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
