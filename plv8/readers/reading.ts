// The types that every format is converted to, and functions to take values of unknown shape apart.

import { parseJson } from '../anyJson.ts';
import { isObject } from '../isObject.ts';

/** `result`: what the model was shown; null if the record has none. `isError`: the record says that the call failed. */
export type RecordedCall = {
  /** The id in the record, if it has one. */
  id?: string;
  name: string;
  input: Record<string, unknown>;
  result: string | null;
  isError: boolean;
  /** Images shown with the result. */
  images?: RecordedImage[];
  /** The subagent that the call started: the part after `#` of the subagent's sessionId. */
  spawns?: string;
  /** The file that the call is about, if the keys of its input do not name it. */
  file?: string;
};

/** At most 5 MiB in base64. */
export type RecordedImage = { media_type: string; data: string };

/** One of several messages to the model between two of its own. */
export type Told = { text: string; isByHarness?: true; images?: RecordedImage[] };

export type RecordedResult = { id: string; result: string; isError: boolean; images?: RecordedImage[] };

/** A record of a response: its text, and the number of its thoughts and calls. */
export type ResponseRecord = {
  id: string;
  text?: string;
  thoughts?: number;
  calls?: number;
  /** The id of the record before it, if that one is missing. */
  after?: string;
};

export type RecordedExchange = {
  /** The id in the record, if it is the same in every copy of the session. */
  id?: string;
  /** The provider's id of the response; it identifies the exchange if the record that gave the exchange its id is missing. */
  responseId?: string;
  /** The id of the exchange that this one continues, if that is not the previous one because someone went back. Empty: the beginning. */
  after?: string;
  afterResponse?: string;
  /** The time of its first record, as recorded. */
  at?: string;
  /** The model that answered, if it is not the run's model. */
  model?: string;
  /** The summary that replaced everything before it in its request, if the context had been compacted. */
  compactSummary?: string;
  /** Everything that the model wrote, including text that was parsed as a call. */
  text: string;
  calls: RecordedCall[];
  thinking?: { thinking: string; signature: string }[];
  /** Which parts came in which record, if each record has an id; readers that missed some records are given those. */
  records?: ResponseRecord[];
  /** Results of calls that are not in the record. */
  results?: RecordedResult[];
  /** Token counts; inputTokens are those not read from a cache. */
  usage: { inputTokens: number; outputTokens: number; cachedInputTokens: number } | null;
  /** What the model was told before this, by a human or the harness, apart from results of calls; only if there is an `after`. */
  said?: string;
  /** What the model was told next, apart from results of calls: a format error, a message from a human. */
  followUp?: string;
  /** No part of followUp was written by a human. */
  isFollowUpByHarness?: true;
  /** The individual messages of followUp and said, if there are several or any has images. */
  followUpParts?: Told[];
  saidParts?: Told[];
  /** What linters reported about files at that time. */
  lints?: {
    file_path: string;
    message: string;
    lint_source?: string;
    severity?: 'error' | 'warning' | 'info';
    start_line?: number;
    start_col?: number;
    end_line?: number;
    end_col?: number;
  }[];
};

export type RecordedRun = {
  format: 'mini-swe-agent' | 'swe-agent' | 'claude-code' | 'codex' | 'copilot' | 'pi' | 'cursor' | 'gemini-cli' | 'atif';
  model: string | null;
  system: string;
  /** What the model was told before the first exchange. */
  prompt: string;
  /** No part of prompt was written by a human. */
  isPromptByHarness?: true;
  /** The individual messages, if there are several or any has images. */
  promptParts?: Told[];
  /** The first message from a human, if the prompt begins with something else. */
  task?: string;
  exchanges: RecordedExchange[];
  /** The names of the tools called so far. */
  tools: string[];
  /** For a run that is read in parts: the number of exchanges before these, and the id of the newest of those. */
  first?: number;
  firstAfter?: string;
  firstAfterResponse?: string;
  /** Whether more parts follow. */
  isPart?: true;
  outcome: string | null;
  /** The id of the session within its format; for a subagent, `PARENT#AGENT`. */
  sessionId?: string;
  parentSessionId?: string;
  /** The id of the call, in the session's record, that started this subagent. */
  spawnedBy?: string;
  cwd?: string;
  /** What is not part of the exchanges, with the line (from 1) of its first occurrence. */
  skipped: { reason: string; count: number; line?: number }[];
  /** Records that are not interpreted, verbatim. */
  raw?: { line: number; reason: string; content: string }[];
};

/** Reads the records of a file in order. */
export type RecordReader = {
  read(record: unknown, line: number): void;
  /** Keeps a line verbatim: it is not JSON, or is JSON that cannot be stored as written. */
  keep(reason: string, text: string, line: number): void;
  /** What was read since the last call: the session first, then its subagents. Parts that may still grow are held until the end. */
  take(isEnd: boolean): RecordedRun[];
  /** What is waiting to be taken, in its current state, without taking it. `isEnd`: nothing more arrives for a while. */
  peek(isEnd?: boolean): RecordedRun[];
  /** Whether any call has no result yet. */
  isWaiting(): boolean;
};

/** The format-specific part; the walk over the messages is the same for all formats. */
export type Reading = Pick<RecordedRun, 'format' | 'model' | 'outcome'> & {
  messages: readonly unknown[];
  /** Why a message is not part of the conversation; null if it is. */
  skipReason(message: unknown): string | null;
  /** The calls written in a message's text, if it has no tool_calls; the next user message is their result. */
  callsInText(message: unknown, text: string): RecordedCall[];
  /** The file that a call is about, if the keys of its input do not name it; `shown` is what the model was shown before the call. */
  fileOf?(call: RecordedCall, shown: string): string | null;
  usage(message: unknown, wrong: (count: unknown) => unknown): RecordedExchange['usage'];
  isFailure(result: string): boolean;
  /** Whether a call ends the run, so that it may be unanswered. */
  endsRun(call: RecordedCall): boolean;
};

/** The name in a form that a model's API accepts. */
export function toolName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed';
}

/** The value at a path of keys; undefined if there is none. */
export function field(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key) ? (inner as Record<string, unknown>)[key] : undefined,
    value,
  );
}

/** The image of a content block of any provider; null if it is not an image that a model can be shown again. */
export function imageOf(block: unknown): RecordedImage | null {
  const url = /^data:(image\/[a-z]+);base64,/.exec(stringOf(field(block, 'image_url')) ?? stringOf(field(block, 'image_url', 'url')) ?? '');
  const media_type =
    url?.[1] ??
    stringOf(field(block, 'source', 'media_type')) ??
    stringOf(field(block, 'mimeType')) ??
    stringOf(field(block, 'inlineData', 'mimeType'));
  const data = url
    ? url.input.slice(url[0].length)
    : (stringOf(field(block, 'source', 'data')) ?? stringOf(field(block, 'data')) ?? stringOf(field(block, 'inlineData', 'data')));
  if (media_type === null || data === null || !/^image\/(?:png|jpeg|gif|webp)$/.test(media_type)) return null;
  return data.length <= 5_242_880 && /^[A-Za-z0-9+/]+=*$/.test(data) ? { media_type, data } : null;
}

export function stringOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** The arguments of a call: an object, or JSON text of an object; anything else that the model wrote is put under `key`. */
export function inputOf(given: unknown, key = 'input'): Record<string, unknown> {
  try {
    const input: unknown = typeof given === 'string' ? parseJson(given).value : given;
    if (isObject(input)) return input;
  } catch {
    // The model did not write JSON.
  }
  return { [key]: given ?? null };
}

/** An identifier, cut to the size that an index allows; null if there is none. */
export function idOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.slice(0, 200) : null;
}

/** A plausible time of a run (text, or milliseconds) as ISO 8601; null for anything else. */
export function timeOf(value: unknown): string | null {
  const milliseconds = typeof value === 'string' ? Date.parse(value) : typeof value === 'number' ? value : Number.NaN;
  return milliseconds >= Date.UTC(2000) && milliseconds < Date.UTC(2100) ? new Date(milliseconds).toISOString() : null;
}

/** No request has more, and the sum of all counts of a turn fits the ledger's columns. */
const MAX_TOKENS = 100_000_000;

/** A number of tokens; 0 if there is none. Calls `wrong` for any other value. */
export function tokensOf(value: unknown, wrong?: (count: unknown) => unknown): number {
  if (typeof value === 'number' && value >= 0 && value <= MAX_TOKENS) return Math.round(value);
  if (value !== undefined && value !== null) wrong?.(value);
  return 0;
}

/** The usage of a request whose input count includes the cached tokens. */
export function usageOf(
  input: unknown,
  cached: unknown,
  output: unknown,
  wrong?: (count: unknown) => unknown,
): NonNullable<RecordedExchange['usage']> {
  const cachedInputTokens = tokensOf(cached, wrong);
  return { inputTokens: Math.max(0, tokensOf(input, wrong) - cachedInputTokens), outputTokens: tokensOf(output, wrong), cachedInputTokens };
}

/** A call that has no result yet. */
export function newCall(name: unknown, input: unknown): RecordedCall {
  return { name: toolName(stringOf(name) ?? ''), input: inputOf(input), result: null, isError: false };
}

/** The texts, sorted. */
export function inOrder(texts: ReadonlySet<string>): string[] {
  // oxlint-disable-next-line unicorn/no-array-sort -- V8 has toSorted from 11.0 on only, and plv8 may have an older one
  return [...texts].sort();
}
