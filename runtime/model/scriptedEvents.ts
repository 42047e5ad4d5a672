// A scripted answer in both forms of the API: as stream events, and as a whole message.

import type { ContentBlock } from './message.ts';
import type { ScriptedUsage } from './scriptedUsage.ts';

export type Event = { type: string; [key: string]: unknown };
export type Message = {
  id: string;
  model: string;
  content: ContentBlock[];
  stop_reason: string;
  stop_details: unknown;
  usage: ScriptedUsage;
};

function wireMessage({ id, model, stop_reason, stop_details, usage }: Message, content: ContentBlock[]) {
  return { id, type: 'message', role: 'assistant', model, content, stop_reason, stop_sequence: null, stop_details, usage };
}

/** The answer as the API returns it without streaming. */
export function wholeOf(message: Message) {
  return wireMessage(message, message.content.map(withoutInputJson));
}

function withoutInputJson(block: ContentBlock): ContentBlock {
  const { inputJson, ...rest } = block;
  return inputJson === undefined ? block : { ...rest, input: {} };
}

/** The whole answer as stream events. */
export function eventsOf(message: Message): Event[] {
  const { usage, stop_reason, stop_details } = message;
  const atStart = { ...usage, output_tokens: 1, output_tokens_details: { thinking_tokens: 0 } };
  return [
    { type: 'message_start', message: { ...wireMessage(message, []), stop_reason: null, stop_details: null, usage: atStart } },
    { type: 'ping' },
    ...message.content.flatMap(blockEvents),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null, stop_details }, usage },
    { type: 'message_stop' },
  ];
}

/** The key of a block that grows starts empty and arrives in pieces; all other keys are there from the start. */
function blockEvents(block: ContentBlock, index: number): Event[] {
  const grow = (deltas: Record<string, unknown>[], start: ContentBlock): Event[] => [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
  if (block.type === 'text')
    return grow(
      pieces(block['text'], 24).map((text) => ({ type: 'text_delta', text })),
      { ...block, text: '' },
    );
  if (block.type === 'thinking') {
    const deltas = pieces(block['thinking'], 24).map((thinking) => ({ type: 'thinking_delta', thinking }));
    return grow([...deltas, { type: 'signature_delta', signature: block['signature'] }], { ...block, thinking: '', signature: '' });
  }
  if ('inputJson' in block || 'input' in block) {
    const { inputJson } = block;
    const isEmpty = inputJson === undefined && JSON.stringify(block['input']) === '{}';
    const json = isEmpty ? [] : pieces(inputJson ?? JSON.stringify(block['input']), 12);
    return grow(
      ['', ...json].map((partial) => ({ type: 'input_json_delta', partial_json: partial })),
      { ...withoutInputJson(block), input: {} },
    );
  }
  return grow([], block);
}

/** Pieces of `size` code points, so that no surrogate pair is split. */
function pieces(value: unknown, size: number): string[] {
  const points = Array.from(typeof value === 'string' ? value : '');
  return Array.from({ length: Math.ceil(points.length / size) }, (_, n) => points.slice(n * size, (n + 1) * size).join(''));
}
