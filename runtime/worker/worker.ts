// A worker process: a runner that drives work items, a sweeper and a listener. If its runner ends without being asked to, it starts
// another.

import { setTimeout as sleep } from 'node:timers/promises';

import type Docker from 'dockerode';
import { pino } from 'pino';
import type { Logger } from 'pino';

import { hideEnvironment } from '../../sandbox/ownSecrets.ts';
import { ServedDirectories } from '../../sandbox/servedDirectories.ts';
import { hostName, webFetchHeaders } from '../config.ts';
import { failpoints } from '../failpoint.ts';
import { StatedInputs } from '../focus/statedInputs.ts';
import { Watchers } from '../focus/watchers.ts';
import { shownUrl } from '../ledger/address.ts';
import { checkAddress } from '../ledger/checkAddress.ts';
import { checkLedger, OtherLedger } from '../ledger/checkLedger.ts';
import { clientError } from '../ledger/clientError.ts';
import { clientOf } from '../client.ts';
import type { LedgerClient } from '../client.ts';
import { openChecked } from '../ledger/db.ts';
import type { Db } from '../ledger/db.ts';
import { messageOf } from '../ledger/errors.ts';
import { checkSchema } from '../ledger/given.ts';
import { hearing, listen } from '../ledger/listener.ts';
import { lent } from '../ledger/opened.ts';
import { whenReachable } from '../ledger/reachable.ts';
import { facultyModels } from '../model/facultyModels.ts';
import type { ModelClient } from '../model/message.ts';
import { logDestination } from '../telemetry/logs.ts';
import { Counted } from '../telemetry/counted.ts';
import { startHealth } from '../telemetry/healthServer.ts';
import type { HealthServer } from '../telemetry/healthServer.ts';
import { startMetrics } from '../telemetry/metrics.ts';
import { startTraces } from '../telemetry/traces.ts';
import { registerTools } from './registerTools.ts';
import { hooksByName } from '../tools/hook.ts';
import type { Hook } from '../tools/hook.ts';
import { checkTools } from '../tools/tool.ts';
import type { Tool } from '../tools/tool.ts';
import { checkOptions } from './checkOptions.ts';
import { connectionsOf } from './connections.ts';
import { startRetention } from './retention.ts';
import { startRunner } from './runner.ts';
import type { Runner } from './runner.ts';
import { startSweeper } from './sweeper.ts';
import { tendRunner } from './tendRunner.ts';
import { workerDocker } from './docker.ts';
import { warmConnections } from './warmConnections.ts';
import { startTranscripts } from './transcripts.ts';
import { workspaceRoots } from '../workspaceRoots.ts';

export type WorkerOptions = {
  url: string;
  schema: string;
  /** Used for every faculty without a base_url or api_key_env. */
  model: ModelClient;
  /** False: `model` is used for every faculty. */
  facultyModels?: boolean;
  tools: readonly Tool[];
  /** The functions that faculties may name as hooks, `function:NAME`. This worker does not start work of a faculty that names any other. */
  hooks?: readonly Hook[];
  /** Default: warnings and errors, as JSON lines on stderr. */
  log?: Logger;
  /** How many items it drives at once; default: 4. */
  concurrency?: number;
  /** How many seconds a silent worker is presumed alive; default: 30. */
  leaseSeconds?: number;
  /** The name of this machine, by which faculties may request it (`hosts`); default: WORK_LEDGER_HOST, otherwise the system's host name. */
  host?: string;
  /** How many seconds a stopping worker waits for its iterations to end; default: 5. */
  graceSeconds?: number;
  onDelta?: (workItemId: string, text: string) => void;
  /** The Docker daemon for agents' code and workspaces, a dockerode object; default: that of DOCKER_HOST or of this machine. Null: none. */
  docker?: DockerDaemon | null;
  /** The root work item of the only tree that it works on, see work_keep(); default: any queued work. */
  treeId?: string;
  /** The project that it serves: it drives this project's work and work without a project; default (null): all. Ignored with `treeId`. */
  project?: string | null;
  /**
   * Directories of this host below which any item may have its workspace (default: WORK_LEDGER_WORKSPACE_ROOTS); see servedDirectories.ts.
   */
  workspaceRoots?: readonly string[];
  /** The address at which it serves /metrics, /healthz and /readyz; default: none. */
  http?: { host: string; port: number };
  /** Directories that the person who started this worker named for it, in addition to `workspaceRoots`. */
  ownDirectories?: readonly string[];
};

/** dockerode's Docker, typed so that programs do not need dockerode's types. */
type DockerDaemon = { ping(): Promise<unknown>; getContainer(id: string): object; getVolume(name: string): object };

export type Worker = {
  /** A client for the program's own calls, which shares the worker's connections. The worker closes it; its close() does nothing. */
  client: LedgerClient;
  /**
   * Resolves when the worker has stopped: with the reason if it stopped on its own, because the ledger was upgraded to a version that does
   * not serve it, or was moved to another server.
   */
  ended: Promise<Error | null>;
  /** The address at which it serves HTTP; null: none. */
  address: string | null;
  stop(): Promise<void>;
};

/**
 * Registers its tools, starts to work, and continues until `stop()`. Waits for a database that cannot be reached. If it cannot start,
 * rejects as the methods of LedgerClient do; OtherLedger: this program cannot work with the ledger.
 */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  try {
    return await openWorker(options);
  } catch (error) {
    throw clientError(error, typeof (options as WorkerOptions | null)?.url === 'string' ? options.url : '');
  }
}

/**
 * The same for commands, which report a UsageError to the person as such. `signal`: while it starts, it waits for the database no longer
 * than until then, and rejects; with the signal's reason, if only the signal keeps it from starting.
 */
export async function openWorker(options: WorkerOptions, signal?: AbortSignal): Promise<Worker> {
  checkAddress(options.url);
  checkSchema(options.schema);
  checkOptions(options);
  checkTools(options.tools);
  const { url, schema, log = pino({ level: 'warn' }, logDestination()), treeId = null } = options;
  const leaseSeconds = options.leaseSeconds ?? 30;
  const concurrency = options.concurrency ?? 4;
  const headers = webFetchHeaders();
  const hooks = hooksByName(options.hooks ?? []);
  const host = hostName(options.host);
  const project = treeId === null ? (options.project ?? null) : null;
  hideEnvironment();
  if (failpoints.length > 0) log.warn({ failpoints }, 'WORK_LEDGER_FAILPOINTS is set: this worker fails on purpose');
  const stopping = new AbortController();
  const starting = AbortSignal.any([stopping.signal, ...(signal ? [signal] : [])]);
  const ended = Promise.withResolvers<Error | null>();
  const refused = Promise.withResolvers<unknown>();
  const patiently = <T>(use: () => Promise<T>): Promise<T> => whenReachable(use, log, starting);
  await patiently(() => checkLedger(url, schema, { isWorker: true }));
  const { isPooled, at: listenUrl } = await patiently(() => hearing(url));

  const db = await openChecked(url, schema, { maximumPoolSize: concurrency });
  const heart = await openChecked(url, schema, { maximumPoolSize: 1 });
  const directories = new ServedDirectories(options.workspaceRoots ?? workspaceRoots(), options.ownDirectories);
  const closePools = (): Promise<unknown> => Promise.all([heart.close(), db.close()]);
  const ledgerId = await patiently(() => heart.ledgerId()).catch(async (error: unknown) => {
    await closePools();
    throw error;
  });
  const docker = workerDocker(options.docker as Docker | null | undefined, { db, ledger: ledgerId, directories, log });
  const close = async (): Promise<void> => {
    stopping.abort();
    await Promise.race([warming, sleep(2000, undefined, { ref: false })]); // metrics cover only the time before the oldest open transaction
    await traces?.stop();
    await docker.containers()?.close();
    await counting?.stop();
    await health?.close();
    await closePools();
  };
  const tools = new Map(options.tools.map((tool) => [tool.name, tool]));
  const watchers = new Watchers(db, log);
  const traces = await startTraces({ url, schema, log });
  const counted = options.http ? new Counted() : null;
  const counting = await startMetrics(url, schema, log, undefined, counted);
  const modelFor = options.facultyModels === false ? () => options.model : facultyModels(options.model);
  const runtime = {
    db,
    containers: () => docker.containers(),
    directories,
    watchers,
    inputs: new StatedInputs(),
    modelFor,
    tools,
    hooks,
    log,
    waits: new Map<string, string>(),
    ...(traces && { traces }),
    ...(options.onDelta && { onDelta: options.onDelta }),
    ...(headers && { webFetchHeaders: headers }),
  };
  const newRunner = (): Promise<Runner> =>
    startRunner({
      url,
      listenUrl,
      schema,
      heart,
      log,
      concurrency,
      leaseSeconds,
      host,
      treeId,
      project,
      runtime,
      onRefused: refused.resolve,
    });
  let warming: Promise<void> | undefined;
  let health: HealthServer | null = null;
  let isCodeOffered: boolean;
  let runner: Runner;
  try {
    const needs = connectionsOf(concurrency, [traces, counting, options.http ?? null].filter((one) => one !== null).length);
    if (isPooled) sayPooler(needs, listenUrl, log);
    else await patiently(() => sayConnections(db, needs, log));
    await patiently(() => registerTools(options.tools, db));
    const isStopping = (): boolean => stopping.signal.aborted;
    if (options.http) health = await startHealth(options.http, { url, schema, log, counted, isStopping });
    isCodeOffered = await patiently(() => docker.offersCode());
    starting.throwIfAborted(); // the runner begins with the first job at once
    runner = await patiently(newRunner);
  } catch (error) {
    await close();
    throw error;
  }
  if (!isCodeOffered)
    log.info('no Docker daemon answers: until one does, execute_code is not offered and there are no workspaces in containers');

  const sweeper = await startSweeper({ db, log, leaseSeconds, offersCode: isCodeOffered ? null : () => docker.offersCode() });
  const retention = startRetention(db, log);
  const transcripts = startTranscripts(db, log);
  const tended = tendRunner(runner, newRunner, log, stopping.signal);
  // A worker for one tree has its first iteration to run already, so there is no time to warm up.
  if (treeId === null)
    warming = warmConnections(db, concurrency, tended.leases, stopping.signal).catch((error: unknown) =>
      log.debug({ err: error }, 'connections not warmed'),
    );
  const listener = listen(url, ['work_item_completed', 'work_lease_revoked', 'work_watched'], {
    onNotification: (channel, payload) => {
      if (channel === 'work_watched') watchers.came(payload);
      else if (channel === 'work_lease_revoked') tended.leases.revoke(payload);
      else tended.leases.lose(payload);
    },
    onConnected: () => {
      void tended.leases.check();
      watchers.look();
    },
  });
  log.info(
    { workerId: tended.leases.workerId, schema, concurrency, ...(treeId !== null && { treeId }), ...(project !== null && { project }) },
    'worker started',
  );

  let stopped: Promise<void> | undefined;
  const stop = (why: Error | null, graceSeconds: number): Promise<void> =>
    (stopped ??= stopOnce(graceSeconds).finally(() => ended.resolve(why)));
  async function stopOnce(graceSeconds: number): Promise<void> {
    stopping.abort();
    const swept = Promise.all([sweeper.stop(), retention.stop(), transcripts.stop()]);
    await tended.stop(graceSeconds);
    await listener.close();
    await swept;
    await close();
    log.info('worker stopped');
  }
  // Releases at once what it holds: nobody knows what its calls would do to that ledger.
  const leave = async (why: unknown): Promise<void> => {
    const reason = new OtherLedger(messageOf(why));
    log.error({ err: reason }, 'the ledger no longer supports this worker: stopping');
    await stop(reason, 0);
  };
  void refused.promise.then(leave);

  return {
    client: clientOf(lent(db), url),
    ended: ended.promise,
    address: health?.address ?? null,
    stop: () => stop(null, options.graceSeconds ?? 5),
  };
}

function sayPooler(needs: number, listenUrl: string | null, log: Logger): void {
  if (listenUrl === null)
    log.warn(
      { needs },
      `this worker opens at most ${needs} connections to a pooler, through which nothing can be listened to: it looks for jobs every second, for all else every two. Set WORK_LEDGER_LISTEN_URL to the address of the server itself`,
    );
  else
    log.info(
      { needs, address: shownUrl(listenUrl) },
      `this worker opens at most ${needs} connections to a pooler, two of them to the server itself, where notifications are listened to`,
    );
}

/** Logs at startup whether the server, the database and the role allow as many connections as this worker may open. */
async function sayConnections(db: Db, needs: number, log: Logger): Promise<void> {
  const { whose, most, left } = await db.connections();
  const here = 1;
  const raise = whose === 'server' ? 'max_connections' : `its limit (alter ${whose} … connection limit)`;
  log[left + here < needs ? 'warn' : 'info'](
    { needs, left, most },
    `this worker opens at most ${needs} connections; the ${whose} has ${left} of ${most} left${left + here < needs ? `: it will wait for others to leave. Lower --concurrency or raise ${raise}` : ''}`,
  );
}
