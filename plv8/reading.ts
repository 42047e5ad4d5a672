// What every format is read into, and how a value of unknown shape is asked for its parts.

/** `result` is what the model was shown; null: the record has none. `isError`: the record says that the call failed. */
export type RecordedCall = { /** In the record, where it says one. */ id?: string; name: string; input: Record<string, unknown>; result: string | null; isError: boolean };

export type RecordedExchange = {
  /** The time of its first record, as the record says it. */
  at?: string;
  /** What stood for all before it when it was asked: the context had been compacted. */
  compactSummary?: string;
  /** All that the model wrote, also where a call was read out of it. */
  text: string;
  calls: RecordedCall[];
  thinking?: { thinking: string; signature: string }[];
  /** Tokens; inputTokens are those that did not come from a cache. */
  usage: { inputTokens: number; outputTokens: number; cachedInputTokens: number } | null;
  /** What the model was told next and is no result of a call: a format error, a human's word. */
  followUp?: string;
};

export type RecordedRun = {
  format: 'mini-swe-agent' | 'swe-agent' | 'claude-code' | 'codex' | 'copilot';
  model: string | null;
  system: string;
  /** The user messages before the first model call. */
  prompt: string;
  exchanges: RecordedExchange[];
  outcome: string | null;
  /** Who it is among its kind; `#` parts the session from its subagent. */
  sessionId?: string;
  cwd?: string;
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

/** A time that is one, as ISO 8601. */
export function timeOf(value: unknown): string | null {
  const milliseconds = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(milliseconds) ? null : new Date(milliseconds).toISOString();
}

/** What a reader of records, in the order of the file, tells of a conversation; finish() makes a RecordedRun of it. */
export type Conversation = Pick<RecordedRun, 'model' | 'system' | 'outcome' | 'sessionId' | 'cwd'> & {
  /** The exchange of the response with that id, which is the newest one or begins now. */
  exchange(id: string | null): RecordedExchange;
  /** The newest exchange. */
  current(): RecordedExchange;
  call(id: string | null, call: RecordedCall): void;
  /** A result; of several for one call the first counts. */
  result(id: string | null, text: string, isError: boolean): void;
  /** Answers the newest call. */
  answerLast(text: string): void;
  /** The context was compacted: what stands for all before the next exchange. */
  compacted(summary: string): void;
  /** What the model was told by a human or a harness. */
  said(text: string): void;
  /** The usage of the newest exchange that has none yet. */
  usage(usage: NonNullable<RecordedExchange['usage']>): void;
  skip(reason: string): void;
  finish(): RecordedRun;
};

export function conversation(format: RecordedRun['format']): Conversation {
  const skipped = new Map<string, number>();
  const prompt: string[] = [];
  const exchanges: RecordedExchange[] = [];
  const byId = new Map<string, RecordedExchange>();
  const calls = new Map<string, RecordedCall>();
  let summary: string | undefined;
  const skip = (reason: string): void => void skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
  const current = (): RecordedExchange => exchanges.at(-1) ?? open(null);
  const open = (id: string | null): RecordedExchange => {
    const known = id === null ? undefined : byId.get(id);
    if (known) return known;
    const exchange: RecordedExchange = { text: '', calls: [], usage: null, ...(summary !== undefined && { compactSummary: summary }) };
    summary = undefined;
    exchanges.push(exchange);
    if (id !== null) byId.set(id, exchange);
    return exchange;
  };
  const self: Conversation = {
    model: null,
    system: '',
    outcome: null,
    exchange: open,
    current,
    call: (id, call) => {
      if (id !== null && calls.has(id)) return skip('repeated call');
      current().calls.push(call);
      if (id === null) return;
      calls.set(id, call);
      call.id = id;
    },
    result: (id, text, isError) => {
      const call = id === null ? undefined : calls.get(id);
      if (!call) return skip('result without its call');
      if (call.result !== null) return skip('second result of a call');
      call.result = text;
      call.isError = isError;
    },
    compacted: (text) => {
      if (exchanges.length > 0) summary = text;
    },
    answerLast: (text) => {
      const call = current().calls.at(-1);
      if (call) call.result = text;
    },
    said: (text) => {
      if (text.trim() === '') return;
      const last = exchanges.at(-1);
      if (!last) prompt.push(text);
      else last.followUp = last.followUp === undefined ? text : `${last.followUp}\n\n${text}`;
    },
    usage: (usage) => {
      const last = exchanges.at(-1);
      if (last && last.usage === null) last.usage = usage;
    },
    skip,
    finish: () => {
      if (exchanges.length === 0) throw new Error(`the recorded ${format} run has no model call`);
      return {
        format,
        model: self.model,
        system: self.system,
        prompt: prompt.join('\n\n'),
        exchanges,
        outcome: self.outcome,
        ...(self.sessionId !== undefined && { sessionId: self.sessionId }),
        ...(self.cwd !== undefined && { cwd: self.cwd }),
        skipped: [...skipped].map(([reason, count]) => ({ reason, count })),
      };
    },
  };
  return self;
}
