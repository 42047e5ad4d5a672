// The Agent Trajectory Interchange Format (Harbor): one document {schema_version, session_id, agent, steps}. A step of the
// agent holds its calls and their results; if it has no calls, its observation is what it was told next.

import { Conversation } from './conversation.ts';
import { field, idOf, newCall, stringOf, usageOf } from './reading.ts';
import type { RecordedRun } from './reading.ts';

export function isAtif(document: unknown): boolean {
  return (stringOf(field(document, 'schema_version'))?.startsWith('ATIF') ?? false) && Array.isArray(field(document, 'steps'));
}

export function readAtif(document: unknown): RecordedRun[] {
  const run = new Conversation('atif');
  const session = idOf(field(document, 'session_id'));
  const part = field(document, 'agent', 'extra', 'continuation_index');
  if (session !== null)
    run.sessionId = `${idOf(field(document, 'agent', 'name')) ?? 'agent'}/${session}${typeof part === 'number' ? `/${part}` : ''}`;
  run.model = stringOf(field(document, 'agent', 'model_name'));
  for (const step of field(document, 'steps') as unknown[]) {
    const source = field(step, 'source');
    const text = run.textOf(field(step, 'message'));
    if (source === 'agent') readStep(step, text, run);
    else if (field(step, 'extra', 'context_management', 'type') === 'compaction') run.compacted(text);
    else if (source === 'system' && run.count === 0 && run.system === '') run.system = text;
    else run.said(text, source !== 'user');
  }
  return run.takeWhole(true);
}

function readStep(step: unknown, text: string, run: Conversation): void {
  const exchange = run.exchange(null);
  const at = run.time(field(step, 'timestamp'));
  if (at !== null) exchange.at = at;
  const model = stringOf(field(step, 'model_name'));
  run.model ??= model;
  if (model !== null && model !== run.model) exchange.model = model;
  exchange.text = text;
  const reasoning = stringOf(field(step, 'reasoning_content'));
  if (reasoning !== null) run.thought(exchange, reasoning);
  if (field(step, 'metrics') !== undefined)
    exchange.usage = usageOf(
      field(step, 'metrics', 'prompt_tokens'),
      field(step, 'metrics', 'cached_tokens'),
      field(step, 'metrics', 'completion_tokens'),
      run.wrongCount,
    );
  const calls = field(step, 'tool_calls');
  for (const call of Array.isArray(calls) ? (calls as unknown[]) : [])
    run.call(idOf(field(call, 'tool_call_id')), newCall(field(call, 'function_name'), field(call, 'arguments')), exchange);
  const results = field(step, 'observation', 'results');
  for (const result of Array.isArray(results) ? (results as unknown[]) : []) {
    const id = idOf(field(result, 'source_call_id'));
    if (id === null) run.said(run.textOf(field(result, 'content')), true);
    else run.result(id, run.textOf(field(result, 'content')), false);
  }
}
