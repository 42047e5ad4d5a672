// A recorded run as a model and tools for a test: today's agent is driven by what the model said then.

import type { Tool } from '../tools/tool.ts';
import { inOrder, recordedTools, recordingIn } from './recording.ts';
import { testModel } from './scriptedModel.ts';
import type { TestModel } from './scriptedModel.ts';

export type Replay = TestModel & {
  /** The task of the recorded agent. */
  task: string;
  /** A tool for each one that it called, which returns the recorded results. To try your own, leave one out and supply yours. */
  tools: readonly Tool[];
  /** Calls of these tools that are not in the recording, each as name and input. */
  strangeCalls: () => readonly string[];
  /** How many of the model's answers have not been requested. */
  left: () => number;
};

/**
 * Replays a recording: what `work-ledger export ID` wrote for a work item, or a session file of Claude Code, Codex, Gemini CLI or another
 * program whose sessions can be imported. The model gives its answers in order; a repeated request gets the same answer. Calls of the
 * engine's own tools are executed again. If a recording has several agents, the first is replayed. Throws if the text is not a recording.
 */
export async function replayOf(recording: string): Promise<Replay> {
  if (typeof recording !== 'string') throw new TypeError('replayOf: the recording must be the text of a file');
  const { task, replies, calls } = recordingIn(recording);
  const { script, left } = inOrder(replies);
  const { tools, strangeCalls } = recordedTools(calls);
  return { ...(await testModel(script)), task, tools, strangeCalls, left };
}
