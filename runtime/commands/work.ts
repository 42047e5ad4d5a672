// `work-ledger work`: runs a worker in the foreground until a signal stops it.

import { pino } from 'pino';
import type { Logger } from 'pino';
import { z } from 'zod';

import { uncontained } from '../../sandbox/commandUser.ts';
import { modelAccess } from '../config.ts';
import { dbOf } from '../client.ts';
import type { Settings } from '../config.ts';
import { findLedger } from '../install/findLedger.ts';
import type { Place } from '../install/findLedger.ts';
import { openChecked } from '../ledger/db.ts';
import { UsageError } from '../ledger/errors.ts';
import type { FacultyNeeds } from '../ledger/overview.ts';
import { whenReachable } from '../ledger/reachable.ts';
import { createModelClient } from '../model/callModel.ts';
import { withoutKey } from '../model/facultyModels.ts';
import type { ModelClient } from '../model/message.ts';
import { projectOf } from '../project.ts';
import { listeningAt } from '../telemetry/healthServer.ts';
import { logDestination } from '../telemetry/logs.ts';
import type { Tool } from '../tools/tool.ts';
import { openWorker } from '../worker/worker.ts';
import { saveFaculties } from './faculty.ts';
import { io } from './io.ts';
import { withTools } from './loadTools.ts';
import { dockerProblems, hasOwnModel } from './needs.ts';
import { exit, paint, visible } from './output.ts';
import { readyPlace } from './withLedger.ts';

export type WorkOptions = Settings & {
  faculty?: string[];
  /** From work-ledger.toml. */
  facultiesOfFile?: string[];
  tools?: string[];
  /** Install a ledger if the given database has none. */
  install?: boolean;
  concurrency: number;
  host?: string;
  project?: string;
  allProjects?: boolean;
  workspaceRoots?: string[];
  leaseSeconds: number;
  graceSeconds: number;
  logLevel: string;
  /** [ADDRESS:]PORT */
  http?: string;
};

/**
 * Logs go to stderr: on a terminal as lines for people, else as JSON. Of an error only the message is logged: the whole object may hold
 * connections, requests and keys.
 */
export const logger = (level: string): Logger =>
  pino(
    { level, base: null, serializers: { err: briefly } },
    logDestination(io().stderr.isTTY ? (line) => `${logLine(line)}\n` : undefined),
  );

const levels: Record<number, ['dim' | 'yellow' | 'red', string]> = {
  10: ['dim', 'trace '],
  20: ['dim', 'debug '],
  40: ['yellow', 'warning '],
  50: ['red', 'error '],
  60: ['red', 'error '],
};

/** "12:03:04 item begun  engineer attempt=1  019…", from one JSON line. */
export function logLine(json: string): string {
  const { time, level, msg, err, workItemId, ...rest } = z
    .looseObject({
      time: z.number(),
      level: z.number(),
      msg: z.string().default(''),
      err: z.object({ message: z.string() }).optional().catch(undefined),
      workItemId: z.string().optional(),
    })
    .parse(JSON.parse(json));
  const [color, word] = levels[level] ?? ['dim', ''];
  const isSaid = (value: unknown): boolean => typeof value === 'number' && new RegExp(`\\b${value}\\b`).test(msg);
  const more = Object.entries(rest)
    .filter(([, value]) => !isSaid(value))
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const text = [msg, ...(err ? [err.message] : []), ...(more.length > 0 ? [paint('dim', visible(more.join(' ')), io().stderr)] : [])].join(
    '  ',
  );
  return `${paint('dim', new Date(time).toTimeString().slice(0, 8), io().stderr)} ${word === '' ? '' : paint(color, word, io().stderr)}${workItemId === undefined ? '' : `${workItemId} `}${text.replaceAll('\n', ' ')}`;
}

function briefly(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: unknown };
  return { name: error.name, message: error.message, ...(typeof code === 'string' && { code }) };
}

/** The client for the worker's own key. Without a key it says so, and some faculty must have its own. */
export function modelClient(faculties: readonly FacultyNeeds[]): ModelClient {
  const access = modelAccess();
  if (access) return createModelClient(access);
  const says = 'ANTHROPIC_API_KEY is not set';
  if (!faculties.some(hasOwnModel))
    throw new UsageError(
      `${says}: a worker needs it to ask the model (or a faculty with base_url and api_key_env; without any model: work-ledger demo, work-ledger run --scripted FILE)`,
    );
  return withoutKey(`${says} for this worker`);
}

export async function work(options: WorkOptions): Promise<number> {
  return withTools(options.tools ?? [], (tools) => workWith(tools, options));
}

async function workWith(tools: Tool[], options: WorkOptions): Promise<number> {
  const log = logger(options.logLevel);
  const http = options.http === undefined ? undefined : listeningAt(options.http);
  const project = options.allProjects === true ? null : (options.project ?? (await projectOf(process.cwd())));
  const { place, faculties: all } = await whenReachable(() => prepare(options), log);
  const model = modelClient(all);
  const isOurs = (of: string | null): boolean => of === null || project === null || of === project;
  const faculties = all.filter((one) => isOurs(one.project));
  for (const problem of await dockerProblems(faculties)) log.warn(problem);
  const open = faculties.some(({ engage }) => engage.workspace === 'host') ? await uncontained() : null;
  if (open !== null) log.warn(open);
  // From here on leases may be held, which only a clean stop of the worker releases.
  const stopped = new AbortController();
  const signalled = new Promise<NodeJS.Signals>((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, resolve);
  });
  void signalled.then(() => stopped.abort());
  const { http: _, ...given } = options;
  const worker = await openWorker(
    { ...given, ...(http && { http }), url: place.url, schema: place.schema, project, model, tools, log },
    stopped.signal,
  ).catch((error: unknown) => {
    if (stopped.signal.aborted) return null;
    throw error;
  });
  if (worker === null) {
    log.info('stopped before the worker had started');
    return exit.ok;
  }
  log.info(
    project === null
      ? 'it works on what is queued in any project'
      : `it works on what is queued in project ${project}, and in none; --all-projects: in any`,
  );
  const missing = await dbOf(worker.client)
    .missingTools()
    .catch(() => []); // the database is unreachable: no time to warn about tools
  for (const { faculty, tool } of missing.filter((one) => isOurs(one.project)))
    log.warn({ faculty, tool }, 'a faculty names a tool that nobody has registered');
  const signal = await Promise.race([signalled, worker.ended]);
  if (signal instanceof Error) throw signal;
  log.info({ signal }, 'stopping: iterations under way end or are given back');
  await worker.stop();
  return exit.ok;
}

/** Everything to do before the worker opens its own connections. */
async function prepare(options: WorkOptions): Promise<{ place: Place; faculties: readonly FacultyNeeds[] }> {
  const place = await findLedger(options);
  await readyPlace(place, options.install);
  const db = await openChecked(place.url, place.schema, { maximumPoolSize: 1 });
  try {
    await saveFaculties(db, options.faculty ?? options.facultiesOfFile ?? []);
    return { place, faculties: await db.facultyNeeds() };
  } finally {
    await db.close();
  }
}
