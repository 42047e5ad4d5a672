// A scripted model for work that is delegated: each work item is told apart by its description, and what it says next may
// depend on the children that it has and on what it was answered last.

import type { ContentBlock, ModelRequest } from '../runtime/model/message.ts';
import type { ScriptedReply } from '../runtime/model/script.ts';
import { startScriptedModel } from '../runtime/model/scriptedModel.ts';
import type { ScriptedModel } from '../runtime/model/scriptedModel.ts';

export type Seen = {
  /** How many responses this work item has given. */
  exchange: number;
  /** Children spawned so far, in order. */
  children: string[];
  /** Results of the calls of the last response, and what was said besides. */
  results: string[];
  said: string[];
  description: string;
};
type Role = (seen: Seen) => ScriptedReply;

/** Starts a model that plays, for each work item, the first role whose key its description begins with. */
export function startTeam(roles: Record<string, Role>): Promise<ScriptedModel> {
  return startScriptedModel((request) => {
    const seen = whatIsSeen(request);
    const role = Object.entries(roles).find(([name]) => seen.description.startsWith(name))?.[1];
    return role?.(seen) ?? { error: { status: 400, type: 'invalid_request_error', message: `no role for: ${seen.description}` } };
  });
}

function whatIsSeen(request: ModelRequest): Seen {
  const blocksOf = (content: string | ContentBlock[]): ContentBlock[] =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const task = String(blocksOf(request.messages[0]?.content ?? '')[0]?.['text']);
  const last = blocksOf(request.messages.at(-1)?.content ?? '');
  const resultText = (block: ContentBlock): string =>
    typeof block['content'] === 'string' ? block['content'] : JSON.stringify(block['content']);
  const results = request.messages
    .flatMap((message) => blocksOf(message.content))
    .filter((block) => block.type === 'tool_result')
    .map(resultText);
  return {
    exchange: request.messages.filter((message) => message.role === 'assistant').length,
    children: results.flatMap((text) => /^Child work item ([0-9a-f-]{36}) is/.exec(text)?.[1] ?? []),
    results: last.filter((block) => block.type === 'tool_result').map(resultText),
    said: last.filter((block) => block.type === 'text').map((block) => String(block['text'])),
    description: task.split('\n\n')[2] ?? '',
  };
}

export const call = (name: string, input: Record<string, unknown>): ContentBlock => ({ type: 'tool_use', name, input });
export const calls = (...content: ContentBlock[]): ScriptedReply => ({ content });
export const spawn = (description: string, more: Record<string, unknown> = {}): ContentBlock =>
  call('spawn_child_work', { work_type: 'part', description, ...more });
export const awaits = (ids: string[], timeoutSeconds?: number): ContentBlock =>
  call('await_child_work', { work_item_ids: ids, ...(timeoutSeconds !== undefined && { timeout_seconds: timeoutSeconds }) });
export const done = (summary: string): ScriptedReply => ({ content: [{ type: 'text', text: summary }] });
