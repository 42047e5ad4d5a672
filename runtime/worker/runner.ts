// Combines graphile-worker's jobs with the leases taken under its pool's id: they live and die together. A runner that no longer asks
// for jobs has ended (pulse.ts), and its heartbeat stops with it. A worker may have several runners, one after the other.

import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { Logger as GraphileLogger, run } from 'graphile-worker';
import type { Task, WorkerEvents } from 'graphile-worker';
import pg from 'pg';
import type { Logger } from 'pino';

import type { Runtime } from '../focus/focus.ts';
import { connect } from '../ledger/connection.ts';
import type { Db } from '../ledger/db.ts';
import { PinnedClient } from '../ledger/pinned.ts';
import { JOB_CONNECTIONS } from './connections.ts';
import { engage } from './engage.ts';
import { Leases } from './leases.ts';
import { Pulse } from './pulse.ts';

export type RunnerOptions = {
  url: string;
  /** Where notifications are listened to; null: nowhere, jobs are polled. */
  listenUrl: string | null;
  schema: string;
  /** A separate connection for the heartbeat, so that no slow tool can delay it. */
  heart: Db;
  log: Logger;
  concurrency: number;
  leaseSeconds: number;
  /** The name of this machine, by which faculties may request it. */
  host: string;
  /** The root work item of the only tree that it works on; null: any queued work. */
  treeId: string | null;
  /** The project whose work it drives, in addition to work without a project; null: all projects. */
  project: string | null;
  /** Called when the ledger no longer serves this version, or has been moved. */
  onRefused: (why: unknown) => void;
  /** Everything that an iteration requires except the leases. */
  runtime: Omit<Runtime, 'leases'>;
};

export type Runner = {
  leases: Leases;
  /** Resolves when graphile-worker has ended, whether asked to or not, or has become silent. */
  ended: Promise<void>;
  /** Gives running iterations this long to end, then makes them release their items. */
  stop(graceSeconds: number): Promise<void>;
};

export async function startRunner(options: RunnerOptions): Promise<Runner> {
  const { url, listenUrl, schema, heart, log, concurrency, leaseSeconds, host, treeId, project, onRefused } = options;
  const connections = openConnections(url, listenUrl, log);
  // graphile-worker locks jobs under its pool's id. Our leases use the same id, so that a dead runner's jobs can be freed.
  const events: WorkerEvents = new EventEmitter();
  const poolId = new Promise<string>((resolve) => events.on('pool:create', ({ workerPool }) => resolve(workerPool.id)));
  const pulse = new Pulse(events, concurrency, leaseSeconds);
  const runtime = Promise.withResolvers<Runtime>();
  const job: Task = (payload, helpers) => pulse.during(async () => void (await engage(await runtime.promise)(payload, helpers)));
  const jobs = await run({
    pgPool: connections.pool,
    concurrency,
    noHandleSignals: true,
    events,
    logger: graphileLogger(log),
    pollInterval: 1000,
    taskList: Object.fromEntries(tasksOf(schema, host, treeId, project).map((task) => [task, job])),
    // Without these, a job that ends while its runner stops is never written back and stays locked for four hours.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
  }).catch(async (error: unknown) => {
    await connections.pool.end();
    throw error;
  });
  const leases = new Leases({
    db: heart,
    workerId: await poolId,
    treeId,
    project,
    concurrency,
    leaseSeconds,
    host,
    daemon: () => options.runtime.containers()?.daemon ?? null,
    isAtWork: () => pulse.isAtWork(),
    onRefused,
    log,
  });
  pulse.watch();
  const ended = Promise.race([
    pulse.gone,
    jobs.promise.catch((error: unknown) => log.warn({ err: error }, 'graphile-worker ended with an error')),
  ]);

  async function stop(graceSeconds: number): Promise<void> {
    leases.end();
    const stopped = jobs.stop().catch(() => {}); // it may have ended already
    await Promise.race([Promise.all([stopped, leases.idle()]), sleep(graceSeconds * 1000, undefined, { ref: false })]);
    leases.stopAll();
    await leases.idle();
    // The work is done; allows graphile-worker a moment to record it.
    await Promise.race([stopped, sleep(2000, undefined, { ref: false })]);
    pulse.stop();
    leases.stop();
    await heart.workerStop(leases.workerId).catch((error: unknown) => log.warn({ err: error }, 'could not sign off'));
    await connections.end();
  }
  try {
    await leases.start();
  } catch (error) {
    await stop(0);
    throw error;
  }
  runtime.resolve({ ...options.runtime, leases });
  return { leases, ended, stop };
}

/** The time limit of each statement of graphile-worker; one that takes longer is held up by something else. */
const JOB_STATEMENT_MS = 60_000;

/** A pool for graphile-worker, with an end() that does not wait for its connections: hanging queries never return them. */
function openConnections(url: string, listenUrl: string | null, log: Logger): { pool: pg.Pool; end(): Promise<void> } {
  // pg adds the whole connection to the error of an idle one.
  const onLost = (error: Error): void => log.warn({ err: Object.assign(error, { client: undefined }) }, 'jobs connection lost');
  const pool = new pg.Pool({
    Client: PinnedClient,
    connectionString: url,
    max: JOB_CONNECTIONS,
    idleTimeoutMillis: 0,
    application_name: 'work-ledger jobs',
    keepAlive: true,
    statement_timeout: JOB_STATEMENT_MS,
  });
  const clients = new Set<pg.ClientBase>();
  pool.on('error', onLost);
  pool.on('connect', (client) => {
    client.on('error', onLost);
    clients.add(client);
  });
  pool.on('remove', (client) => clients.delete(client));
  if (listenUrl !== url) {
    const lend = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
    // graphile-worker passes a callback only where it wants to listen; the pool itself does for a query.
    pool.connect = ((listening?: Listening) => (listening ? void listenElsewhere(listening) : lend())) as pg.Pool['connect'];
    pool.query = (async (query: string, values?: unknown[]) => {
      const client = await lend();
      return await client.query(query, values).finally(() => client.release());
    }) as pg.Pool['query'];
  }
  async function listenElsewhere(listening: Listening): Promise<void> {
    if (listenUrl === null) return;
    try {
      const client = await connect({ connectionString: listenUrl, application_name: 'work-ledger jobs', keepAlive: true });
      clients.add(client);
      listening(undefined, client, () => {
        clients.delete(client);
        void client.end().catch(() => {});
      });
    } catch (error) {
      listening(error, undefined, () => {});
    }
  }
  return {
    pool,
    async end() {
      await Promise.race([pool.end().catch(() => {}), sleep(500, undefined, { ref: false })]);
      for (const client of clients) void (client as unknown as pg.Client).end().catch(() => {});
    },
  };
}

type Listening = (error: unknown, client: pg.ClientBase | undefined, release: () => void) => void;

/** Task names as the ledger writes them, see 20_submit/places.sql. */
function tasksOf(schema: string, host: string, treeId: string | null, project: string | null): string[] {
  if (treeId !== null) return [`${schema}/engage/${treeId}`];
  const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
  return project === null
    ? [`${schema}/engage`, `${schema}/engage/host:${md5(host)}`]
    : [`${schema}/engage/project:${md5(project)}`, `${schema}/engage/host:${md5(`${host}\n${project}`)}`];
}

export const graphileLogger = (log: Logger): GraphileLogger =>
  new GraphileLogger(() => (level, message) => {
    // the smaller pool is intended: fetching jobs and writing them back take only a moment
    const isMeant = message.includes('smaller than concurrency');
    if (level === 'error' || (level === 'warning' && !isMeant)) log[level === 'error' ? 'error' : 'warn'](`graphile-worker: ${message}`);
    else log.debug(`graphile-worker: ${message}`);
  });
