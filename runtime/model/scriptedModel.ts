// A model that says what a script tells it to: the Messages API over HTTP on 127.0.0.1, streaming and not, for tests,
// demonstrations and fault injection. As strict as the real one about what it is sent: a request that breaks a rule
// (validateRequest) is a 400. The reply depends on the transcript alone, so a request repeated after a crash gets the
// same one.

import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import type { ContentBlock, ModelRequest } from './callModel.ts';
import { validateRequest } from './validateRequest.ts';
import { eventsOf, wholeOf } from './scriptedEvents.ts';
import type { Event, Message } from './scriptedEvents.ts';
import { noUsage, usageOf, withoutMarks } from './scriptedUsage.ts';
import type { ScriptedUsage } from './scriptedUsage.ts';

type PlainReply = {
  /** A tool_use may leave out its id; with `inputJson` in place of `input` it streams that text, however broken. */
  content: ContentBlock[];
  stopReason?: string;
  stopDetails?: unknown;
  usage?: Partial<ScriptedUsage>;
  delayMs?: number;
  chunkDelayMs?: number;
  /** Called when so many events of the stream are out; the next one waits for it. */
  afterEvent?: (count: number) => Promise<void> | undefined;
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

type Failure = { status: number; type: string; message: string; headers?: Record<string, string> };

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
  const cache = new Set<string>();
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
    const message = compose(reply, request, position, cache);
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
  return sendEvents(wire, events, reply.chunkDelayMs ?? 0, reply.afterEvent);
}

async function sendWhole(reply: ScriptedReply, message: Message, { response, signal }: Wire): Promise<void> {
  if ('stall' in reply) return;
  if ('drop' in reply) return void response.destroy();
  if ('error' in reply) return sendFailure(response, failureOf(reply.error));
  if ('midStreamError' in reply) return sendFailure(response, failureOf({ status: 500, ...reply.midStreamError }));
  if (reply.delayMs) await sleep(reply.delayMs, null, { signal });
  return sendJson(response, 200, wholeOf(message));
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

function conversationOf(request: ModelRequest): string {
  return createHash('sha256').update(withoutMarks(request.messages[0])).digest('hex').slice(0, 16);
}

function compose(reply: ScriptedReply, request: ModelRequest, position: Position, cache: Set<string>): Message {
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
    usage: { ...('error' in reply ? noUsage : usageOf(request, content, cache)), ...usage },
  };
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

async function sendEvents({ response, signal }: Wire, events: readonly Event[], chunkDelayMs: number, afterEvent?: (count: number) => Promise<void> | undefined): Promise<void> {
  begin(response);
  for (const [n, event] of events.entries()) {
    if (response.destroyed) return;
    response.write(frame(event));
    if (chunkDelayMs > 0) await sleep(chunkDelayMs, null, { signal });
    await afterEvent?.(n + 1);
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
