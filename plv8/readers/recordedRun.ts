// Recorded agent runs in one shape for all formats: from the text of a trajectory file to its model calls in order, each with its tool
// calls and their results. README.md says how they are counted.

import { parseJson } from '../anyJson.ts';
import { isAtif, readAtif } from './atif.ts';
import { isClaudeCode, readClaudeCode } from './claudeCode.ts';
import { isCodex, readCodex } from './codex.ts';
import { isCopilot, readCopilot } from './copilot.ts';
import { isGeminiCli, isGeminiLine, readGeminiCli, readGeminiLines } from './geminiCli.ts';
import { valuesOfLine } from './jsonLines.ts';
import { readMiniSweAgent } from './miniSweAgent.ts';
import { isPi, readPi } from './pi.ts';
import { field, idOf, inOrder, newCall, stringOf } from './reading.ts';
import type { Reading, RecordedCall, RecordedExchange, RecordedRun, RecordReader } from './reading.ts';
import { refusalOf, refusalOfText } from './refusal.ts';
import { readSweAgent } from './sweAgent.ts';

export type { RecordedCall, RecordedExchange, RecordedRun } from './reading.ts';

type OpenExchange = RecordedExchange & { ids: (string | null)[]; hasToolCalls: boolean };

/** For each exchange, the step that an agent with a ledger would write next to it, one after every `closeEvery` calls; null: none. */
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
  { isIt: isPi, read: readPi },
  { isIt: isGeminiLine, read: readGeminiLines },
];
const MAX_UNTOLD = 10_000;

type ReadLine = { record: unknown; line: number } | { kept: string; reason: string; line: number };

/**
 * Reads a file of JSON lines line by line: Claude Code, Codex CLI, GitHub Copilot CLI, pi, Gemini CLI, recognised by content. `sessionId`:
 * for Claude Code, which session to read if the file holds several.
 */
export class LinesReader {
  readonly #sessionId: string | undefined;
  /** The lines before the first record from which the format can be recognised. */
  #untold: ReadLine[] = [];
  #reader: RecordReader | undefined;
  #line = 0;

  constructor(sessionId?: string) {
    this.#sessionId = sessionId;
  }

  /** False if nothing read so far belongs to any of these formats. */
  get isTold(): boolean {
    return this.#reader !== undefined;
  }

  /** Whether there is no point in reading on. */
  get isHopeless(): boolean {
    return !this.isTold && this.#untold.length > MAX_UNTOLD;
  }

  /**
   * Reads one line. `isUnfinished`: it is the last one and has no newline, so a rest that is not JSON may only be incomplete and is
   * ignored.
   */
  read(text: string, isUnfinished = false): void {
    const line = ++this.#line;
    const { values, rest, odd } = valuesOfLine(text);
    for (const record of values) this.#pass({ record, line });
    if (odd !== null) this.#pass({ kept: text, reason: odd, line });
    if (rest !== null && !isUnfinished) this.#pass({ kept: rest, reason: 'line that is no JSON', line });
  }

  /** What was read since the last call: the session first, then its subagents. */
  take(isEnd: boolean): RecordedRun[] {
    return this.#reader?.take(isEnd) ?? [];
  }

  /** What take() is still holding back, in its current state. `isEnd`: nothing more arrives for a while. */
  peek(isEnd = false): RecordedRun[] {
    return this.#reader?.peek(isEnd) ?? [];
  }

  /** Whether any call has no result yet. */
  get isWaiting(): boolean {
    return this.#reader?.isWaiting() ?? false;
  }

  #pass(one: ReadLine): void {
    this.#untold.push(one);
    if ('record' in one) this.#reader ??= lineFormats.find(({ isIt }) => isIt(one.record))?.read(this.#sessionId);
    if (!this.#reader) return;
    for (const each of this.#untold) {
      if ('record' in each) this.#reader.read(each.record, each.line);
      else this.#reader.keep(each.reason, each.kept, each.line);
    }
    this.#untold = [];
  }
}

/**
 * Parses the recorded runs in a file of Claude Code, Codex CLI, GitHub Copilot CLI, pi, Gemini CLI (JSON lines), mini-swe-agent,
 * SWE-agent, earlier Gemini CLI or ATIF (one JSON document), recognised by content: the session first, then its subagents. For any other
 * file, throws an Error that says what is wrong with it.
 */
export function parseRecordedRuns(text: string): RecordedRun[] {
  const lines = text.split('\n');
  const reader = new LinesReader(lastSessionId(lines));
  lines.forEach((line, n) => reader.read(line, n === lines.length - 1));
  if (reader.isTold) return reader.take(true);
  const { value, odd } = parseDocument(text);
  return readDocument(value).map((run) => (odd === null ? run : { ...run, skipped: [...run.skipped, { reason: odd, count: 1 }] }));
}

function readDocument(document: unknown): RecordedRun[] {
  const isList = (key: string): boolean => Array.isArray(field(document, key));
  if (isAtif(document)) return readAtif(document);
  if (isGeminiCli(document)) return readGeminiCli(document);
  if (isList('messages') && isMiniSweAgent(document)) return [walk(readMiniSweAgent(document))];
  if (isList('history') || isList('trajectory')) return [walk(readSweAgent(document))];
  throw new Error(refusalOf(document));
}

/** The session of a file, without its subagents. */
export function parseRecordedRun(text: string): RecordedRun {
  const [run] = parseRecordedRuns(text);
  if (!run) throw new Error('not a recorded run: the file is empty');
  return run;
}

/** For Claude Code: the session that the last lines of a file belong to. Earlier lines may be copies from another session. */
export function lastSessionId(lines: readonly string[]): string | undefined {
  for (let n = lines.length - 1; n >= 0; n--) {
    if (!lines[n]?.includes('"sessionId"')) continue;
    const id = idOf(field(valuesOfLine(lines[n] ?? '').values.at(-1), 'sessionId'));
    if (id !== null) return id;
  }
  return undefined;
}

/** Early versions did not write trajectory_format, but did write how the run ended. */
function isMiniSweAgent(document: unknown): boolean {
  const format = field(document, 'trajectory_format');
  return format === undefined
    ? field(document, 'info', 'exit_status') !== undefined
    : (stringOf(format)?.startsWith('mini-swe-agent') ?? false);
}

function parseDocument(text: string): { value: unknown; odd: string | null } {
  try {
    return parseJson(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new Error(refusalOfText(text), { cause: error });
  }
}

function walk(reading: Reading): RecordedRun {
  const skipped = new Map<string, number>();
  const skip = (reason: string): unknown => skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
  const system: string[] = [];
  const prompt: string[] = [];
  const exchanges: OpenExchange[] = [];
  let shown = '';
  for (const message of reading.messages) {
    const reason = reading.skipReason(message);
    if (reason !== null) {
      skip(reason);
      continue;
    }
    const role = field(message, 'role');
    const text = textOf(field(message, 'content'), skip);
    const current = exchanges.at(-1);
    if (role === 'assistant') exchanges.push(openExchange(message, text, shown, reading, skip));
    else if (role === 'system' && !current) system.push(text);
    else if (role === 'user' && !current) prompt.push(text);
    else if (role === 'tool' && current) answerById(current, message, text, reading, skip);
    else if (role === 'user' && current) answerInText(current, text, reading);
    else skip(`message with role ${typeof role === 'string' ? role : 'unknown'} that has no place here`);
    if (role !== 'assistant') shown = text;
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
    tools: inOrder(new Set(exchanges.flatMap(({ calls }) => calls.map(({ name }) => name)))),
    outcome,
    skipped: [...skipped].map(([reason, count]) => ({ reason, count })),
  };
}

function openExchange(message: unknown, text: string, shown: string, reading: Reading, skip: (reason: string) => unknown): OpenExchange {
  const toolCalls = field(message, 'tool_calls');
  const asked: unknown[] = Array.isArray(toolCalls) ? toolCalls : [];
  const calls =
    asked.length === 0
      ? reading.callsInText(message, text)
      : asked.map((call) => newCall(field(call, 'function', 'name'), field(call, 'function', 'arguments')));
  for (const call of calls) {
    const file = reading.fileOf?.(call, shown) ?? null;
    if (file !== null) call.file = file;
  }
  return {
    text,
    calls,
    usage: reading.usage(message, () => skip('count of tokens that cannot be')),
    ids: asked.map((call) => stringOf(field(call, 'id'))),
    hasToolCalls: asked.length > 0,
  };
}

/** A tool message answers the calls whose ids it names. Ids repeat within a file, so only the exchange before the message is searched. */
function answerById(exchange: OpenExchange, message: unknown, text: string, reading: Reading, skip: (reason: string) => unknown): void {
  const named = field(message, 'tool_call_ids') ?? [field(message, 'tool_call_id')];
  const ids: unknown[] = Array.isArray(named) ? named : [];
  const waiting = (id: unknown): RecordedCall | undefined =>
    exchange.calls.find((call, n) => call.result === null && exchange.ids[n] === id);
  const answered = new Set(ids.flatMap((id) => waiting(id) ?? []));
  for (const call of answered) settle(call, text, reading);
  if (answered.size === 0) skip('result without a call');
}

/** Before function calling, results came as user messages: the first one after a call is its result, all others are ordinary messages. */
function answerInText(exchange: OpenExchange, text: string, reading: Reading): void {
  const call = exchange.hasToolCalls ? undefined : exchange.calls.find((one) => one.result === null);
  if (call) settle(call, text, reading);
  else if (text !== '') exchange.followUp = exchange.followUp === undefined ? text : `${exchange.followUp}\n\n${text}`;
}

function settle(call: RecordedCall, text: string, reading: Reading): void {
  call.result = text;
  call.isError ||= reading.isFailure(text);
}

/** An unanswered submit at the end marks the end of the run rather than a call: it is removed, while the model's text stays. */
function dropEnd(last: OpenExchange | undefined, reading: Reading, skip: (reason: string) => unknown): void {
  const [call, ...others] = last?.calls ?? [];
  if (!last || !call || others.length > 0 || call.result !== null || !reading.endsRun(call)) return;
  last.calls = [];
  skip('submit that ended the run and has no answer');
}

function textOf(content: unknown, skip: (reason: string) => unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .flatMap((block: unknown) => {
      const text = stringOf(field(block, 'text'));
      if (text === null) skip(`content block of type ${stringOf(field(block, 'type')) ?? 'unknown'}`);
      return text ?? [];
    })
    .join('\n');
}
