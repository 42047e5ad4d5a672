// The sessions of the Claude Agent SDK that this process sees, as work items: hooks and tools act for the same one.

import { UsageError } from '../ledger/errors.ts';
import { keepAlive } from '../ledger/journal.ts';
import type { Db } from '../ledger/db.ts';
import { projectOf } from '../project.ts';
import { ledgerAt } from './lazyLedger.ts';
import type { LazyLedger, LedgerAddress } from './lazyLedger.ts';
import { planAnew } from './tasks.ts';
import type { Plan } from './tasks.ts';

/** How many sessions, and how many calls in progress with their sessions, are remembered. */
const MAX_KNOWN = 1000;
/** How long a session counts as alive after its last hook if it has not stopped: its program may have been killed. */
const ALIVE_MS = 30 * 60_000;

export type Session = {
  id: string;
  directory: string;
  project: string | undefined;
  item: Promise<string> | undefined;
  /** The item of its last hook or call. */
  lastItemId: string | undefined;
  /** Whether it has been told the state of the work. */
  isBegun: boolean;
  /** Texts that came too late for their hook, for the next one. */
  late: string[];
  /** The state of the work, to be told after its conversation is compacted; empty if there is nothing to tell. */
  afterCompaction: string;
  plan: Plan;
  isWorking: boolean;
  rest: () => void;
  seenAt: number;
};

export class Sessions {
  readonly ledger: LazyLedger;
  readonly #sessions = new Map<string, Session>();
  readonly #calls = new Map<string, { session: string; isOfSubagent: boolean }>();
  readonly #projects = new Map<string, Promise<string>>();
  #last: string | undefined;

  constructor(ledger: LazyLedger) {
    this.ledger = ledger;
  }

  /** The session of a hook's input. Throws UsageError. */
  seen(id: string | undefined, directory: string | undefined, project: string | undefined): Session {
    if (!id) throw new UsageError('the hook input has no session id');
    const session = this.#sessions.get(id) ?? {
      id,
      directory: directory ?? process.cwd(),
      project,
      item: undefined,
      lastItemId: undefined,
      isBegun: false,
      late: [],
      afterCompaction: '',
      plan: { tasks: new Map(), isNew: false, before: undefined },
      isWorking: false,
      rest: () => {},
      seenAt: 0,
    };
    session.seenAt = performance.now();
    put(this.#sessions, id, session)?.rest();
    this.#last = id;
    return session;
  }

  /** Records which session's call, or whose subagent's, the tools will be asked to run next. */
  callSeen(toolUseId: string, session: Session, isOfSubagent: boolean): void {
    put(this.#calls, toolUseId, { session: session.id, isOfSubagent });
  }

  callOver(toolUseId: string): void {
    this.#calls.delete(toolUseId);
  }

  /** The session of a call that a hook saw. */
  ofCall(toolUseId: unknown): Session | undefined {
    return this.#sessions.get((typeof toolUseId === 'string' ? this.#calls.get(toolUseId)?.session : undefined) ?? '');
  }

  /** Whether a hook saw that a subagent makes the call, so that its session does not read the answer. */
  isOfSubagent(toolUseId: unknown): boolean {
    return typeof toolUseId === 'string' && this.#calls.get(toolUseId)?.isOfSubagent === true;
  }

  /** The session that was seen last. */
  last(): Session | undefined {
    return this.#sessions.get(this.#last ?? '');
  }

  /**
   * The session's work item. `isNew`: looks it up again, which counts as a heartbeat and reopens it if someone ended it in the meantime.
   */
  async itemOf(session: Session, isNew = false): Promise<{ db: Db; workItemId: string }> {
    const { db } = await this.ledger.open();
    if (isNew) session.item = undefined;
    const item = (session.item ??= this.#open(db, session));
    item.catch(() => forget(session, item));
    const workItemId = await item;
    if (session.lastItemId !== undefined && session.lastItemId !== workItemId) {
      planAnew(session.plan);
      if (session.isWorking) this.works(session, db, workItemId);
    }
    session.lastItemId = workItemId;
    return { db, workItemId };
  }

  /** Sessions with this item look up another with their next hook or call. */
  over(workItemId: string): void {
    for (const session of this.#sessions.values()) {
      const { item } = session;
      item?.then(
        (id) => id === workItemId && forget(session, item),
        () => {},
      );
    }
  }

  /** Marks the session as working until rest() is called or no hook was seen for `aliveMs`; meanwhile it counts as alive without hooks. */
  works(session: Session, db: Db, workItemId: string, aliveMs = ALIVE_MS): void {
    session.rest();
    session.isWorking = true;
    const stop = keepAlive(db, workItemId);
    const timer = setInterval(() => performance.now() - session.seenAt > aliveMs && session.rest(), 60_000).unref();
    session.rest = () => {
      stop();
      clearInterval(timer);
      session.isWorking = false;
      session.rest = () => {};
    };
  }

  /** Pauses the sessions that have not stopped: their queries were broken off, and nothing keeps them alive any longer. */
  async pause(): Promise<void> {
    for (const session of this.#sessions.values()) {
      const { isWorking, lastItemId } = session;
      session.rest();
      if (isWorking && lastItemId !== undefined)
        await this.ledger.use((db) => db.journal.sessionStatus(lastItemId, 'paused')).catch(() => {}); // one that is over stays so
    }
  }

  /** The project of a directory on this host. */
  projectAt(directory: string): Promise<string> {
    const named = this.#projects.get(directory) ?? projectOf(directory);
    this.#projects.set(directory, named);
    return named;
  }

  async #open(db: Db, { id, directory, project }: Session): Promise<string> {
    return db.journal.sessionOpen(id, directory, project ?? (await this.projectAt(directory)));
  }
}

/** Makes the next hook look up the session's item again. */
export function forget(session: Session, item = session.item): void {
  if (session.item === item) session.item = undefined;
}

/** Puts a value last, as the newest; returns the oldest value if it was dropped to make room. */
function put<Value>(map: Map<string, Value>, key: string, value: Value): Value | undefined {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size <= MAX_KNOWN || oldest === undefined) return undefined;
  const out = map.get(oldest);
  map.delete(oldest);
  return out;
}

const byLedger = new WeakMap<LazyLedger, Sessions>();

/** The sessions of a ledger in this process. */
export function sessionsAt(address: LedgerAddress): Sessions {
  const ledger = ledgerAt(address);
  const there = byLedger.get(ledger) ?? new Sessions(ledger);
  byLedger.set(ledger, there);
  return there;
}
