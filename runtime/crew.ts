// graphile-worker's runner and the leases taken under the id of its pool: they live and die together. graphile-worker
// gives up for good when it cannot write a job back (a restart of the server is enough), so a worker outlives its crews.

import { EventEmitter } from 'node:events';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import { Logger as GraphileLogger, run } from 'graphile-worker';
import type { WorkerEvents } from 'graphile-worker';
import pg from 'pg';
import type { Logger } from 'pino';

import type { Db } from './db.ts';
import type { Runtime } from './focus/runFocus.ts';
import { engage } from './jobs/engage.ts';
import { Leases } from './leases.ts';

export type CrewOptions = {
  url: string;
  schema: string;
  db: Db;
  log: Logger;
  concurrency: number;
  leaseSeconds: number;
  /** All that an iteration needs besides its leases. */
  runtime: Omit<Runtime, 'leases'>;
};

export type Crew = {
  leases: Leases;
  /** Resolves when the runner has ended, asked to or not. */
  ended: Promise<void>;
  /** Lets iterations under way end for so long, then has them given back. */
  stop(graceSeconds: number): Promise<void>;
};

export async function startCrew(options: CrewOptions): Promise<Crew> {
  const { url, schema, db, log, concurrency, leaseSeconds } = options;
  const onLost = (error: Error): void => log.warn({ err: error }, 'jobs connection lost');
  const pool = new pg.Pool({ connectionString: url, max: concurrency + 2, application_name: 'work-ledger jobs', keepAlive: true });
  pool.on('error', onLost);
  pool.on('connect', (client) => client.on('error', onLost));

  // graphile-worker locks jobs by the id of its pool: the same id holds our leases, so that a dead crew's jobs can be freed.
  const events: WorkerEvents = new EventEmitter();
  const poolId = new Promise<string>((resolve) => events.on('pool:create', ({ workerPool }) => resolve(workerPool.id)));
  const runtime = Promise.withResolvers<Runtime>();
  const runner = await run({
    pgPool: pool,
    concurrency,
    noHandleSignals: true,
    events,
    logger: graphileLogger(log),
    pollInterval: 1000,
    taskList: { [`${schema}/engage`]: async (payload, helpers) => engage(await runtime.promise)(payload, helpers) },
    // Without these a job that ends while the runner stops is never written back and stays locked for four hours.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
  }).catch(async (error: unknown) => {
    await pool.end();
    throw error;
  });
  const leases = new Leases({ db, workerId: await poolId, leaseSeconds, host: hostname(), log });
  await leases.start();
  runtime.resolve({ ...options.runtime, leases });
  const ended = runner.promise.catch((error: unknown) => log.warn({ err: error }, 'graphile-worker ended with an error'));

  return {
    leases,
    ended,
    async stop(graceSeconds) {
      const stopped = runner.stop().catch(() => {}); // it may have ended by itself
      await Promise.race([Promise.all([stopped, leases.idle()]), sleep(graceSeconds * 1000, undefined, { ref: false })]);
      leases.stopAll();
      await Promise.all([stopped, leases.idle()]);
      leases.stop();
      await db.workerStop(leases.workerId).catch((error: unknown) => log.warn({ err: error }, 'could not sign off'));
      await pool.end();
    },
  };
}

export const graphileLogger = (log: Logger): GraphileLogger =>
  new GraphileLogger(() => (level, message) => {
    if (level === 'error' || level === 'warning') log[level === 'error' ? 'error' : 'warn'](`graphile-worker: ${message}`);
    else log.debug(`graphile-worker: ${message}`);
  });
