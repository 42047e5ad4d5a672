// Sends a scripted reply over HTTP: streamed, whole, as a failure, or cut off.

import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import type { ScriptedReply } from './script.ts';
import { eventsOf, wholeOf } from './scriptedEvents.ts';
import type { Event, Message } from './scriptedEvents.ts';

export type Failure = { status: number; type: string; message: string; headers?: Record<string, string> };

export type Wire = { response: ServerResponse; requestId: string; signal: AbortSignal; pingEveryMs: number };

/** Answers a streaming request. */
export async function stream(reply: ScriptedReply, message: Message, wire: Wire): Promise<void> {
  const { response, requestId } = wire;
  const events = eventsOf(message);
  if ('error' in reply) return sendFailure(response, failureOf(reply.error));
  if ('stall' in reply) return stall(wire);
  if ('drop' in reply) return drop(response, events.slice(0, reply.afterEvents ?? 0));
  if ('midStreamError' in reply) {
    const { type, message: text } = failureOf({ status: 200, ...reply.midStreamError });
    // Either after the content and before the message_delta, or right after the message_start.
    const begun = events.slice(0, reply.content ? -2 : 1);
    return sendEvents(wire, [...begun, { type: 'error', error: { type, message: text }, request_id: requestId }], 0);
  }
  if (reply.delayMs) await sleep(reply.delayMs, null, { signal: wire.signal });
  return sendEvents(wire, events, reply.chunkDelayMs ?? 0, reply.afterEvent);
}

/** Answers a request that does not stream. */
export async function sendWhole(reply: ScriptedReply, message: Message, { response, signal }: Wire): Promise<void> {
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

function sendJson(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

export function sendFailure(response: ServerResponse, { status, type, message, headers }: Failure): void {
  sendJson(response, status, { type: 'error', error: { type, message }, request_id: response.getHeader('request-id') }, headers);
}

function begin(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
}

function frame(event: Event): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

async function sendEvents(
  { response, signal }: Wire,
  events: readonly Event[],
  chunkDelayMs: number,
  afterEvent?: (count: number) => Promise<void> | undefined,
): Promise<void> {
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
  // Destroyed only once the events have been sent; otherwise the client might receive none of them.
  response.write(events.map(frame).join(''), () => response.destroy());
}
