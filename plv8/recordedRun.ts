// A recorded agent run in one shape, whatever wrote it: the text of a trajectory file in, its model calls in order out,
// each with the calls it made and what they were answered. Nothing of the record is dropped without a line in `skipped`.

import { parseMiniSweAgent } from './miniSweAgent.ts';
import { parseSweAgent } from './sweAgent.ts';

/** `result` is what the model was shown; null: the record has none. `isError`: the record says that the call failed. */
export type RecordedCall = { name: string; input: Record<string, unknown>; result: string | null; isError: boolean };

export type RecordedExchange = {
  /** The whole text of the model, also where a call was read out of it. */
  text: string;
  calls: RecordedCall[];
  /** Tokens; inputTokens are those that did not come from a cache. */
  usage: { inputTokens: number; outputTokens: number; cachedInputTokens: number } | null;
  /** What the model was told next that is no result of a call: a format error, a human's word. */
  followUp?: string;
};

export type RecordedRun = {
  format: 'mini-swe-agent' | 'swe-agent';
  model: string | null;
  system: string;
  /** The user messages before the first model call. */
  prompt: string;
  exchanges: RecordedExchange[];
  outcome: string | null;
  skipped: { reason: string; count: number }[];
};

/** A message as both formats have it; `content` is text or a list of blocks. */
export type RecordedMessage = {
  role: string;
  content?: unknown;
  tool_calls?: { id?: string; function: { name: string; arguments: unknown } }[] | null;
  tool_call_ids?: string[] | null;
  tool_call_id?: string;
};

/** Parses a trajectory file of mini-swe-agent or SWE-agent, told apart by content. Throws an Error that says what is wrong with others. */
export function parseRecordedRun(text: string): RecordedRun {
  const document = parseJson(text);
  if (!isRecord(document)) throw new Error('not a recorded run: the JSON is no object');
  const list = (key: string): unknown[] | null => (Array.isArray(document[key]) ? document[key] : null);
  const version = document['trajectory_format'];
  const messages = list('messages');
  if (messages && (version === undefined || String(version).startsWith('mini-swe-agent'))) {
    return parseMiniSweAgent({ info: document['info'], messages: checked(messages, 'messages', isMessage) });
  }
  const history = list('history');
  const trajectory = list('trajectory');
  if (history || trajectory) {
    return parseSweAgent({
      info: document['info'],
      replayConfig: document['replay_config'],
      history: history && checked(history, 'history', isMessage),
      trajectory: checked(trajectory ?? [], 'trajectory', isRecord),
    });
  }
  throw new Error(`not a recorded run of mini-swe-agent ("messages") or SWE-agent ("history", "trajectory"): its keys are ${Object.keys(document).slice(0, 10).join(', ') || 'none'}`);
}
