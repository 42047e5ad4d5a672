// Reads Gemini CLI's sessions, in which the message that made a call also holds its result. JSON lines, in which a message is written again
// when it has grown; in earlier versions one document {sessionId, messages}.

import { Conversation } from './conversation.ts';
import { hookText, withoutHooks } from './harnessText.ts';
import { field, idOf, newCall, stringOf, tokensOf, usageOf } from './reading.ts';
import type { RecordedRun, RecordReader } from './reading.ts';

export function isGeminiCli(document: unknown): boolean {
  const messages = field(document, 'messages');
  return (
    typeof field(document, 'sessionId') === 'string' &&
    Array.isArray(messages) &&
    messages.some((message) => field(message, 'type') === 'gemini')
  );
}

/** Whether a record is the first line of such a file. */
export function isGeminiLine(record: unknown): boolean {
  return (
    typeof field(record, 'sessionId') === 'string' &&
    typeof field(record, 'projectHash') === 'string' &&
    field(record, 'messages') === undefined
  );
}

export function readGeminiLines(): RecordReader {
  let sessionId: unknown;
  let messages = new Map<string, unknown>();
  const kept: { reason: string; content: string; line: number }[] = [];
  const whole = (): Conversation => {
    const run = conversationOf({ sessionId, messages: [...messages.values()] });
    for (const { reason, content, line } of kept) run.keep(reason, content, line);
    run.isUncounted = true;
    return run;
  };
  return {
    read(record, line) {
      const id = stringOf(field(record, 'id'));
      const back = stringOf(field(record, '$rewindTo'));
      const all = field(record, '$set', 'messages');
      if (back !== null) {
        const before = [...messages.keys()].indexOf(back);
        messages = new Map([...messages].slice(0, Math.max(0, before)));
      } else if (id !== null) messages.set(id, record);
      else if (field(record, 'projectHash') !== undefined) sessionId = field(record, 'sessionId');
      else if (Array.isArray(all))
        messages = new Map(all.map((message: unknown, n) => [stringOf(field(message, 'id')) ?? String(n), message]));
      else if (field(record, '$set') === undefined) kept.push({ reason: 'record of another kind', content: JSON.stringify(record), line });
    },
    keep: (reason, content, line) => void kept.push({ reason, content, line }),
    // Any part of it may be written again.
    take: (isEnd) => (isEnd ? whole().takeWhole(true) : []),
    peek: (isEnd) => [whole().peek(isEnd) ?? []].flat(),
    isWaiting: () => whole().openCalls().length > 0,
  };
}

export function readGeminiCli(document: unknown): RecordedRun[] {
  return conversationOf(document).takeWhole(true);
}

function conversationOf(document: unknown): Conversation {
  const run = new Conversation('gemini-cli');
  run.sessionId = idOf(field(document, 'sessionId')) ?? undefined;
  for (const message of field(document, 'messages') as unknown[]) {
    const type = stringOf(field(message, 'type')) ?? 'unknown';
    const text = run.textOf(field(message, 'content'));
    if (type === 'user') readPrompt(text, run);
    else if (type === 'gemini') readResponse(message, text, run);
    else run.skip(`message of type ${type}`, message);
  }
  return run;
}

/** The client also writes in the user's role: about its environment, and for hooks. */
function readPrompt(text: string, run: Conversation): void {
  const ofHooks = text.match(hookText)?.join('').trim() ?? '';
  const own = ofHooks === '' ? text : withoutHooks(text);
  run.said(own, /^\s*<session_context>/.test(own) || (own === '' && ofHooks !== ''));
  if (ofHooks !== '') run.said(ofHooks, true);
}

function readResponse(message: unknown, text: string, run: Conversation): void {
  const exchange = run.exchange(null);
  const at = run.time(field(message, 'timestamp'));
  if (at !== null) exchange.at = at;
  const id = idOf(field(message, 'id'));
  if (id !== null) exchange.id = id;
  const model = stringOf(field(message, 'model'));
  run.model ??= model;
  if (model !== null && model !== run.model) exchange.model = model;
  exchange.text = text;
  if (field(message, 'tokens') !== undefined) {
    const usage = usageOf(
      field(message, 'tokens', 'input'),
      field(message, 'tokens', 'cached'),
      field(message, 'tokens', 'output'),
      run.wrongCount,
    );
    exchange.usage = { ...usage, outputTokens: usage.outputTokens + tokensOf(field(message, 'tokens', 'thoughts'), run.wrongCount) };
  }
  const thoughts = field(message, 'thoughts');
  for (const thought of Array.isArray(thoughts) ? (thoughts as unknown[]) : []) {
    run.thought(exchange, [field(thought, 'subject'), field(thought, 'description')].filter((part) => typeof part === 'string').join(': '));
  }
  const calls = field(message, 'toolCalls');
  for (const call of Array.isArray(calls) ? (calls as unknown[]) : []) {
    const shown = field(call, 'result');
    const response = Array.isArray(shown) ? field(shown[0], 'functionResponse', 'response') : undefined;
    const output = field(response, 'output') ?? field(response, 'error') ?? field(call, 'resultDisplay');
    const isError = field(call, 'status') === 'error' || field(response, 'error') !== undefined;
    run.call(
      idOf(field(call, 'id')),
      {
        ...newCall(field(call, 'name'), field(call, 'args')),
        result: output === undefined ? null : (stringOf(output) ?? JSON.stringify(output)),
        isError,
      },
      exchange,
    );
  }
}
