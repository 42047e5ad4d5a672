// Assembles a message from the provider's stream events. The blocks keep the keys and the order that the provider sent; strings are made
// safe for Postgres.

import { z } from 'zod';

import { isObject } from '../../plv8/isObject.ts';
import { storableText } from '../../plv8/storable.ts';
import type { ContentBlock, ModelResponse } from './message.ts';

const maxDepth = 64;

/** Thrown if the stream is not a valid message. */
export class MalformedError extends Error {}

const record = z.custom<Record<string, unknown>>(isObject, 'expected an object');
const contentBlock = z.custom<ContentBlock>((value) => isObject(value) && typeof value['type'] === 'string', 'expected a content block');
/** As much as the database takes. */
const mostTokens = 100_000_000;
/** Some gateways report fractions of tokens, or what is no count at all: no answer is lost because of a count. */
const count = z
  .unknown()
  .transform((given) => (typeof given === 'number' && Number.isFinite(given) ? Math.min(mostTokens, Math.max(0, Math.round(given))) : null))
  .optional();
const usage = z
  .object({
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
    output_tokens_details: z.object({ thinking_tokens: count }).nullish().catch(null),
  })
  .catch({});
const delta = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text_delta'), text: z.string() }),
  z.object({ type: z.literal('input_json_delta'), partial_json: z.string() }),
  z.object({ type: z.literal('thinking_delta'), thinking: z.string() }),
  z.object({ type: z.literal('signature_delta'), signature: z.string() }),
  z.object({ type: z.literal('citations_delta'), citation: record }),
  // For other kinds of providers (runtime/aiSdk): metadata that they require back with the block, and the whole input of a call, which
  // replaces what was streamed of it.
  z.object({ type: z.literal('metadata_delta'), metadata: record }),
  z.object({ type: z.literal('input_json'), json: z.string() }),
]);
// An unknown kind of event is ignored, as the API asks of its clients. An unknown kind of delta is not, because the block would be stored
// with a part missing.
const event = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: z.object({ id: z.string(), model: z.string(), usage }) }),
  z.object({ type: z.literal('content_block_start'), index: z.int(), content_block: contentBlock }),
  z.object({ type: z.literal('content_block_delta'), index: z.int(), delta }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.object({ stop_reason: z.string().nullish(), stop_details: z.unknown().optional() }),
    usage,
  }),
  z.object({ type: z.literal('message_stop') }),
]);
const eventTypes: ReadonlySet<unknown> = new Set(event.options.map((option) => option.shape.type.value));

/** A message as it arrives. take() and finish() throw MalformedError. */
export class Draft {
  isComplete = false;
  private start: { id: string; model: string } | null = null;
  private blocks: { block: ContentBlock; json: string }[] = [];
  private stopReason: string | null = null;
  private stopDetails: unknown = null;
  private usage: z.infer<typeof usage> = {};

  /** Whether any content has arrived. */
  hasContent = false;

  /** Processes one event and returns the visible text that it added. */
  take(raw: unknown): string {
    if (this.isComplete || !isObject(raw) || !eventTypes.has(raw['type'])) return '';
    const parsed = event.safeParse(raw);
    if (!parsed.success) throw new MalformedError(`a ${String(raw['type'])} event is not as documented: ${z.prettifyError(parsed.error)}`);
    const it = parsed.data;
    if ((it.type === 'message_start') !== (this.start === null)) throw new MalformedError(`a ${it.type} event came out of order`);
    switch (it.type) {
      case 'message_start':
        this.start = it.message;
        this.count(it.message.usage);
        break;
      case 'content_block_start':
        if (it.index !== this.blocks.length) throw new MalformedError(`content block ${it.index} came as number ${this.blocks.length}`);
        this.blocks.push({ block: { ...it.content_block }, json: '' });
        break;
      case 'content_block_delta':
        this.grow(it.index, it.delta);
        break;
      case 'message_delta':
        this.stopReason = it.delta.stop_reason ?? this.stopReason;
        this.stopDetails = it.delta.stop_details ?? this.stopDetails;
        this.count(it.usage);
        break;
      case 'message_stop':
        this.isComplete = true;
        break;
    }
    return it.type === 'content_block_delta' && it.delta.type === 'text_delta' ? it.delta.text : '';
  }

  /** The blocks that have arrived so far; the input of a call is the beginning of its JSON. */
  soFar(): ContentBlock[] {
    return this.blocks.map(({ block, json }) => (json === '' ? block : { ...block, input: json }));
  }

  finish(): Omit<ModelResponse, 'requestId' | 'durationMs' | 'firstTokenMs'> {
    if (!this.start || this.stopReason === null) throw new MalformedError('the message has no stop reason');
    const stopReason = this.stopReason;
    const isCutOff = !['tool_use', 'end_turn', 'stop_sequence', 'pause_turn'].includes(stopReason);
    return {
      id: clean(this.start.id, 1),
      model: clean(this.start.model, 1),
      content: this.blocks.map((draft) => clean(withInput(draft.block, draft.json, isCutOff), 1)),
      stopReason: clean(stopReason, 1),
      stopDetails: clean(this.stopDetails, 1),
      usage: {
        inputTokens: this.usage.input_tokens ?? 0,
        outputTokens: this.usage.output_tokens ?? 0,
        cachedInputTokens: this.usage.cache_read_input_tokens ?? 0,
        cacheWriteTokens: this.usage.cache_creation_input_tokens ?? 0,
        reasoningTokens: this.usage.output_tokens_details?.thinking_tokens ?? 0,
      },
    };
  }

  private grow(index: number, it: z.infer<typeof delta>): void {
    this.hasContent = true;
    const draft = this.blocks[index];
    if (!draft) throw new MalformedError(`a delta came for content block ${index}, which had not begun`);
    const { block } = draft;
    switch (it.type) {
      case 'text_delta':
        block['text'] = textOf(block['text']) + it.text;
        break;
      case 'input_json_delta':
        draft.json += it.partial_json;
        break;
      case 'input_json':
        draft.json = it.json;
        break;
      case 'thinking_delta':
        block['thinking'] = textOf(block['thinking']) + it.thinking;
        break;
      case 'signature_delta':
        block['signature'] = it.signature;
        break;
      case 'citations_delta':
        block['citations'] = [...(Array.isArray(block['citations']) ? block['citations'] : []), it.citation];
        break;
      case 'metadata_delta':
        block['provider_metadata'] = it.metadata;
        break;
    }
  }

  /** Counters in message_delta are totals; where given, they replace those of message_start. */
  private count(more: z.infer<typeof usage>): void {
    this.usage = { ...this.usage, ...Object.fromEntries(Object.entries(more).filter(([, value]) => value != null)) };
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The block with its input parsed. An input that the output limit cut off becomes `{}`; such a call must not be run. */
function withInput(block: ContentBlock, json: string, isCutOff: boolean): ContentBlock {
  if (json.trim() === '') return block;
  let input: unknown = null;
  try {
    input = JSON.parse(json);
  } catch (error) {
    if (!isCutOff) throw new MalformedError(`the input of a call of ${String(block['name'])} is not JSON: ${String(error)}`);
    input = {};
  }
  if (!isObject(input)) throw new MalformedError(`the input of a call of ${String(block['name'])} is not an object`);
  return { ...block, input };
}

/** The JSON with everything that Postgres cannot store replaced. Clean values stay unchanged, which matters most for signed blocks. */
function clean<Json>(value: Json, depth: number): Json {
  return cleaned(value, depth) as Json;
}

function cleaned(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return storableText(value);
  if (typeof value === 'number' && !Number.isFinite(value)) throw new MalformedError('the message holds a number too large to keep');
  if (typeof value !== 'object' || value === null) return value;
  if (depth > maxDepth) throw new MalformedError(`the message is nested deeper than ${maxDepth} levels`);
  if (Array.isArray(value)) return value.map((item) => cleaned(item, depth + 1));
  // fromEntries defines properties, so a key `__proto__` stays an ordinary key.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [cleaned(key, depth), cleaned(item, depth + 1)]));
}
