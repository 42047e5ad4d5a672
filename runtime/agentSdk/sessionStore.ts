// The SessionStore of the Claude Agent SDK in a ledger: transcripts are stored as they arrive, and read into turns and calls soon after.

import { createHash, randomUUID } from 'node:crypto';

import { storableText } from '../../plv8/storable.ts';
import { TranscriptReader } from '../import/readTranscript.ts';
import { clientErrors } from '../ledger/clientError.ts';
import type { Db } from '../ledger/db.ts';
import { transcriptPages } from '../ledger/transcripts.ts';
import { ledgerAt } from './lazyLedger.ts';
import type { LazyLedger, LedgerAddress } from './lazyLedger.ts';
import { sessionsAt } from './sessions.ts';
import type { FoldSessionSummary, SessionKey, SessionStore, SessionStoreEntry, SessionSummaryEntry } from './sdkTypes.ts';

export type SessionStoreOptions = LedgerAddress & {
  /** The project of the sessions (default: that of their directory), see projectOf(). */
  project?: string;
  /** Whether entries keep what looks like a secret, so that they are returned exactly as they were. Turns and calls never keep it. */
  keepSecrets?: boolean;
  /**
   * False: ledgerHooks() report when a session is working and when it rests. Default: it counts as working for five minutes after each
   * append.
   */
  isLive?: boolean;
  /** The SDK's function; default: that of the SDK installed next to this package, if any. */
  foldSessionSummary?: FoldSessionSummary;
};

/** How long after an append it is read, so that appends in quick succession are read together. */
const READ_AFTER_MS = 50;
/** How long to wait before opening a ledger again after a failure. */
const REOPEN_AFTER_MS = 5000;
/** How long an idle reader is kept; it is created again when needed. */
const FORGET_AFTER_MS = 60_000;

/** What this process knows of a transcript. */
type Own = {
  key: SessionKey;
  /** The project of the first directory that its entries name. */
  project: Promise<string> | undefined;
  /** Appends run one after the other. */
  last: Promise<unknown>;
  /** The summary of the entries up to `seq`; null: none has been folded. */
  folded: { seq: number; summary: SessionSummaryEntry | undefined } | null;
  reader: TranscriptReader | undefined;
  reading: Promise<void> | undefined;
  timer: NodeJS.Timeout | undefined;
  isBehind: boolean;
};

export class LedgerSessionStore implements SessionStore {
  readonly #ledger: LazyLedger;
  readonly #options: SessionStoreOptions;
  readonly #isLive: boolean;
  readonly #own = new Map<string, Own>();
  /** The work items of the sessions that this store appended to. */
  readonly #sessions = new Set<string>();
  #fold: Promise<FoldSessionSummary | null> | undefined;
  #isClosed = false;

  constructor(options: SessionStoreOptions = {}) {
    this.#options = options;
    this.#isLive = options.isLive ?? true;
    this.#ledger = ledgerAt(options);
    this.#ledger.hold();
  }

  /** Appends entries; one with a uuid is stored once, however often it is appended. */
  append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void> {
    return clientErrors(null, () => this.#appendNext(key, entries));
  }

  async #appendNext(key: SessionKey, entries: SessionStoreEntry[]): Promise<void> {
    checkKey(key);
    if (entries.length === 0) return;
    const own = this.#ownOf(key);
    clearTimeout(own.timer); // the transcript is not forgotten while it is being appended to
    const lines = entries.map((entry) => JSON.stringify(entry));
    // An entry without a uuid is stored each time it is appended, but only once if the database's answer is lost and the call is repeated.
    const call = randomUUID();
    const batch = {
      lines,
      uuids: entries.map(({ uuid }, n) => (typeof uuid !== 'string' || uuid === '' ? `~${call}/${n}` : uuidOf(uuid))),
    };
    const before = own.last;
    own.last = (async () => {
      await before.catch(() => {});
      await this.#ledger.use((db) => this.#append(db, own, entries, batch));
      this.#readSoon(own);
    })();
    await own.last;
  }

  /** All entries in the order in which they were appended; null: the session was never written, or is erased. */
  async load(key: SessionKey): Promise<SessionStoreEntry[] | null> {
    const entries = await this.#ledger.use((db) => {
      checkKey(key);
      return allOf(db, key);
    });
    return entries.length === 0 ? null : entries;
  }

  async listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]> {
    const listed = await this.#ledger.use((db) => db.transcripts.list(projectKey, null));
    return listed.filter(({ subpath }) => subpath === null).map(({ session_id: sessionId, mtime }) => ({ sessionId, mtime }));
  }

  /** Only the summaries that cover all entries; the SDK folds the others itself. */
  async listSessionSummaries(projectKey: string): Promise<SessionSummaryEntry[]> {
    const listed = await this.#ledger.use((db) => db.transcripts.list(projectKey, null));
    return listed.flatMap(({ session_id: sessionId, subpath, mtime, summary }) =>
      subpath === null && summary !== null ? [{ sessionId, mtime, data: JSON.parse(summary) as Record<string, unknown> }] : [],
    );
  }

  /**
   * Erases a session with everything made from it, or one subagent's transcript; for roles that may erase. Nothing can be appended to it
   * afterwards.
   */
  delete(key: SessionKey): Promise<void> {
    return clientErrors(null, () => this.#delete(key));
  }

  async #delete(key: SessionKey): Promise<void> {
    checkKey(key);
    for (const own of this.#own.values()) {
      if (own.key.projectKey !== key.projectKey || own.key.sessionId !== key.sessionId) continue;
      if (key.subpath === undefined || own.key.subpath === key.subpath) await this.#settle(own);
    }
    await this.#ledger.use((db) => db.transcripts.delete(key));
  }

  async listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]> {
    const listed = await this.#ledger.use((db) => db.transcripts.list(key.projectKey, key.sessionId));
    return listed.flatMap(({ subpath }) => subpath ?? []);
  }

  /** Waits until everything that was appended has been read into turns and calls. */
  async understood(): Promise<void> {
    await Promise.all([...this.#own.values()].map((own) => this.#settle(own)));
  }

  /** Reads what is left, and pauses the sessions that this store appended to; they can be resumed. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.understood();
    // A session that someone completed stays completed.
    for (const id of this.#sessions) await this.#ledger.use((db) => db.journal.sessionStatus(id, 'paused')).catch(() => {});
    this.#sessions.clear();
    for (const { timer } of this.#own.values()) clearTimeout(timer);
    this.#own.clear();
    if (this.#ledger.isLastUser) await sessionsAt(this.#options).pause();
    await this.#ledger.close();
  }

  async #append(db: Db, own: Own, entries: SessionStoreEntry[], batch: { lines: string[]; uuids: string[] }): Promise<void> {
    const fold = own.key.subpath === undefined ? await this.#foldOf() : null;
    const project = await this.#projectOf(own, entries);
    for (let tries = 0; ; tries++) {
      const of = own.folded ?? { seq: 0, summary: undefined };
      // If others keep appending, the summary is left out: the SDK folds sessions without one.
      const summary = fold && tries < 5 ? foldedOn(fold, of.summary, own.key, entries) : null;
      const answer = await db.transcripts.append(own.key, batch, {
        project,
        summary: summary && JSON.stringify(summary.data),
        summaryOf: of.seq,
        keepSecrets: this.#options.keepSecrets ?? false,
      });
      if (!answer.is_stale) {
        // A retry adds nothing and must not be folded twice.
        if (answer.appended > 0 || summary === null) own.folded = summary && { seq: answer.last_seq, summary };
        return;
      }
      own.folded = await this.#foldedUntil(db, own.key, answer, fold);
    }
  }

  /** Determined here, where the session's directory is: the transcript may be read on another host. */
  async #projectOf(own: Own, entries: SessionStoreEntry[]): Promise<string | null> {
    if (this.#options.project !== undefined) return this.#options.project;
    const cwd = entries.map((entry) => entry['cwd']).find((each) => typeof each === 'string' && each.startsWith('/')) as string | undefined;
    if (cwd !== undefined) own.project ??= sessionsAt(this.#options).projectAt(cwd);
    return (await own.project) ?? null;
  }

  /** What to fold onto: the summary that another process stored, or else all entries. */
  async #foldedUntil(
    db: Db,
    key: SessionKey,
    { last_seq: seq, summary }: { last_seq: number; summary: string | null },
    fold: FoldSessionSummary | null,
  ): Promise<Own['folded']> {
    if (summary !== null)
      return { seq, summary: { sessionId: key.sessionId, mtime: 0, data: JSON.parse(summary) as Record<string, unknown> } };
    return { seq, summary: fold?.(undefined, key, (await allOf(db, key)).slice(0, seq)) };
  }

  #ownOf(key: SessionKey): Own {
    const name = nameOf(key);
    const known = this.#own.get(name);
    if (known) return known;
    const own: Own = {
      key: { ...key },
      project: undefined,
      last: Promise.resolve(),
      folded: null,
      reader: undefined,
      reading: undefined,
      timer: undefined,
      isBehind: false,
    };
    this.#own.set(name, own);
    return own;
  }

  #readSoon(own: Own, after = READ_AFTER_MS): void {
    own.isBehind = true;
    if (own.reading) return;
    clearTimeout(own.timer);
    own.timer = setTimeout(() => void this.#read(own), after);
    if (after > READ_AFTER_MS) own.timer.unref(); // a program that ends leaves it to others
  }

  #read(own: Own): Promise<void> {
    if (own.reading || !own.isBehind) return own.reading ?? Promise.resolve();
    clearTimeout(own.timer);
    own.reading = (async () => {
      // An append never fails because of this; the next reader reads what is left.
      let wait = 0;
      while (own.isBehind) {
        own.isBehind = false;
        wait = await this.#ledger.use((db) => this.#readerOf(db, own).readOn()).catch(() => REOPEN_AFTER_MS);
        if (this.#isLive && own.key.subpath === undefined && own.reader?.workItemId) this.#sessions.add(own.reader.workItemId);
      }
      own.reading = undefined;
      if (wait > 0 && !this.#isClosed) return this.#readSoon(own, wait);
      own.timer = setTimeout(() => this.#own.delete(nameOf(own.key)), FORGET_AFTER_MS).unref();
    })();
    return own.reading;
  }

  #readerOf(db: Db, own: Own): TranscriptReader {
    return (own.reader ??= new TranscriptReader(db, own.key, { isLive: this.#isLive && own.key.subpath === undefined }));
  }

  async #settle(own: Own): Promise<void> {
    await own.last.catch(() => {});
    await this.#read(own);
  }

  #foldOf(): Promise<FoldSessionSummary | null> {
    return (this.#fold ??= this.#options.foldSessionSummary ? Promise.resolve(this.#options.foldSessionSummary) : foldOfSdk());
  }
}

const nameOf = ({ projectKey, sessionId, subpath }: SessionKey): string => JSON.stringify([projectKey, sessionId, subpath]);

/** Null if folding fails on what is stored or on an entry; the SDK then makes the summary itself. */
function foldedOn(
  fold: FoldSessionSummary,
  before: SessionSummaryEntry | undefined,
  key: SessionKey,
  entries: SessionStoreEntry[],
): SessionSummaryEntry | null {
  try {
    return fold(before, key, entries);
  } catch {
    return null;
  }
}

async function allOf(db: Db, key: SessionKey): Promise<SessionStoreEntry[]> {
  const entries: SessionStoreEntry[] = [];
  for await (const page of transcriptPages(db, key, 0)) for (const { entry } of page) entries.push(JSON.parse(entry) as SessionStoreEntry);
  return entries;
}

/** The function of the SDK that the program uses; null if none is installed next to this package, or only an older one. */
async function foldOfSdk(): Promise<FoldSessionSummary | null> {
  try {
    const name = '@anthropic-ai/claude-agent-sdk';
    const { foldSessionSummary } = (await import(name)) as { foldSessionSummary?: FoldSessionSummary };
    return foldSessionSummary ?? null;
  } catch {
    return null;
  }
}

function checkKey({ projectKey, sessionId, subpath }: SessionKey): void {
  if (subpath === '') throw new TypeError('the subpath is empty: leave it out for the main transcript');
  for (const text of [projectKey, sessionId, subpath ?? 'x'])
    if (typeof text !== 'string' || text === '' || text !== storableText(text))
      throw new TypeError('a key of a session has a projectKey and a sessionId, texts without U+0000 and lone surrogates');
}

/** The uuid itself, or a hash of it if it cannot be indexed. */
const uuidOf = (uuid: unknown): string =>
  typeof uuid === 'string' && /^[\w-]{1,200}$/.test(uuid) ? uuid : `#${createHash('sha256').update(JSON.stringify(uuid)).digest('hex')}`;
