// For programs that run agents with the Claude Agent SDK: `query({ prompt, options: { ...ledgerSession({ url }) } })`.

import { ledgerHooks } from './hooks.ts';
import type { LedgerHookOptions, LedgerHooks } from './hooks.ts';
import { LedgerSessionStore } from './sessionStore.ts';
import type { SessionStoreOptions } from './sessionStore.ts';
import { ledgerTools } from './tools.ts';
import type { LedgerTools } from './tools.ts';

export { LedgerSessionStore } from './sessionStore.ts';
export type { SessionStoreOptions } from './sessionStore.ts';
export { ledgerHooks } from './hooks.ts';
export type { LedgerHookOptions, LedgerHooks } from './hooks.ts';
export type { LedgerAddress } from './lazyLedger.ts';
export { ledgerTools } from './tools.ts';
export type { LedgerToolOptions, LedgerTools } from './tools.ts';

export type LedgerSessionOptions = Omit<SessionStoreOptions, 'isLive'> & Omit<LedgerHookOptions, 'isTranscriptKept'>;

/** Options for query(), to be spread. close() and the `await using` support are not enumerable, so they are not spread. */
export type LedgerSession = {
  sessionStore: LedgerSessionStore;
  hooks: LedgerHooks;
  mcpServers: { 'work-ledger': LedgerTools };
};

export type Closable = { close(): Promise<void>; [Symbol.asyncDispose](): Promise<void> };

/**
 * The ledger for sessions of the SDK: `url` of the database (default: DATABASE_URL, otherwise the embedded one) and `schema`, or `ledger`,
 * an open one. close() reads the rest of the transcripts; if a program ends without calling it, a worker does so.
 */
export function ledgerSession(options: LedgerSessionOptions = {}): LedgerSession & Closable {
  const sessionStore = new LedgerSessionStore({ ...options, isLive: false });
  const mcpServers = { 'work-ledger': ledgerTools(options) }; // the name by which hooks recognise our own calls
  const session: LedgerSession = { sessionStore, hooks: ledgerHooks({ ...options, isTranscriptKept: true }), mcpServers };
  const close = async (): Promise<void> => {
    await mcpServers['work-ledger'].instance.close();
    await sessionStore.close();
  };
  return Object.defineProperties(session, {
    close: { value: close },
    [Symbol.asyncDispose]: { value: close },
  }) as LedgerSession & Closable;
}
