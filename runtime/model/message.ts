// The request and response types of the Messages API, and the outcomes of a call.

export type ContentBlock = { type: string; [key: string]: unknown };
export type Message = { role: 'user' | 'assistant' | 'system'; content: string | ContentBlock[] };

/** The body as the database assembled it; betas is sent as a header. */
export type ModelRequest = {
  model: string;
  max_tokens: number;
  system: string | ContentBlock[];
  messages: Message[];
  tools?: Record<string, unknown>[];
  betas?: string[];
  stream: true;
  [key: string]: unknown;
};

export type ModelResponse = {
  id: string;
  /** The provider that answered, if not Anthropic. */
  provider?: string;
  model: string;
  /** Complete and in order, as the provider sent it, except that strings are made storable in Postgres. */
  content: ContentBlock[];
  stopReason: string;
  stopDetails: unknown;
  /** inputTokens were neither read from the cache nor written to it; reasoningTokens are part of outputTokens. */
  usage: { inputTokens: number; outputTokens: number; cachedInputTokens: number; cacheWriteTokens: number; reasoningTokens: number };
  requestId: string | null;
  durationMs: number;
  /** The time until the first content arrived. */
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
  /**
   * Never throws. onDelta gets the text as it arrives; onGrowth gets a function that returns all blocks so far. Both are also called for a
   * message that fails later, and must not throw.
   */
  call(
    request: ModelRequest,
    how: { signal: AbortSignal; onDelta?: (text: string) => void; onGrowth?: (soFar: () => ContentBlock[]) => void },
  ): Promise<ModelOutcome>;
};
