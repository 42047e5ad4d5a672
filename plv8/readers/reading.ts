// What every format is read into, and how a value of unknown shape is asked for its parts.

import { parseJson } from '../anyJson.ts';

/** `result` is what the model was shown; null: the record has none. `isError`: the record says that the call failed. */
export type RecordedCall = {
  /** In the record, where it says one. */
  id?: string;
  name: string;
  input: Record<string, unknown>;
  result: string | null;
  isError: boolean;
  /** Shown with the result. */
  images?: RecordedImage[];
  /** The subagent that it started: what stands after `#` in that one's sessionId. */
  spawns?: string;
  /** The file that it is about, where the keys of its input do not say it. */
  file?: string;
};

/** In base64, at most 5 MiB of it. */
export type RecordedImage = { media_type: string; data: string };

/** One of several words that a model was told between two of its own. */
export type Told = { text: string; isByHarness?: true; images?: RecordedImage[] };

export type RecordedExchange = {
  /** In the record, where that is the same in every copy of the session. */
  id?: string;
  /** The id of the exchange that it goes on from, where that is not the one before it: somebody went back. Empty: from the beginning. */
  after?: string;
  /** The time of its first record, as the record says it. */
  at?: string;
  /** Who answered, where that is not the run's model. */
  model?: string;
  /** What stood for all before it when it was asked: the context had been compacted. */
  compactSummary?: string;
  /** All that the model wrote, also where a call was read out of it. */
  text: string;
  calls: RecordedCall[];
  thinking?: { thinking: string; signature: string }[];
  /** Tokens; inputTokens are those that did not come from a cache. */
  usage: { inputTokens: number; outputTokens: number; cachedInputTokens: number } | null;
  /** What the model was told before this, by a human or a harness, and is no result of a call, where `after` says what it goes on from. */
  said?: string;
  /** What the model was told next and is no result of a call: a format error, a human's word. */
  followUp?: string;
  /** No human wrote any of followUp. */
  isFollowUpByHarness?: true;
  /** Of followUp and said: word by word, where there are several or images. */
  followUpParts?: Told[];
  saidParts?: Told[];
  /** What linters said of files at that time. */
  lints?: { file_path: string; message: string; lint_source?: string; severity?: 'error' | 'warning' | 'info'; start_line?: number; start_col?: number; end_line?: number; end_col?: number }[];
};

export type RecordedRun = {
  format: 'mini-swe-agent' | 'swe-agent' | 'claude-code' | 'codex' | 'copilot' | 'pi' | 'cursor' | 'gemini-cli' | 'atif';
  model: string | null;
  system: string;
  /** What the model was told before the first of the exchanges. */
  prompt: string;
  /** No human wrote any of prompt. */
  isPromptByHarness?: true;
  /** Word by word, where there are several or images. */
  promptParts?: Told[];
  /** What a human asked first, where the prompt begins with something else. */
  task?: string;
  exchanges: RecordedExchange[];
  /** The names of the tools that were called so far. */
  tools: string[];
  /** How many exchanges come before these, of a run that is read part by part; and the id of the newest of them. */
  first?: number;
  firstAfter?: string;
  /** There are more. */
  isPart?: true;
  outcome: string | null;
  /** Who it is among its kind; of a subagent, `PARENT#AGENT`. */
  sessionId?: string;
  parentSessionId?: string;
  /** The id of the call in the session's record that started this subagent. */
  spawnedBy?: string;
  cwd?: string;
  /** What is not in the exchanges, with the line (from 1) where it came first. */
  skipped: { reason: string; count: number; line?: number }[];
  /** Records that nobody reads, as they stand in the file. */
  raw?: { line: number; reason: string; content: string }[];
};

/** Reads the records of a file in their order. */
export type RecordReader = {
  read(record: unknown, line: number): void;
  /** Keeps a line as it stands: no JSON, or JSON that cannot be taken as it was written. */
  keep(reason: string, text: string, line: number): void;
  /** What has been read since the last time: the session first, then its subagents. What may still grow waits for the end. */
  take(isEnd: boolean): RecordedRun[];
};

/** What a format knows of its messages; the walk over them is the same for all. */
export type Reading = Pick<RecordedRun, 'format' | 'model' | 'outcome'> & {
  messages: readonly unknown[];
  /** Why a message is no part of the conversation, or null where it is. */
  skipReason(message: unknown): string | null;
  /** The calls written in a message's text, where it has no tool_calls; the next user message is their result. */
  callsInText(message: unknown, text: string): RecordedCall[];
  /** The file that a call is about, where the keys of its input do not say it; `shown` is what the model was shown before it. */
  fileOf?(call: RecordedCall, shown: string): string | null;
  usage(message: unknown, wrong: (count: unknown) => unknown): RecordedExchange['usage'];
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

/** The image of a content block of any provider; null: it is none that a model can be shown again. */
export function imageOf(block: unknown): RecordedImage | null {
  const url = /^data:(image\/[a-z]+);base64,/.exec(stringOf(field(block, 'image_url')) ?? stringOf(field(block, 'image_url', 'url')) ?? '');
  const media_type = url?.[1] ?? stringOf(field(block, 'source', 'media_type')) ?? stringOf(field(block, 'mimeType')) ?? stringOf(field(block, 'inlineData', 'mimeType'));
  const data = url ? url.input.slice(url[0].length) : (stringOf(field(block, 'source', 'data')) ?? stringOf(field(block, 'data')) ?? stringOf(field(block, 'inlineData', 'data')));
  if (media_type === null || data === null || !/^image\/(?:png|jpeg|gif|webp)$/.test(media_type)) return null;
  return data.length <= 5_242_880 && /^[A-Za-z0-9+/]+=*$/.test(data) ? { media_type, data } : null;
}

export function stringOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Arguments of a call: an object as it is, or as JSON in a text; what else the model wrote stands under a key. */
export function inputOf(given: unknown, key = 'input'): Record<string, unknown> {
  try {
    const input: unknown = typeof given === 'string' ? parseJson(given).value : given;
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input as Record<string, unknown>;
  } catch {
    // The model wrote no JSON.
  }
  return { [key]: given ?? null };
}

/** An identifier, cut to what an index takes; null where there is none. */
export function idOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.slice(0, 200) : null;
}

/** A time at which an agent may have run (a text, or milliseconds), as ISO 8601; null for what is none. */
export function timeOf(value: unknown): string | null {
  const milliseconds = typeof value === 'string' ? Date.parse(value) : typeof value === 'number' ? value : Number.NaN;
  return milliseconds >= Date.UTC(2000) && milliseconds < Date.UTC(2100) ? new Date(milliseconds).toISOString() : null;
}

/** No request has more; the sum of all that a turn counts fits the ledger's columns. */
const MAX_TOKENS = 100_000_000;

/** A number of tokens; 0 for what is none, and `wrong` is told where something else stands there. */
export function tokensOf(value: unknown, wrong?: (count: unknown) => unknown): number {
  if (typeof value === 'number' && value >= 0 && value <= MAX_TOKENS) return Math.round(value);
  if (value !== undefined && value !== null) wrong?.(value);
  return 0;
}

/** The tokens of a request that counts the cached ones with the rest. */
export function usageOf(input: unknown, cached: unknown, output: unknown, wrong?: (count: unknown) => unknown): NonNullable<RecordedExchange['usage']> {
  const cachedInputTokens = tokensOf(cached, wrong);
  return { inputTokens: Math.max(0, tokensOf(input, wrong) - cachedInputTokens), outputTokens: tokensOf(output, wrong), cachedInputTokens };
}

/** A call that is not answered yet. */
export function newCall(name: unknown, input: unknown): RecordedCall {
  return { name: toolName(stringOf(name) ?? ''), input: inputOf(input), result: null, isError: false };
}

/** Texts in their order. */
export function inOrder(texts: ReadonlySet<string>): string[] {
  // oxlint-disable-next-line unicorn/no-array-sort -- V8 has toSorted from 11.0 on only, and plv8 may have an older one
  return [...texts].sort();
}
