// The ledger for programs: a thin layer over the SQL functions and views. It makes no decisions.

import { eventsOf, leavable } from './commands/follow.ts';
import type { WorkEvent } from './commands/follow.ts';
import type { Faculty } from './faculty/faculty.ts';
import { findLedger } from './install/findLedger.ts';
import type { CountedItem, LedgerEntry, WorkItem } from './ledger/answers.ts';
import { clientError, clientErrors } from './ledger/clientError.ts';
import type { AgentTold, Approval, ClaimOptions, ClaimTaken, HeldClaim } from './ledger/control.ts';
import type { Cost } from './ledger/cost.ts';
import { openDb } from './ledger/db.ts';
import type { Db } from './ledger/db.ts';
import type { AppendOptions, SearchHit, SearchOptions } from './ledger/entries.ts';
import { LedgerError, UsageError } from './ledger/errors.ts';
import { checkActivity, checkText } from './ledger/given.ts';
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
  /** Default: DATABASE_URL, otherwise the embedded database, which is started and has a ledger installed. */
  databaseUrl?: string;
  /** Default: WORK_LEDGER_SCHEMA, otherwise the schema of the extension. */
  schema?: string;
  /** The maximum number of connections; default: 10. */
  maximumConnections?: number;
  /** How many seconds a call is retried while the server cannot be reached; default: 20. */
  patienceSeconds?: number;
};

/** The person acting: identified by a token from `work-ledger person add`, or by a name that the logged-in role vouches for. */
export type ActingPerson = { token: string } | { name: string };

/** Which work items to list. */
export type ListOptions = {
  /** Only items in these states; default: all states. */
  states?: readonly string[];
  /** Only items of this project and items without a project; default: all. */
  project?: string;
  /** Default: 20. */
  limit?: number;
};

export type FollowOptions = {
  /**
   * Which of the agent's text and calls to include besides the entries: `all` from the beginning (the default), `new` from the running turn
   * on, or `none`.
   */
  activity?: 'all' | 'new' | 'none';
  /** The `position` of an event: only later events are yielded, each once. WL002 if the position belongs to another item or is invalid. */
  after?: string;
  /** When it fires, the loop yields what had arrived by then and ends. */
  signal?: AbortSignal;
};

const dbs = new WeakMap<LedgerClient, Db>();

/** The database functions behind a client, for the rest of the runtime. */
export function dbOf(client: LedgerClient): Db {
  const db = dbs.get(client);
  if (db === undefined) throw new TypeError('this is not an open LedgerClient');
  return db;
}

/** A client for an open ledger; `url` is its address. */
export const clientOf = (db: Db, url: string): LedgerClient => new LedgerClient(db, url);

/**
 * An open ledger: `await LedgerClient.open()`. Times are ISO 8601 text as PostgreSQL writes it; ids are UUIDs as text; money is in the
 * currency of model_price_save(). Every method may be called again after an error, and is retried automatically while the server cannot be
 * reached. A call that the ledger rejects throws a LedgerError with `code` and `hint`: WL001 not found, WL002 invalid argument, 22P02 the
 * text is not an id, 42501 the role lacks permission. The comments on the methods list their codes. A server that stays unreachable throws
 * NoConnection.
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
   * Opens the ledger. Close it with close() or `await using`. Throws NoConnection (the database is unreachable or refuses), NoLedger (the
   * schema has no ledger) or OtherLedger (this version cannot work with the ledger).
   */
  static async open(options: ClientOptions = {}): Promise<LedgerClient> {
    let url = '';
    try {
      const { maximumConnections: maximumPoolSize, patienceSeconds } = options;
      if (typeof options.databaseUrl === 'string') url = options.databaseUrl;
      if (maximumPoolSize !== undefined && !(Number.isInteger(maximumPoolSize) && maximumPoolSize > 0))
        throw new UsageError(`maximumConnections must be a whole number from 1, not ${String(maximumPoolSize)}`);
      if (patienceSeconds !== undefined && !(typeof patienceSeconds === 'number' && patienceSeconds >= 0))
        throw new UsageError(`patienceSeconds must be a number from 0, not ${String(patienceSeconds)}`);
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

  /**
   * The same ledger, acting as a person, whom the ledger verifies at each call. Close the client that this one was made from, not this one.
   */
  as(person: ActingPerson): LedgerClient {
    return this.#make((db) => {
      const { token, name } = person as { token?: unknown; name?: unknown };
      if (token === undefined) checkText('the name of a person', name);
      else checkText('the token of a person', token);
      return new LedgerClient(db.as('token' in person ? { token: proofOf(person.token) } : person), this.#url);
    });
  }

  /** Closes the connections once running calls have finished. */
  async close(): Promise<void> {
    await this.#db.close();
  }

  /** Same as close(). */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  // Work

  /**
   * Adds a work item, queued immediately, and returns it. Repeating the call with the same `idempotencyKey` always returns the same item.
   * WL001 (no such parent), WL002, WL003 (the parent is over), WL006 (the key belongs to another item), WL009 (a budget allows no more
   * children).
   */
  submit(submission: Submission): Promise<WorkItem> {
    return this.#ask((db) => db.workSubmit(submission));
  }

  /** The current item. When it is completed, `outcome_data` has `summary` and, if there is a schema, `result`. WL001. */
  item(id: string): Promise<CountedItem> {
    return this.#ask(async (db) => (await db.workItem(id)) ?? notThere(id));
  }

  /**
   * Resolves what a person typed to an id: a whole id, its last six characters, any other part that is unique, `last` (the newest item of
   * `project`) or `last:2`. WL001 (no match), WL002 (several matches: the hint lists them).
   */
  find(name: string, options: { project?: string } = {}): Promise<string> {
    return this.#ask((db) => db.workId(name, options.project ?? null));
  }

  /** The newest items, newest first; `age_seconds` counts from when each was submitted. */
  list(options: ListOptions = {}): Promise<readonly ListedItem[]> {
    return this.#ask((db) => db.workList(options.states ?? null, options.project ?? null, options.limit ?? 20));
  }

  /** The items that this item delegated, oldest first. Also empty if the item does not exist. */
  children(id: string): Promise<readonly CountedItem[]> {
    return this.#ask((db) => db.workChildren(id));
  }

  /**
   * What the item is doing now. `doing` is model, tools, waits, paused or next (null: no attempt is running); `seconds` counts from its
   * latest sign of activity; `waits_for` and `why` say what it is waiting for. WL001.
   */
  now(id: string): Promise<WorkNow> {
    return this.#ask(async (db) => (await db.workNow(id)) ?? notThere(id));
  }

  /** The item's latest turns, oldest first: tokens and cost of each request, text and calls of each response. `limit`: default 100. */
  turns(id: string, options: { limit?: number } = {}): Promise<readonly TurnOfWork[]> {
    return this.#ask((db) => db.workTurns(id, options.limit ?? 100));
  }

  /** The request of a turn: byte for byte the JSON that was sent to the model. WL001 (no such turn, or it made no request). */
  request(turnId: string): Promise<string> {
    return this.#ask((db) => db.contextAt(turnId));
  }

  /**
   * Yields what happens to an item from its beginning, live: the entries of its ledger, and what its agent says and calls. Ends when the
   * item is final or paused. Each loop reads the rows itself, so it can start late, and leaving it does not stop the work. eventResponse()
   * and sendEvents() turn the events into server-sent events. WL001, WL002.
   */
  follow(id: string, options: FollowOptions = {}): AsyncGenerator<WorkEvent, CountedItem> {
    return this.#make(() => leavable(options.signal, (signal) => this.#follow(id, options, signal)));
  }

  async *#follow(id: string, options: FollowOptions, signal: AbortSignal): AsyncGenerator<WorkEvent, CountedItem> {
    try {
      checkActivity(options.activity);
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

  /** Waits until an item is final or paused, or the signal fires, and returns its state at that moment. WL001. */
  async wait(id: string, options: { signal?: AbortSignal } = {}): Promise<CountedItem> {
    const events = this.follow(id, { activity: 'none', ...options });
    for (;;) {
      const next = await events.next();
      if (next.done) return next.value;
    }
  }

  /**
   * Sends a message to the agent of an item, with its next request; returns the id of the message. With `isInterrupt` the agent's current
   * activity is interrupted so that it gets the message now. WL001, WL002, WL003 (the item is over: use continue() or retry()).
   */
  message(id: string, content: string, options: { isInterrupt?: boolean } = {}): Promise<string> {
    return this.#ask((db) => db.workMessage(id, content, options.isInterrupt ?? false));
  }

  /** Pauses an item at the end of its iteration, until resume(). Its children continue. WL001, WL003. */
  pause(id: string, reason?: string): Promise<WorkItem> {
    return this.#ask((db) => db.workPause(id, reason ?? null));
  }

  /** Continues a paused item where it stopped; has no effect on other unfinished items. WL001, WL002 (another program drives it), WL003. */
  resume(id: string): Promise<WorkItem> {
    return this.#ask((db) => db.workResume(id));
  }

  /** Cancels an item and everything below it; returns the items that this ended (none if all were over). WL001. */
  cancel(id: string, reason?: string): Promise<readonly WorkItem[]> {
    return this.#ask((db) => db.workCancel(id, reason ?? null));
  }

  /**
   * Completes an item that no worker drives. `evidence`: ids of its calls, handles of artifacts, or free text. `result`: the answer as
   * JSON, which must match the item's schema. WL001, WL002, WL003, WL005 (a worker drives it).
   */
  complete(id: string, summary: string, options: { evidence?: readonly string[]; result?: unknown } = {}): Promise<WorkItem> {
    return this.#ask((db) => db.workComplete(id, summary, options.evidence ?? [], options.result));
  }

  /**
   * Continues the conversation with the agent of a completed item; returns the new item, which is in the same session. Repeating the call
   * with the same `key` returns the same item. WL001, WL002, WL008 (not completed, or already continued).
   */
  continue(id: string, content: string, options: { key?: string } = {}): Promise<WorkItem> {
    return this.#ask((db) => db.workContinue(id, content, options.key));
  }

  /**
   * Continues failed, dead or cancelled work from where it ended; returns the new item. `content` is the reason, given to the agent. WL001,
   * WL008 (not over, completed, or already retried).
   */
  retry(id: string, options: { content?: string; key?: string } = {}): Promise<WorkItem> {
    return this.#ask((db) => db.workRetry(id, options.content ?? null, options.key));
  }

  /**
   * Continues an agent's conversation from a turn, on a separate branch; returns the new item. WL001, WL002, WL008 (open calls in the
   * turn).
   */
  fork(turnId: string, options: { message?: string; faculty?: string } = {}): Promise<WorkItem> {
    return this.#ask((db) => db.workFork(turnId, options.message ?? null, options.faculty ?? null));
  }

  // The ledger

  /**
   * Appends an entry to an item's ledger and returns the entry. While a worker drives the item, its `lease` is required. `entryType`: plan,
   * finding, decision, step, error or note. `content`: up to 16 KiB. WL001, WL002, WL003, WL005 (a worker drives the item), WL006 (the key
   * belongs to another entry), WL009 (10,000 entries).
   */
  append(id: string, entryType: string, content: string, options: AppendOptions = {}): Promise<LedgerEntry> {
    return this.#ask((db) => db.ledgerAppend(id, entryType, content, options));
  }

  /** Retracts an entry; returns the entry that records the retraction. WL001, WL002. */
  retract(id: string, seq: number, reason: string): Promise<LedgerEntry> {
    return this.#ask((db) => db.ledgerRetract(id, seq, reason));
  }

  /** An item's entries in order: all, those of one type, or the newest `last`. WL001, WL002. */
  read(id: string, options: { entryType?: string; last?: number } = {}): Promise<readonly LedgerEntry[]> {
    return this.#ask((db) => db.ledgerRead(id, options.entryType ?? null, options.last ?? null));
  }

  /** The whole ledger of an item, in sections, as text for a model. WL001. */
  text(id: string): Promise<string> {
    return this.#ask((db) => db.ledgerReadFormatted(id));
  }

  /**
   * Searches ledgers, journals, messages, descriptions and outcomes. Supports several words (all must occur), "a phrase", or, and -word.
   * WL002.
   */
  search(query: string, options: SearchOptions = {}): Promise<readonly SearchHit[]> {
    return this.#ask((db) => db.ledgerSearch(query, options));
  }

  /**
   * What else is going on, as text for an agent: for an item, or for new work of a project ('': work without a project; default: of any
   * project). At most 1,500 tokens unless the item's faculty sets another limit. WL001.
   */
  digest(options: { workItemId?: string; project?: string } = {}): Promise<string> {
    return this.#ask((db) => db.awarenessDigest(options.workItemId ?? null, options.project ?? null));
  }

  // Communication between agents

  /** The claims of running work, newest first. */
  claims(): Promise<readonly HeldClaim[]> {
    return this.#ask((db) => db.claims());
  }

  /**
   * Makes a claim on something (`file:PATH`, `record:NAME`, `url:URL`, or any name), for a live journal session or, with its `lease`, for
   * an item that a worker drives. Never waits: `kind` is claimed, or taken, with the item that holds it. WL001, WL002, WL003, WL005, WL008
   * (nobody is working on the item).
   */
  claim(id: string, key: string, options: ClaimOptions = {}): Promise<ClaimTaken> {
    return this.#ask((db) => db.claimTake(id, key, options));
  }

  /** Releases an item's claim; false if it had no such claim. WL001, WL002, WL003, WL005. */
  release(id: string, key: string): Promise<boolean> {
    return this.#ask((db) => db.claimRelease(id, key));
  }

  /** Takes an item's claim away and tells its agent why; false if there is no such claim. WL001, WL003. */
  breakClaim(id: string, key: string, reason?: string): Promise<boolean> {
    return this.#ask((db) => db.claimBreak(id, key, reason ?? null));
  }

  /**
   * Sends a message from the agent of an item that no worker drives to another agent. `to` is an id, a name as digests show it, parent or
   * team. At most 2,000 characters. Returns who was told and when each will read it. WL001, WL002, WL003, WL005, WL009 (too many).
   */
  tell(id: string, to: string, content: string): Promise<readonly AgentTold[]> {
    return this.#ask((db) => db.tellAgent(id, to, content));
  }

  // Approvals

  /** The calls that wait for approval, oldest first; pass `input_hash` to approve(). */
  approvals(): Promise<readonly Approval[]> {
    return this.#ask((db) => db.approvals());
  }

  /**
   * Approves a call. `inputHash` identifies the arguments that were reviewed; a call with other arguments is not approved. WL001, WL008
   * (decided, expired, other arguments).
   */
  async approve(toolCallId: string, options: { inputHash?: string } = {}): Promise<void> {
    await this.#ask((db) => db.toolCallApprove(toolCallId, options.inputHash ?? null));
  }

  /** Rejects a call; the model is told, with the reason, and continues. WL001, WL008 (already approved, expired). */
  async reject(toolCallId: string, reason?: string): Promise<void> {
    await this.#ask((db) => db.toolCallReject(toolCallId, reason ?? null));
  }

  // Cost

  /**
   * What work cost, with one row for each `by`: total, item, child, tree, project, faculty, model, day (in UTC) or cache. Covers an item
   * with its conversation and everything below it, or a project, or everything. Tokens, and money (null without prices). WL001, WL002.
   */
  cost(by: string, options: { workItemId?: string; project?: string } = {}): Promise<readonly Cost[]> {
    return this.#ask((db) => db.costBy(by, options.workItemId ?? null, options.project ?? null));
  }

  /** The budgets of an item. Amounts are decimal text in the resource's unit: tokens, money, seconds, calls, children. */
  budgets(id: string): Promise<readonly Budget[]> {
    return this.#ask((db) => db.budgets(id));
  }

  /** Sets how much of a resource an item and everything below it may use. Work that was waiting for it continues. WL001, WL002. */
  async setBudget(id: string, resource: string, amount: number): Promise<void> {
    await this.#ask((db) => db.budgetSet(id, resource, amount));
  }

  // Faculties

  /**
   * Saves a faculty, replacing the one with the same name and project; returns its name. WL002: if there are several problems, `detail`
   * lists them, one per line.
   */
  saveFaculty(faculty: Faculty): Promise<string> {
    return this.#ask((db) => db.facultySave(faculty));
  }

  /** The current faculties; `config` includes every default. */
  faculties(): Promise<readonly SavedFaculty[]> {
    return this.#ask((db) => db.faculties());
  }

  // Notes and journals

  /** The notes of a project (any of its names; null: of work without a project), ordered by path; sizes are in bytes. */
  notes(project: string | null): Promise<readonly Note[]> {
    return this.#ask((db) => db.notes.list(project));
  }

  /** A note of a project, with its content. WL001. */
  readNote(project: string | null, path: string): Promise<Note & { content: string }> {
    return this.#ask(async (db) => {
      const at = notePath(path);
      return (await db.notes.read(at, project)) ?? notThere(at, 'note');
    });
  }

  /**
   * Writes a note and returns its version. `replaces`: the version that was read (default: the note must not exist yet). WL002, WL006 (the
   * path is taken), WL008 (changed since that version), WL009 (64 KB, 200 files).
   */
  writeNote(project: string | null, path: string, content: string, options: { replaces?: number; why?: string } = {}): Promise<number> {
    return this.#ask((db) => db.notes.write(notePath(path), content, project, options.replaces ?? null, options.why ?? null));
  }

  /**
   * The notes as handlers for betaMemoryTool() of Anthropic's SDK. `workItemId`: the item that the agent works for, whose project is then
   * used, with its `lease` while a worker drives it. Otherwise the ledger remembers under `reader`, a name of your choice, what this agent
   * was shown. Show the model the message of a LedgerError.
   */
  memory(options: { project: string | null; reader?: string } | { workItemId: string; lease?: string }): LedgerMemory {
    return this.#make(() => ledgerMemory((use) => this.#ask(use), options));
  }

  /** Journals for programs that run their own loop (docs/journal.md); their methods reject as these do. `model` writes summaries. */
  journal(options: { model?: ModelClient } = {}): WorkJournal {
    return this.#make((db) => new WorkJournal(db, this.#url, options));
  }

  #ask<T>(use: (db: Db) => Promise<T>): Promise<T> {
    return clientErrors(this.#url, () => use(this.#db));
  }

  #make<T>(make: (db: Db) => T): T {
    try {
      return make(this.#db);
    } catch (error) {
      throw clientError(error, this.#url);
    }
  }
}

function notThere(id: string, what = 'work item'): never {
  throw new LedgerError('WL001', `there is no ${what} ${id}`, '', '');
}
