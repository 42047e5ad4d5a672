// MCP over streamable HTTP, as a handler that any web server can mount. A client of the 2025 revisions opens a session, whose state is kept
// here; a client of 2026-07-28 identifies itself with each request. Both are served by the same Service.
//
// A client is identified by the conversation or the work item in the address that it was given: …/mcp?conversation=NAME or
// …/mcp?work_item=ID. The ID may be the end of an id, but not `last`, because an address must always mean the same item; a conversation may
// add &project=NAME. A session without either gets a separate conversation; a request with neither and without a session can only
// look at what exists.

import { randomUUID } from 'node:crypto';

import { createMcpHandler, isInitializeRequest, isLegacyRequest } from '@modelcontextprotocol/server';
import { z } from 'zod';

import { LedgerError } from '../ledger/errors.ts';
import { accessFor } from './access.ts';
import type { Access } from './access.ts';
import { jsonBody, refused } from './body.ts';
import { Guests, whenRead } from './guests.ts';
import type { Guest } from './guests.ts';
import { MAX_WATCHED, Service } from './server.ts';
import type { Seat, ServiceOptions } from './server.ts';
import { SessionTransport } from './sessionTransport.ts';

export type Identity = { conversation: string; directory?: string; project?: string } | { workItemId: string };

export type McpHttpOptions = {
  /** The bearer token that every client must send. */
  token: string;
  /** Names of this machine, besides localhost, that clients may use, as written in a URL. */
  hostnames?: readonly string[];
  /** Opens the ledger for a client. */
  seatFor(identity: Identity): Promise<Seat>;
  /** The ledger whose tools are listed to a client without an identity, which has no work before its first call. */
  ledger(): Promise<Pick<Seat, 'db'>>;
  /** How many clients are known at a time; default: 100. */
  maxClients?: number;
  /** Seconds without a request or an open stream after which a client is forgotten; default: 1800. */
  idleSeconds?: number;
};

const MAX_NAME = 200;
/** How long a client that lost a stream waits before it asks for the rest. */
const RETRY_MS = 1000;
const SESSION = 'mcp-session-id';
const initialize = z.object({ params: z.object({ clientInfo: z.object({ name: z.string() }) }) });
const listens = z.object({
  method: z.literal('subscriptions/listen'),
  params: z.object({ notifications: z.object({ resourceSubscriptions: z.array(z.string()) }) }),
});

export class McpHttp {
  readonly #options: McpHttpOptions;
  readonly #access: Access;
  readonly #guests: Guests;
  #isClosed = false;

  constructor(options: McpHttpOptions) {
    this.#options = options;
    this.#access = accessFor(options.token, options.hostnames ?? []);
    this.#guests = new Guests(options.maxClients ?? 100, options.idleSeconds ?? 1800);
  }

  /** Answers a request, whatever its path; the stream of an answer may stay open for a long time. */
  readonly fetch = async (request: Request): Promise<Response> => {
    const refusal = await this.#access(request);
    if (refusal) return refusal;
    if (this.#isClosed) return refused(503, -32000, 'the server is stopping');
    const identity = identityIn(request);
    if (identity instanceof Response) return identity;
    if (request.method !== 'POST') return this.#inSession(request, undefined, identity);
    const body = await jsonBody(request);
    if (body instanceof Response) return body;
    if (await isLegacyRequest(request, body.json)) return this.#inSession(request, body.json, identity);
    return this.#alone(request, body.json, identity);
  };

  /** Ends waiting calls and open streams, and leaves the ledger. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#guests.close();
  }

  /** Handles a request within a session, or one that opens a session. */
  async #inSession(request: Request, body: unknown, identity: Identity | null): Promise<Response> {
    const known = request.headers.get(SESSION);
    if (known !== null)
      return this.#guests.has(known) ? this.#guests.fetch(known, request, body) : refused(404, -32001, 'Session not found');
    if (request.method !== 'POST') return refused(405, -32000, 'Method not allowed.', { Allow: 'POST' });
    if (!isInitializeRequest(body))
      return refused(400, -32000, 'a session begins with initialize; then every request has its Mcp-Session-Id');
    const id = randomUUID();
    const session = await this.#session(id, identity, body);
    if (!this.#guests.add(id, session)) {
      await session.close();
      return noRoom();
    }
    const response = await this.#guests.fetch(id, request, body);
    if (!response.ok) this.#guests.forget(id);
    return response;
  }

  async #session(id: string, identity: Identity | null, opening: unknown): Promise<Guest> {
    const own = identity ?? { conversation: ownConversation(opening) };
    const service = new Service(() => this.#options.seatFor(own), this.#serviceOptions(identity));
    const transport = new SessionTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => this.#guests.forget(id),
      retryInterval: RETRY_MS,
    });
    await service.server({ isConnected: true }).connect(transport);
    return { fetch: (request, body) => transport.handleRequest(request, { parsedBody: body }), close: () => service.stop() };
  }

  /** Handles a request without a session. Requests with the same identity share a Service, as long as they keep coming. */
  async #alone(request: Request, body: unknown, identity: Identity | null): Promise<Response> {
    const key = JSON.stringify(identity);
    if (!this.#guests.has(key) && !this.#guests.add(key, this.#caller(identity))) return noRoom();
    return this.#guests.fetch(key, request, body);
  }

  /** Most clients list tools whenever they start. Without an identity, each such start would leave a session in which nothing happened. */
  #serviceOptions(identity: Identity | null): ServiceOptions {
    return { isPrompt: false, ...(identity === null && { ledger: () => this.#options.ledger() }) };
  }

  #caller(identity: Identity | null): Guest {
    const service = new Service(() => (identity ? this.#options.seatFor(identity) : nobody()), {
      ...this.#serviceOptions(identity),
      onToolsChanged: () => handler.notify.toolsChanged(),
    });
    const handler = createMcpHandler(() => service.server({ isConnected: false }), { legacy: 'reject', maxSubscriptions: MAX_WATCHED });
    const watched = new Map<string, { listeners: number; watching: Promise<() => void> }>();
    async function watch(uri: string): Promise<() => void> {
      const entry = watched.get(uri) ?? {
        listeners: 0,
        watching: service.watch(uri, () => handler.notify.resourceUpdated(uri)).catch(() => () => {}),
      };
      watched.set(uri, entry);
      entry.listeners++;
      const release = await entry.watching;
      return () => {
        if (--entry.listeners > 0) return;
        watched.delete(uri);
        release();
      };
    }
    return {
      async fetch(request, body) {
        const { data } = listens.safeParse(body);
        const uris = [...new Set(data?.params.notifications.resourceSubscriptions)];
        if (uris.length > MAX_WATCHED) return refused(400, -32602, `at most ${MAX_WATCHED} resources can be listened to`);
        const releases = await Promise.all(uris.map(watch)); // before the subscription is acknowledged
        const release = (): void => {
          for (const done of releases) done();
        };
        try {
          return whenRead(await handler.fetch(request, { parsedBody: body }), release);
        } catch (error) {
          release();
          throw error;
        }
      },
      async close() {
        await service.stop();
        await handler.close();
      },
    };
  }
}

/** The identity in the address; null if there is none. */
function identityIn(request: Request): Identity | null | Response {
  const { searchParams } = new URL(request.url);
  const [conversation, workItemId] = [searchParams.get('conversation'), searchParams.get('work_item')];
  if (workItemId !== null)
    return /^[0-9a-f-]{4,36}$/i.test(workItemId) ? { workItemId } : refused(400, -32602, 'work_item is no id of a work item, nor its end');
  if (conversation === null) return null;
  const project = searchParams.get('project');
  return /\S/.test(conversation) && conversation.length <= MAX_NAME
    ? { conversation, ...(project && { project }) }
    : refused(400, -32602, `a conversation has a name of at most ${MAX_NAME} characters`);
}

/** A unique name for a conversation that contains the client's name. */
function ownConversation(body: unknown): string {
  const name = initialize.safeParse(body).data?.params.clientInfo.name ?? '';
  return `${name.replaceAll(/[^\w .-]/g, '').slice(0, 60) || 'client'} ${randomUUID()}`;
}

const nobody = (): Promise<Seat> =>
  Promise.reject(
    new LedgerError(
      'WL002',
      'the address of this server names no conversation',
      '',
      'Add ?conversation=NAME to it, with a name of your own, or ?work_item=ID.',
    ),
  );

const noRoom = (): Response => refused(503, -32000, 'too many clients are connected', { 'Retry-After': '30' });
