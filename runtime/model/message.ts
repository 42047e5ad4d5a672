// What is said to a model and what it says: the request and the response of the Messages API, and how a call of it ends.

export type ContentBlock = { type: string; [key: string]: unknown };
export type Message = { role: 'user' | 'assistant' | 'system'; content: string | ContentBlock[] };

/** The body as the database assembled it. */
export type ModelRequest = {
  model: string;
  max_tokens: number;
  system: string | ContentBlock[];
  messages: Message[];
  tools?: Record<string, unknown>[];
  stream: true;
  [key: string]: unknown;
};

export type ModelResponse = {
  id: string;
  /** Who answered, where it is not Anthropic. */
  provider?: string;
  model: string;
  /** As sent, whole and in order, but with strings that Postgres can hold. */
  content: ContentBlock[];
  stopReason: string;
  stopDetails: unknown;
  /** inputTokens are those that neither came from the cache nor went into it; reasoningTokens are part of outputTokens. */
  usage: { inputTokens: number; outputTokens: number; cachedInputTokens: number; cacheWriteTokens: number; reasoningTokens: number };
  requestId: string | null;
  durationMs: number;
  /** Until the first content came. */
  firstTokenMs?: number | null;
};

export type ModelErrorClass =
  | 'rate_limited'
  | 'overloaded'
  | 'server_error'
  | 'timeout'
  | 'transport'
  | 'malformed_response'
  | 'authentication'
  | 'context_overflow'
  | 'invalid_request'
  | 'unknown';

export type ModelError = {
  class: ModelErrorClass;
  message: string;
  status: number | null;
  retryAfterSeconds: number | null;
  requestId: string | null;
};

export type ModelOutcome = { kind: 'response'; response: ModelResponse } | { kind: 'error'; error: ModelError } | { kind: 'aborted' };

export type ModelClient = {
  /** Never throws. onDelta gets the text as it arrives, onGrowth a look at all blocks as far as they have, both also of a message which then fails; they must not throw. */
  call(request: ModelRequest, how: { signal: AbortSignal; onDelta?: (text: string) => void; onGrowth?: (soFar: () => ContentBlock[]) => void }): Promise<ModelOutcome>;
};
