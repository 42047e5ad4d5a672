// Codex CLI's rollouts: JSON lines {timestamp, type, payload}. response_item records are the conversation; event_msg
// records repeat it for the screen and are read for the token counts alone.

import { Conversation, field, idOf, inputOf, stringOf, textIn, timeOf, tokensOf, toolName } from './reading.ts';
import type { RecordReader } from './reading.ts';

export function isCodex(record: unknown): boolean {
  return field(record, 'type') === 'session_meta' || (field(record, 'type') === 'response_item' && field(record, 'payload', 'type') !== undefined);
}

export function readCodex(): RecordReader {
  const run = new Conversation('codex');
  let total = '';
  /** Items of one response follow each other; whatever the model is told between them begins the next. */
  let isResponding = false;
  return {
    take: (isEnd) => run.takeWhole(isEnd),
    read(record, line) {
      run.line = line;
      const type = stringOf(field(record, 'type')) ?? 'unknown';
      const payload = field(record, 'payload');
      const kind = stringOf(field(payload, 'type')) ?? 'unknown';
      if (type === 'session_meta') readMeta(payload, run);
      else if (type === 'turn_context') run.model ??= stringOf(field(payload, 'model'));
      else if (type === 'event_msg' && kind === 'token_count') {
        const counted = JSON.stringify(field(payload, 'info', 'total_token_usage')) ?? '';
        // The same total twice is the same call twice.
        if (counted !== '' && counted !== total) readUsage(field(payload, 'info', 'last_token_usage'), run);
        if (counted !== '') total = counted;
        isResponding = false;
      } else if (type === 'event_msg' && kind === 'turn_aborted') run.outcome = 'aborted';
      else if (type === 'event_msg' && kind === 'task_complete') run.outcome = 'completed';
      else if (type === 'response_item') {
        isResponding = readItem(kind, payload, run, isResponding);
        const at = timeOf(field(record, 'timestamp'));
        if (isResponding && at !== null) run.current().at ??= at;
      } else if (type === 'compacted') {
        run.compacted(stringOf(field(payload, 'message')) || '(The record keeps no summary of what came before.)');
        run.skip('record of type compacted', record);
      } else if (type === 'event_msg') run.skip(`event ${kind}`); // a copy for the screen
      else run.skip(`record of type ${type}`, record);
    },
  };
}

function readMeta(payload: unknown, run: Conversation): void {
  run.system ||= stringOf(field(payload, 'base_instructions', 'text')) ?? '';
  const id = idOf(field(payload, 'id'));
  const cwd = stringOf(field(payload, 'cwd'));
  if (id !== null) run.sessionId ??= id;
  if (cwd !== null) run.cwd ??= cwd;
}

/** Returns whether the item is part of a response. */
function readItem(kind: string, payload: unknown, run: Conversation, isResponding: boolean): boolean {
  const role = field(payload, 'role');
  if (kind === 'message' && role !== 'assistant') {
    run.said(textIn(field(payload, 'content')));
    return false;
  }
  if (kind.endsWith('_output')) {
    const output = field(payload, kind === 'tool_search_output' ? 'tools' : 'output');
    const text = typeof output === 'string' ? output : (JSON.stringify(output) ?? '');
    run.result(idOf(field(payload, 'call_id')), text, /^(?:[^]{0,200}\n)?Process exited with code (?!0\b)/.test(text));
    return false;
  }
  const exchange = isResponding ? run.current() : run.exchange(null);
  if (kind === 'message') exchange.text = [exchange.text, textIn(field(payload, 'content'))].filter((text) => text !== '').join('\n\n');
  else if (kind === 'reasoning') {
    const summary = field(payload, 'summary');
    const thinking = Array.isArray(summary) ? summary.map((part: unknown) => stringOf(field(part, 'text')) ?? '').join('\n') : '';
    (exchange.thinking ??= []).push({ thinking, signature: stringOf(field(payload, 'encrypted_content')) ?? '' });
  } else if (kind.endsWith('_call')) {
    const name = stringOf(field(payload, 'name')) ?? kind.replace(/_call$/, '');
    run.call(idOf(field(payload, 'call_id')), { name: toolName(name), input: inputOf(field(payload, 'arguments') ?? field(payload, 'input') ?? field(payload, 'action')), result: null, isError: false });
    // The search runs at the provider, and what it found is part of the response.
    if (kind === 'web_search_call') run.answerLast('(searched)');
  } else run.skip(`item ${kind}`, payload);
  return true;
}

/** input_tokens has the cached ones in it. */
function readUsage(usage: unknown, run: Conversation): void {
  const number = (key: string): number => tokensOf(field(usage, key));
  run.usage({
    inputTokens: Math.max(0, number('input_tokens') - number('cached_input_tokens')),
    outputTokens: number('output_tokens'),
    cachedInputTokens: number('cached_input_tokens'),
  });
}
