// The events of a work item as server-sent events, for servers that answer with a web Response and for plain Node servers. The id of
// each event is its position: a client that reconnects sends it, and gets the remaining events without duplicates.

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { FollowOptions, LedgerClient } from './client.ts';
import type { WorkEvent } from './commands/follow.ts';
import { isFinal } from './ledger/answers.ts';
import type { CountedItem } from './ledger/answers.ts';
import { clientErrors } from './ledger/clientError.ts';
import { LedgerError, UsageError } from './ledger/errors.ts';
import { checkActivity, kindOf } from './ledger/given.ts';
import { positionOf, positionText } from './ledger/position.ts';

/** The last event holds the item, which is final or paused. */
export type StreamedEvent = WorkEvent | { kind: 'end'; item: CountedItem };

export type EventStreamOptions = {
  /** The position after which to begin; default: `Last-Event-ID` of the request, otherwise the beginning. */
  after?: string;
  /** Which of the agent's text and calls to include besides the entries, as for follow(); default: `all`. */
  activity?: 'all' | 'new' | 'none';
  /**
   * Returns the data of an event, to be sent as JSON; undefined leaves the event out. Default: everything, except that of the item at the
   * end only `state`, `state_reason`, `outcome_data` and `next_id` are sent.
   */
  show?: (event: StreamedEvent) => unknown;
  /**
   * After this many seconds without an event a comment is sent, so that no proxy closes the connection as idle; default: 15. Infinity sends
   * none.
   */
  heartbeatSeconds?: number;
  /** Called with the error that broke off a stream; the client gets only its code. Default: a process warning. */
  onError?: (error: unknown) => void;
};

const HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' };
const RETRY_MS = 1000;
/** The longest delay of a timer; a longer one would fire immediately. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * The events of a work item as a web Response (Hono, Deno, any handler with `Request`), until the work ends: `entry`, `told`, `said`,
 * `thinking`, `broken_off`, `answered`, `call`, then `end`; or `problem` if the ledger could no longer be read, after which a client
 * reconnects automatically. Reads only as fast as the client does, and stops when the client disconnects. If the client already has the
 * end, answers 204, which stops an EventSource from reconnecting. Rejects with a LedgerError before anything is sent: WL001, 22P02 (no such
 * item), WL002 (`Last-Event-ID` belongs to another item).
 */
export async function eventResponse(
  ledger: LedgerClient,
  id: string,
  request: Request,
  options: EventStreamOptions = {},
): Promise<Response> {
  const gone = new AbortController();
  const { signal, frames } = await clientErrors('', async () => {
    const either = AbortSignal.any([gone.signal, request.signal]);
    return { signal: either, frames: await framesOf(ledger, id, request.headers.get('last-event-id'), either, options) };
  });
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
 * The same for a Node server (`http`, Express): answers, and resolves when the stream is over or the client has disconnected. Rejects like
 * eventResponse(), before anything is sent.
 */
export async function sendEvents(
  ledger: LedgerClient,
  id: string,
  request: IncomingMessage,
  response: ServerResponse,
  options: EventStreamOptions = {},
): Promise<void> {
  const gone = new AbortController();
  const frames = await clientErrors('', () => {
    response.once('close', () => gone.abort());
    if (response.destroyed) gone.abort();
    const lastEventId = request.headers['last-event-id'];
    return framesOf(ledger, id, typeof lastEventId === 'string' ? lastEventId : null, gone.signal, options);
  });
  if (frames === null) return void response.writeHead(204).end();
  response.writeHead(200, HEADERS);
  for await (const text of frames) {
    if (response.destroyed) break;
    if (!response.write(text)) await once(response, 'drain', { signal: gone.signal }).catch(() => {});
  }
  response.end();
}

/** The stream, in chunks, until the work ends or the client disconnects; null if the client already has everything. */
async function framesOf(
  ledger: LedgerClient,
  id: string,
  lastEventId: string | null,
  gone: AbortSignal,
  options: EventStreamOptions,
): Promise<AsyncGenerator<string, void, undefined> | null> {
  const { heartbeatSeconds = 15, show = shown, onError = warned } = options;
  if (!(heartbeatSeconds > 0)) throw new UsageError(`heartbeatSeconds must be more than 0, not ${heartbeatSeconds}`);
  checkActivity(options.activity);
  for (const [name, given] of Object.entries({ show, onError }))
    if (typeof given !== 'function') throw new UsageError(`${name} must be a function, not ${kindOf(given)}`);
  const after = options.after ?? (lastEventId === null || lastEventId === '' ? undefined : lastEventId);
  const item = await ledger.item(id);
  const told = after === undefined ? null : positionOf(after, item.id);
  const following = { ...(options.activity && { activity: options.activity }), ...(after !== undefined && { after }) };
  if (told?.isEnd && (isFinal(item.state) || item.state === 'paused') && !(await hasNews(ledger, item.id, following))) return null;
  return framed(ledger, item.id, following, gone, options);
}

/** Whether there are events after `after` now. */
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
      // It may have disconnected before the stream began; a signal that has fired does not fire again.
      const got = gone.aborted ? null : await withinSeconds(next, heartbeatSeconds, (give) => (leave = give));
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
    await events.return(null as never).catch(() => {}); // closes its connection
  }
}

/** The result, if it arrives in time; null if it does not, or if `leave` was called. */
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

/** JSON contains no line breaks, which would end an event. */
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
