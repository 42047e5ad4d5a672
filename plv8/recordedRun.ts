// A recorded agent run in one shape, whatever wrote it: the text of a trajectory file in, its model calls out, in order,
// each with the calls it made and what they were answered. README.md says how they are counted.

import { isClaudeCode, readClaudeCode } from './claudeCode.ts';
import { isCodex, readCodex } from './codex.ts';
import { isCopilot, readCopilot } from './copilot.ts';
import { parseJsonLines } from './jsonLines.ts';
import { readMiniSweAgent } from './miniSweAgent.ts';
import { field, stringOf, toolName } from './reading.ts';
import type { Reading, RecordedCall, RecordedExchange, RecordedRun } from './reading.ts';
import { readSweAgent } from './sweAgent.ts';

export type { RecordedCall, RecordedExchange, RecordedRun } from './reading.ts';

type OpenExchange = RecordedExchange & { ids: (string | null)[]; hasToolCalls: boolean };

/** The step that an agent which keeps a ledger would let ride with each exchange, after every so many calls; null: none. */
export function stepsOf(run: RecordedRun, closeEvery: number): (string | null)[] {
  let open: string[] = [];
  return run.exchanges.map(({ calls }) => {
    const isDue = open.length >= closeEvery;
    const step = isDue ? `Did ${open.length} calls: ${[...new Set(open)].join(', ')}.`.slice(0, 80) : null;
    open = [...(isDue ? [] : open), ...calls.map((call) => call.name)];
    return step;
  });
}

const lineFormats = [
  { isIt: isClaudeCode, read: readClaudeCode },
  { isIt: isCodex, read: readCodex },
  { isIt: isCopilot, read: readCopilot },
];

/**
 * Parses a recorded run of Claude Code, Codex CLI, GitHub Copilot CLI (JSON lines), mini-swe-agent or SWE-agent (one JSON
 * document), told apart by content. Throws an Error that says what is wrong with any other.
 */
export function parseRecordedRun(text: string): RecordedRun {
  const { values, broken } = parseJsonLines(text);
  const format = lineFormats.find(({ isIt }) => isIt(values));
  if (format) {
    const run = format.read(values);
    return broken.length === 0 ? run : { ...run, skipped: [...run.skipped, { reason: 'line that is no JSON', count: broken.length }] };
  }
  const document = parseJson(text);
  const isList = (key: string): boolean => Array.isArray(field(document, key));
  if (isList('messages') && isMiniSweAgent(document)) return walk(readMiniSweAgent(document));
  if (isList('history') || isList('trajectory')) return walk(readSweAgent(document));
  const keys = typeof document === 'object' && document !== null ? Object.keys(document).slice(0, 8).join(', ') : typeof document;
  throw new Error(`not a recorded run: neither mini-swe-agent (a list "messages") nor SWE-agent (a list "history" or "trajectory"), but: ${keys || 'an empty object'}`);
}

/** Its early versions wrote no trajectory_format, but how the run ended. */
function isMiniSweAgent(document: unknown): boolean {
  const format = field(document, 'trajectory_format');
  return format === undefined ? field(document, 'info', 'exit_status') !== undefined : (stringOf(format)?.startsWith('mini-swe-agent') ?? false);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new Error(`not a recorded run: neither lines of Claude Code, Codex or Copilot nor one JSON document (${error instanceof Error ? error.message : String(error)})`, { cause: error });
  }
}

function walk(reading: Reading): RecordedRun {
  const skipped = new Map<string, number>();
  const skip = (reason: string): unknown => skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
  const system: string[] = [];
  const prompt: string[] = [];
  const exchanges: OpenExchange[] = [];
  for (const message of reading.messages) {
    const reason = reading.skipReason(message);
    if (reason !== null) {
      skip(reason);
      continue;
    }
    const role = field(message, 'role');
    const text = textOf(field(message, 'content'), skip);
    const current = exchanges.at(-1);
    if (role === 'assistant') exchanges.push(openExchange(message, text, reading));
    else if (role === 'system' && !current) system.push(text);
    else if (role === 'user' && !current) prompt.push(text);
    else if (role === 'tool' && current) answerById(current, message, text, reading, skip);
    else if (role === 'user' && current) answerInText(current, text, reading);
    else skip(`message with role ${typeof role === 'string' ? role : 'unknown'} that has no place here`);
  }
  if (exchanges.length === 0) throw new Error(`the recorded ${reading.format} run has no model call`);
  dropEnd(exchanges.at(-1), reading, skip);
  const { format, model, outcome } = reading;
  return {
    format,
    model,
    system: system.join('\n\n'),
    prompt: prompt.join('\n\n'),
    exchanges: exchanges.map(({ ids: _ids, hasToolCalls: _has, ...exchange }) => exchange),
    outcome,
    skipped: [...skipped].map(([reason, count]) => ({ reason, count })),
  };
}

function openExchange(message: unknown, text: string, reading: Reading): OpenExchange {
  const toolCalls = field(message, 'tool_calls');
  const hasToolCalls = Array.isArray(toolCalls) && toolCalls.length > 0;
  const usage = reading.usage(message);
  if (!hasToolCalls) return { text, calls: reading.callsInText(message, text), usage, ids: [], hasToolCalls };
  const calls = toolCalls.map((call: unknown): RecordedCall => ({
    name: toolName(stringOf(field(call, 'function', 'name')) ?? ''),
    input: inputOf(field(call, 'function', 'arguments')),
    result: null,
    isError: false,
  }));
  return { text, calls, usage, ids: toolCalls.map((call: unknown) => stringOf(field(call, 'id'))), hasToolCalls };
}

/** A tool message answers the calls whose ids it names. Ids repeat within a file, so only the exchange before it is asked. */
function answerById(exchange: OpenExchange, message: unknown, text: string, reading: Reading, skip: (reason: string) => unknown): void {
  const named = field(message, 'tool_call_ids') ?? [field(message, 'tool_call_id')];
  const ids: unknown[] = Array.isArray(named) ? named : [];
  const answered = exchange.calls.filter((call, index) => call.result === null && ids.includes(exchange.ids[index]));
  for (const call of answered) settle(call, text, reading);
  if (answered.length === 0) skip('result without a call');
}

/** Before function calling, results came as user messages: the first one after a call is its result, all others are talk. */
function answerInText(exchange: OpenExchange, text: string, reading: Reading): void {
  const call = exchange.hasToolCalls ? undefined : exchange.calls.find((one) => one.result === null);
  if (call) settle(call, text, reading);
  else if (text !== '') exchange.followUp = exchange.followUp === undefined ? text : `${exchange.followUp}\n\n${text}`;
}

function settle(call: RecordedCall, text: string, reading: Reading): void {
  call.result = text;
  call.isError ||= reading.isFailure(text);
}

/** A submit at the end that nothing answers is how the run ended, no call: the model's text stays, without it. */
function dropEnd(last: OpenExchange | undefined, reading: Reading, skip: (reason: string) => unknown): void {
  const [call, ...others] = last?.calls ?? [];
  if (!last || !call || others.length > 0 || call.result !== null || !reading.endsRun(call)) return;
  last.calls = [];
  skip('submit that ended the run and has no answer');
}

function textOf(content: unknown, skip: (reason: string) => unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.flatMap((block: unknown) => {
    const text = stringOf(field(block, 'text'));
    if (text === null) skip(`content block of type ${stringOf(field(block, 'type')) ?? 'unknown'}`);
    return text ?? [];
  }).join('\n');
}

/** Arguments are a JSON object as text; what the model wrote instead of one is kept as it is. */
function inputOf(given: unknown): Record<string, unknown> {
  try {
    const input: unknown = typeof given === 'string' ? JSON.parse(given) : given;
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input as Record<string, unknown>;
  } catch {
    // The model wrote no JSON.
  }
  return { arguments: given ?? null };
}
