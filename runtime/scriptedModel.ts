// A model that says what a script tells it to: the Messages API over HTTP on 127.0.0.1, streaming and not, for tests,
// demonstrations and fault injection. As strict as the real one about what it is sent: a request that breaks a rule
// (validateRequest) is a 400. The reply depends on the transcript alone, so a request repeated after a crash gets the
// same one.

import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import type { ContentBlock, ModelRequest } from './focus/callModel.ts';
import { validateRequest } from './focus/validateRequest.ts';

/** Token counts under the API's names. */
export type ScriptedUsage = {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  output_tokens: number;
  output_tokens_details: { thinking_tokens: number };
};

type PlainReply = {
  /** A tool_use may leave out its id; with `inputJson` in place of `input` it streams that text, however broken. */
  content: ContentBlock[];
  stopReason?: string;
  stopDetails?: unknown;
  usage?: Partial<ScriptedUsage>;
  delayMs?: number;
  chunkDelayMs?: number;
};

export type ScriptedReply =
  | PlainReply
  | { error: { status: number; type: string; message?: string; headers?: Record<string, string> } }
  /** The error comes behind the content. */
  | { midStreamError: { type: string; message?: string }; content?: ContentBlock[] }
  /** The socket is destroyed, before the headers or behind so many events of a short text. */
  | { drop: true; afterEvents?: number }
  /** Headers and pings, for ever. */
  | { stall: true };

export type Position = {
  /** How many assistant messages the request has. */
  exchange: number;
  /** How many requests of this conversation at this exchange came before. */
  attempt: number;
  /** A hash of the first user message: a folded conversation is another one, and begins at its own exchange. */
  conversation: string;
};

export type Script = (request: ModelRequest, position: Position) => ScriptedReply;

export type ScriptedModel = {
  url: string;
  /** All that came in, in order, refused ones too; the body is the text as received. */
  requests: { body: string; headers: IncomingHttpHeaders; at: number }[];
  close(): Promise<void>;
};

type Event = { type: string; [key: string]: unknown };
type Failure = { status: number; type: string; message: string; headers?: Record<string, string> };
type Message = { id: string; model: string; content: ContentBlock[]; stop_reason: string; stop_details: unknown; usage: ScriptedUsage };

const charactersPerToken = 3.5;
const noUsage: ScriptedUsage = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
  output_tokens_details: { thinking_tokens: 0 },
};

/** Answers exchange n with reply n, and everything behind the last one with a short end_turn. */
export function scriptOf(replies: readonly ScriptedReply[]): Script {
  return (_request, { exchange }) => replies[exchange] ?? { content: [{ type: 'text', text: 'Done.' }] };
}

/** Plays the faults of an exchange first, one per attempt, then what the script says. */
export function withFaults(script: Script, faults: Record<number, readonly ScriptedReply[]>): Script {
  return (request, position) => {
    const { attempt } = position;
    const before = faults[position.exchange] ?? [];
    return before[attempt] ?? script(request, { ...position, attempt: attempt - before.length });
  };
}

/** Starts the server on a free port. */
export async function startScriptedModel(script: Script, options: { pingEveryMs?: number } = {}): Promise<ScriptedModel> {
  const requests: ScriptedModel['requests'] = [];
  const attempts = new Map<string, number>();
  const prompts = new Map<string, string>();
  const closed = new AbortController();

  const respond = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(incoming);
    requests.push({ body, headers: incoming.headers, at: Date.now() });
    const requestId = `req_scripted_${requests.length}`;
    response.setHeader('request-id', requestId);
    const asked = readRequest(incoming, body);
    if ('status' in asked) return sendFailure(response, asked);

    const { request, isStreaming } = asked;
    const conversation = conversationOf(request);
    const exchange = request.messages.filter((message) => message.role === 'assistant').length;
    const attempt = attempts.get(`${conversation} ${exchange}`) ?? 0;
    attempts.set(`${conversation} ${exchange}`, attempt + 1);
    const position: Position = { exchange, attempt, conversation };
    const reply = script(request, position);
    const message = compose(reply, request, position, prompts);
    const wire: Wire = { response, requestId, signal: closed.signal, pingEveryMs: options.pingEveryMs ?? 1_000 };
    return isStreaming ? stream(reply, message, wire) : sendWhole(reply, message, wire);
  };

  const server = createServer((incoming, response) => {
    respond(incoming, response).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) response.destroy();
      else sendFailure(response, { status: 500, type: 'api_error', message: `the script failed: ${String(error)}` });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => {
      closed.abort();
      return new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      });
    },
  };
}

type Wire = { response: ServerResponse; requestId: string; signal: AbortSignal; pingEveryMs: number };

async function stream(reply: ScriptedReply, message: Message, wire: Wire): Promise<void> {
  const { response, requestId } = wire;
  const events = eventsOf(message);
  if ('error' in reply) return sendFailure(response, failureOf(reply.error));
  if ('stall' in reply) return stall(wire);
  if ('drop' in reply) return drop(response, events.slice(0, reply.afterEvents ?? 0));
  if ('midStreamError' in reply) {
    const { type, message: text } = failureOf({ status: 200, ...reply.midStreamError });
    // Behind the content and before the message_delta, or right behind the message_start.
    const begun = events.slice(0, reply.content ? -2 : 1);
    return sendEvents(wire, [...begun, { type: 'error', error: { type, message: text }, request_id: requestId }], 0);
  }
  if (reply.delayMs) await sleep(reply.delayMs, null, { signal: wire.signal });
  return sendEvents(wire, events, reply.chunkDelayMs ?? 0);
}

async function sendWhole(reply: ScriptedReply, message: Message, { response, signal }: Wire): Promise<void> {
  if ('stall' in reply) return;
  if ('drop' in reply) return void response.destroy();
  if ('error' in reply) return sendFailure(response, failureOf(reply.error));
  if ('midStreamError' in reply) return sendFailure(response, failureOf({ status: 500, ...reply.midStreamError }));
  if (reply.delayMs) await sleep(reply.delayMs, null, { signal });
  return sendJson(response, 200, wireMessage(message, message.content.map(withoutInputJson)));
}

function failureOf(error: Omit<Failure, 'message'> & { message?: string }): Failure {
  return { ...error, message: error.message ?? `scripted: ${error.type}` };
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function invalid(message: string): Failure {
  return { status: 400, type: 'invalid_request_error', message };
}

function readRequest(incoming: IncomingMessage, body: string): { request: ModelRequest; isStreaming: boolean } | Failure {
  const { headers } = incoming;
  if (incoming.method !== 'POST' || incoming.url !== '/v1/messages') return { status: 404, type: 'not_found_error', message: 'Not found' };
  if (!headers['x-api-key'] && !headers.authorization) return { status: 401, type: 'authentication_error', message: 'x-api-key header is required' };
  if (!headers['anthropic-version']) return invalid('anthropic-version: header is required');
  let given: unknown;
  try {
    given = JSON.parse(body);
  } catch (error) {
    return invalid(`The request body is not valid JSON: ${String(error)}`);
  }
  if (typeof given !== 'object' || given === null) return invalid('The request body is not an object');
  // Our own requests always stream; the API also takes those that do not.
  const isStreaming = 'stream' in given && given.stream === true;
  const request = { ...given, ...((!('stream' in given) || given.stream === false) && { stream: true }) } as ModelRequest;
  const broken = validateRequest(request);
  return broken.length > 0 ? invalid(broken.join('; ')) : { request, isStreaming };
}

/** Cache marks move from request to request without making it another conversation, or another prompt. */
function withoutMarks(value: unknown): string {
  return JSON.stringify(value, (key, item: unknown) => (key === 'cache_control' ? undefined : item)) ?? '';
}

function conversationOf(request: ModelRequest): string {
  return createHash('sha256').update(withoutMarks(request.messages[0])).digest('hex').slice(0, 16);
}

function compose(reply: ScriptedReply, request: ModelRequest, position: Position, prompts: Map<string, string>): Message {
  const { conversation, exchange, attempt } = position;
  const given = 'content' in reply && reply.content ? reply.content : [{ type: 'text', text: 'This message does not arrive.' }];
  const content = given.map((block, n): ContentBlock => {
    const { type, id = `toolu_${conversation}_${exchange}_${n}`, ...rest } = block;
    return type === 'tool_use' ? { type, id, ...rest } : block;
  });
  const { stopReason, stopDetails, usage }: Partial<PlainReply> = 'content' in reply && !('midStreamError' in reply) ? reply : {};
  return {
    id: `msg_${conversation}_${exchange}_${attempt}`,
    model: request.model,
    content,
    stop_reason: stopReason ?? (content.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn'),
    stop_details: stopDetails ?? null,
    usage: { ...('error' in reply ? noUsage : usageOf(request, content, conversation, prompts)), ...usage },
  };
}

/**
 * Token counts as sizes tell them: characters / 3.5. What comes from the cache is the longest common prefix with the
 * previous request of the same conversation that reached the model, in the order tools, system, messages; the rest is
 * written to it. The real cache is coarser (it ends at breakpoints, has a minimum size and a lifetime), so this is what
 * caching could save at best. A request without any cache_control reads and writes nothing.
 */
function usageOf(request: ModelRequest, content: ContentBlock[], conversation: string, prompts: Map<string, string>): ScriptedUsage {
  const prompt = [request.tools ?? [], request.system ?? '', request.messages].map(withoutMarks).join('\n').replace(/\]$/, '');
  const previous = prompts.get(conversation) ?? '';
  prompts.set(conversation, prompt);
  const tokens = (characters: number) => Math.ceil(characters / charactersPerToken);
  const total = tokens(prompt.length);
  const isCached = JSON.stringify(request).includes('"cache_control":{');
  const read = isCached ? Math.min(total, Math.floor(commonPrefix(prompt, previous) / charactersPerToken)) : 0;
  const thinking = content.map((block) => (typeof block['thinking'] === 'string' ? block['thinking'].length : 0));
  return {
    input_tokens: isCached ? 0 : total,
    cache_creation_input_tokens: isCached ? total - read : 0,
    cache_read_input_tokens: read,
    output_tokens: Math.max(1, tokens(content.length === 0 ? 0 : JSON.stringify(content).length)),
    output_tokens_details: { thinking_tokens: tokens(thinking.reduce((sum, length) => sum + length, 0)) },
  };
}

function commonPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a.charCodeAt(length) === b.charCodeAt(length)) length += 1;
  return length;
}

function wireMessage({ id, model, stop_reason, stop_details, usage }: Message, content: ContentBlock[]) {
  return { id, type: 'message', role: 'assistant', model, content, stop_reason, stop_sequence: null, stop_details, usage };
}

function withoutInputJson(block: ContentBlock): ContentBlock {
  const { inputJson, ...rest } = block;
  return inputJson === undefined ? block : { ...rest, input: {} };
}

function eventsOf(message: Message): Event[] {
  const { usage, stop_reason, stop_details } = message;
  const atStart = { ...usage, output_tokens: 1, output_tokens_details: { thinking_tokens: 0 } };
  return [
    { type: 'message_start', message: { ...wireMessage(message, []), stop_reason: null, stop_details: null, usage: atStart } },
    { type: 'ping' },
    ...message.content.flatMap(blockEvents),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null, stop_details }, usage },
    { type: 'message_stop' },
  ];
}

/** What grows begins empty and comes in pieces; every other key of the block is there from the start. */
function blockEvents(block: ContentBlock, index: number): Event[] {
  const grow = (deltas: Record<string, unknown>[], start: ContentBlock): Event[] => [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
  if (block.type === 'text') return grow(pieces(block['text'], 24).map((text) => ({ type: 'text_delta', text })), { ...block, text: '' });
  if (block.type === 'thinking') {
    const deltas = pieces(block['thinking'], 24).map((thinking) => ({ type: 'thinking_delta', thinking }));
    return grow([...deltas, { type: 'signature_delta', signature: block['signature'] }], { ...block, thinking: '', signature: '' });
  }
  if ('inputJson' in block || 'input' in block) {
    const { inputJson } = block;
    const isEmpty = inputJson === undefined && JSON.stringify(block['input']) === '{}';
    const json = isEmpty ? [] : pieces(inputJson ?? JSON.stringify(block['input']), 12);
    return grow(['', ...json].map((partial) => ({ type: 'input_json_delta', partial_json: partial })), { ...withoutInputJson(block), input: {} });
  }
  return grow([], block);
}

/** Pieces of so many code points: no surrogate pair is cut. */
function pieces(value: unknown, size: number): string[] {
  const points = Array.from(typeof value === 'string' ? value : '');
  return Array.from({ length: Math.ceil(points.length / size) }, (_, n) => points.slice(n * size, (n + 1) * size).join(''));
}

function sendJson(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function sendFailure(response: ServerResponse, { status, type, message, headers }: Failure): void {
  sendJson(response, status, { type: 'error', error: { type, message }, request_id: response.getHeader('request-id') }, headers);
}

function begin(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
}

function frame(event: Event): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

async function sendEvents({ response, signal }: Wire, events: readonly Event[], chunkDelayMs: number): Promise<void> {
  begin(response);
  for (const event of events) {
    if (response.destroyed) return;
    response.write(frame(event));
    if (chunkDelayMs > 0) await sleep(chunkDelayMs, null, { signal });
  }
  response.end();
}

async function stall({ response, pingEveryMs, signal }: Wire): Promise<void> {
  begin(response);
  while (!response.destroyed) {
    response.write(frame({ type: 'ping' }));
    await sleep(pingEveryMs, null, { signal });
  }
}

function drop(response: ServerResponse, events: readonly Event[]): void {
  if (events.length === 0) return void response.destroy();
  begin(response);
  // Destroyed only when the events have left, else the client may see none of them.
  response.write(events.map(frame).join(''), () => response.destroy());
}
