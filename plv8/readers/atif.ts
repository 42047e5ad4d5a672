// Reads the Agent Trajectory Interchange Format (Harbor): one document {schema_version, session_id, agent, steps}. A step of the
// agent contains its calls and their results; if it has no calls, its observation is what the agent was told next.

import { isObject } from '../isObject.ts';
import { Conversation } from './conversation.ts';
import { field, idOf, newCall, stringOf, usageOf } from './reading.ts';
import type { RecordedRun } from './reading.ts';
import { kindOf } from './refusal.ts';

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
  /** One reason for each field, which names the first step concerned, so that a long file is reported as briefly as a short one. */
  const firsts = new Map<string, string>();
  for (const [n, step] of (field(document, 'steps') as unknown[]).entries()) {
    const wrong = wrongStep(step);
    if (wrong !== null) {
      const first = firsts.get(wrong.field) ?? `steps[${n}]${wrong.says}`;
      firsts.set(wrong.field, first);
      run.skip(first, step);
      continue;
    }
    const source = field(step, 'source');
    const text = run.textOf(field(step, 'message'));
    if (source === 'agent') readStep(step, text, run);
    else if (field(step, 'extra', 'context_management', 'type') === 'compaction') run.compacted(text);
    else if (source === 'system' && run.count === 0 && run.system === '') run.system = text;
    else run.said(text, source !== 'user');
  }
  return run.takeWhole(true);
}

/** What makes a step unreadable, so that it is left out; null if nothing does. */
function wrongStep(step: unknown): { field: string; says: string } | null {
  if (!isObject(step)) return { field: 'step', says: `, which is ${kindOf(step)} and must be an object` };
  const { source, tool_calls: calls } = step;
  if (source !== 'agent' && source !== 'user' && source !== 'system')
    return {
      field: 'source',
      says: `, whose source is ${source === undefined ? 'missing' : kindOf(source)} and must be "system", "user" or "agent"`,
    };
  if (calls !== undefined && calls !== null && !Array.isArray(calls))
    return { field: 'tool_calls', says: `, whose tool_calls are ${kindOf(calls)} and must be a list` };
  return null;
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
