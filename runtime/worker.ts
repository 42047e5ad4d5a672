// A worker process: graphile-worker underneath, one heartbeat, one sweeper, one listener.

import { EventEmitter } from 'node:events';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import { Logger as GraphileLogger, run, runMigrations } from 'graphile-worker';
import type { WorkerEvents } from 'graphile-worker';
import pg from 'pg';
import type { Logger } from 'pino';
import { z } from 'zod';

import { openDb } from './db.ts';
import type { ModelClient } from './focus/callModel.ts';
import type { Runtime } from './focus/runFocus.ts';
import { engage } from './jobs/engage.ts';
import { Leases } from './leases.ts';
import { listen } from './listener.ts';
import type { Tool } from './tools/tool.ts';

export type WorkerOptions = {
  url: string;
  schema: string;
  model: ModelClient;
  tools: readonly Tool[];
  log: Logger;
  concurrency?: number;
  leaseSeconds?: number;
  /** How long a stopping worker lets iterations end by themselves. */
  graceSeconds?: number;
  onDelta?: (workItemId: string, text: string) => void;
};

export type Worker = { id: string; stop(): Promise<void> };

/** Registers its tools, starts to work, and goes on until `stop()`. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { url, schema, log } = options;
  const leaseSeconds = options.leaseSeconds ?? 30;
  const concurrency = options.concurrency ?? 4;
  await runMigrations({ connectionString: url, logger: graphileLogger(log) });
  const db = await openDb(url, schema, { maximumPoolSize: concurrency * 2 + 2 });
  await registerTools(options.tools, db);

  // graphile-worker locks jobs by the id of its pool: the same id holds our leases, so that a dead worker's jobs can be freed.
  const events: WorkerEvents = new EventEmitter();
  const poolId = new Promise<string>((resolve) => events.on('pool:create', ({ workerPool }) => resolve(workerPool.id)));
  const ready = Promise.withResolvers<Runtime>();
  const jobsPool = new pg.Pool({ connectionString: url, max: concurrency + 2, application_name: 'work-ledger jobs' });
  const onLost = (error: Error): void => log.warn({ err: error }, 'jobs connection lost');
  jobsPool.on('error', onLost);
  jobsPool.on('connect', (client) => client.on('error', onLost));
  const runner = await run({
    pgPool: jobsPool,
    concurrency,
    noHandleSignals: true,
    events,
    logger: graphileLogger(log),
    pollInterval: 1000,
    taskList: { [`${schema}/engage`]: async (payload, helpers) => engage(await ready.promise)(payload, helpers) },
    // Without these a job that ends while the runner stops is never written back and stays locked for four hours.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
  });
  const leases = new Leases({ db, workerId: await poolId, leaseSeconds, host: hostname(), log });
  await leases.start();
  ready.resolve({
    db,
    leases,
    model: options.model,
    tools: new Map(options.tools.map((tool) => [tool.name, tool])),
    log,
    ...(options.onDelta && { onDelta: options.onDelta }),
  });

  const sweep = async (): Promise<void> => {
    try {
      const swept = await db.workSweep(leaseSeconds);
      if (swept.expired > 0 || swept.dead_workers.length > 0) log.info(swept, 'swept up after dead workers');
    } catch (error) {
      log.warn({ err: error }, 'sweep failed');
    }
  };
  await sweep();
  const sweeper = setInterval(() => void sweep(), Math.min(5000, (leaseSeconds * 1000) / 3));
  const listener = listen(url, ['work_item_completed'], { onNotification: (_channel, workItemId) => leases.lose(workItemId) });
  log.info({ workerId: leases.workerId, schema, concurrency }, 'worker started');

  return {
    id: leases.workerId,
    async stop() {
      clearInterval(sweeper);
      const stopped = runner.stop();
      await Promise.race([stopped, sleep((options.graceSeconds ?? 5) * 1000, undefined, { ref: false })]);
      leases.stopAll();
      await stopped;
      leases.stop();
      await listener.close();
      await db.workerStop(leases.workerId);
      await db.close();
      await jobsPool.end();
      log.info({ workerId: leases.workerId }, 'worker stopped');
    },
  };
}

async function registerTools(tools: readonly Tool[], db: Awaited<ReturnType<typeof openDb>>): Promise<void> {
  for (const tool of tools) {
    const { $schema: _, ...inputSchema } = z.toJSONSchema(tool.input, { io: 'input' });
    await db.abilityRegister({ name: tool.name, description: tool.description, inputSchema, effect: tool.effect, risk: tool.risk });
  }
}

const graphileLogger = (log: Logger): GraphileLogger =>
  new GraphileLogger(() => (level, message) => {
    if (level === 'error' || level === 'warning') log[level === 'error' ? 'error' : 'warn'](`graphile-worker: ${message}`);
    else log.debug(`graphile-worker: ${message}`);
  });
