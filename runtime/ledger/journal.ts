// The journal for TypeScript programs.

import { askChecked } from '../model/askChecked.ts';
import type { ModelClient } from '../model/message.ts';
import type { ActivityEvent } from './activity.ts';
import type { Checkpoint, JournalEntry, JournalSession, ResumableSession, ResumptionContext } from './answers.ts';
import { clientErrors } from './clientError.ts';
import type { Db } from './db.ts';
import { LedgerError } from './errors.ts';
import { subscribe } from './journalSubscription.ts';

export type EntryType = JournalEntry['entryType'];
export type EntryImportance = JournalEntry['importance'];
export type JournalStatus = 'active' | 'paused' | 'completed';

const HEARTBEAT_MS = 60_000;

/** Sends a heartbeat every minute for the program that drives a session, until the returned function is called. */
export function keepAlive(db: Db, sessionId: string): () => void {
  const beat = (): void => void db.journal.heartbeat(sessionId).catch(() => {}); // the next one suffices
  beat();
  const timer = setInterval(beat, HEARTBEAT_MS).unref();
  return () => clearInterval(timer);
}

/** Every method rejects with the same errors as those of LedgerClient. */
export class WorkJournal {
  readonly #db: Db;
  readonly #url: string;
  readonly #model: ModelClient | null;

  /** `url`: the address of the database of `db`, for notifications. `model`: the model that writes summaries. */
  constructor(db: Db, url: string, options: { model?: ModelClient } = {}) {
    this.#db = db;
    this.#url = url;
    this.#model = options.model ?? null;
  }

  /** Creates a session that this program drives itself. `project`: where its work belongs, see projectOf(); default: no project. */
  createSession(conversationId: string, originalPrompt: string, options: { project?: string } = {}): Promise<JournalSession> {
    return this.#ask((journal) => journal.sessionCreate(conversationId, originalPrompt, options.project ?? null));
  }

  /** Every work item is a session, too. */
  getSession(sessionId: string): Promise<JournalSession | null> {
    return this.#ask((journal) => journal.session(sessionId));
  }

  getActiveSession(conversationId: string): Promise<JournalSession | null> {
    return this.#ask((journal) => journal.sessionActive(conversationId));
  }

  async updateSessionStatus(sessionId: string, status: JournalStatus): Promise<void> {
    await this.#ask((journal) => journal.sessionStatus(sessionId, status));
  }

  /** Reports that the program that drives a session is alive; after five minutes without a heartbeat the session counts as crashed. */
  async heartbeat(sessionId: string): Promise<void> {
    await this.#ask((journal) => journal.heartbeat(sessionId));
  }

  /** Sends heartbeats until the returned function is called. */
  keepAlive(sessionId: string): () => void {
    return keepAlive(this.#db, sessionId);
  }

  /** Paused and crashed sessions, newest first, each with its resumption packet. */
  getResumableSessions(options: { conversationId?: string; targetTokens?: number } = {}): Promise<readonly ResumableSession[]> {
    return this.#ask((journal) => journal.resumable(options.conversationId ?? null, options.targetTokens ?? 4000));
  }

  /** Throws LedgerError WL002 if the content does not match the type. */
  logEntry(
    sessionId: string,
    entryType: EntryType,
    content: Record<string, unknown>,
    importance: EntryImportance = 'normal',
  ): Promise<JournalEntry> {
    return this.#ask((journal) => journal.log(sessionId, entryType, content, importance));
  }

  getEntries(
    sessionId: string,
    options: { since?: number; limit?: number; importance?: EntryImportance[] } = {},
  ): Promise<readonly JournalEntry[]> {
    return this.#ask((journal) => journal.read(sessionId, options.since ?? 0, options.limit ?? null, options.importance ?? null));
  }

  /** `manual` (the default): a person asked for it; false: this program created it unasked. */
  createCheckpoint(sessionId: string, options: { manual?: boolean } = {}): Promise<Checkpoint> {
    return this.#ask((journal) => journal.checkpointCreate(sessionId, (options.manual ?? true) ? 'manual' : 'automatic'));
  }

  getLatestCheckpoint(sessionId: string): Promise<Checkpoint | null> {
    return this.#ask((journal) => journal.checkpointLatest(sessionId));
  }

  generateResumptionContext(sessionId: string, targetTokens = 4000): Promise<ResumptionContext> {
    return this.#ask((journal) => journal.resumptionContext(sessionId, targetTokens));
  }

  getSessionSummary(sessionId: string): Promise<string> {
    return this.#ask((journal) => journal.sessionSummary(sessionId));
  }

  /** A summary written by a model; the journal records it as well. `model`: its name; default: the session's model. */
  async summarizeSession(sessionId: string, options: { model?: string; signal?: AbortSignal } = {}): Promise<string> {
    if (this.#model === null)
      throw new LedgerError('WL002', 'this journal was made without a model', '', 'Pass a model: journal({ model: createModelClient() }).');
    const request = await this.#ask((journal) => journal.summaryRequest(sessionId, options.model ?? null));
    const answer = await askChecked(this.#model, request, { signal: options.signal ?? new AbortController().signal });
    if (answer.kind === 'aborted') throw new Error('the summary was aborted');
    if (answer.kind === 'error') throw new Error(`${answer.error.class}: ${answer.error.message}`);
    const { content, model, usage } = answer.response;
    const summary = content
      .map((block) => (block.type === 'text' ? String(block['text']) : ''))
      .join('')
      .trim();
    await this.#ask((journal) =>
      journal.summarySave(
        sessionId,
        summary,
        model,
        usage.inputTokens + usage.cachedInputTokens + usage.cacheWriteTokens,
        usage.outputTokens,
      ),
    );
    return summary;
  }

  exportForResumption(sessionId: string, targetTokens = 4000): Promise<string> {
    return this.#ask((journal) => journal.exportForResumption(sessionId, targetTokens));
  }

  /**
   * Calls `callback` for every entry from now on, once each (entries written just before may come, too, if the database answers slowly).
   * `onActivity` gets what the agent thinks, says and calls meanwhile, from the beginning of its newest turn. Returns a function that ends
   * the subscription. It does not depend on notifications; they only make it faster.
   */
  subscribe(sessionId: string, callback: (entry: JournalEntry) => void, onActivity?: (event: ActivityEvent) => void): () => void {
    return subscribe(this.#db, this.#url, sessionId, callback, onActivity);
  }

  #ask<T>(use: (journal: Db['journal']) => Promise<T>): Promise<T> {
    return clientErrors(this.#url, () => use(this.#db.journal));
  }
}
