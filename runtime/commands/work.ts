// `work-ledger work`: a worker in the foreground until a signal stops it.

import { pino } from 'pino';
import type { Logger } from 'pino';

import { modelAccess } from '../config.ts';
import type { Settings } from '../config.ts';
import { findLedger } from '../install/findLedger.ts';
import type { Place } from '../install/findLedger.ts';
import { readyLedger } from '../install/installLedger.ts';
import { openDb } from '../ledger/db.ts';
import { UsageError } from '../ledger/errors.ts';
import { whenReachable } from '../ledger/reachable.ts';
import { createModelClient } from '../model/callModel.ts';
import type { ModelClient } from '../model/message.ts';
import type { Tool } from '../tools/tool.ts';
import { startWorker } from '../worker/worker.ts';
import { saveFaculties } from './faculty.ts';
import { withTools } from './loadTools.ts';
import { exit } from './output.ts';

export type WorkOptions = Settings & {
  faculty?: string[];
  tools?: string[];
  concurrency: number;
  leaseSeconds: number;
  graceSeconds: number;
  logLevel: string;
};

/** Logs go to stderr as JSON lines. Of an error only its message: the whole object may hold connections, requests and keys. */
export const logger = (level: string): Logger =>
  pino({ level, base: null, serializers: { err: briefly } }, pino.destination({ fd: 2, sync: true }));

function briefly(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: unknown };
  return { name: error.name, message: error.message, ...(typeof code === 'string' && { code }) };
}

export function modelClient(): ModelClient {
  const access = modelAccess();
  if (!access) throw new UsageError('ANTHROPIC_API_KEY is not set: a worker needs it to ask the model');
  return createModelClient(access);
}

export async function work(options: WorkOptions): Promise<number> {
  const model = modelClient();
  return withTools(options.tools ?? [], (tools) => workWith(tools, model, options));
}

async function workWith(tools: Tool[], model: ModelClient, options: WorkOptions): Promise<number> {
  const log = logger(options.logLevel);
  const place = await whenReachable(() => prepare(options), log);
  const worker = await startWorker({ ...options, url: place.url, schema: place.schema, model, tools, log });
  const signalled = new Promise<NodeJS.Signals>((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, resolve);
  });
  const missing = await worker.db.missingTools().catch(() => []); // the database went away: not the moment to warn about tools
  for (const { faculty, tool } of missing) log.warn({ faculty, tool }, 'a faculty names a tool that nobody has registered');
  log.info({ signal: await signalled }, 'stopping: iterations under way end or are given back');
  await worker.stop();
  return exit.ok;
}

/** Everything to be done before the worker opens its own connections. */
async function prepare(options: WorkOptions): Promise<Place> {
  const place = await findLedger(options);
  await readyLedger(place.url, place.schema);
  const db = await openDb(place.url, place.schema, { maximumPoolSize: 1 });
  try {
    await saveFaculties(db, options.faculty ?? []);
  } finally {
    await db.close();
  }
  return place;
}
