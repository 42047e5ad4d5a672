// A worker process: a crew that drives work items, a sweeper, a listener. When its crew ends unasked it gets another.

import { setTimeout as sleep } from 'node:timers/promises';

import Docker from 'dockerode';
import { runMigrations } from 'graphile-worker';
import type { Logger } from 'pino';
import { z } from 'zod';

import { webFetchHeaders } from './config.ts';
import { graphileLogger, startCrew } from './crew.ts';
import type { Crew } from './crew.ts';
import { openDb } from './db.ts';
import type { Db } from './db.ts';
import type { ModelClient } from './focus/callModel.ts';
import { openContainers } from './focus/containers.ts';
import { executeCode } from './focus/runCode.ts';
import { Watchers } from './focus/watchers.ts';
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
  /** Runs agents' code and has their workspaces; default: the daemon of DOCKER_HOST or of this machine. Null: none. */
  docker?: Docker | null;
};

export type Worker = { stop(): Promise<void> };

/** Registers its tools, starts to work, and goes on until `stop()`. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { url, schema, log } = options;
  const leaseSeconds = options.leaseSeconds ?? 30;
  const concurrency = options.concurrency ?? 4;
  const headers = webFetchHeaders();
  await runMigrations({ connectionString: url, logger: graphileLogger(log) });
  const db = await openDb(url, schema, { maximumPoolSize: concurrency * 2 + 2 });
  await registerTools(options.tools, db);
  const docker = options.docker === undefined ? new Docker() : options.docker;
  const containers = docker === null ? null : openContainers(docker, db, log);
  let isCodeOffered = docker === null || (await offerCode(docker, db));
  if (!isCodeOffered) log.info('no Docker daemon answers: until one does, execute_code is not offered and there are no workspaces in containers');

  const stopping = new AbortController();
  const isStopping = (): boolean => stopping.signal.aborted;
  const tools = new Map(options.tools.map((tool) => [tool.name, tool]));
  const watchers = new Watchers(db, log);
  const runtime = { db, watchers, model: options.model, tools, log, ...(containers && { containers }), ...(options.onDelta && { onDelta: options.onDelta }), ...(headers && { webFetchHeaders: headers }) };
  const newCrew = (): Promise<Crew> => startCrew({ url, schema, db, log, concurrency, leaseSeconds, runtime });
  let crew = await newCrew();

  const sweep = async (): Promise<void> => {
    try {
      const swept = await db.workSweep(leaseSeconds);
      isCodeOffered ||= docker !== null && (await offerCode(docker, db));
      if (swept.expired > 0 || swept.dead_workers.length > 0) log.info(swept, 'swept up after dead workers');
    } catch (error) {
      log.warn({ err: error }, 'sweep failed');
    }
  };
  await sweep();
  const sweeper = setInterval(() => void sweep(), Math.min(5000, (leaseSeconds * 1000) / 3));
  const listener = listen(url, ['work_item_completed', 'work_lease_revoked', 'work_watched'], {
    onNotification: (channel, payload) => {
      if (channel === 'work_watched') watchers.came(payload);
      else if (channel === 'work_lease_revoked') crew.leases.revoke(payload);
      else crew.leases.lose(payload);
    },
  });
  const tending = tend();
  log.info({ workerId: crew.leases.workerId, schema, concurrency }, 'worker started');

  /** Replaces a crew that ended unasked, as soon as the database lets it. */
  async function tend(): Promise<void> {
    for (;;) {
      await Promise.race([crew.ended, aborted(stopping.signal)]);
      if (isStopping()) return;
      log.warn({ workerId: crew.leases.workerId }, 'graphile-worker gave up; starting it anew');
      await crew.stop(0);
      for (let delay = 500; ; delay = Math.min(delay * 2, 5000)) {
        if (isStopping()) return;
        try {
          crew = await newCrew();
          break;
        } catch (error) {
          log.warn({ err: error }, 'not yet');
          await sleep(delay);
        }
      }
    }
  }

  return {
    async stop() {
      stopping.abort();
      clearInterval(sweeper);
      await tending;
      await crew.stop(options.graceSeconds ?? 5);
      await listener.close();
      await containers?.close();
      await db.close();
      log.info('worker stopped');
    },
  };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Offers execute_code where a Docker daemon answers. False: none does, now. */
async function offerCode(docker: Docker, db: Db): Promise<boolean> {
  const isThere = await docker.ping().then(() => true, () => false);
  if (isThere) await db.abilityRegister(executeCode);
  return isThere;
}

async function registerTools(tools: readonly Tool[], db: Db): Promise<void> {
  for (const tool of tools) {
    const { $schema: _, ...inputSchema } = tool.inputSchema ?? z.toJSONSchema(tool.input, { io: 'input' });
    await db.abilityRegister({ name: tool.name, description: tool.description, inputSchema, effect: tool.effect, risk: tool.risk, touches: tool.touches });
  }
}
