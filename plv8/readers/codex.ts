// Reads Codex CLI's rollouts: JSON lines {timestamp, type, payload}. response_item records are the conversation; event_msg records repeat
// it for the screen and are read only for token counts.

import { Conversation } from './conversation.ts';
import { codexFailure } from './harnessText.ts';
import { field, idOf, newCall, stringOf, usageOf } from './reading.ts';
import type { RecordReader } from './reading.ts';

/** Texts that the client writes in the user's role. */
const harnessText =
  /^\s*(?:# AGENTS\.md instructions|<(?:permissions|environment_context|user_instructions|INSTRUCTIONS|turn_aborted|skill|subagent_notification|user_shell_command)\b)/;
export function isCodex(record: unknown): boolean {
  return (
    field(record, 'type') === 'session_meta' ||
    (field(record, 'type') === 'response_item' && field(record, 'payload', 'type') !== undefined)
  );
}

export function readCodex(): RecordReader {
  const run = new Conversation('codex');
  let total = '';
  let model: string | null = null;
  /** The items of a response follow each other; anything that the model is told in between starts the next response. */
  let isResponding = false;
  return run.reader((record) => {
    const type = stringOf(field(record, 'type')) ?? 'unknown';
    const payload = field(record, 'payload');
    const kind = stringOf(field(payload, 'type')) ?? 'unknown';
    if (type === 'session_meta') readMeta(payload, run);
    else if (type === 'turn_context') {
      model = stringOf(field(payload, 'model')) ?? model;
      run.model ??= model;
    } else if (type === 'event_msg' && kind === 'token_count') {
      const counted = JSON.stringify(field(payload, 'info', 'total_token_usage')) ?? '';
      // The same total twice means that the same call is reported twice.
      if (counted !== '' && counted !== total) readUsage(field(payload, 'info', 'last_token_usage'), run);
      if (counted !== '') total = counted;
      isResponding = run.isUncounted = false;
    } else if (type === 'event_msg' && (kind === 'turn_aborted' || kind === 'task_complete')) {
      run.outcome = kind === 'turn_aborted' ? 'aborted' : 'completed';
      run.isUncounted = false;
    } else if (type === 'response_item') {
      isResponding = readItem(kind, payload, run, isResponding);
      const at = run.time(field(record, 'timestamp'));
      if (isResponding && at !== null) run.current().at ??= at;
      if (isResponding && model !== null && model !== run.model) run.current().model = model;
    } else if (type === 'compacted') {
      run.compacted(
        stringOf(field(payload, 'message')) ||
          keptText(field(payload, 'replacement_history'), run) ||
          '(The record keeps no summary of what came before.)',
      );
      run.skip('record of type compacted', record);
    } else if (type === 'event_msg') run.skip(`event ${kind}`); // a copy for the screen
    else run.skip(`record of type ${type}`, record);
  });
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
    const text = run.textOf(field(payload, 'content'));
    run.said(text, role !== 'user' || harnessText.test(text));
    return false;
  }
  if (kind.endsWith('_output')) {
    const output = field(payload, kind === 'tool_search_output' ? 'tools' : 'output');
    const text = typeof output === 'string' ? output : (JSON.stringify(output) ?? '');
    run.result(idOf(field(payload, 'call_id')), text, codexFailure.test(text));
    return false;
  }
  if (kind !== 'message' && kind !== 'reasoning' && !kind.endsWith('_call')) {
    run.skip(`item ${kind}`, payload);
    return isResponding;
  }
  const exchange = isResponding ? run.current() : run.exchange(null);
  run.isUncounted = true; // its tokens are recorded after its calls have ended
  if (kind === 'message') exchange.text = [exchange.text, run.textOf(field(payload, 'content'))].filter((text) => text !== '').join('\n\n');
  else if (kind === 'reasoning') {
    const summary = field(payload, 'summary');
    const thinking = Array.isArray(summary) ? summary.map((part: unknown) => stringOf(field(part, 'text')) ?? '').join('\n') : '';
    run.thought(exchange, thinking, stringOf(field(payload, 'encrypted_content')) ?? '');
  } else {
    const call = newCall(
      stringOf(field(payload, 'name')) ?? kind.replace(/_call$/, ''),
      field(payload, 'arguments') ?? field(payload, 'input') ?? field(payload, 'action'),
    );
    // The search runs at the provider, and its results are part of the response.
    run.call(idOf(field(payload, 'call_id')), kind === 'web_search_call' ? { ...call, result: '(searched)' } : call, exchange);
  }
  return true;
}

/** input_tokens includes the cached ones. */
function readUsage(usage: unknown, run: Conversation): void {
  run.usage(usageOf(field(usage, 'input_tokens'), field(usage, 'cached_input_tokens'), field(usage, 'output_tokens'), run.wrongCount));
}

/** The text that a compaction kept, if it is readable. */
function keptText(history: unknown, run: Conversation): string {
  const kept = Array.isArray(history) ? (history as unknown[]).map((item) => run.textOf(field(item, 'content'))) : [];
  return kept
    .filter((text) => text !== '' && !harnessText.test(text))
    .join('\n\n')
    .slice(0, 200_000);
}
