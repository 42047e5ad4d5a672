// What every format is read into, and how a value of unknown shape is asked for its parts.

/** `result` is what the model was shown; null: the record has none. `isError`: the record says that the call failed. */
export type RecordedCall = { name: string; input: Record<string, unknown>; result: string | null; isError: boolean };

export type RecordedExchange = {
  /** All that the model wrote, also where a call was read out of it. */
  text: string;
  calls: RecordedCall[];
  /** Tokens; inputTokens are those that did not come from a cache. */
  usage: { inputTokens: number; outputTokens: number; cachedInputTokens: number } | null;
  /** What the model was told next and is no result of a call: a format error, a human's word. */
  followUp?: string;
};

export type RecordedRun = {
  format: 'mini-swe-agent' | 'swe-agent';
  model: string | null;
  system: string;
  /** The user messages before the first model call. */
  prompt: string;
  exchanges: RecordedExchange[];
  outcome: string | null;
  skipped: { reason: string; count: number }[];
};

/** What a format knows of its messages; the walk over them is the same for all. */
export type Reading = Pick<RecordedRun, 'format' | 'model' | 'outcome'> & {
  messages: readonly unknown[];
  /** Why a message is no part of the conversation, or null where it is. */
  skipReason(message: unknown): string | null;
  /** The calls written in a message's text, where it has no tool_calls; the next user message is their result. */
  callsInText(message: unknown, text: string): RecordedCall[];
  usage(message: unknown): RecordedExchange['usage'];
  isFailure(result: string): boolean;
  /** Whether a call ends the run, so that the record need not answer it. */
  endsRun(call: RecordedCall): boolean;
};

/** A name that a model's API takes. */
export function toolName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed';
}

/** The value at a path of keys, undefined where it does not lead anywhere. */
export function field(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>((inner, key) => (typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key) ? (inner as Record<string, unknown>)[key] : undefined), value);
}

export function stringOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
