// Reads pi's session files: JSON lines {type, timestamp, message}; each message is on one line, and each result is a separate message.

import { Conversation } from './conversation.ts';
import { field, idOf, newCall, stringOf, tokensOf } from './reading.ts';
import type { RecordReader } from './reading.ts';

export function isPi(record: unknown): boolean {
  const role = field(record, 'message', 'role');
  return (
    field(record, 'type') === 'message' &&
    (role === 'assistant' || role === 'toolResult') &&
    Array.isArray(field(record, 'message', 'content'))
  );
}

export function readPi(): RecordReader {
  const run = new Conversation('pi');
  return run.reader((record) => {
    const type = stringOf(field(record, 'type')) ?? 'unknown';
    const message = field(record, 'message');
    const role = field(message, 'role');
    if (type === 'session') {
      run.sessionId ??= idOf(field(record, 'id')) ?? undefined;
      run.cwd ??= stringOf(field(record, 'cwd')) ?? undefined;
      run.system ||= stringOf(field(record, 'systemPrompt')) ?? '';
    } else if (type === 'compaction') run.compacted(stringOf(field(record, 'summary')) ?? '');
    else if (type !== 'message') run.skip(`record of type ${type}`, record);
    else if (role === 'user') run.said(run.textOf(field(message, 'content')));
    else if (role === 'toolResult')
      run.result(idOf(field(message, 'toolCallId')), run.textOf(field(message, 'content')), field(message, 'isError') === true);
    else if (role === 'assistant') readAssistant(message, run.time(field(record, 'timestamp')), run);
    else run.skip(`message with role ${stringOf(role) ?? 'unknown'}`, record);
  });
}

function readAssistant(message: unknown, at: string | null, run: Conversation): void {
  const content = field(message, 'content');
  // The run was stopped before the model answered.
  if (!Array.isArray(content) || content.length === 0) return run.skip('response without content', message);
  const exchange = run.exchange(null);
  if (at !== null) exchange.at = at;
  const model = stringOf(field(message, 'model'));
  run.model ??= model;
  if (model !== null && model !== run.model) exchange.model = model;
  const number = (key: string): number => tokensOf(field(message, 'usage', key), run.wrongCount);
  exchange.usage = {
    inputTokens: number('input') + number('cacheWrite'),
    outputTokens: number('output'),
    cachedInputTokens: number('cacheRead'),
  };
  for (const block of content as unknown[]) {
    const type = field(block, 'type');
    const text = stringOf(field(block, 'text'));
    if (type === 'text' && text !== null) exchange.text = exchange.text === '' ? text : `${exchange.text}\n\n${text}`;
    else if (type === 'thinking')
      run.thought(exchange, stringOf(field(block, 'thinking')) ?? '', stringOf(field(block, 'thinkingSignature')) ?? '');
    else if (type === 'toolCall') run.call(idOf(field(block, 'id')), newCall(field(block, 'name'), field(block, 'arguments')), exchange);
    else run.skip(`content block of type ${stringOf(type) ?? 'unknown'}`, block);
  }
}
