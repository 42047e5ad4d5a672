// What a scripted model answers: a reply to each request, by how far its conversation has come.

import type { ContentBlock, ModelRequest } from './message.ts';
import type { ScriptedUsage } from './scriptedUsage.ts';

export type PlainReply = {
  /** A tool_use may leave out its id; with `inputJson` in place of `input` it streams that text, however broken. */
  content: ContentBlock[];
  stopReason?: string;
  stopDetails?: unknown;
  usage?: Partial<ScriptedUsage>;
  delayMs?: number;
  chunkDelayMs?: number;
  /** Called after each event of the stream, with their number so far; the next event waits for it. */
  afterEvent?: (count: number) => Promise<void> | undefined;
};

export type ScriptedReply =
  | PlainReply
  | { error: { status: number; type: string; message?: string; headers?: Record<string, string> } }
  /** The error comes after the content. */
  | { midStreamError: { type: string; message?: string }; content?: ContentBlock[] }
  /** The socket is destroyed, before the headers or after `afterEvents` events of a short text. */
  | { drop: true; afterEvents?: number }
  /** Headers and pings, without end. */
  | { stall: true };

export type Position = {
  /** How many assistant messages the request has. */
  exchange: number;
  /** How many requests for this exchange of this conversation came before. */
  attempt: number;
  /** A hash of the first user message: after a compaction it is another conversation, which begins at its own exchange. */
  conversation: string;
};

export type Script = (request: ModelRequest, position: Position) => ScriptedReply;

/** Answers exchange n with reply n, and everything after the last one with a short end_turn. */
export function scriptOf(replies: readonly ScriptedReply[]): Script {
  return (_request, { exchange }) => replies[exchange] ?? { content: [{ type: 'text', text: 'Done.' }] };
}

/** Plays the faults of an exchange first, one per attempt, then the script's reply. */
export function withFaults(script: Script, faults: Record<number, readonly ScriptedReply[]>): Script {
  return (request, position) => {
    const { attempt } = position;
    const before = faults[position.exchange] ?? [];
    return before[attempt] ?? script(request, { ...position, attempt: attempt - before.length });
  };
}
