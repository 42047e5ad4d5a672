// The leases that this process holds: one heartbeat for all of them, and an abort signal for each.
// The heartbeat belongs to a runner that takes jobs: if the runner stops taking them, the heartbeat stops, and other workers take over.
// A worker that cannot renew for two thirds of a lease fences itself: it stops before another worker may start. If the ledger no longer
// serves a worker, because it was upgraded or moved, the answer to its heartbeat says so.

import type { Logger } from 'pino';

import type { Held, StopReason } from '../focus/focus.ts';
import type { Claimed } from '../ledger/answers.ts';
import type { Db } from '../ledger/db.ts';
import { sqlState } from '../ledger/errors.ts';
import type { Lease } from '../ledger/iteration.ts';
import { refusalOf } from '../ledger/reachable.ts';

export class Leases {
  readonly workerId: string;
  readonly leaseSeconds: number;
  readonly #db: Db;
  readonly #host: string;
  readonly #daemon: () => string | null;
  readonly #treeId: string | null;
  readonly #project: string | null;
  readonly #concurrency: number;
  readonly #isAtWork: () => boolean;
  readonly #onRefused: (why: unknown) => void;
  readonly #log: Logger;
  /** By work item: a process drives an item at most once at a time. */
  readonly #held = new Map<string, { claim: Claimed; askedAt: number; controller: AbortController }>();
  #timer: NodeJS.Timeout | undefined;
  #renewedAt = performance.now();
  #stopping = false;
  #ending = false;
  #beating: Promise<void> | undefined;
  #onIdle: (() => void)[] = [];

  constructor(options: {
    db: Db;
    workerId: string;
    treeId: string | null;
    /** The project that the worker serves; null: all. */
    project: string | null;
    concurrency: number;
    leaseSeconds: number;
    host: string;
    daemon: () => string | null;
    isAtWork: () => boolean;
    onRefused?: (why: unknown) => void;
    log: Logger;
  }) {
    this.#db = options.db;
    this.#host = options.host;
    this.#daemon = options.daemon;
    this.#treeId = options.treeId;
    this.#project = options.project;
    this.#concurrency = options.concurrency;
    this.#isAtWork = options.isAtWork;
    this.#onRefused = options.onRefused ?? (() => {});
    this.#log = options.log;
    this.workerId = options.workerId;
    this.leaseSeconds = options.leaseSeconds;
  }

  /** Throws if the first heartbeat cannot reach the database. */
  async start(): Promise<void> {
    await this.#ask([]);
    this.#timer = setInterval(() => void this.#beat(), (this.leaseSeconds * 1000) / 4);
  }

  /**
   * Keeps a lease alive until `drop()`; the signal fires with a StopReason when work has to stop. `askedAt`: when the claim was asked for,
   * by performance.now().
   */
  hold(claim: Claimed, askedAt: number): Held {
    const workItemId = claim.work_item_id;
    this.lose(workItemId); // a previous holder in this process has lost its lease and may not know it yet
    const controller = new AbortController();
    if (this.#stopping) controller.abort('stopping' satisfies StopReason);
    this.#held.set(workItemId, { claim, askedAt, controller });
    return {
      signal: controller.signal,
      drop: () => {
        if (this.#held.get(workItemId)?.claim === claim) this.#held.delete(workItemId);
        if (this.#held.size === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
      },
    };
  }

  /** Called when notifications may have been missed: asks at once which leases are still held. */
  async check(): Promise<void> {
    await this.#beating; // the running heartbeat may have asked before the change
    await this.#beat();
  }

  /** Called on a notification that a work item ended: stops work on it in this process. */
  lose(workItemId: string): void {
    this.#held.get(workItemId)?.controller.abort('lost' satisfies StopReason);
  }

  /** Called on a notification that a lease was taken away (focus_id/lease_generation): stops work under it, but no work begun since. */
  revoke(revoked: string): void {
    for (const { claim, controller } of this.#held.values()) {
      if (`${claim.focus_id}/${claim.lease_generation}` === revoked) controller.abort('lost' satisfies StopReason);
    }
  }

  /** Whether this process is about to end. If so, no further iteration is begun. */
  get isEnding(): boolean {
    return this.#ending;
  }

  /** From now on, no iteration is followed by another under the same lease. */
  end(): void {
    this.#ending = true;
  }

  /** Asks all running work to stop and release its lease. */
  stopAll(): void {
    this.#stopping = true;
    for (const { controller } of this.#held.values()) controller.abort('stopping' satisfies StopReason);
  }

  get isIdle(): boolean {
    return this.#held.size === 0;
  }

  /** Resolves when no leases are held any more. */
  idle(): Promise<void> {
    return this.isIdle ? Promise.resolve() : new Promise((resolve) => this.#onIdle.push(resolve));
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #ask(leases: readonly Lease[]): Promise<readonly string[]> {
    return this.#db.leaseRenew({
      workerId: this.workerId,
      leases,
      host: this.#host,
      pid: process.pid,
      treeId: this.#treeId,
      project: this.#project,
      concurrency: this.#concurrency,
      daemon: this.#daemon(),
    });
  }

  async #beat(): Promise<void> {
    // Checked even while an earlier heartbeat hangs: without an answer from the database no lease may be assumed.
    const since = performance.now() - (this.leaseSeconds * 1000 * 2) / 3;
    for (const [workItemId, { askedAt }] of this.#held) if (Math.max(this.#renewedAt, askedAt) < since) this.lose(workItemId);
    if (this.#timer === undefined || this.#beating !== undefined || !this.#isAtWork()) return;
    await (this.#beating = this.#renew().finally(() => (this.#beating = undefined)));
  }

  async #renew(): Promise<void> {
    // What this process has dropped, another may take up as soon as its lease has run out.
    const named = [...this.#held.values()].filter(({ controller }) => controller.signal.reason !== ('lost' satisfies StopReason));
    const askedAt = performance.now();
    try {
      const renewed = new Set(await this.#ask(named.map(({ claim }) => claim)));
      this.#renewedAt = askedAt;
      for (const { claim, controller } of named) {
        if (!renewed.has(claim.lease)) controller.abort('lost' satisfies StopReason);
      }
    } catch (error) {
      this.#log.warn({ err: error }, 'heartbeat failed');
      if (['WL010', 'WL011'].includes(sqlState(error) ?? '')) this.#onRefused(refusalOf(error));
    }
  }
}
