// Converts the stream of an AI SDK model to stream events of the Messages API.

import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';

import { MalformedError } from '../model/messageDraft.ts';
import { CutOffError } from '../model/streamedCall.ts';
import { signatureOf } from './metadata.ts';
import { Unmappable } from './prompt.ts';

type Event = { type: string; [key: string]: unknown };
type Part = LanguageModelV4StreamPart;
type Metadata = SharedV4ProviderMetadata | undefined;
type Block = {
  index: number;
  kind: 'text' | 'thinking' | 'redacted_thinking' | 'tool_use';
  metadata: Metadata;
  input: string;
  isWhole: boolean;
};

/** The events of a whole message. Throws errors that the stream reports, and Unmappable for content that no request could send back. */
export async function* eventsOf(stream: AsyncIterable<Part>, modelId: string): AsyncGenerator<Event> {
  const message = new Streamed(modelId);
  for await (const part of stream) yield* message.take(part);
}

class Streamed {
  #start: { id: string; model: string };
  #hasStarted = false;
  #blocks: Block[] = [];
  /** Blocks that may still grow, by kind and id; an id may be used again after a block has ended. */
  #open = new Map<string, Block>();
  /** Sources that arrived before any text. */
  #sources: unknown[] = [];

  constructor(modelId: string) {
    this.#start = { id: '', model: modelId };
  }

  take(part: Part): Iterable<Event> {
    switch (part.type) {
      case 'stream-start':
      case 'ping':
      case 'raw':
        return [];
      case 'response-metadata':
        this.#start = { id: part.id ?? this.#start.id, model: part.modelId ?? this.#start.model };
        return [];
      case 'text-start':
        return this.#begin(`text ${part.id}`, 'text', part.providerMetadata, { text: '' });
      case 'text-delta':
        return this.#grow(`text ${part.id}`, part.providerMetadata, { type: 'text_delta', text: part.delta });
      case 'text-end':
        return this.#said(`text ${part.id}`, part.citations ?? [], part.providerMetadata);
      case 'reasoning-start':
        return this.#think(`reasoning ${part.id}`, part.providerMetadata);
      case 'reasoning-delta':
        return this.#grow(`reasoning ${part.id}`, part.providerMetadata, { type: 'thinking_delta', thinking: part.delta });
      case 'reasoning-end':
        this.#end(`reasoning ${part.id}`, part.providerMetadata);
        return [];
      case 'tool-input-start':
        return this.#call(part.id, part);
      case 'tool-input-delta':
        return this.#write(`call ${part.id}`, part.delta);
      case 'tool-input-end':
        return [];
      case 'tool-call':
        return this.#called(part);
      case 'source':
        return this.#cite(part);
      case 'finish':
        return this.#finish(part.finishReason, part.usage);
      case 'error':
        throw part.error;
      case 'tool-result':
      case 'tool-approval-request':
      case 'file':
      case 'reasoning-file':
      case 'custom':
    }
    throw new Unmappable(`the model answered with a ${part.type}, which cannot be sent back in a later request`);
  }

  *#begin(key: string, kind: Block['kind'], metadata: Metadata, content: object): Generator<Event> {
    yield* this.#started();
    const block: Block = { index: this.#blocks.length, kind, metadata, input: '', isWhole: false };
    this.#blocks.push(block);
    this.#open.set(key, block);
    yield { type: 'content_block_start', index: block.index, content_block: { type: kind, ...content } };
    if (kind !== 'text') return;
    for (const citation of this.#sources.splice(0)) yield this.#delta(block, { type: 'citations_delta', citation });
  }

  *#started(): Generator<Event> {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    yield { type: 'message_start', message: { ...this.#start, usage: {} } };
  }

  #delta({ index }: Block, delta: object): Event {
    return { type: 'content_block_delta', index, delta };
  }

  *#grow(key: string, metadata: Metadata, delta: object): Generator<Event> {
    const block = this.#open.get(key);
    if (!block) throw new MalformedError(`the model continued ${key}, which it had not started`);
    block.metadata = metadata ?? block.metadata;
    if (block.kind !== 'redacted_thinking') yield this.#delta(block, delta);
  }

  *#said(key: string, citations: readonly object[], metadata: Metadata): Generator<Event> {
    for (const citation of citations) yield* this.#grow(key, undefined, { type: 'citations_delta', citation });
    this.#end(key, metadata);
  }

  #end(key: string, metadata: Metadata): void {
    const block = this.#open.get(key);
    if (block) Object.assign(block, { metadata: metadata ?? block.metadata, isWhole: true });
    this.#open.delete(key);
  }

  #think(key: string, metadata: Metadata): Generator<Event> {
    const data = metadata?.['anthropic']?.['redactedData'];
    return typeof data === 'string'
      ? this.#begin(key, 'redacted_thinking', metadata, { data })
      : this.#begin(key, 'thinking', metadata, { thinking: '', signature: '' });
  }

  *#call(id: string, part: { toolName: string; providerExecuted?: boolean; inputEncoding?: 'json' | 'text'; providerMetadata?: Metadata }) {
    if (part.providerExecuted)
      throw new Unmappable(`the provider ran ${part.toolName} itself, which cannot be sent back in a later request`);
    // If the beginning of the input is not JSON, the whole input comes with the call.
    const key = part.inputEncoding === 'text' ? `text of call ${id}` : `call ${id}`;
    yield* this.#begin(key, 'tool_use', part.providerMetadata, { id, name: part.toolName, input: {} });
  }

  *#write(key: string, json: string): Generator<Event> {
    const block = this.#open.get(key);
    if (!block || json === '') return;
    block.input += json;
    yield this.#delta(block, { type: 'input_json_delta', partial_json: json });
  }

  /** A complete call, whose input may have arrived in pieces before. */
  *#called(part: Extract<Part, { type: 'tool-call' }>): Generator<Event> {
    const { toolCallId: id, input } = part;
    const isBegun = (): string | undefined => [`call ${id}`, `text of call ${id}`].find((key) => this.#open.has(key));
    if (isBegun() === undefined) yield* this.#call(id, part);
    const key = isBegun() ?? '';
    const block = this.#open.get(key);
    const written = block?.input ?? '';
    if (input.startsWith(written)) yield* this.#write(key, input.slice(written.length));
    else if (block) yield this.#delta(block, { type: 'input_json', json: input }); // the call's input counts, not what was streamed
    this.#end(key, part.providerMetadata);
  }

  *#cite(source: Extract<Part, { type: 'source' }>): Generator<Event> {
    const block = this.#blocks.findLast(({ kind }) => kind === 'text');
    if (block) yield this.#delta(block, { type: 'citations_delta', citation: source });
    else this.#sources.push(source);
  }

  *#finish(reason: LanguageModelV4FinishReason, usage: LanguageModelV4Usage): Generator<Event> {
    const stopReason = stopReasonOf(
      reason,
      this.#blocks.some(({ kind }) => kind === 'tool_use'),
    );
    const isBegunOnly = this.#blocks.some(({ kind, isWhole }) => kind === 'tool_use' && !isWhole);
    if (isBegunOnly && stopReason === 'tool_use') throw new MalformedError('the model started a call that it did not finish');
    yield* this.#started();
    for (const block of this.#blocks) {
      const { kind, metadata } = block;
      if (kind === 'thinking') yield this.#delta(block, { type: 'signature_delta', signature: signatureOf(metadata) });
      else if (kind !== 'redacted_thinking' && metadata) yield this.#delta(block, { type: 'metadata_delta', metadata });
    }
    yield { type: 'message_delta', delta: { stop_reason: stopReason }, usage: countsOf(usage) };
    yield { type: 'message_stop' };
  }
}

function stopReasonOf({ unified, raw }: LanguageModelV4FinishReason, hasCalls: boolean): string {
  switch (unified) {
    case 'length':
      return 'max_tokens';
    case 'content-filter':
      return 'refusal';
    case 'error':
      throw new MalformedError(`the model ended with an error${raw === undefined ? '' : `: ${raw}`}`);
    case 'interrupted':
      throw new CutOffError('the model was interrupted before its message was complete');
    case 'other':
      // Some providers end the stream like this when their server breaks off.
      if (raw === undefined) throw new CutOffError('the stream ended without a reason');
      break;
    case 'stop':
    case 'tool-calls':
  }
  return hasCalls ? 'tool_use' : 'end_turn';
}

/** Counts that a provider does not give, or not as numbers, are left out: no answer is lost because of a count. */
function countsOf(usage: Partial<LanguageModelV4Usage> | undefined): object {
  const { total: input, noCache, cacheRead = 0, cacheWrite = 0 } = numbersOf(usage?.inputTokens);
  const { total: output, text = 0, reasoning = 0 } = numbersOf(usage?.outputTokens);
  return {
    input_tokens: noCache ?? Math.max(0, (input ?? 0) - cacheRead - cacheWrite),
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
    output_tokens: output ?? text + reasoning,
    output_tokens_details: { thinking_tokens: reasoning },
  };
}

const numbersOf = <Counts extends object>(counts: Counts | undefined): Partial<Counts> =>
  Object.fromEntries(Object.entries(counts ?? {}).filter(([, count]) => Number.isFinite(count))) as Partial<Counts>;
