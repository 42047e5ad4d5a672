// Claude Code's session files: JSON lines, one for each content block, in the order in which they were written. The
// parents that records name make false forks of parallel calls, so the order of the file is the order of the run.

import { conversation, field, stringOf, timeOf, toolName } from './reading.ts';
import type { Conversation, RecordedCall, RecordedRun } from './reading.ts';

export function isClaudeCode(records: readonly unknown[]): boolean {
  return records.some((record) => {
    const type = field(record, 'type');
    return (type === 'user' || type === 'assistant') && field(record, 'message') !== undefined && typeof field(record, 'sessionId') === 'string';
  });
}

/** The main thread; a subagent's own file (all of it sidechain) is its main thread. */
export function readClaudeCode(records: readonly unknown[]): RecordedRun {
  const run = conversation('claude-code');
  const isSidechainFile = records.every((record) => field(record, 'message') === undefined || field(record, 'isSidechain') === true);
  const seen = new Set<string>();
  const last = records.findLast((record) => stringOf(field(record, 'sessionId')) !== null);
  const agent = isSidechainFile ? stringOf(field(last, 'agentId')) : null;
  const session = stringOf(field(last, 'sessionId'));
  if (session !== null) run.sessionId = agent === null ? session : `${session}#${agent}`;
  const cwd = stringOf(field(last, 'cwd'));
  if (cwd !== null) run.cwd = cwd;
  for (const record of records) {
    const uuid = stringOf(field(record, 'uuid'));
    const type = stringOf(field(record, 'type')) ?? 'unknown';
    // A continued session begins with a copy of the one before.
    if (uuid !== null && seen.has(uuid)) run.skip('repeated record');
    else if (type !== 'user' && type !== 'assistant') run.skip(`record of type ${type}`);
    else if (field(record, 'isSidechain') === true && !isSidechainFile) run.skip('record of a subagent');
    else if (type === 'assistant') readAssistant(record, run);
    else readUser(record, run);
    if (uuid !== null) seen.add(uuid);
  }
  return run.finish();
}

/** Each content block of a message has a line of its own, with the usage of the whole; early versions count the output while it streams. */
function readAssistant(record: unknown, run: Conversation): void {
  const message = field(record, 'message');
  const model = stringOf(field(message, 'model'));
  if (model === '<synthetic>' || field(record, 'isApiErrorMessage') === true) return run.skip('message written by the client');
  const exchange = run.exchange(stringOf(field(message, 'id')));
  const at = timeOf(field(record, 'timestamp'));
  if (at !== null) exchange.at ??= at;
  if (model !== null) run.model ??= model;
  const number = (key: string): number => {
    const count = field(message, 'usage', key);
    return typeof count === 'number' ? count : 0;
  };
  if (field(message, 'usage') !== undefined) {
    exchange.usage = {
      inputTokens: number('input_tokens') + number('cache_creation_input_tokens'),
      outputTokens: Math.max(exchange.usage?.outputTokens ?? 0, number('output_tokens')),
      cachedInputTokens: number('cache_read_input_tokens'),
    };
  }
  const content = field(message, 'content');
  for (const block of Array.isArray(content) ? (content as unknown[]) : []) {
    const type = field(block, 'type');
    const text = stringOf(field(block, 'text'));
    if (type === 'text' && text !== null) exchange.text = exchange.text === '' ? text : `${exchange.text}\n\n${text}`;
    else if (type === 'thinking') {
      (exchange.thinking ??= []).push({ thinking: stringOf(field(block, 'thinking')) ?? '', signature: stringOf(field(block, 'signature')) ?? '' });
    } else if (type === 'tool_use') {
      const input = field(block, 'input');
      const call: RecordedCall = {
        name: toolName(stringOf(field(block, 'name')) ?? ''),
        input: typeof input === 'object' && input !== null && !Array.isArray(input) ? (input as Record<string, unknown>) : { input: input ?? null },
        result: null,
        isError: false,
      };
      run.call(stringOf(field(block, 'id')), call);
    } else run.skip(`content block of type ${stringOf(type) ?? 'unknown'}`);
  }
}

function readUser(record: unknown, run: Conversation): void {
  // What stands for the conversation after a compaction is not part of it.
  const content = field(record, 'message', 'content');
  if (field(record, 'isCompactSummary') === true) {
    run.compacted(typeof content === 'string' ? content : resultText(content, run));
    return run.skip('summary of a compaction');
  }
  if (typeof content === 'string') return run.said(content);
  const texts: string[] = [];
  for (const block of Array.isArray(content) ? (content as unknown[]) : []) {
    const type = field(block, 'type');
    const text = stringOf(field(block, 'text'));
    if (type === 'tool_result') run.result(stringOf(field(block, 'tool_use_id')), resultText(field(block, 'content'), run), field(block, 'is_error') === true);
    else if (type === 'text' && text !== null) texts.push(text);
    else run.skip(`content block of type ${stringOf(type) ?? 'unknown'}`);
  }
  run.said(texts.join('\n\n'));
}

function resultText(content: unknown, run: Conversation): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((block: unknown) => {
    const text = stringOf(field(block, 'text'));
    if (text === null) run.skip(`result block of type ${stringOf(field(block, 'type')) ?? 'unknown'}`);
    return text ?? `[${stringOf(field(block, 'type')) ?? 'unknown'}]`;
  }).join('\n');
}
