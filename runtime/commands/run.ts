// `work-ledger run "task"`: submits a work item, works on it here, and shows how it goes.

import { resolve } from 'node:path';

import { findLedger } from '../config.ts';
import { openDb } from '../db.ts';
import type { Db, WorkItem } from '../db.ts';
import { UsageError } from '../errors.ts';
import type { ModelClient } from '../focus/callModel.ts';
import { installLedger } from '../install.ts';
import { builtinTools } from '../tools/builtinTools.ts';
import type { Tool } from '../tools/tool.ts';
import { startWorker } from '../worker.ts';
import { follow } from './follow.ts';
import { withTools } from './loadTools.ts';
import { entryLine, exit, itemText, note, print, StatusLine } from './output.ts';
import { logger, modelClient, saveFaculties } from './work.ts';
import type { WorkOptions } from './work.ts';

export type RunOptions = WorkOptions & { type: string; workspace?: string };

export async function run(task: string, options: RunOptions): Promise<number> {
  const model = modelClient();
  return withTools(options.tools ?? [], (tools) => runWith(tools, model, task, options));
}

async function runWith(tools: readonly Tool[], model: ModelClient, task: string, options: RunOptions): Promise<number> {
  const place = await findLedger(options);
  await installLedger(place.url, place.schema);
  const db = await openDb(place.url, place.schema);
  try {
    const [named] = await saveFaculties(db, options.faculty ?? []);
    const faculty = options.workspace ? await saveWorkspaceFaculty(db, options.workspace, options.type) : named;
    const item = await db.workSubmit({ workType: options.type, description: task, ...(faculty && { faculty }) });
    if ((await db.unroutable()).some((row) => row.id === item.id)) {
      await db.workCancel(item.id, 'no faculty accepts it');
      throw new UsageError(`no faculty accepts work type "${options.type}": name one with --faculty FILE, or let the built-in one work in a directory with --workspace DIR`);
    }
    return await driveHere(item, { ...options, ...place, db, model, tools });
  } finally {
    await db.close();
  }
}

/** Saying --workspace is what allows the built-in faculty to read, write and run commands there. */
async function saveWorkspaceFaculty(db: Db, directory: string, workType: string): Promise<string> {
  return db.facultySave({
    name: 'worker',
    accepts: [workType],
    engage: { workspace: 'host', workspace_dir: resolve(directory), tools: builtinTools.map((tool) => tool.name) },
  });
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

/** Works on a submitted item in this process and shows its entries as they come; Ctrl-C gives the work back. */
export async function driveHere(item: WorkItem, drive: Drive): Promise<number> {
  const { db } = drive;
  const status = new StatusLine();
  const interrupted = new AbortController();
  const onSignal = (): void => interrupted.abort();
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  let words = '';
  const worker = await startWorker({
    ...drive,
    log: logger(drive.logLevel),
    onDelta: (workItemId, text) => {
      if (workItemId !== item.id) return;
      words = `${words}${text}`.slice(-500);
      status.show(`… ${words.slice(words.lastIndexOf('\n') + 1)}`);
    },
  });
  try {
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
