// Scripts for the scripted model: the reply to each request depends on how far its conversation has come.

import type { ContentBlock, ModelRequest } from './message.ts';
import type { ScriptedUsage } from './scriptedUsage.ts';

export type PlainReply = {
  /** A tool_use may omit its id; with `inputJson` in place of `input` it streams that text, even if it is malformed. */
  content: ContentBlock[];
  stopReason?: string;
  stopDetails?: unknown;
  usage?: Partial<ScriptedUsage>;
  delayMs?: number;
  chunkDelayMs?: number;
  /** Called after each event of the stream with the number of events so far; the next event waits for the promise. */
  afterEvent?: (count: number) => Promise<void> | undefined;
};

export type ScriptedReply =
  | PlainReply
  | { error: { status: number; type: string; message?: string; headers?: Record<string, string> } }
  /** The error follows the content. */
  | { midStreamError: { type: string; message?: string }; content?: ContentBlock[] }
  /** The socket is destroyed, either before the headers or after `afterEvents` events of a short text. */
  | { drop: true; afterEvents?: number }
  /** Sends headers and then only pings, endlessly. */
  | { stall: true };

export type Position = {
  /** The number of assistant messages in the request. */
  exchange: number;
  /** The number of earlier requests for this exchange of this conversation. */
  attempt: number;
  /** A hash of the first user message. After a compaction it is a different conversation, whose exchanges are counted separately. */
  conversation: string;
};

export type Script = (request: ModelRequest, position: Position) => ScriptedReply;

/** Answers exchange n with reply n, and later exchanges with a short end_turn. */
export function scriptOf(replies: readonly ScriptedReply[]): Script {
  return (_request, { exchange }) => replies[exchange] ?? { content: [{ type: 'text', text: 'Done.' }] };
}

/** Plays the faults of an exchange first, one per attempt, and then the script's reply. */
export function withFaults(script: Script, faults: Record<number, readonly ScriptedReply[]>): Script {
  return (request, position) => {
    const { attempt } = position;
    const before = faults[position.exchange] ?? [];
    return before[attempt] ?? script(request, { ...position, attempt: attempt - before.length });
  };
}
