// The leases that this process holds: one heartbeat for all of them, and an abort signal for each.
// The heartbeat is for a runner that takes jobs: if it takes none any more, the heartbeat stops, and others take over.
// A worker that cannot renew for two thirds of a lease fences itself: it stops before another worker may start. One that the ledger does
// not serve any more, because it was upgraded or moved, is told so in answer to its heartbeat.

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
  /** By work item: one process drives an item at most once. */
  readonly #held = new Map<string, { claim: Claimed; controller: AbortController }>();
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
    /** The project that it serves; null: all. */
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

  /** Throws if the first beat cannot reach the database. */
  async start(): Promise<void> {
    await this.#ask([]);
    this.#timer = setInterval(() => void this.#beat(), (this.leaseSeconds * 1000) / 4);
  }

  /** Keeps a lease alive until `drop()`; the signal fires with a StopReason when work has to stop. */
  hold(claim: Claimed): Held {
    const workItemId = claim.work_item_id;
    this.lose(workItemId); // whoever still works on it here has lost its lease, and may not have heard of it
    const controller = new AbortController();
    if (this.#stopping) controller.abort('stopping' satisfies StopReason);
    this.#held.set(workItemId, { claim, controller });
    return {
      signal: controller.signal,
      drop: () => {
        if (this.#held.get(workItemId)?.claim === claim) this.#held.delete(workItemId);
        if (this.#held.size === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
      },
    };
  }

  /** For notifications that may have been missed: asks at once which leases are still held. */
  async check(): Promise<void> {
    await this.#beating; // may have asked before
    await this.#beat();
  }

  /** For a notification that a work item ended: stops work on it here. */
  lose(workItemId: string): void {
    this.#held.get(workItemId)?.controller.abort('lost' satisfies StopReason);
  }

  /** For a notification that a lease was taken away (focus_id/lease_generation): stops work under it, and nothing that began since. */
  revoke(revoked: string): void {
    for (const { claim, controller } of this.#held.values()) {
      if (`${claim.focus_id}/${claim.lease_generation}` === revoked) controller.abort('lost' satisfies StopReason);
    }
  }

  /** Whether this process is about to end: work ends with its iteration. */
  get isEnding(): boolean {
    return this.#ending;
  }

  /** From now on, no iteration follows another under its lease. */
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

  /** Resolves when nothing is held any more. */
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
    // Also while an earlier beat hangs: without an answer of the database no lease may be assumed.
    if (performance.now() - this.#renewedAt > (this.leaseSeconds * 1000 * 2) / 3) {
      for (const workItemId of this.#held.keys()) this.lose(workItemId);
    }
    if (this.#timer === undefined || this.#beating !== undefined || !this.#isAtWork()) return;
    await (this.#beating = this.#renew().finally(() => (this.#beating = undefined)));
  }

  async #renew(): Promise<void> {
    const named = [...this.#held.values()];
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
