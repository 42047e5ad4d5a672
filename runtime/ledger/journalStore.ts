// The state of one journal session, for a user interface in any framework.

import type { Checkpoint, JournalEntry, JournalSession, ResumptionContext } from './answers.ts';
import { messageOf } from './errors.ts';
import type { EntryImportance, EntryType, JournalStatus, WorkJournal } from './journal.ts';

export type JournalState = {
  session: JournalSession | null;
  entries: readonly JournalEntry[];
  latestCheckpoint: Checkpoint | null;
  isLoading: boolean;
  error: string | null;
};

/** The state of a conversation's session, for any framework: read `state`, subscribe with `onChange`, call the actions. */
export class JournalStore {
  state: JournalState = { session: null, entries: [], latestCheckpoint: null, isLoading: true, error: null };
  readonly #journal: WorkJournal;
  readonly #conversationId: string;
  readonly #listeners = new Set<(state: JournalState) => void>();
  #unsubscribe: (() => void) | null = null;
  #stopKeepAlive: (() => void) | null = null;

  constructor(journal: WorkJournal, conversationId: string) {
    this.#journal = journal;
    this.#conversationId = conversationId;
  }

  /** Loads the active session of the conversation and follows it. */
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

  /** `threshold`: the fraction of `contextWindow` (tokens) from which it returns true. */
  isApproachingLimit(threshold = 0.8, contextWindow = 200_000): boolean {
    return this.getTokenEstimate() >= threshold * contextWindow;
  }

  close(): void {
    this.#leave();
    this.#listeners.clear();
  }

  /** Only the program that drives a session keeps it alive, not one that watches. */
  #drive(sessionId: string): void {
    this.#stopKeepAlive ??= this.#journal.keepAlive(sessionId);
  }

  #leave(): void {
    this.#unsubscribe?.();
    this.#stopKeepAlive?.();
    this.#unsubscribe = this.#stopKeepAlive = null;
  }

  async #follow(session: JournalSession | null): Promise<void> {
    this.#leave();
    this.#set({ session, entries: [], latestCheckpoint: null });
    if (!session) return;
    // Subscribes before it reads, so that no entry is missed; an entry that arrives both ways is added once.
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
      this.#stopKeepAlive?.();
      this.#stopKeepAlive = null;
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
