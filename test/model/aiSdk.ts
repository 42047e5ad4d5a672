// The model's replies by way of the AI SDK: what the driver's model says is streamed by the SDK's mock, and must come out as it went in;
// each request of the engine must have a form there.

import { isDeepStrictEqual } from 'node:util';

import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';

import { modelFromAiSdk } from '../../runtime/aiSdk/index.ts';
import type { ContentBlock, ModelRequest } from '../../runtime/model/message.ts';
import { expect } from './expect.ts';
import type { Reply } from './replies.ts';

/** How the AI SDK says why a response ended; what it has no word for stays as it is. */
const reasons = { tool_use: 'tool-calls', end_turn: 'stop', max_tokens: 'length', refusal: 'content-filter' } as const;

export async function byAiSdk({ exchange, response }: Reply, request: unknown): Promise<Record<string, unknown>> {
  const { stopReason, content } = exchange;
  const usage = response['usage'] as Record<string, number>;
  const model = new MockLanguageModelV4({
    provider: 'anthropic',
    doStream: async () => ({
      stream: simulateReadableStream({
        initialDelayInMs: null,
        chunkDelayInMs: null,
        chunks: [
          { type: 'response-metadata', id: String(response['id']), modelId: String(response['model']) },
          ...content.flatMap(partsOf),
          {
            type: 'finish',
            finishReason: {
              unified: Object.hasOwn(reasons, stopReason) ? reasons[stopReason as keyof typeof reasons] : 'other',
              raw: stopReason,
            },
            usage: {
              inputTokens: {
                total: undefined,
                noCache: usage['input_tokens'],
                cacheRead: usage['cached_input_tokens'],
                cacheWrite: usage['cache_write_tokens'],
              },
              outputTokens: { total: usage['output_tokens'], text: undefined, reasoning: usage['reasoning_tokens'] },
            },
          },
        ],
      }),
    }),
  });
  // These the AI SDK has no words for, and refuses.
  const { thinking: _thinking, service_tier: _tier, betas: _betas, ...sayable } = request as ModelRequest;
  const outcome = await modelFromAiSdk(model).call(sayable, { signal: new AbortController().signal });
  if (outcome.kind !== 'response') throw new Error(`the AI SDK's way: ${JSON.stringify(outcome)}`);
  const { response: came } = outcome;
  expect(
    isDeepStrictEqual(came.content, content),
    () => `by the AI SDK came ${JSON.stringify(came.content)}, not ${JSON.stringify(content)}`,
  );
  const asked = model.doStreamCalls[0]?.prompt ?? [];
  const results = (request as ModelRequest).messages.flatMap((message) =>
    typeof message.content === 'string'
      ? []
      : message.content.filter(({ type }) => type === 'tool_result').map((block) => block['tool_use_id']),
  );
  const given = asked.flatMap((message) => (message.role === 'tool' ? message.content : []));
  const answered = given.map((part) => ('toolCallId' in part ? part.toolCallId : null));
  expect(isDeepStrictEqual(answered, results), () => `by the AI SDK went results of ${answered.join()}, not ${results.join()}`);
  return {
    ...response,
    content: came.content,
    model: came.model,
    id: came.id,
    stop_reason: Object.hasOwn(reasons, stopReason) ? came.stopReason : stopReason,
  };
}

function partsOf(block: ContentBlock, n: number): LanguageModelV4StreamPart[] {
  const id = String(n);
  switch (block.type) {
    case 'text':
      return [
        { type: 'text-start', id },
        { type: 'text-delta', id, delta: String(block['text']) },
        { type: 'text-end', id },
      ];
    case 'thinking':
      return [
        { type: 'reasoning-start', id },
        { type: 'reasoning-delta', id, delta: String(block['thinking']) },
        { type: 'reasoning-end', id, providerMetadata: { anthropic: { signature: String(block['signature']) } } },
      ];
    case 'redacted_thinking':
      return [
        { type: 'reasoning-start', id, providerMetadata: { anthropic: { redactedData: String(block['data']) } } },
        { type: 'reasoning-end', id },
      ];
    default:
      return [
        { type: 'tool-call', toolCallId: String(block['id']), toolName: String(block['name']), input: JSON.stringify(block['input']) },
      ];
  }
}
