// Reads Claude Code's session files: JSON lines, one for each content block, in the order in which they were written. The parents that
// records name turn parallel calls into false forks, so the order of the file is taken as the order of the run; parents only show where
// someone went back, and which records of a subagent belong together.

import { Conversation } from './conversation.ts';
import type { Place } from './conversation.ts';
import { field, idOf, newCall, stringOf, tokensOf } from './reading.ts';
import type { RecordedExchange, RecordedRun, RecordReader, ResponseRecord } from './reading.ts';

export function isClaudeCode(record: unknown): boolean {
  const type = field(record, 'type');
  return (
    (type === 'user' || type === 'assistant') && field(record, 'message') !== undefined && typeof field(record, 'sessionId') === 'string'
  );
}

const spawningTools = new Set(['Task', 'Agent']);
/** Texts that the client writes in the user's role. */
const harnessText =
  /^\s*(?:<(?:command-name|command-message|command-args|local-command-stdout|local-command-stderr|local-command-caveat|bash-input|bash-stdout|bash-stderr|task-notification|system-reminder|ide_\w+)>|\[Request interrupted by user|Caveat: The messages below)/;

/** `sessionId`: the session to read. A subagent's own file holds only its session. */
export function readClaudeCode(sessionId?: string): RecordReader {
  return new ClaudeCodeReader(sessionId);
}

class ClaudeCodeReader implements RecordReader {
  readonly #sessionId: string | undefined;
  readonly #main = new Conversation('claude-code');
  /** By agentId, or by their order if the records do not name them. */
  readonly #agents = new Map<string, Conversation>();
  /** For each record, the newest exchange of the main thread at that moment, and the number of exchanges. */
  readonly #places = new Map<string, { exchange: Place | null; count: number }>();
  /** The subagent of each record, for records that do not name it. */
  readonly #agentOf = new Map<string, string>();
  /** When a human first wrote a message after a record. */
  readonly #spokenAfter = new Map<string, string | null>();
  #hasTaken = false;

  constructor(sessionId: string | undefined) {
    this.#sessionId = sessionId;
  }

  take(isEnd: boolean): RecordedRun[] {
    const threads = this.#threads();
    if (isEnd && !this.#hasTaken && threads.every((thread) => thread.count === 0)) this.#main.takeWhole(isEnd);
    this.#hasTaken = true;
    return threads.flatMap((thread) => (thread.count === 0 ? null : thread.take(isEnd)) ?? []);
  }

  peek(): RecordedRun[] {
    return this.#threads().flatMap((thread) => thread.peek() ?? []);
  }

  isWaiting(): boolean {
    return this.#main.openCalls().length > 0;
  }

  /** The session and its subagents, with their ids set. */
  #threads(): Conversation[] {
    return [[null, this.#main] as const, ...this.#agents].map(([agent, thread]) => {
      const session = this.#sessionId ?? this.#main.sessionId ?? thread.sessionId;
      if (session !== undefined) thread.sessionId = agent === null ? session : `${session}#${agent}`;
      if (session !== undefined && agent !== null) thread.parentSessionId = session;
      return thread;
    });
  }

  keep(reason: string, text: string, line: number): void {
    this.#main.keep(reason, text, line);
  }

  read(record: unknown, line: number): void {
    const uuid = idOf(field(record, 'uuid'));
    const type = stringOf(field(record, 'type')) ?? 'unknown';
    const isMessage = type === 'user' || type === 'assistant';
    const thread =
      field(record, 'isSidechain') === true && (isMessage || field(record, 'agentId') !== undefined)
        ? this.#agentThread(record, uuid)
        : this.#main;
    thread.line = this.#main.line = line;
    // A continued session begins with a copy of the previous one.
    if (uuid !== null && this.#places.has(uuid)) return thread.skip('repeated record');
    if (type === 'attachment' && readAttachment(record, thread)) {
      // recorded as a message
    } else if (type === 'progress') thread.skip('record of type progress'); // hook output for the screen; copies of subagents
    else if (!isMessage) thread.skip(`record of type ${type}`, record);
    else {
      thread.sessionId ??= idOf(field(record, 'sessionId')) ?? undefined;
      thread.cwd ??= stringOf(field(record, 'cwd')) ?? undefined;
      if (type === 'assistant') readAssistant(record, uuid, thread, this.#missedBefore(record));
      else this.#readUser(record, uuid, thread);
    }
    if (uuid !== null) this.#places.set(uuid, { exchange: this.#main.last, count: this.#main.count });
  }

  /** The id of the record that this one continues, if that record is missing. */
  #missedBefore(record: unknown): string | null {
    const parent = idOf(field(record, 'parentUuid'));
    return parent !== null && this.#places.has(parent) ? null : parent;
  }

  /** The subagent that a record belongs to. Early versions do not name it, but each has a separate root record. */
  #agentThread(record: unknown, uuid: string | null): Conversation {
    const parent = idOf(field(record, 'parentUuid'));
    const known =
      idOf(field(record, 'agentId')) ??
      (parent === null ? undefined : this.#agentOf.get(parent)) ??
      (field(record, 'type') === 'user' ? undefined : [...this.#agents.keys()].at(-1));
    const agent = known ?? String(this.#agents.size + 1);
    if (uuid !== null) this.#agentOf.set(uuid, agent);
    const thread = this.#agents.get(agent) ?? new Conversation('claude-code');
    if (!this.#agents.has(agent)) {
      this.#agents.set(agent, thread);
      // The subagent's prompt is the only link to the call that started it.
      const prompt = field(record, 'message', 'content');
      const call = this.#main
        .openCalls()
        .find((one) => spawningTools.has(one.name) && one.spawns === undefined && one.input['prompt'] === prompt);
      if (call) call.spawns = agent;
    }
    return thread;
  }

  #readUser(record: unknown, uuid: string | null, thread: Conversation): void {
    const content = field(record, 'message', 'content');
    // The summary of a compaction is not part of the conversation.
    if (field(record, 'isCompactSummary') === true) {
      thread.compacted(thread.textOf(content));
      return thread.skip('summary of a compaction');
    }
    const texts: string[] = typeof content === 'string' ? [content] : [];
    let hasImage = false;
    for (const block of Array.isArray(content) ? (content as unknown[]) : []) {
      const type = field(block, 'type');
      const text = stringOf(field(block, 'text'));
      if (type === 'tool_result') this.#readResult(record, block, thread);
      else if (type === 'text' && text !== null) texts.push(text);
      else if (thread.image(block)) hasImage = true;
      else thread.skip(`content block of type ${stringOf(type) ?? 'unknown'}`, block);
    }
    if (texts.length === 0 && !hasImage) return;
    const isByHarness = field(record, 'isMeta') === true || texts.every((text) => harnessText.test(text));
    if (thread === this.#main && (!isByHarness || texts.some((text) => text.startsWith('<command-')))) this.#notice(record, uuid);
    thread.said(texts.join('\n\n'), isByHarness);
  }

  /** A second message from a human after the same record, at another time, means that someone went back to that point. */
  #notice(record: unknown, uuid: string | null): void {
    const parent = idOf(field(record, 'parentUuid'));
    if (parent === null || uuid === null) return;
    const at = stringOf(field(record, 'timestamp'));
    const place = this.#places.get(parent);
    if (!this.#spokenAfter.has(parent)) this.#spokenAfter.set(parent, at);
    else if (
      place &&
      place.count < this.#main.count &&
      (place.exchange?.id !== undefined || place.count === 0) &&
      this.#spokenAfter.get(parent) !== at
    )
      this.#main.goBackTo(place.exchange);
  }

  #readResult(record: unknown, block: unknown, thread: Conversation): void {
    const text = resultText(field(block, 'content'), thread);
    const call = thread.result(idOf(field(block, 'tool_use_id')), text, field(block, 'is_error') === true);
    const agent = idOf(field(record, 'toolUseResult', 'agentId'));
    const named = call && spawningTools.has(call.name) ? (agent ?? /\bagentId: ([\w-]{1,200})/.exec(text)?.[1]) : undefined;
    if (call && named !== undefined) call.spawns ??= named;
  }
}

/**
 * Each content block of a message is on a separate line, with the usage of the whole; early versions count output tokens while streaming.
 */
function readAssistant(record: unknown, uuid: string | null, run: Conversation, after: string | null): void {
  const message = field(record, 'message');
  const model = stringOf(field(message, 'model'));
  if (model === '<synthetic>' || field(record, 'isApiErrorMessage') === true) return run.skip('message written by the client', record);
  const exchange = run.exchange(stringOf(field(message, 'id')));
  if (uuid !== null) exchange.id ??= uuid;
  if (model !== null && model !== run.model && run.model !== null) exchange.model = model;
  const at = run.time(field(record, 'timestamp'));
  if (at !== null) exchange.at ??= at;
  if (model !== null) run.model ??= model;
  const number = (key: string): number => tokensOf(field(message, 'usage', key), run.wrongCount);
  if (field(message, 'usage') !== undefined) {
    exchange.usage = {
      inputTokens: number('input_tokens') + number('cache_creation_input_tokens'),
      outputTokens: Math.max(exchange.usage?.outputTokens ?? 0, number('output_tokens')),
      cachedInputTokens: number('cache_read_input_tokens'),
    };
  }
  const before = sizesOf(exchange);
  const texts: string[] = [];
  const content = field(message, 'content');
  for (const block of typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : Array.isArray(content)
      ? (content as unknown[])
      : []) {
    const type = field(block, 'type');
    const text = stringOf(field(block, 'text'));
    if (type === 'text' && text !== null) {
      exchange.text = exchange.text === '' ? text : `${exchange.text}\n\n${text}`;
      texts.push(text);
    } else if (type === 'thinking')
      run.thought(exchange, stringOf(field(block, 'thinking')) ?? '', stringOf(field(block, 'signature')) ?? '');
    else if (type === 'tool_use') run.call(idOf(field(block, 'id')), newCall(field(block, 'name'), field(block, 'input')), exchange, uuid);
    else run.skip(`content block of type ${stringOf(type) ?? 'unknown'}`, block);
  }
  noteRecord(exchange, uuid, before, { ...(texts.length > 0 && { text: texts.join('\n\n') }), ...(after !== null && { after }) });
}

const sizesOf = ({ text, thinking = [], calls }: RecordedExchange): { thoughts: number; calls: number; isEmpty: boolean } => ({
  thoughts: thinking.length,
  calls: calls.length,
  isEmpty: text === '' && thinking.length + calls.length === 0,
});

/** Notes what a record added to a response, unless any of its records has no id: then they cannot be told apart. */
function noteRecord(
  exchange: RecordedExchange,
  id: string | null,
  before: ReturnType<typeof sizesOf>,
  of: Pick<ResponseRecord, 'text' | 'after'>,
): void {
  if (id === null) delete exchange.records;
  else if (exchange.records !== undefined || before.isEmpty) {
    const after = sizesOf(exchange);
    const [thoughts, calls] = [after.thoughts - before.thoughts, after.calls - before.calls];
    (exchange.records ??= []).push({ id, ...of, ...(thoughts > 0 && { thoughts }), ...(calls > 0 && { calls }) });
  }
}

function resultText(content: unknown, run: Conversation): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .flatMap((block: unknown) => {
      const text = stringOf(field(block, 'text'));
      if (text === null && run.image(block)) return [];
      if (text === null) run.skip(`result block of type ${stringOf(field(block, 'type')) ?? 'unknown'}`, block);
      return text ?? `[${stringOf(field(block, 'type')) ?? 'unknown'}]`;
    })
    .join('\n');
}

/**
 * What the model saw besides messages: prompts typed while it worked, files that changed or were attached, memory. False if it is none of
 * these.
 */
function readAttachment(record: unknown, run: Conversation): boolean {
  const attachment = field(record, 'attachment');
  const [file, content] = [
    stringOf(field(attachment, 'filename')) ?? stringOf(field(attachment, 'path')) ?? '',
    field(attachment, 'content'),
  ];
  switch (field(attachment, 'type')) {
    case 'queued_command': {
      const prompt = run.textOf(field(attachment, 'prompt'));
      const origin = field(attachment, 'origin', 'kind') ?? (field(attachment, 'commandMode') === 'prompt' ? 'human' : 'client');
      run.said(prompt, origin !== 'human' || harnessText.test(prompt));
      return prompt.trim() !== '';
    }
    case 'edited_text_file':
      return attach(run, `The file ${file} has changed:`, field(attachment, 'snippet') ?? content);
    case 'file':
      return attach(run, `The file ${file}:`, field(content, 'file', 'content') ?? content);
    case 'nested_memory':
      return attach(run, `The memory file ${file}:`, field(content, 'content') ?? content);
    default:
      return false;
  }
}

function attach(run: Conversation, title: string, content: unknown): boolean {
  if (typeof content !== 'string' || content.trim() === '') return false;
  run.said(`${title}\n\n${content}`, true);
  return true;
}
