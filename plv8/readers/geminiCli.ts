// Gemini CLI's sessions: one document {sessionId, messages}, each call with its result in the message that made it.

import { Conversation } from './conversation.ts';
import { field, idOf, newCall, stringOf, tokensOf, usageOf } from './reading.ts';
import type { RecordedRun } from './reading.ts';

export function isGeminiCli(document: unknown): boolean {
  const messages = field(document, 'messages');
  return (
    typeof field(document, 'sessionId') === 'string' &&
    Array.isArray(messages) &&
    messages.some((message) => field(message, 'type') === 'gemini')
  );
}

export function readGeminiCli(document: unknown): RecordedRun[] {
  const run = new Conversation('gemini-cli');
  run.sessionId = idOf(field(document, 'sessionId')) ?? undefined;
  for (const message of field(document, 'messages') as unknown[]) {
    const type = stringOf(field(message, 'type')) ?? 'unknown';
    const text = run.textOf(field(message, 'content'));
    if (type === 'user') run.said(text);
    else if (type === 'gemini') readResponse(message, text, run);
    else run.skip(`message of type ${type}`, message);
  }
  return run.takeWhole(true);
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
