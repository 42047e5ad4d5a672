// The journal from TypeScript: the operations of its manager, a subscription that neither loses nor doubles an entry, and
// the state of one session for a user interface of any framework.

import { ActivityReader } from './activity.ts';
import type { ActivityEvent } from './activity.ts';
import type { Db } from './db.ts';
import type { Checkpoint, JournalEntry, JournalSession, ResumableSession, ResumptionContext } from './answers.ts';
import { askChecked } from '../model/askChecked.ts';
import type { ModelClient } from '../model/message.ts';
import { messageOf } from './errors.ts';
import { listen } from './listener.ts';

export type { Checkpoint, JournalEntry, JournalSession, ResumableSession, ResumptionContext } from './answers.ts';

export type EntryType = JournalEntry['entryType'];
export type EntryImportance = JournalEntry['importance'];
export type JournalStatus = 'active' | 'paused' | 'completed';

/** What commits may be seen in another order than it was written; so much of the past is read again. */
const OVERLAP_MS = 60_000;
const POLL_MS = 2000;
const WATCH_MS = 30_000;
const HEARTBEAT_MS = 60_000;

/** Says every minute that the program that drives a session is alive, until what it returns is called. */
export function keepAlive(db: Db, sessionId: string): () => void {
  const beat = (): void => void db.journal.heartbeat(sessionId).catch(() => {}); // the next one says it as well
  beat();
  const timer = setInterval(beat, HEARTBEAT_MS).unref();
  return () => clearInterval(timer);
}

export class WorkJournal {
  readonly #db: Db;
  readonly #url: string;
  readonly #model: ModelClient | null;

  /** `url`: the database of `db`, to listen to. `model`: who writes summaries. */
  constructor(db: Db, url: string, options: { model?: ModelClient } = {}) {
    this.#db = db;
    this.#url = url;
    this.#model = options.model ?? null;
  }

  /** A session that this program drives itself. */
  createSession(conversationId: string, originalPrompt: string): Promise<JournalSession> {
    return this.#db.journal.sessionCreate(conversationId, originalPrompt);
  }

  /** Any work item is one. */
  getSession(sessionId: string): Promise<JournalSession | null> {
    return this.#db.journal.session(sessionId);
  }

  getActiveSession(conversationId: string): Promise<JournalSession | null> {
    return this.#db.journal.sessionActive(conversationId);
  }

  async updateSessionStatus(sessionId: string, status: JournalStatus): Promise<void> {
    await this.#db.journal.sessionStatus(sessionId, status);
  }

  /** Says that the program that drives a session is alive; without a word for five minutes it has crashed. */
  async heartbeat(sessionId: string): Promise<void> {
    await this.#db.journal.heartbeat(sessionId);
  }

  /** Heartbeats until what it returns is called. */
  keepAlive(sessionId: string): () => void {
    return keepAlive(this.#db, sessionId);
  }

  /** Sessions that were paused or crashed, the newest first, each with its packet. */
  getResumableSessions(options: { conversationId?: string; targetTokens?: number } = {}): Promise<readonly ResumableSession[]> {
    return this.#db.journal.resumable(options.conversationId ?? null, options.targetTokens ?? 4000);
  }

  /** Throws LedgerError WL002 where the content is not that of the type. */
  logEntry(sessionId: string, entryType: EntryType, content: Record<string, unknown>, importance: EntryImportance = 'normal'): Promise<JournalEntry> {
    return this.#db.journal.log(sessionId, entryType, content, importance);
  }

  getEntries(sessionId: string, options: { since?: number; limit?: number; importance?: EntryImportance[] } = {}): Promise<readonly JournalEntry[]> {
    return this.#db.journal.read(sessionId, options.since ?? 0, options.limit ?? null, options.importance ?? null);
  }

  /** `manual`: a person wanted it; false: this program does it by itself. */
  createCheckpoint(sessionId: string, { manual = true }: { manual?: boolean } = {}): Promise<Checkpoint> {
    return this.#db.journal.checkpointCreate(sessionId, manual ? 'manual' : 'automatic');
  }

  getLatestCheckpoint(sessionId: string): Promise<Checkpoint | null> {
    return this.#db.journal.checkpointLatest(sessionId);
  }

  generateResumptionContext(sessionId: string, targetTokens = 4000): Promise<ResumptionContext> {
    return this.#db.journal.resumptionContext(sessionId, targetTokens);
  }

  getSessionSummary(sessionId: string): Promise<string> {
    return this.#db.journal.sessionSummary(sessionId);
  }

  /** A model's summary, which is journaled too. `model`: its name; by default the session's own. */
  async summarizeSession(sessionId: string, options: { model?: string; signal?: AbortSignal } = {}): Promise<string> {
    if (this.#model === null) throw new Error('this journal was made without a model');
    const request = await this.#db.journal.summaryRequest(sessionId, options.model ?? null);
    const answer = await askChecked(this.#model, request, { signal: options.signal ?? new AbortController().signal });
    if (answer.kind === 'aborted') throw new Error('the summary was broken off');
    if (answer.kind === 'error') throw new Error(`${answer.error.class}: ${answer.error.message}`);
    const { content, model, usage } = answer.response;
    const summary = content.map((block) => (block.type === 'text' ? String(block['text']) : '')).join('').trim();
    await this.#db.journal.summarySave(sessionId, summary, model, usage.inputTokens + usage.cachedInputTokens + usage.cacheWriteTokens, usage.outputTokens);
    return summary;
  }

  exportForResumption(sessionId: string, targetTokens = 4000): Promise<string> {
    return this.#db.journal.exportForResumption(sessionId, targetTokens);
  }

  /**
   * Tells every entry from now on, each once; `onActivity`: what the agent thinks, says and calls meanwhile, from the beginning of its newest
   * turn. Returns what ends it. Notifications only make it faster.
   */
  subscribe(sessionId: string, callback: (entry: JournalEntry) => void, onActivity?: (event: ActivityEvent) => void): () => void {
    const activity = new ActivityReader(this.#db, sessionId);
    const seen = new Map<string, number>();
    let began: number | null = null;
    let since = 0;
    let watchedUntil = 0;
    let isPrimed = false;
    let isOver = false;
    let reading: Promise<void> | null = null;
    const read = async (): Promise<void> => {
      try {
        began ??= since = await this.#db.journal.now();
        if (performance.now() > watchedUntil) {
          await this.#db.ledgerWatch(sessionId, (2 * WATCH_MS) / 1000);
          watchedUntil = performance.now() + WATCH_MS;
        }
        for (const entry of await this.#db.journal.read(sessionId, since - OVERLAP_MS, null, null)) {
          if (isOver) return;
          const isNew = !seen.has(entry.id) && (isPrimed || entry.timestamp >= began);
          seen.set(entry.id, entry.timestamp);
          since = Math.max(since, entry.timestamp);
          if (isNew) callback(entry);
        }
        isPrimed = true;
        for (const [id, at] of seen) if (at < since - OVERLAP_MS) seen.delete(id);
        if (!onActivity) return;
        for await (const event of activity.read()) {
          if (isOver) return;
          onActivity(event);
        }
      } catch {
        // The database is away: the next reading has it all.
      }
    };
    const wake = (): void => {
      reading ??= read().finally(() => (reading = null));
    };
    wake();
    const timer = setInterval(wake, POLL_MS);
    const listener = listen(this.#url, ['work_journal', 'work_ledger', ...(onActivity ? ['work_activity'] : [])], { onNotification: (_, payload) => (payload === sessionId ? wake() : undefined) });
    return () => {
      isOver = true;
      clearInterval(timer);
      void listener.close();
    };
  }
}

export type JournalState = {
  session: JournalSession | null;
  entries: readonly JournalEntry[];
  latestCheckpoint: Checkpoint | null;
  isLoading: boolean;
  error: string | null;
};

/** The state of a conversation's session, for any framework: read `state`, be told by `onChange`, call the actions. */
export class JournalStore {
  state: JournalState = { session: null, entries: [], latestCheckpoint: null, isLoading: true, error: null };
  readonly #journal: WorkJournal;
  readonly #conversationId: string;
  readonly #listeners = new Set<(state: JournalState) => void>();
  #unsubscribe: (() => void) | null = null;
  #letGo: (() => void) | null = null;

  constructor(journal: WorkJournal, conversationId: string) {
    this.#journal = journal;
    this.#conversationId = conversationId;
  }

  /** Loads the active session of the conversation, and follows it. */
  async load(): Promise<void> {
    await this.#act(async () => this.#follow(await this.#journal.getActiveSession(this.#conversationId)));
  }

  onChange(listener: (state: JournalState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async startSession(originalPrompt: string): Promise<JournalSession | null> {
    return this.#act(async () => {
      const session = await this.#journal.createSession(this.#conversationId, originalPrompt);
      await this.#follow(session);
      this.#drive(session.id);
      return session;
    });
  }

  async logEntry(entryType: EntryType, content: Record<string, unknown>, importance?: EntryImportance): Promise<JournalEntry | null> {
    return this.#inSession((id) => {
      this.#drive(id);
      return this.#journal.logEntry(id, entryType, content, importance);
    });
  }

  async createCheckpoint(): Promise<Checkpoint | null> {
    return this.#inSession(async (id) => {
      const latestCheckpoint = await this.#journal.createCheckpoint(id);
      this.#set({ latestCheckpoint });
      return latestCheckpoint;
    });
  }

  async generateResumptionContext(targetTokens?: number): Promise<ResumptionContext | null> {
    return this.#inSession((id) => this.#journal.generateResumptionContext(id, targetTokens));
  }

  pauseSession = (): Promise<void> => this.#setStatus('paused');
  resumeSession = (): Promise<void> => this.#setStatus('active');
  completeSession = (): Promise<void> => this.#setStatus('completed');

  getTokenEstimate(): number {
    return this.state.entries.reduce((sum, entry) => sum + entry.tokenEstimate, 0);
  }

  /** `threshold`: the share of `contextWindow` tokens from which it is so. */
  isApproachingLimit(threshold = 0.8, contextWindow = 200_000): boolean {
    return this.getTokenEstimate() >= threshold * contextWindow;
  }

  close(): void {
    this.#leave();
    this.#listeners.clear();
  }

  /** Who only watches does not keep a session alive. */
  #drive(sessionId: string): void {
    this.#letGo ??= this.#journal.keepAlive(sessionId);
  }

  #leave(): void {
    this.#unsubscribe?.();
    this.#letGo?.();
    this.#unsubscribe = this.#letGo = null;
  }

  async #follow(session: JournalSession | null): Promise<void> {
    this.#leave();
    this.#set({ session, entries: [], latestCheckpoint: null });
    if (!session) return;
    // Subscribed first, so that nothing falls between; what both bring is there once.
    this.#unsubscribe = this.#journal.subscribe(session.id, (entry) => this.#add([entry]));
    this.#add(await this.#journal.getEntries(session.id));
    this.#set({ latestCheckpoint: await this.#journal.getLatestCheckpoint(session.id) });
  }

  #add(entries: readonly JournalEntry[]): void {
    const byId = new Map([...this.state.entries, ...entries].map((entry) => [entry.id, entry]));
    this.#set({ entries: [...byId.values()].toSorted((a, b) => a.sequenceNum - b.sequenceNum) });
  }

  async #setStatus(status: JournalStatus): Promise<void> {
    await this.#inSession(async (id) => {
      await this.#journal.updateSessionStatus(id, status);
      this.#letGo?.();
      this.#letGo = null;
      if (status === 'active') this.#drive(id);
      this.#set({ session: await this.#journal.getSession(id) });
    });
  }

  async #inSession<T>(act: (sessionId: string) => Promise<T>): Promise<T | null> {
    const { session } = this.state;
    return session ? this.#act(() => act(session.id)) : null;
  }

  async #act<T>(act: () => Promise<T>): Promise<T | null> {
    this.#set({ isLoading: true, error: null });
    try {
      return await act();
    } catch (error) {
      this.#set({ error: messageOf(error) });
      return null;
    } finally {
      this.#set({ isLoading: false });
    }
  }

  #set(change: Partial<JournalState>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.#listeners) listener(this.state);
  }
}
