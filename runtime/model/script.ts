// What a scripted model answers: a reply to each request, by how far its conversation is.

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
