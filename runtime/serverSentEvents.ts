// What happens to a work item as server-sent events, for a server that answers with a web Response and for a plain one of Node. The id of
// each event is its position: a client that was cut off comes back with it and is told the rest, nothing twice.

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { FollowOptions, LedgerClient } from './client.ts';
import type { WorkEvent } from './commands/follow.ts';
import { isFinal } from './ledger/answers.ts';
import type { CountedItem } from './ledger/answers.ts';
import { LedgerError } from './ledger/errors.ts';
import { positionOf, positionText } from './ledger/position.ts';

/** The last one has the item, which is final or paused. */
export type StreamedEvent = WorkEvent | { kind: 'end'; item: CountedItem };

export type EventStreamOptions = {
  /** The position behind which it begins; default: `Last-Event-ID` of the request, else the beginning. */
  after?: string;
  /** What the agent says and calls, in addition to the entries, as of follow(); default: `all`. */
  activity?: 'all' | 'new' | 'none';
  /**
   * The data of an event, as JSON; undefined: the client is not told of it. Default: all of it, and of the item at the end `state`,
   * `state_reason`, `outcome_data` and `next_id`.
   */
  show?: (event: StreamedEvent) => unknown;
  /** After so many seconds without an event a comment is sent, so that nobody between takes the connection for dead; default: 15, Infinity: none is. */
  heartbeatSeconds?: number;
  /** Why a stream broke off, of which the client is only told the code; default: a warning of the process. */
  onError?: (error: unknown) => void;
};

const HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' };
const RETRY_MS = 1000;
/** What a timer waits at most; one that is told to wait longer fires at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * The events of a work item as a web Response (Hono, Deno, any handler with `Request`), to the end of its work: `entry`, `told`, `said`,
 * `thinking`, `broken_off`, `answered`, `call`, then `end`; `problem` where the ledger could not be read on, after which a client comes back by itself.
 * Reads only as fast as the client does, and stops when it goes away. 204, by which an EventSource stays away, where the client has been
 * told the end. Rejects with a LedgerError before anything is answered: WL001, 22P02 (no such item), WL002 (a `Last-Event-ID` of another one).
 */
export async function eventResponse(
  ledger: LedgerClient,
  id: string,
  request: Request,
  options: EventStreamOptions = {},
): Promise<Response> {
  const gone = new AbortController();
  const signal = AbortSignal.any([gone.signal, request.signal]);
  const frames = await framesOf(ledger, id, request.headers.get('last-event-id'), signal, options);
  if (frames === null) return new Response(null, { status: 204 });
  signal.addEventListener('abort', () => void frames.return());
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await frames.next();
        if (next.done) controller.close();
        else controller.enqueue(encoder.encode(next.value));
      },
      async cancel() {
        gone.abort();
        await frames.return();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: HEADERS });
}

/**
 * The same for a server of Node (`http`, Express): answers, and resolves when the stream is over or the client is gone. Rejects like
 * eventResponse(), before anything is answered.
 */
export async function sendEvents(
  ledger: LedgerClient,
  id: string,
  request: IncomingMessage,
  response: ServerResponse,
  options: EventStreamOptions = {},
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  if (response.destroyed) gone.abort();
  const lastEventId = request.headers['last-event-id'];
  const frames = await framesOf(ledger, id, typeof lastEventId === 'string' ? lastEventId : null, gone.signal, options);
  if (frames === null) return void response.writeHead(204).end();
  response.writeHead(200, HEADERS);
  for await (const text of frames) {
    if (response.destroyed) break;
    if (!response.write(text)) await once(response, 'drain', { signal: gone.signal }).catch(() => {});
  }
  response.end();
}

/** The stream piece by piece, until the work or the client is gone; null: the client has been told all. */
async function framesOf(
  ledger: LedgerClient,
  id: string,
  lastEventId: string | null,
  gone: AbortSignal,
  options: EventStreamOptions,
): Promise<AsyncGenerator<string, void, undefined> | null> {
  const { heartbeatSeconds = 15 } = options;
  if (!(heartbeatSeconds > 0)) throw new LedgerError('WL002', `heartbeatSeconds must be more than 0, not ${heartbeatSeconds}`, '', '');
  const after = options.after ?? (lastEventId === null || lastEventId === '' ? undefined : lastEventId);
  const item = await ledger.item(id);
  const told = after === undefined ? null : positionOf(after, item.id);
  const following = { ...(options.activity && { activity: options.activity }), ...(after !== undefined && { after }) };
  if (told?.isEnd && (isFinal(item.state) || item.state === 'paused') && !(await hasNews(ledger, item.id, following))) return null;
  return framed(ledger, item.id, following, gone, options);
}

/** Whether anything follows `after` by now. */
async function hasNews(ledger: LedgerClient, id: string, following: FollowOptions): Promise<boolean> {
  for await (const _ of ledger.follow(id, { ...following, signal: AbortSignal.abort() })) return true;
  return false;
}

async function* framed(
  ledger: LedgerClient,
  id: string,
  following: FollowOptions,
  gone: AbortSignal,
  { show = shown, heartbeatSeconds = 15, onError = warned }: EventStreamOptions,
): AsyncGenerator<string, void, undefined> {
  const over = new AbortController();
  const events = ledger.follow(id, { ...following, signal: over.signal });
  let position = following.after ?? positionText(id, { seq: 0, turn: null, isEnd: false });
  let leave = (): void => {};
  gone.addEventListener('abort', () => leave());
  yield `retry: ${RETRY_MS}\n\n`;
  try {
    for (let next = events.next(); ;) {
      const got = await withinSeconds(next, heartbeatSeconds, (give) => (leave = give));
      if (gone.aborted) return;
      if (got === null) {
        yield ': alive\n\n';
      } else if (got.done) {
        yield* frame('end', `${position.replace(/\.end$/, '')}.end`, show({ kind: 'end', item: got.value }));
        return;
      } else {
        position = got.value.position;
        yield* frame(got.value.kind, position, show(got.value));
        next = events.next();
      }
    }
  } catch (error) {
    onError(error);
    yield* frame('problem', null, { code: error instanceof LedgerError ? error.code : 'unavailable' });
  } finally {
    over.abort();
    await events.return(null as never).catch(() => {}); // its connection is closed
  }
}

/** What comes within this time; null: nothing, or `leave` was called. */
async function withinSeconds<T>(what: Promise<T>, seconds: number, leave: (give: () => void) => void): Promise<T | null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  leave(() => resolve(null));
  const timer = setTimeout(resolve, Math.min(seconds * 1000, LONGEST_MS), null);
  try {
    return await Promise.race([what, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** JSON has no line breaks, which would end an event. */
function* frame(event: string, id: string | null, data: unknown): Generator<string> {
  if (data !== undefined) yield `${id === null ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

function shown(event: StreamedEvent): object {
  if (event.kind === 'entry') return event.entry;
  if (event.kind !== 'end') return Object.fromEntries(Object.entries(event).filter(([key]) => key !== 'kind' && key !== 'position'));
  const { state, state_reason, outcome_data, next_id } = event.item;
  return { state, state_reason, outcome_data, next_id };
}

function warned(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
