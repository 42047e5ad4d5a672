// Keeps what was sent to a client, for clients that reconnect with the id of the last event that they got and are sent the rest. Bounded:
// old events are forgotten, and a client that asks for those starts a new stream.

import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server';

const MAX_EVENTS = 256;
const MAX_CHARS = 4 * 1024 * 1024;

type Sent = { id: string; streamId: string; message: JSONRPCMessage; chars: number };

/**
 * An event store that knows which streams are over. It does not tell the SDK which stream an event is on: the SDK would refuse to continue
 * one that it believes to be connected.
 */
export type SentEvents = Omit<EventStore, 'getStreamIdForEventId'> & {
  /** Marks this message as the last one on its stream. */
  ends(message: JSONRPCMessage): void;
  /** Whether this event was the last one on its stream. */
  isOver(eventId: string): boolean;
  /** Whether what follows this event can be sent again. */
  isKept(eventId: string): boolean;
};

/** Stores the newest events of one session. */
export function sentEvents(): SentEvents {
  const events: Sent[] = [];
  const last = new WeakSet<JSONRPCMessage>();
  let count = 0;
  let chars = 0;
  const isEvent = (message: JSONRPCMessage): boolean => Object.keys(message).length > 0; // a stream's first message only gives it an id
  return {
    ends: (message) => void last.add(message),
    isOver: (eventId) => events.some(({ id, message }) => id === eventId && last.has(message)),
    isKept: (eventId) => events.some(({ id }) => id === eventId),
    async storeEvent(streamId, message) {
      const sent = { id: String(++count), streamId, message, chars: JSON.stringify(message).length };
      events.push(sent);
      chars += sent.chars;
      while (events.length > MAX_EVENTS || (chars > MAX_CHARS && events.length > 1)) chars -= events.shift()?.chars ?? 0;
      return sent.id;
    },
    async replayEventsAfter(lastEventId, { send }) {
      const at = events.findIndex(({ id }) => id === lastEventId);
      const streamId = events[at]?.streamId;
      if (streamId === undefined) throw new Error('this event is forgotten');
      for (const sent of events.slice(at + 1)) if (sent.streamId === streamId && isEvent(sent.message)) await send(sent.id, sent.message);
      return streamId;
    },
  };
}
