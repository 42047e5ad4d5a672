// Reads mini-swe-agent's .traj.json: {trajectory_format, info, messages}. A call is a fenced bash block in the model's text, and its
// result is the next user message; since version 2 there are tool_calls and tool messages too.

import { field, stringOf, usageOf } from './reading.ts';
import type { Reading, RecordedCall, RecordedExchange } from './reading.ts';

/** The harness's own pattern: a fence within a line does not count. */
const fence = /```(?:bash|mswea_bash_command)\s*\n([^]*?)\n```/g;
const lastCommand = /COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT|MINI_SWE_AGENT_FINAL_OUTPUT/;

export function readMiniSweAgent(document: unknown): Reading {
  const messages = field(document, 'messages') as unknown[];
  const answered = messages.map((message) => stringOf(field(message, 'extra', 'response', 'model')));
  return {
    format: 'mini-swe-agent',
    model: stringOf(field(document, 'info', 'config', 'model', 'model_name')) ?? answered.find((model) => model !== null) ?? null,
    outcome: stringOf(field(document, 'info', 'exit_status')),
    messages,
    skipReason: (message) => (field(message, 'role') === 'exit' ? 'exit record of the harness' : null),
    callsInText: (_, text) => callsInText(text),
    usage,
    isFailure: (result) => /^<returncode>(?!0<)/.test(result) || /^The last command <command>[^]*<\/command> timed out/.test(result),
    endsRun: (call) => lastCommand.test(String(call.input['command'])),
  };
}

/** One call for a message with a block. Several blocks also count as one call, which the harness rejected without running it. */
function callsInText(text: string): RecordedCall[] {
  const commands = [...text.matchAll(fence)].map((match) => (match[1] ?? '').trim());
  if (commands.length === 0) return [];
  return [{ name: 'bash', input: { command: commands.join('\n') }, result: null, isError: commands.length > 1 }];
}

function usage(message: unknown, wrong: (count: unknown) => unknown): RecordedExchange['usage'] {
  const counts = field(message, 'extra', 'response', 'usage');
  if (typeof counts !== 'object' || counts === null) return null;
  return usageOf(
    field(counts, 'prompt_tokens'),
    field(counts, 'prompt_tokens_details', 'cached_tokens'),
    field(counts, 'completion_tokens'),
    wrong,
  );
}
