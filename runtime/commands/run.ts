// `work-ledger run "task"`: submits a work item, works on it here, and shows its progress.

import { randomUUID } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';

import { hostName } from '../config.ts';
import { findLedger } from '../install/findLedger.ts';
import type { CountedItem, WorkItem } from '../ledger/answers.ts';
import type { ActivityEvent } from '../ledger/activity.ts';
import { openChecked } from '../ledger/db.ts';
import type { Db } from '../ledger/db.ts';
import { UsageError } from '../ledger/errors.ts';
import { isConnectionLost } from '../ledger/reachable.ts';
import { createModelClient } from '../model/callModel.ts';
import type { ModelClient } from '../model/message.ts';
import { startScriptedModel } from '../model/scriptedModel.ts';
import type { ScriptedModel } from '../model/scriptedModel.ts';
import { projectOf } from '../project.ts';
import { driven, resumed } from '../run.ts';
import { builtinTools } from '../tools/builtinTools.ts';
import type { Tool } from '../tools/tool.ts';
import { saveFaculties } from './faculty.ts';
import { follow } from './follow.ts';
import { io } from './io.ts';
import { itemOf } from './items.ts';
import { withTools } from './loadTools.ts';
import { dockerProblems } from './needs.ts';
import { nowText, sayCost, Waits } from './now.ts';
import { callText, cutWords, entryLine, exit, itemText, note, paint, print, StatusLine, toldBy, visible } from './output.ts';
import { stoppable } from './stoppable.ts';
import { scriptFile } from './scriptFile.ts';
import { readyPlace } from './withLedger.ts';
import { logger, modelClient } from './work.ts';
import type { WorkOptions } from './work.ts';

export type RunOptions = WorkOptions & { type: string; workspace?: string; resume?: string; scripted?: string; project?: string };

export async function run(task: string | undefined, options: RunOptions): Promise<number> {
  if ((task === undefined) === (options.resume === undefined))
    throw new UsageError("give a task, or --resume ID: work-ledger run 'Fix the failing test' --workspace .");
  const scripted = options.scripted === undefined ? null : await startScriptedModel(scriptFile(options.scripted));
  try {
    return await withTools(options.tools ?? [], (tools) => runWith(tools, scripted, task, options));
  } finally {
    await scripted?.close();
  }
}

async function runWith(
  tools: readonly Tool[],
  scripted: ScriptedModel | null,
  task: string | undefined,
  options: RunOptions,
): Promise<number> {
  const workspaceDir = options.workspace === undefined ? undefined : await directoryOf(options.workspace);
  const place = await findLedger(options);
  await readyPlace(place, options.install);
  const db = await openChecked(place.url, place.schema, { maximumPoolSize: 2 });
  try {
    const [saved] = await saveFaculties(db, options.faculty ?? []);
    if (!options.faculty) await saveFaculties(db, options.facultiesOfFile ?? []);
    const resume = options.resume === undefined ? '' : (await itemOf(db, options.resume)).id;
    const model = scripted ? createModelClient({ apiKey: 'scripted', baseURL: scripted.url }) : modelClient(await db.facultyNeeds());
    const keeper = randomUUID();
    const item =
      task === undefined
        ? await resumed(db, resume, keeper, hostName(options.host))
        : await submitted(
            db,
            task,
            workspaceDir === undefined ? saved?.name : await saveWorkspaceFaculty(db),
            workspaceDir,
            keeper,
            options,
          );
    return await driveHere(item, keeper, {
      ...options,
      ...place,
      db,
      model,
      tools,
      facultyModels: scripted === null,
      ...(workspaceDir !== undefined && { ownDirectories: [workspaceDir] }),
    });
  } finally {
    await db.close();
  }
}

async function submitted(
  db: Db,
  task: string,
  faculty: string | undefined,
  workspaceDir: string | undefined,
  keeper: string,
  options: RunOptions,
): Promise<WorkItem> {
  const project = options.project ?? (await projectOf(workspaceDir ?? process.cwd()));
  const item = await db.workSubmitKept(
    {
      workType: options.type,
      description: task,
      project,
      ...(faculty && { faculty }),
      ...(workspaceDir && { workspaceDir }),
    },
    keeper,
    hostName(options.host),
  );
  const refuse = async (reason: string, says: string): Promise<never> => {
    await db.workerStop(keeper);
    await db.workCancel(item.id, reason);
    throw new UsageError(says);
  };
  const name = await db.facultyOf(item.id);
  if (name === null)
    await refuse(
      'no faculty accepts it',
      `${(await db.workNow(item.id))?.why ?? `no faculty accepts work type "${options.type}"`}: name one with --faculty FILE, or let the built-in one work in a directory with --workspace DIR`,
    );
  const itsOwn = (await db.facultyNeeds()).filter((one) => one.name === name && [null, project].includes(one.project)).slice(0, 1);
  const [problem] = await dockerProblems(itsOwn);
  if (problem !== undefined) await refuse('Docker is missing', problem);
  return item;
}

/**
 * Passing --workspace is what allows the built-in faculty to read, write and run commands there. The directory belongs to the item: the
 * faculty is the same for all, and accepts no work types, so that it never gets other work.
 */
async function saveWorkspaceFaculty(db: Db): Promise<string> {
  return db.facultySave({ name: 'run --workspace', engage: { workspace: 'host', tools: builtinTools.map((tool) => tool.name) } });
}

async function directoryOf(path: string): Promise<string> {
  const found = await stat(path).catch((error: Error) => error);
  if (found instanceof Error || !found.isDirectory()) throw new UsageError(`--workspace ${path} is not a directory`);
  return realpath(path);
}

type Drive = {
  url: string;
  schema: string;
  db: Db;
  model: ModelClient;
  facultyModels: boolean;
  tools: readonly Tool[];
  json?: boolean;
  concurrency: number;
  host?: string;
  workspaceRoots?: string[];
  /** The directory given by --workspace. */
  ownDirectories?: string[];
  leaseSeconds: number;
  graceSeconds: number;
  logLevel: string;
};

/** Runs only the item and those delegated below it in this process, and shows what happens; Ctrl-C releases the work. */
async function driveHere(item: WorkItem, keeper: string, drive: Drive): Promise<number> {
  const { db } = drive;
  const begun = performance.now();
  return stoppable(async (stopped) => {
    const worker = { ...drive, log: logger(drive.logLevel) };
    // A worker of root serves only directories that were named to it.
    const where = process.getuid?.() === 0 && drive.ownDirectories ? ` --workspace ${drive.ownDirectories.join()}` : '';
    const sayStopped = (): void => note(`stopped; nothing is lost. Continue with: work-ledger run --resume ${item.id}${where}`);
    const ended = await driven(db, item, keeper, worker, stopped, async (signal) => {
      const last = await shown(item.id, drive, signal);
      if (stopped.aborted) sayStopped();
      return last;
    }).catch((error: unknown) => {
      if (stopped.aborted || isConnectionLost(error)) sayStopped();
      if (stopped.aborted) return null;
      throw error;
    });
    if (stopped.aborted) return exit.interrupted;
    print(ended, ended ? itemText(ended) : '', drive.json ?? false);
    await sayCost(db, item.id, (performance.now() - begun) / 1000);
    if (ended?.state === 'paused') note(`paused: fix the cause, then: work-ledger run --resume ${item.id}`);
    return ended?.state === 'completed' ? exit.ok : exit.workItemFailed;
  });
}

/** Follows the item to its end: prints a line for each entry and each call, and below them a status line. */
async function shown(workItemId: string, { db, url, json }: Drive, signal: AbortSignal): Promise<CountedItem | null> {
  const status = new StatusLine();
  const waits = new Waits();
  let words = '';
  let said = '';
  const line = (text: string): void => {
    status.clear();
    note(text);
  };
  const onActivity = (event: ActivityEvent): void => {
    if (event.kind === 'answered') return;
    if (event.kind === 'told') return json ? undefined : line(`${toldBy(event.by, event.name)}: ${visible(event.text)}`);
    if (event.kind !== 'call') {
      if (event.kind === 'said') said = `${said}${event.text}`;
      else if (event.kind === 'broken_off') said = '';
      words = event.kind === 'broken_off' ? '' : `${words}${event.text}`.slice(-500);
      return status.show(`… ${words.slice(words.trimEnd().lastIndexOf('\n') + 1)}`);
    }
    words = '';
    if (said !== '' && !json) line(paint('dim', cutWords(visible(said).trim().replaceAll(/\s+/g, ' '), 200), io().stderr));
    said = '';
    if (json || event.status === 'running' || event.name === 'ledger_append') return;
    line(`${event.parent_call_id === null ? '' : '  '}${callText(event, io().stderr)}`);
  };
  const ended = await follow(
    db,
    url,
    workItemId,
    {
      onActivity,
      onEntry: (entry) => {
        status.clear();
        if (json) print(entry, '', true);
        else note(entryLine(entry, io().stderr));
      },
      onPoll: async () => {
        const now = await db.workNow(workItemId);
        if (now === null) return;
        const why = waits.newReason(now, true);
        if (why !== null) line(why);
        status.show(nowText(now, words.slice(-60)));
      },
    },
    signal,
  );
  status.clear();
  return ended;
}
