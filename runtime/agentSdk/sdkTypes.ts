// The types of the Claude Agent SDK (0.3.332, sdk.d.ts) that are used here. They are copied so that programs that do not use the SDK need
// not install it; test/long/agentSdk.test.ts compares them with the real ones.

export type SessionKey = { projectKey: string; sessionId: string; subpath?: string };

export type SessionStoreEntry = { type: string; uuid?: string; timestamp?: string; [key: string]: unknown };

export type SessionSummaryEntry = { sessionId: string; mtime: number; data: Record<string, unknown> };

export type FoldSessionSummary = (
  previous: SessionSummaryEntry | undefined,
  key: SessionKey,
  entries: SessionStoreEntry[],
  options?: { mtime?: number },
) => SessionSummaryEntry;

export type SessionStore = {
  append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void>;
  load(key: SessionKey): Promise<SessionStoreEntry[] | null>;
  listSessions?(projectKey: string): Promise<{ sessionId: string; mtime: number }[]>;
  listSessionSummaries?(projectKey: string): Promise<SessionSummaryEntry[]>;
  delete?(key: SessionKey): Promise<void>;
  listSubkeys?(key: { projectKey: string; sessionId: string }): Promise<string[]>;
};
