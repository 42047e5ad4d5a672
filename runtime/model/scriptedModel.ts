// A model that follows a script: a server for the Messages API on 127.0.0.1, with and without streaming, for tests, demonstrations and
// fault injection. It is as strict about requests as the real API: a request that breaks a rule (validateRequest) gets a 400. The reply
// depends only on the transcript, so a request that is repeated after a crash gets the same reply.

import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { ContentBlock, ModelRequest } from './message.ts';
import type { PlainReply, Position, Script, ScriptedReply } from './script.ts';
import type { Message } from './scriptedEvents.ts';
import { noUsage, usageOf, withoutMarks } from './scriptedUsage.ts';
import { sendFailure, sendWhole, stream } from './scriptedWire.ts';
import type { Failure, Wire } from './scriptedWire.ts';
import { validateRequest } from './validateRequest.ts';

export type ScriptedModel = {
  url: string;
  /** All requests in order, including rejected ones; the body is the text as received. */
  requests: { body: string; headers: IncomingHttpHeaders; at: number }[];
  close(): Promise<void>;
};

/** Starts the server on an unused port. */
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
  let closing: Promise<void> | null = null;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => {
      closed.abort();
      return (closing ??= new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }));
    },
  };
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
  if (!headers['x-api-key'] && !headers.authorization)
    return { status: 401, type: 'authentication_error', message: 'x-api-key header is required' };
  if (!headers['anthropic-version']) return invalid('anthropic-version: header is required');
  let given: unknown;
  try {
    given = JSON.parse(body);
  } catch (error) {
    return invalid(`The request body is not valid JSON: ${String(error)}`);
  }
  if (typeof given !== 'object' || given === null) return invalid('The request body is not an object');
  // Our own requests always stream; the API also accepts requests that do not.
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
