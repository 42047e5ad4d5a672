// A task from a program, in one call: submitted, worked on in this process, and told as it goes. `work-ledger run` is made of the same
// parts.

import { createHash, randomUUID } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';

import type { Logger } from 'pino';

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
import type { Tool } from './tools/tool.ts';
import { openWorker } from './worker/worker.ts';
import type { WorkerOptions } from './worker/worker.ts';

export type RunOptions = {
  /** What is to be done; or `resume`. With `continues`: what is said next. */
  task?: string;
  /**
   * The id of work that is over, to go on with in a new item of the same session: of completed work with `task` as the next message, of
   * failed, dead or cancelled work where it ended, with or without one. What matters else is as with `resume`.
   */
  continues?: string;
  /** The id of unfinished work to go on with; only `tools`, `hooks`, `modelClient`, `workspace`, `signal`, `log` and where the ledger is matter then. */
  resume?: string;
  /** The model's name; default: the faculty's. */
  model?: string;
  /** The tools that the agent is offered in addition to the ledger's own, and that this process can run. */
  tools?: readonly Tool[];
  /** Functions that run at fixed points of the work (docs/hooks.md), one for each; with a saved `faculty`: those that it names. */
  hooks?: readonly Hook[];
  /** The rest of the agent's configuration (docs/faculty.md), which `model`, `tools` and `workspace` complete; or the name of a saved one. */
  faculty?: string | Partial<Faculty>;
  /** The directory of this machine in which tools work. Default: none, and file tools and bash are of no use. */
  workspace?: string;
  /** Where the work is (docs/delegation.md); default: that of `workspace`, else of the current directory. */
  project?: string;
  /** What it may use: tokens, money, seconds, calls, children. */
  budget?: Record<string, number>;
  /** What the answer must look like (a JSON Schema, docs/faculty.md): `outcome_data.result` fits it when the work is completed. */
  resultSchema?: object;
  /** When it fires, the work is given back and `result` is the item as it stands: nothing is lost, and `resume` goes on. */
  signal?: AbortSignal;
  /** How long what is being done may then take to end by itself; default: 5. */
  graceSeconds?: number;
  /** Default: DATABASE_URL, else the embedded database, which is started. */
  databaseUrl?: string;
  /** Default: WORK_LEDGER_SCHEMA, else that of the extension. */
  schema?: string;
  /** Default: Anthropic's API with ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL. */
  modelClient?: ModelClient;
  log?: Logger;
};

/** The item at its end; completed work with a schema has its answer in `result`. */
export type RunItem<T> = Omit<CountedItem, 'outcome_data'> & {
  outcome_data: (NonNullable<CountedItem['outcome_data']> & { result?: T }) | null;
};

export type Run<T = unknown> = AsyncIterable<WorkEvent> & {
  id: Promise<string>;
  /** The item when it is over (completed, failed, cancelled, dead), paused, or given back. Rejects only where that could not be found out. */
  result: Promise<RunItem<T>>;
  /**
   * Goes on with the conversation when this is over, with what is said next and the same options but for those given: a run of its own,
   * whose item is a new one. Where this one failed or was cancelled the text may be left out.
   */
  continue(task?: string, options?: Omit<RunOptions, 'task' | 'resume' | 'continues'>): Run<T>;
};

type Begun = { place: Place; item: WorkItem; ended: Promise<CountedItem> };

/**
 * Submits a task and works on it, and on what it delegates, until it is over: `for await (const event of run({ task }))`. Events are read
 * from the ledger, from the beginning, by each loop; leaving a loop does not stop the work.
 */
export function run<T = unknown>(options: RunOptions): Run<T> {
  return runAfter<T>(options, Promise.resolve(options.continues));
}

/** `continues`: the item that it goes on from, known when that is over. */
function runAfter<T>(options: RunOptions, continues: Promise<string | undefined>): Run<T> {
  const over = new AbortController(); // nothing more will come
  const begun = continues.then((id) => begin({ ...options, ...(id !== undefined && { continues: id }) }, over));
  const id = begun.then(({ item }) => item.id);
  const result = begun.then(({ ended }) => ended as Promise<RunItem<T>>); // the database has looked whether it fits
  for (const promise of [id, result]) promise.catch(() => {}); // whoever awaits neither hears of it in the loop
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

/** What cannot begin rejects as the methods of LedgerClient do. */
async function begin(options: RunOptions, over: AbortController): Promise<Begun> {
  const at = { url: options.databaseUrl ?? '' };
  try {
    return await begunAt(options, over, at);
  } catch (error) {
    throw clientError(error, at.url);
  }
}

/** `at` is told which database it is. */
async function begunAt(options: RunOptions, over: AbortController, at: { url: string }): Promise<Begun> {
  const { task, resume, continues, tools = [], hooks = [], signal, log } = options;
  if (continues === undefined ? (task === undefined) === (resume === undefined) : resume !== undefined)
    throw new UsageError('run() takes a task, or resume: the id of unfinished work, or continues: the id of work that is over');
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
    const model = options.modelClient ?? modelClient(await db.facultyNeeds());
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
    const worker = {
      ...place,
      model,
      tools,
      hooks,
      ...(workspace !== undefined && { ownDirectories: [workspace] }),
      ...(options.modelClient && { facultyModels: false }),
      ...(log && { log }),
      ...(options.graceSeconds !== undefined && { graceSeconds: options.graceSeconds }),
    };
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

/** The name of the configuration: one of its own for each, so that two runs at once do not change each other's. */
async function facultyOf(
  db: Db,
  { faculty = {}, model, tools = [], hooks = [] }: RunOptions,
  workspace: string | undefined,
): Promise<string> {
  if (typeof faculty === 'string') return faculty;
  const engage = {
    workspace: workspace === undefined ? 'none' : 'host',
    tools: tools.map((tool) => tool.name),
    ...(model !== undefined && { model }),
    ...faculty.engage,
  };
  const config = withHooks({ ...faculty, engage }, hooks);
  return db.facultySave({ name: `run ${createHash('sha256').update(JSON.stringify(config)).digest('hex').slice(0, 8)}`, ...config });
}

/** Works on it; the item as it stands when this process has let go of it. */
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

/** The new item that goes on from the end of this one, for this process alone. */
async function continued(db: Db, workItemId: string, said: string | null, keeper: string): Promise<WorkItem> {
  const item = await db.workItem(workItemId);
  if (item === null) throw new LedgerError('WL001', `there is no work item ${workItemId}`, '', '');
  const how = isFinal(item.state) && item.state !== 'completed' ? 'work_retry' : 'work_continue';
  return db.workGoOnKept(how, item.id, said, keeper, hostName());
}

/** The unfinished item, taken over for this process: from now on no other worker begins with it. */
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
 * Works in this process on a kept item and those delegated below it, on nothing else, while `watch` watches; releases what is left when
 * that ends. Throws if the worker ended by itself.
 */
export async function driven<T>(
  db: Db,
  item: WorkItem,
  keeper: string,
  options: WorkerOptions,
  signal: AbortSignal | undefined,
  watch: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const worker = await openWorker({ ...options, treeId: await db.rootOf(item.id) });
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
