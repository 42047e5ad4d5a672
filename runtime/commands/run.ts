// `work-ledger run "task"`: submits a work item, works on it here, and shows how it goes.

import { randomUUID } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import { hostname } from 'node:os';

import { findLedger } from '../install/findLedger.ts';
import { readyLedger } from '../install/installLedger.ts';
import type { WorkItem } from '../ledger/answers.ts';
import { openDb } from '../ledger/db.ts';
import type { Db } from '../ledger/db.ts';
import { UsageError } from '../ledger/errors.ts';
import type { ModelClient } from '../model/message.ts';
import { builtinTools } from '../tools/builtinTools.ts';
import type { Tool } from '../tools/tool.ts';
import { startWorker } from '../worker/worker.ts';
import { saveFaculties } from './faculty.ts';
import { follow } from './follow.ts';
import { withTools } from './loadTools.ts';
import { entryLine, exit, itemText, note, print, StatusLine } from './output.ts';
import { logger, modelClient } from './work.ts';
import type { WorkOptions } from './work.ts';

export type RunOptions = WorkOptions & { type: string; workspace?: string };

export async function run(task: string, options: RunOptions): Promise<number> {
  const model = modelClient();
  return withTools(options.tools ?? [], (tools) => runWith(tools, model, task, options));
}

async function runWith(tools: readonly Tool[], model: ModelClient, task: string, options: RunOptions): Promise<number> {
  const workspaceDir = options.workspace === undefined ? undefined : await directoryOf(options.workspace);
  const place = await findLedger(options);
  await readyLedger(place.url, place.schema);
  const db = await openDb(place.url, place.schema, { maximumPoolSize: 2 });
  try {
    const [named] = await saveFaculties(db, options.faculty ?? []);
    const faculty = workspaceDir === undefined ? named : await saveWorkspaceFaculty(db);
    const keeper = randomUUID();
    const item = await db.workSubmitKept({ workType: options.type, description: task, ...(faculty && { faculty }), ...(workspaceDir && { workspaceDir }) }, keeper, hostname());
    if ((await db.unroutable()).some((row) => row.id === item.id)) {
      await db.workerStop(keeper);
      await db.workCancel(item.id, 'no faculty accepts it');
      throw new UsageError(`no faculty accepts work type "${options.type}": name one with --faculty FILE, or let the built-in one work in a directory with --workspace DIR`);
    }
    return await driveHere(item, keeper, { ...options, ...place, db, model, tools });
  } finally {
    await db.close();
  }
}

/**
 * Giving --workspace is what allows the built-in faculty to read, write and run commands there. The directory belongs to the
 * item: the faculty is the same for all, and accepts no work types, so that it never gets other work.
 */
async function saveWorkspaceFaculty(db: Db): Promise<string> {
  return db.facultySave({ name: 'run --workspace', engage: { workspace: 'host', tools: builtinTools.map((tool) => tool.name) } });
}

async function directoryOf(path: string): Promise<string> {
  const found = await stat(path).catch((error: Error) => error);
  if (found instanceof Error || !found.isDirectory()) throw new UsageError(`--workspace ${path} is not a directory${found instanceof Error ? `: ${found.message}` : ''}`);
  return realpath(path);
}

type Drive = {
  url: string;
  schema: string;
  db: Db;
  model: ModelClient;
  tools: readonly Tool[];
  json?: boolean;
  concurrency: number;
  leaseSeconds: number;
  graceSeconds: number;
  logLevel: string;
};

/** Works in this process on the item and those delegated below it, on nothing else, and shows its entries as they come; Ctrl-C releases the work. */
async function driveHere(item: WorkItem, keeper: string, drive: Drive): Promise<number> {
  const { db } = drive;
  const status = new StatusLine();
  const interrupted = new AbortController();
  const onSignal = (): void => interrupted.abort();
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  let words = '';
  const worker = await startWorker({
    ...drive,
    treeId: item.id,
    log: logger(drive.logLevel),
    onDelta: (workItemId, text) => {
      if (workItemId !== item.id) return;
      words = `${words}${text}`.slice(-500);
      status.show(`… ${words.slice(words.lastIndexOf('\n') + 1)}`);
    },
  });
  try {
    await db.workerStop(keeper); // the worker has taken over
    const ended = await follow(db, drive.url, item.id, {
      onEntry: (entry) => {
        status.clear();
        if (drive.json) print(entry, '', true);
        else note(entryLine(entry));
      },
      onPoll: async () => {
        words = '';
        const now = await db.workProgress(item.id);
        const what = now.state_reason ?? now.last_entry ?? '';
        status.show(`${now.state} · iteration ${now.turns} · ${now.tokens} tokens${what ? ` · ${what}` : ''}`);
      },
    }, interrupted.signal);
    status.clear();
    if (interrupted.signal.aborted) {
      note(`stopped; nothing is lost. Go on with: work-ledger work    (work item ${item.id})`);
      return exit.interrupted;
    }
    print(ended, ended ? itemText(ended) : '', drive.json ?? false);
    if (ended?.state === 'paused') note(`paused: fix the cause, then: work-ledger resume ${item.id} && work-ledger work`);
    return ended?.state === 'completed' ? exit.ok : exit.workItemFailed;
  } finally {
    process.removeListener('SIGINT', onSignal).removeListener('SIGTERM', onSignal);
    await worker.stop();
  }
}
