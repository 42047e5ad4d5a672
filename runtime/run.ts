// Runs a task from a program in one call: submits it, works on it in this process and yields its events. `work-ledger run` is built from
// the same parts.

import { createHash, randomUUID } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';

import type { Logger } from 'pino';

import { isObject } from '../plv8/isObject.ts';
import { eventsOf, follow, leavable } from './commands/follow.ts';
import type { WorkEvent } from './commands/follow.ts';
import { modelClient } from './commands/work.ts';
import { hostName } from './config.ts';
import type { Faculty } from './faculty/faculty.ts';
import { findLedger } from './install/findLedger.ts';
import type { Place } from './install/findLedger.ts';
import { isFinal } from './ledger/answers.ts';
import type { CountedItem, WorkItem } from './ledger/answers.ts';
import { clientError } from './ledger/clientError.ts';
import { openChecked } from './ledger/db.ts';
import type { Db } from './ledger/db.ts';
import { LedgerError, messageOf, UsageError } from './ledger/errors.ts';
import type { ModelClient } from './model/message.ts';
import { projectOf } from './project.ts';
import { registerTools } from './worker/registerTools.ts';
import { hooksByName, withHooks } from './tools/hook.ts';
import type { Hook } from './tools/hook.ts';
import { checkTools } from './tools/tool.ts';
import type { Tool } from './tools/tool.ts';
import { checkOptions } from './worker/checkOptions.ts';
import { openWorker } from './worker/worker.ts';
import type { Worker, WorkerOptions } from './worker/worker.ts';

export type RunOptions = {
  /** The task; required unless `resume` or `continues` is given. With `continues`: the next message. */
  task?: string;
  /**
   * The id of finished work to continue in a new item of the same session: completed work with `task` as the next message; failed, dead or
   * cancelled work from where it ended, with or without a message. The other options that apply are the same as with `resume`.
   */
  continues?: string;
  /**
   * The id of unfinished work to continue. Only `tools`, `hooks`, `modelClient`, `workspace`, `signal`, `log` and the ledger's address
   * apply then.
   */
  resume?: string;
  /** The model's name; default: the faculty's. */
  model?: string;
  /** Tools for the agent in addition to the ledger's built-in ones; this process runs them. */
  tools?: readonly Tool[];
  /** Functions that run at fixed points of the work (docs/hooks.md), one for each point; with a saved `faculty`: those that it names. */
  hooks?: readonly Hook[];
  /**
   * The rest of the agent's configuration (docs/faculty.md), completed by `model`, `tools` and `workspace`; or the name of a saved faculty.
   */
  faculty?: string | Partial<Faculty>;
  /** The directory on this machine in which tools work. Default: none; file tools and bash then cannot be used. */
  workspace?: string;
  /** The project of the work (docs/delegation.md); default: that of `workspace`, or else of the current directory. */
  project?: string;
  /**
   * Limits on what it may use: tokens, money, seconds, calls, children. When one is used up, the work waits until it is raised
   * (setBudget()), and `result` with it.
   */
  budget?: Record<string, number>;
  /** The JSON Schema of the answer (docs/faculty.md): when the work is completed, `outcome_data.result` matches it. */
  resultSchema?: object;
  /** When it fires, this process releases the work, and `result` is the item as it is then. Nothing is lost; `resume` continues it. */
  signal?: AbortSignal;
  /** How many seconds running calls then get to finish; default: 5. */
  graceSeconds?: number;
  /** Default: DATABASE_URL, otherwise the embedded database, which is started. */
  databaseUrl?: string;
  /** Default: WORK_LEDGER_SCHEMA, otherwise the schema of the extension. */
  schema?: string;
  /** Default: Anthropic's API with ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL. */
  modelClient?: ModelClient;
  log?: Logger;
};

/** The item at its end; completed work with a schema has its answer in `outcome_data.result`. */
export type RunItem<T> = Omit<CountedItem, 'outcome_data'> & {
  outcome_data: (NonNullable<CountedItem['outcome_data']> & { result?: T }) | null;
};

export type Run<T = unknown> = AsyncIterable<WorkEvent> & {
  id: Promise<string>;
  /**
   * The item once it is over (completed, failed, cancelled, dead), paused or released. Rejects only if its state could not be determined.
   */
  result: Promise<RunItem<T>>;
  /**
   * Continues the conversation once this run is over, with the next message and the same options except those given here: a separate run
   * with a new item. The text may be omitted if this run failed or was cancelled.
   */
  continue(task?: string, options?: Omit<RunOptions, 'task' | 'resume' | 'continues'>): Run<T>;
};

type Begun = { place: Place; item: WorkItem; ended: Promise<CountedItem> };

/**
 * Submits a task and works on it, and on what it delegates, until it is over: `for await (const event of run({ task }))`. Each loop reads
 * the events from the ledger, from the beginning; leaving a loop does not stop the work.
 */
export function run<T = unknown>(options: RunOptions): Run<T> {
  return runAfter<T>(options, Promise.resolve((options as RunOptions | undefined)?.continues));
}

/** `continues` resolves to the item that this run continues, once that item is over. */
function runAfter<T>(options: RunOptions, continues: Promise<string | undefined>): Run<T> {
  const over = new AbortController(); // fires when no more events will come
  const begun = continues.then((id) => begin({ ...options, ...(id !== undefined && { continues: id }) }, over));
  const id = begun.then(({ item }) => item.id);
  const result = begun.then(({ ended }) => ended as Promise<RunItem<T>>); // the database has checked that the result matches the schema
  for (const promise of [id, result]) promise.catch(() => {}); // if the program awaits neither, the loop still reports the error
  return {
    id,
    result,
    continue: (task, more = {}) => {
      const { task: _task, resume: _resume, ...same } = options;
      return runAfter<T>(
        { ...same, ...more, ...(task !== undefined && { task }) },
        result.then((item) => item.id),
      );
    },
    [Symbol.asyncIterator]: () =>
      leavable(over.signal, async function* (signal, left) {
        const { place, item } = await begun;
        const db = await openChecked(place.url, place.schema, { maximumPoolSize: 1 });
        try {
          for await (const event of eventsOf(db, place.url, item.id, 'all', signal)) if (event.kind !== 'looked') yield event;
        } finally {
          await db.close();
        }
        if (!left.aborted) await result;
      }),
  };
}

/** If the run cannot start, rejects as the methods of LedgerClient do. */
async function begin(options: RunOptions, over: AbortController): Promise<Begun> {
  const at = { url: typeof options.databaseUrl === 'string' ? options.databaseUrl : '' };
  try {
    return await begunAt(options, over, at);
  } catch (error) {
    throw clientError(error, at.url);
  }
}

/** Stores in `at` which database it uses. */
async function begunAt(options: RunOptions, over: AbortController, at: { url: string }): Promise<Begun> {
  const { task, resume, continues, tools = [], hooks = [], signal, log } = options;
  if (continues === undefined ? (task === undefined) === (resume === undefined) : resume !== undefined)
    throw new UsageError('run() takes a task, or resume: the id of unfinished work, or continues: the id of work that is over');
  checkTools(tools);
  hooksByName(hooks);
  signal?.throwIfAborted();
  const workspace = options.workspace === undefined ? undefined : await directoryAt(options.workspace);
  const place = await findLedger(options);
  at.url = place.url;
  const { readyLedger } = await import('./install/installLedger.ts');
  await readyLedger(place.url, place.schema, { mayInstall: place.isEmbedded });
  const db = await openChecked(place.url, place.schema, { maximumPoolSize: 2 });
  try {
    await registerTools(tools, db);
    const faculty = resume === undefined && continues === undefined ? await facultyOf(db, options, workspace) : null;
    const worker = {
      ...place,
      model: options.modelClient ?? modelClient(await db.facultyNeeds()),
      tools,
      hooks,
      ...(workspace !== undefined && { ownDirectories: [workspace] }),
      ...(options.modelClient && { facultyModels: false }),
      ...(log && { log }),
      ...(options.graceSeconds !== undefined && { graceSeconds: options.graceSeconds }),
    };
    checkOptions(worker); // before there is an item
    signal?.throwIfAborted();
    const keeper = randomUUID();
    const item =
      continues !== undefined
        ? await continued(db, continues, task ?? null, keeper)
        : faculty === null
          ? await resumed(db, resume ?? '', keeper, hostName())
          : await db.workSubmitKept(
              {
                workType: 'task',
                description: task ?? '',
                faculty,
                project: options.project ?? (await projectOf(workspace ?? process.cwd())),
                ...(workspace !== undefined && { workspaceDir: workspace }),
                ...(options.budget && { budget: options.budget }),
                ...(options.resultSchema && { resultSchema: options.resultSchema }),
              },
              keeper,
              hostName(),
            );
    if (typeof options.faculty === 'string' && faculty !== null && (await db.facultyOf(item.id)) === null) {
      const why = (await db.workNow(item.id))?.why;
      await db.workerStop(keeper);
      await db.workCancel(item.id, 'no faculty accepts it');
      throw new UsageError(`nothing will take it: ${why ?? `there is no faculty "${faculty}"`}`);
    }
    return { place, item, ended: endOf(db, item, keeper, worker, signal, over) };
  } catch (error) {
    await db.close();
    throw error;
  }
}

async function directoryAt(path: string): Promise<string> {
  try {
    const real = await realpath(path);
    if ((await stat(real)).isDirectory()) return real;
  } catch (error) {
    throw new UsageError(`workspace: ${messageOf(error)}`);
  }
  throw new UsageError(`workspace: ${path} is not a directory`);
}

/** The name of the faculty. Each configuration gets a separate one, so that concurrent runs do not change each other's. */
async function facultyOf(
  db: Db,
  { faculty = {}, model, tools = [], hooks = [] }: RunOptions,
  workspace: string | undefined,
): Promise<string> {
  if (typeof faculty === 'string') return faculty;
  if (!isObject(faculty)) throw new UsageError('faculty must be the name of a saved faculty, or a configuration');
  const engage = {
    workspace: workspace === undefined ? 'none' : 'host',
    tools: tools.map((tool) => tool.name),
    ...(model !== undefined && { model }),
    ...faculty.engage,
  };
  const config = withHooks({ ...faculty, engage }, hooks);
  return db.facultySave({ name: `run ${createHash('sha256').update(JSON.stringify(config)).digest('hex').slice(0, 8)}`, ...config });
}

/** Works on the item; returns its state once this process has released it. */
async function endOf(
  db: Db,
  item: WorkItem,
  keeper: string,
  options: WorkerOptions,
  signal: AbortSignal | undefined,
  over: AbortController,
): Promise<CountedItem> {
  try {
    await driven(db, item, keeper, options, signal, (until) => follow(db, options.url, item.id, {}, until));
    const last = await db.workItem(item.id);
    if (last === null) throw new Error(`work item ${item.id} is gone`);
    return last;
  } catch (error) {
    throw clientError(error, options.url);
  } finally {
    over.abort();
    await db.close();
  }
}

/** Creates the item that continues from the end of this one, reserved for this process. */
async function continued(db: Db, workItemId: string, said: string | null, keeper: string): Promise<WorkItem> {
  const item = await db.workItem(workItemId);
  if (item === null) throw new LedgerError('WL001', `there is no work item ${workItemId}`, '', '');
  const how = isFinal(item.state) && item.state !== 'completed' ? 'work_retry' : 'work_continue';
  return db.workGoOnKept(how, item.id, said, keeper, hostName());
}

/** Takes over the unfinished item for this process: from now on no other worker starts on it. */
export async function resumed(db: Db, workItemId: string, keeper: string, host: string): Promise<WorkItem> {
  const item = await db.workItem(workItemId);
  if (item === null) throw new LedgerError('WL001', `there is no work item ${workItemId}`, '', '');
  if (isFinal(item.state)) throw new UsageError(`${item.id} is ${item.state}: there is nothing to go on with`);
  const driver = await db.driverOf(item.id);
  if (driver !== null)
    throw new UsageError(`a worker on ${driver.host} (process ${driver.pid}) drives it: work-ledger logs ${item.id} --follow`);
  await db.workKeep(item.id, keeper, host);
  return db.workResume(item.id);
}

/**
 * Works in this process on a kept item and the items delegated below it, and on nothing else, until `watch` ends; then releases the rest.
 * If `signal` fires before the worker has begun, it releases the item at once. Throws if the worker stopped before that.
 */
export async function driven<T>(
  db: Db,
  item: WorkItem,
  keeper: string,
  options: WorkerOptions,
  signal: AbortSignal | undefined,
  watch: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  let worker: Worker;
  try {
    worker = await openWorker({ ...options, treeId: await db.rootOf(item.id) }, signal);
  } catch (error) {
    if (!signal?.aborted || error !== signal.reason) throw error;
    await db.workerStop(keeper);
    return watch(signal);
  }
  const failed = new AbortController();
  try {
    await db.workerStop(keeper); // the worker has taken over
    const ended = await Promise.race([watch(AbortSignal.any([failed.signal, ...(signal ? [signal] : [])])), worker.ended]);
    if (ended instanceof Error) throw ended;
    return ended as T;
  } finally {
    failed.abort();
    await worker.stop();
  }
}
