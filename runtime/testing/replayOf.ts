// A recorded run as a model and tools for a test: the agent of today is driven by what the model said then.

import type { Tool } from '../tools/tool.ts';
import { inOrder, recordedTools, recordingIn } from './recording.ts';
import { testModel } from './scriptedModel.ts';
import type { TestModel } from './scriptedModel.ts';

export type Replay = TestModel & {
  /** What the recorded agent was asked to do. */
  task: string;
  /** For each tool that it called, one that answers what was answered then. Leave one out and give your own to try that. */
  tools: readonly Tool[];
  /** The calls of these tools that the recording does not have, each as its name and input. */
  strangeCalls: () => readonly string[];
  /** How many answers of the model were not asked for. */
  left: () => number;
};

/**
 * Plays a recording again: the text that `work-ledger export ID` wrote of a work item, or of a session file of Claude Code, Codex, Gemini CLI and
 * the others that can be imported. The model gives its answers in their order, a repeated request gets the same. Of the engine's own tools the
 * calls are made anew; of several agents in a recording the first is played. Throws for a text that is no recording.
 */
export async function replayOf(recording: string): Promise<Replay> {
  const { task, replies, calls } = recordingIn(recording);
  const { script, left } = inOrder(replies);
  const { tools, strangeCalls } = recordedTools(calls);
  return { ...(await testModel(script)), task, tools, strangeCalls, left };
}
