// The ledger for programs: a thin face over the functions and views of SQL. It decides nothing.

import { eventsOf, leavable } from './commands/follow.ts';
import type { WorkEvent } from './commands/follow.ts';
import type { Faculty } from './faculty/faculty.ts';
import { findLedger } from './install/findLedger.ts';
import type { CountedItem, LedgerEntry, WorkItem } from './ledger/answers.ts';
import { clientError } from './ledger/clientError.ts';
import type { AgentTold, Approval, ClaimOptions, ClaimTaken, HeldClaim } from './ledger/control.ts';
import type { Cost } from './ledger/cost.ts';
import { openDb } from './ledger/db.ts';
import type { Db } from './ledger/db.ts';
import type { AppendOptions, SearchHit, SearchOptions } from './ledger/entries.ts';
import { LedgerError, UsageError } from './ledger/errors.ts';
import { WorkJournal } from './ledger/journal.ts';
import { ledgerMemory } from './ledger/ledgerMemory.ts';
import type { LedgerMemory } from './ledger/ledgerMemory.ts';
import { notePath } from './ledger/notes.ts';
import type { Note } from './ledger/notes.ts';
import type { ListedItem, SavedFaculty, WorkNow } from './ledger/overview.ts';
import { proofOf } from './ledger/people.ts';
import { positionOf } from './ledger/position.ts';
import type { TurnOfWork } from './ledger/reads.ts';
import type { Budget, Submission } from './ledger/submit.ts';
import type { ModelClient } from './model/message.ts';

export type ClientOptions = {
  /** Default: DATABASE_URL, else the embedded database, which is started and gets a ledger. */
  databaseUrl?: string;
  /** Default: WORK_LEDGER_SCHEMA, else that of the extension. */
  schema?: string;
  /** How many connections it opens at most; default: 10. */
  maximumConnections?: number;
  /** For how many seconds a call is repeated while the server cannot be reached; default: 20. */
  patienceSeconds?: number;
};

/** Who acts: whoever has this token of `work-ledger person add`; or a name, for which the role that is logged in vouches. */
export type ActingPerson = { token: string } | { name: string };

/** Which work is listed. */
export type ListOptions = {
  /** Only in these states; default: in all. */
  states?: readonly string[];
  /** Only of this project and of none; default: of all. */
  project?: string;
  /** Default: 20. */
  limit?: number;
};

export type FollowOptions = {
  /**
   * What the agent says and calls, in addition to the entries: `all` from the beginning (the default), `new` from the running turn, or
   * `none`.
   */
  activity?: 'all' | 'new' | 'none';
  /** The `position` of an event: only what follows it is told, each piece once. WL002 (of another item, or none). */
  after?: string;
  /** When it fires, what came until then is told, and the loop ends. */
  signal?: AbortSignal;
};

const dbs = new WeakMap<LedgerClient, Db>();

/** The functions beneath a client, for the rest of the runtime. */
export function dbOf(client: LedgerClient): Db {
  const db = dbs.get(client);
  if (db === undefined) throw new TypeError('this is not an open LedgerClient');
  return db;
}

/** A client of a ledger that is open; `url`: where. */
export const clientOf = (db: Db, url: string): LedgerClient => new LedgerClient(db, url);

/**
 * A ledger that is open: `await LedgerClient.open()`. Times are texts in ISO 8601, of PostgreSQL's form; ids are UUIDs as text; money is in the
 * currency of model_price_save(). Every method may be called again after an error, and is repeated by itself while the server cannot be
 * reached. What is refused rejects with a LedgerError, which has `code` and `hint`: WL001 there is no such thing, WL002 an argument cannot be used,
 * 22P02 a text is no id, 42501 the role may not. A server that is away rejects with NoConnection.
 */
export class LedgerClient implements AsyncDisposable {
  readonly #db: Db;
  readonly #url: string;

  /** @internal Use LedgerClient.open(). */
  constructor(db: Db, url: string) {
    this.#db = db;
    this.#url = url;
    dbs.set(this, db);
  }

  /**
   * Opens the ledger. Close it with close(), or by `await using`. Rejects with NoConnection (the database is away or refuses), NoLedger (the
   * schema has none), OtherLedger (one that this version cannot work with).
   */
  static async open(options: ClientOptions = {}): Promise<LedgerClient> {
    const { maximumConnections: maximumPoolSize, patienceSeconds } = options;
    let url = options.databaseUrl ?? '';
    try {
      if (maximumPoolSize !== undefined && !(Number.isInteger(maximumPoolSize) && maximumPoolSize > 0))
        throw new UsageError(`maximumConnections must be a whole number from 1, not ${maximumPoolSize}`);
      if (patienceSeconds !== undefined && !(patienceSeconds >= 0))
        throw new UsageError(`patienceSeconds must be a number from 0, not ${patienceSeconds}`);
      const place = await findLedger(options);
      url = place.url;
      if (place.isEmbedded) await (await import('./install/installLedger.ts')).readyLedger(url, place.schema);
      const db = await openDb(url, place.schema, {
        ...(maximumPoolSize !== undefined && { maximumPoolSize }),
        ...(patienceSeconds !== undefined && { patienceMs: patienceSeconds * 1000 }),
      });
      return new LedgerClient(db, url);
    } catch (error) {
      throw clientError(error, url);
    }
  }

  /** The same ledger in the name of a person, whom the ledger verifies at each call. Close the one that it was made from. */
  as(person: ActingPerson): LedgerClient {
    return new LedgerClient(this.#db.as('token' in person ? { token: proofOf(person.token) } : person), this.#url);
  }

  /** Closes its connections, after the calls that are running. */
  async close(): Promise<void> {
    await this.#db.close();
  }

  /** close() */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  // Work

  /**
   * Adds a work item, queued at once, and returns it. With `idempotencyKey` the same call repeated returns the same item, for ever. WL001
   * (parent), WL002, WL003 (the parent is over), WL006 (the key is another item's), WL009 (no children left in a budget).
   */
  submit(submission: Submission): Promise<WorkItem> {
    return this.#ask((db) => db.workSubmit(submission));
  }

  /** The item as it is now; `outcome_data` has `summary` and, with a schema, `result` when it is completed. WL001. */
  item(id: string): Promise<CountedItem> {
    return this.#ask(async (db) => (await db.workItem(id)) ?? notThere(id));
  }

  /**
   * The id that a person means: a whole one, its last six characters, any other part that no other has, `last` (the newest of `project`) or
   * `last:2`. WL001 (none), WL002 (more than one: the hint lists them).
   */
  find(name: string, options: { project?: string } = {}): Promise<string> {
    return this.#ask((db) => db.workId(name, options.project ?? null));
  }

  /** The newest items, the newest first; `age_seconds` since each was submitted. */
  list(options: ListOptions = {}): Promise<readonly ListedItem[]> {
    return this.#ask((db) => db.workList(options.states ?? null, options.project ?? null, options.limit ?? 20));
  }

  /** What was delegated by this item, the oldest first. Empty also where there is no such item. */
  children(id: string): Promise<readonly CountedItem[]> {
    return this.#ask((db) => db.workChildren(id));
  }

  /**
   * What it does now: `doing` is model, tools, waits, paused or next (null: no attempt is running), `seconds` since its newest sign of work,
   * `waits_for` and `why` what keeps it. WL001.
   */
  now(id: string): Promise<WorkNow> {
    return this.#ask(async (db) => (await db.workNow(id)) ?? notThere(id));
  }

  /** Its newest turns, the oldest of them first: tokens and cost of each request, what was said and called. `limit`: default 100. */
  turns(id: string, options: { limit?: number } = {}): Promise<readonly TurnOfWork[]> {
    return this.#ask((db) => db.workTurns(id, options.limit ?? 100));
  }

  /** The request of a turn: byte for byte the JSON that was sent to the model. WL001 (no such turn, or it made none). */
  request(turnId: string): Promise<string> {
    return this.#ask((db) => db.contextAt(turnId));
  }

  /**
   * What happens to an item, from its beginning, as it happens: entries of its ledger and what its agent says and calls. Ends when the item is
   * final or paused. Each loop reads the rows itself, so it may begin late; leaving it does not stop the work. eventResponse() and
   * sendEvents() make server-sent events of it. WL001, WL002.
   */
  follow(id: string, options: FollowOptions = {}): AsyncGenerator<WorkEvent, CountedItem> {
    return leavable(options.signal, (signal) => this.#follow(id, options, signal));
  }

  async *#follow(id: string, options: FollowOptions, signal: AbortSignal): AsyncGenerator<WorkEvent, CountedItem> {
    try {
      const item = await this.item(id);
      const after = options.after === undefined ? null : positionOf(options.after, item.id);
      const events = eventsOf(this.#db, this.#url, item.id, options.activity ?? 'all', signal, after);
      try {
        for (;;) {
          const next = await events.next();
          if (next.done) return next.value ?? (await this.item(id));
          if (next.value.kind !== 'looked') yield next.value;
        }
      } finally {
        await events.return(null);
      }
    } catch (error) {
      throw clientError(error, this.#url);
    }
  }

  /** Waits until an item is final or paused, or the signal fires, and returns it as it is then. WL001. */
  async wait(id: string, options: { signal?: AbortSignal } = {}): Promise<CountedItem> {
    const events = this.follow(id, { activity: 'none', ...options });
    for (;;) {
      const next = await events.next();
      if (next.done) return next.value;
    }
  }

  /**
   * Says something to the agent of an item, with its next request; returns the id of the message. `isInterrupt`: now, and what it does is
   * broken off. WL001, WL002, WL003 (it is over: continue() or retry()).
   */
  message(id: string, content: string, options: { isInterrupt?: boolean } = {}): Promise<string> {
    return this.#ask((db) => db.workMessage(id, content, options.isInterrupt ?? false));
  }

  /** Pauses an item until resume(), when its iteration is over; its children go on. WL001, WL003. */
  pause(id: string, reason?: string): Promise<WorkItem> {
    return this.#ask((db) => db.workPause(id, reason ?? null));
  }

  /** Lets a paused item go on where it stopped; any other unfinished one is not changed. WL001, WL002 (another program drives it), WL003. */
  resume(id: string): Promise<WorkItem> {
    return this.#ask((db) => db.workResume(id));
  }

  /** Cancels an item and all below it; returns those that this ended (none if all were over). WL001. */
  cancel(id: string, reason?: string): Promise<readonly WorkItem[]> {
    return this.#ask((db) => db.workCancel(id, reason ?? null));
  }

  /**
   * Completes an item that no worker drives. `evidence`: ids of its calls, handles of artifacts, or words. `result`: the answer as JSON, which
   * must fit its schema. WL001, WL002, WL003, WL005 (a worker drives it).
   */
  complete(id: string, summary: string, options: { evidence?: readonly string[]; result?: unknown } = {}): Promise<WorkItem> {
    return this.#ask((db) => db.workComplete(id, summary, options.evidence ?? [], options.result));
  }

  /**
   * Says the next thing to an agent that is done; returns the new item, of the same session. `key`: the same call repeated with it returns the
   * same item. WL001, WL002, WL008 (not completed, or continued already).
   */
  continue(id: string, content: string, options: { key?: string } = {}): Promise<WorkItem> {
    return this.#ask((db) => db.workContinue(id, content, options.key));
  }

  /**
   * Goes on where failed, dead or cancelled work ended; returns the new item. `content`: why, said to the agent. WL001, WL008 (not over,
   * completed, or retried already).
   */
  retry(id: string, options: { content?: string; key?: string } = {}): Promise<WorkItem> {
    return this.#ask((db) => db.workRetry(id, options.content ?? null, options.key));
  }

  /** Lets an agent go on from a turn on a branch of its own; returns the new item. WL001, WL002, WL008 (calls of the turn are open). */
  fork(turnId: string, options: { message?: string; faculty?: string } = {}): Promise<WorkItem> {
    return this.#ask((db) => db.workFork(turnId, options.message ?? null, options.faculty ?? null));
  }

  // The ledger

  /**
   * Appends an entry to the ledger of an item, and returns it; while a worker drives that, with its `lease`. `entryType`: plan, finding,
   * decision, step, error or note. `content`: up to 16 KiB. WL001, WL002, WL003, WL005 (a worker drives it), WL006 (the key is another entry's), WL009 (10,000 entries).
   */
  append(id: string, entryType: string, content: string, options: AppendOptions = {}): Promise<LedgerEntry> {
    return this.#ask((db) => db.ledgerAppend(id, entryType, content, options));
  }

  /** Takes an entry back; returns the entry that says so. WL001, WL002. */
  retract(id: string, seq: number, reason: string): Promise<LedgerEntry> {
    return this.#ask((db) => db.ledgerRetract(id, seq, reason));
  }

  /** The entries of an item in order; only of one type, or the newest `last`. WL001, WL002. */
  read(id: string, options: { entryType?: string; last?: number } = {}): Promise<readonly LedgerEntry[]> {
    return this.#ask((db) => db.ledgerRead(id, options.entryType ?? null, options.last ?? null));
  }

  /** The whole ledger of an item as text for a model, in sections. WL001. */
  text(id: string): Promise<string> {
    return this.#ask((db) => db.ledgerReadFormatted(id));
  }

  /** Searches ledgers, journals, messages, descriptions and outcomes: words that all occur, "a phrase", or, -without. WL002. */
  search(query: string, options: SearchOptions = {}): Promise<readonly SearchHit[]> {
    return this.#ask((db) => db.ledgerSearch(query, options));
  }

  /**
   * What else is going on, as text for an agent: for an item, or for new work of a project ('': of none; default: of all). At most 1,500
   * tokens unless the item's faculty says otherwise. WL001.
   */
  digest(options: { workItemId?: string; project?: string } = {}): Promise<string> {
    return this.#ask((db) => db.awarenessDigest(options.workItemId ?? null, options.project ?? null));
  }

  // Agents among each other

  /** What running work has claimed for itself, the newest first. */
  claims(): Promise<readonly HeldClaim[]> {
    return this.#ask((db) => db.claims());
  }

  /**
   * Claims something (`file:PATH`, `record:NAME`, `url:URL`, any name) for a session of a journal that is alive, or with its `lease` for an item
   * that is driven. Never waits: `kind` is claimed, or taken with the item that has it. WL001, WL002, WL003, WL005, WL008 (nobody works on the item).
   */
  claim(id: string, key: string, options: ClaimOptions = {}): Promise<ClaimTaken> {
    return this.#ask((db) => db.claimTake(id, key, options));
  }

  /** Gives up what an item has claimed; false: it had claimed no such thing. WL001, WL002, WL003, WL005. */
  release(id: string, key: string): Promise<boolean> {
    return this.#ask((db) => db.claimRelease(id, key));
  }

  /** Takes away what an item has claimed, and tells its agent why; false: there is no such claim. WL001, WL003. */
  breakClaim(id: string, key: string, reason?: string): Promise<boolean> {
    return this.#ask((db) => db.claimBreak(id, key, reason ?? null));
  }

  /**
   * Sends a message from the agent of an item that no worker drives to another: `to` is an id, a name as digests show it, parent or team. At
   * most 2,000 characters. Returns who was told, and when each reads it. WL001, WL002, WL003, WL005, WL009 (too many).
   */
  tell(id: string, to: string, content: string): Promise<readonly AgentTold[]> {
    return this.#ask((db) => db.tellAgent(id, to, content));
  }

  // Approvals

  /** The calls that wait for approval, the oldest first; `input_hash` is for approve(). */
  approvals(): Promise<readonly Approval[]> {
    return this.#ask((db) => db.approvals());
  }

  /** Approves a call. `inputHash`: of the arguments that were looked at; others are refused. WL001, WL008 (decided, expired, other arguments). */
  async approve(toolCallId: string, options: { inputHash?: string } = {}): Promise<void> {
    await this.#ask((db) => db.toolCallApprove(toolCallId, options.inputHash ?? null));
  }

  /** Rejects a call; the model is told, with the reason, and goes on. WL001, WL008 (approved, expired). */
  async reject(toolCallId: string, reason?: string): Promise<void> {
    await this.#ask((db) => db.toolCallReject(toolCallId, reason ?? null));
  }

  // Cost

  /**
   * What work cost, a row for each `by`: total, item, child, tree, project, faculty, model, day (in UTC) or cache; of an item, its
   * conversation and all below them, of a project, or of all. Tokens, and money (null: without prices). WL001, WL002.
   */
  cost(by: string, options: { workItemId?: string; project?: string } = {}): Promise<readonly Cost[]> {
    return this.#ask((db) => db.costBy(by, options.workItemId ?? null, options.project ?? null));
  }

  /** The budgets of an item, amounts as decimal text in their units: tokens, money, seconds, calls, children. */
  budgets(id: string): Promise<readonly Budget[]> {
    return this.#ask((db) => db.budgets(id));
  }

  /** Sets what an item and all below it may use of a resource; work that waited for it goes on. WL001, WL002. */
  async setBudget(id: string, resource: string, amount: number): Promise<void> {
    await this.#ask((db) => db.budgetSet(id, resource, amount));
  }

  // Faculties

  /**
   * Saves a faculty in place of the one of its name and project; returns its name. WL002: `detail` lists what is wrong, a line each, where
   * it is more than one thing.
   */
  saveFaculty(faculty: Faculty): Promise<string> {
    return this.#ask((db) => db.facultySave(faculty));
  }

  /** The current faculties, `config` with every default. */
  faculties(): Promise<readonly SavedFaculty[]> {
    return this.#ask((db) => db.faculties());
  }

  // Notes and journals

  /** The notes of a project (any name of it; null: of work that is in none), by path; sizes in bytes. */
  notes(project: string | null): Promise<readonly Note[]> {
    return this.#ask((db) => db.notes.list(project));
  }

  /** A note of a project with its content. WL001. */
  readNote(project: string | null, path: string): Promise<Note & { content: string }> {
    const at = notePath(path);
    return this.#ask(async (db) => (await db.notes.read(at, project)) ?? notThere(at, 'note'));
  }

  /**
   * Writes a note and returns its version. `replaces`: the version that was read (default: there is none yet). WL002, WL006 (the path is
   * taken), WL008 (it was changed since), WL009 (64 KB, 200 files).
   */
  writeNote(project: string | null, path: string, content: string, options: { replaces?: number; why?: string } = {}): Promise<number> {
    return this.#ask((db) => db.notes.write(notePath(path), content, project, options.replaces ?? null, options.why ?? null));
  }

  /**
   * The notes as the handlers that betaMemoryTool() of Anthropic's SDK takes. `workItemId`: the item for which the agent works, whose project
   * then counts, with its `lease` while it is driven; else what this agent was shown is remembered by `reader`, a name of your choice. The message of
   * a LedgerError is what the model is to read.
   */
  memory(options: { project: string | null; reader?: string } | { workItemId: string; lease?: string }): LedgerMemory {
    return ledgerMemory((use) => this.#ask(use), options);
  }

  /** Journals of programs that have their own loop (docs/journal.md), whose methods reject as these do. `model`: writes summaries. */
  journal(options: { model?: ModelClient } = {}): WorkJournal {
    return new WorkJournal(this.#db, this.#url, options);
  }

  async #ask<T>(use: (db: Db) => Promise<T>): Promise<T> {
    try {
      return await use(this.#db);
    } catch (error) {
      throw clientError(error, this.#url);
    }
  }
}

function notThere(id: string, what = 'work item'): never {
  throw new LedgerError('WL001', `there is no ${what} ${id}`, '', '');
}
