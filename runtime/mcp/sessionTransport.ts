// Streamable HTTP for one session, in which each request is answered on the stream of its own POST and no stream stays open. The SDK's
// transport knows requests only by their ids: of two concurrent requests with the same id, the second gets both answers and the first none;
// and the stream of a request that was cancelled, which the SDK does not answer, never ends. So requests are numbered here, and the numbers
// are never visible to clients.
// The SDK also refuses a client its stream as long as it believes that the client still has it. But a client that asks for it has lost it,
// which is noticed here only minutes later, if its computer was asleep, or a proxy keeps its connection to us. So a stream goes to whoever
// asked last.

import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type {
  HandleRequestOptions,
  JSONRPCMessage,
  JSONRPCResponse,
  RequestId,
  WebStandardStreamableHTTPServerTransportOptions,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

import { refused } from './body.ts';
import { MAX_BATCH } from './messages.ts';
import { sentEvents } from './sentEvents.ts';
import type { SentEvents } from './sentEvents.ts';

/** The code in the Language Server Protocol; MCP defines none. */
const REQUEST_CANCELLED = -32800;
/** A number that no request has. */
const NONE = 0;

const cancellation = z.looseObject({
  method: z.literal('notifications/cancelled'),
  params: z.looseObject({ requestId: z.union([z.string(), z.number()]) }),
});

/** An unanswered request: its client's id for it, and all unanswered requests of the same POST. */
type Unanswered = { id: RequestId; ofPost: Set<number> };

export class SessionTransport extends WebStandardStreamableHTTPServerTransport {
  readonly #sent: SentEvents;
  readonly #unanswered = new Map<number, Unanswered>();
  #count = NONE;

  constructor(options: Omit<WebStandardStreamableHTTPServerTransportOptions, 'eventStore'>) {
    const sent = sentEvents();
    super({ ...options, eventStore: sent });
    this.#sent = sent;
  }

  /** `parsedBody` is the body of a POST. */
  override async handleRequest(request: Request, options: HandleRequestOptions): Promise<Response> {
    if (request.method === 'GET') return this.#stream(request, options);
    const ofPost = new Set<number>();
    const cancelled: number[] = [];
    const numbered = (message: unknown): unknown => {
      if (isJSONRPCRequest(message)) return { ...message, id: this.#add(message.id, ofPost) };
      const { data } = cancellation.safeParse(message);
      if (!data) return message;
      const number = this.#newest(data.params.requestId);
      cancelled.push(number);
      return { ...data, params: { ...data.params, requestId: number } };
    };
    const { parsedBody: body } = options;
    const isBatch = Array.isArray(body) && body.length <= MAX_BATCH; // a longer one is rejected
    const response = await super.handleRequest(request, { ...options, parsedBody: isBatch ? body.map(numbered) : numbered(body) });
    if (response.ok) for (const number of cancelled) await this.#answerCancelled(number);
    else for (const number of ofPost) this.#unanswered.delete(number);
    return response;
  }

  override async send(message: JSONRPCMessage, options?: { relatedRequestId?: RequestId }): Promise<void> {
    if (!isJSONRPCResultResponse(message) && !isJSONRPCErrorResponse(message)) return super.send(message, options);
    const number = Number(message.id);
    const request = this.#unanswered.get(number);
    if (!request) return; // it was cancelled in the meantime
    this.#unanswered.delete(number);
    request.ofPost.delete(number);
    const answer = writtenWith(request.id, message);
    if (request.ofPost.size === 0) this.#sent.ends(answer);
    return super.send(answer, options);
  }

  /** The stream of what belongs to no request, or the rest of a stream after the client's last event. */
  async #stream(request: Request, options: HandleRequestOptions): Promise<Response> {
    const lastEventId = request.headers.get('last-event-id');
    if (lastEventId) {
      // A client that does not count an error as an answer asks for the rest of its stream. This status says that the stream is over.
      if (this.#sent.isOver(lastEventId)) return new Response(null, { status: 204 });
      if (!this.#sent.isKept(lastEventId)) return refused(400, -32000, 'this event is unknown or forgotten: begin a new stream');
    }
    const response = await super.handleRequest(request, options);
    if (response.status !== 409) return response;
    this.closeStandaloneSSEStream();
    return super.handleRequest(request, options);
  }

  #add(id: RequestId, ofPost: Set<number>): number {
    const number = ++this.#count;
    ofPost.add(number);
    this.#unanswered.set(number, { id, ofPost });
    return number;
  }

  #newest(id: RequestId): number {
    return [...this.#unanswered].findLast(([, request]) => request.id === id)?.[0] ?? NONE;
  }

  /** The client does not wait for this answer, but it ends the stream. */
  #answerCancelled(number: number): Promise<void> {
    return this.send({ jsonrpc: '2.0', id: number, error: { code: REQUEST_CANCELLED, message: 'the request was cancelled' } });
  }
}

/** The same answer, which is written as JSON with another id. */
function writtenWith(id: RequestId, answer: JSONRPCResponse): JSONRPCResponse {
  return Object.defineProperty({ ...answer }, 'toJSON', { value: () => ({ ...answer, id }), enumerable: false });
}
