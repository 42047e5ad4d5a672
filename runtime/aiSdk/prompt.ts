// Converts a request that the database assembled to the AI SDK's call options. What they cannot express is rejected, never left out.

import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';

import { isObject } from '../../plv8/isObject.ts';
import { show } from '../model/json.ts';
import type { ContentBlock, Message, ModelRequest } from '../model/message.ts';
import { metadataOf } from './metadata.ts';

/** The request contains something that the AI SDK cannot express. */
export class Unmappable extends Error {}

type UserPart = Extract<LanguageModelV4Message, { role: 'user' }>['content'][number];
type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number];
type ToolPart = Extract<Extract<LanguageModelV4Message, { role: 'tool' }>['content'][number], { type: 'tool-result' }>;
type Json = Record<string, unknown>;
type Effort = NonNullable<LanguageModelV4CallOptions['reasoning']>;

export type PromptOptions = {
  /** Whether images of tool results stay in these. Otherwise they follow in a user message. */
  imagesInResults: boolean;
};

const efforts: readonly unknown[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/** Throws Unmappable. */
export function callOptions(request: ModelRequest, options: PromptOptions): LanguageModelV4CallOptions {
  const { model: _model, stream: _stream, max_tokens, system, messages, tools, tool_choice, cache_control, ...asked } = request;
  const { thinking, output_config, temperature, top_p, ...others } = asked as Json;
  const [other] = Object.keys(others);
  if (other !== undefined) throw new Unmappable(`the AI SDK does not support ${other} of a request: set it where the model is made`);
  const prompt = [...systemOf(system), ...messagesOf(messages, options)];
  const last = prompt.at(-1);
  if (last) Object.assign(last, cached({ cache_control }));
  const choice = choiceOf(tool_choice);
  const reasoning = reasoningOf(thinking, output_config);
  return {
    prompt,
    maxOutputTokens: max_tokens,
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof top_p === 'number' && { topP: top_p }),
    ...(tools && tools.length > 0 && { tools: tools.map(toolOf) }),
    ...(choice && { toolChoice: choice }),
    ...(reasoning && { reasoning }),
  };
}

/** Always a single message, because many servers do not accept a second one. */
function systemOf(system: ModelRequest['system'] | undefined): LanguageModelV4Message[] {
  if (system === undefined) return [];
  if (typeof system === 'string') return [{ role: 'system', content: system }];
  return system.length === 0 ? [] : [{ role: 'system', content: system.map(textOf).join('\n\n'), ...cached(system.at(-1) ?? {}) }];
}

function messagesOf(messages: readonly Message[], options: PromptOptions): LanguageModelV4Message[] {
  const names = new Map<unknown, string>();
  return messages.flatMap(({ role, content }): LanguageModelV4Message[] => {
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    if (role === 'system') return [{ role, content: blocks.map(textOf).join('\n\n') }];
    if (role === 'user') return ofUser(blocks, names, options);
    for (const block of blocks) if (block.type === 'tool_use') names.set(block['id'], String(block['name']));
    return [{ role, content: blocks.flatMap(ofAssistant) }];
  });
}

/** The tool results first, then the rest. */
function ofUser(blocks: readonly ContentBlock[], names: ReadonlyMap<unknown, string>, options: PromptOptions): LanguageModelV4Message[] {
  const results: ToolPart[] = [];
  const said: UserPart[] = [];
  for (const block of blocks) {
    if (block.type !== 'tool_result') {
      said.push({ ...partOf(block), ...cached(block) });
      continue;
    }
    const toolName = names.get(block['tool_use_id']);
    if (toolName === undefined) throw new Unmappable(`a result is for no call: ${String(block['tool_use_id'])}`);
    const { output, images } = resultOf(block, options);
    results.push({ type: 'tool-result', toolCallId: String(block['tool_use_id']), toolName, output, ...cached(block) });
    if (images.length > 0)
      said.push({ type: 'text', text: `[engine] What ${toolName} showed (${String(block['tool_use_id'])}):` }, ...images);
  }
  return [
    ...(results.length > 0 ? [{ role: 'tool' as const, content: results }] : []),
    ...(said.length > 0 ? [{ role: 'user' as const, content: said }] : []),
  ];
}

/** A result, and those of its images that must follow it in a message. */
function resultOf(block: ContentBlock, { imagesInResults }: PromptOptions): { output: ToolPart['output']; images: UserPart[] } {
  const { content, is_error } = block;
  const parts = (Array.isArray(content) ? (content as ContentBlock[]) : []).map(partOf);
  const images = parts.filter(({ type }) => type === 'file');
  if (imagesInResults && images.length > 0) return { output: { type: 'content', value: parts }, images: [] };
  const value = typeof content === 'string' ? content : parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  return { output: { type: is_error === true ? 'error-text' : 'text', value }, images };
}

/** A text, image or document block. */
function partOf(block: ContentBlock): UserPart {
  const { type, source } = block;
  if (type === 'text') return { type: 'text', text: textOf(block) };
  if ((type === 'image' || type === 'document') && isObject(source)) {
    if (source['type'] === 'base64') {
      const data = { type: 'data' as const, data: String(source['data']) };
      return { type: 'file', mediaType: String(source['media_type']), data };
    }
    if (source['type'] === 'url' && type === 'image')
      return { type: 'file', mediaType: 'image/*', data: { type: 'url', url: new URL(String(source['url'])) } };
  }
  throw new Unmappable(
    `the AI SDK does not support a ${type} block${isObject(source) ? ` with a source of the type ${String(source['type'])}` : ''}`,
  );
}

function ofAssistant(block: ContentBlock): AssistantPart[] {
  const metadata = metadataOf(block);
  const given = { ...(metadata && { providerOptions: metadata }) };
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: textOf(block), ...given, ...cached(block, metadata) }];
    case 'thinking':
    case 'redacted_thinking':
      // Thinking without text is kept for its provider's signature.
      if (!metadata && !block['thinking']) return [];
      return [{ type: 'reasoning', text: typeof block['thinking'] === 'string' ? block['thinking'] : '', ...given }];
    case 'tool_use':
      return [
        {
          type: 'tool-call',
          toolCallId: String(block['id']),
          toolName: String(block['name']),
          input: block['input'],
          ...given,
          ...cached(block, metadata),
        },
      ];
    default:
      throw new Unmappable(`the AI SDK does not support a ${block.type} block of the assistant`);
  }
}

function textOf({ type, text }: ContentBlock): string {
  if (type !== 'text' || typeof text !== 'string') throw new Unmappable(`a ${type} block stands where only text can`);
  return text;
}

/** A cache breakpoint; providers without caching ignore it. */
function cached(
  { cache_control }: { [key: string]: unknown },
  metadata?: SharedV4ProviderOptions,
): { providerOptions?: SharedV4ProviderOptions } {
  if (!isObject(cache_control)) return {};
  return {
    providerOptions: { ...metadata, anthropic: { ...metadata?.['anthropic'], cacheControl: cache_control as Record<string, string> } },
  };
}

function toolOf(tool: Json): LanguageModelV4FunctionTool {
  const { name, description, input_schema, type } = tool;
  if (type !== undefined && type !== 'custom') throw new Unmappable(`the AI SDK does not support a tool of the type ${show(type)}`);
  return {
    type: 'function',
    name: String(name),
    ...(typeof description === 'string' && { description }),
    inputSchema: input_schema as LanguageModelV4FunctionTool['inputSchema'],
    ...cached(tool),
  };
}

function choiceOf(choice: unknown): LanguageModelV4CallOptions['toolChoice'] {
  if (choice === undefined) return undefined;
  const { type, name } = isObject(choice) ? choice : {};
  if (type === 'auto' || type === 'none') return { type };
  if (type === 'any') return { type: 'required' };
  if (type === 'tool') return { type, toolName: String(name) };
  throw new Unmappable(`the AI SDK does not support a tool_choice of the type ${show(type)}`);
}

/** Whether the model thinks, and how much. Effort applies only with thinking. */
function reasoningOf(thinking: unknown, outputConfig: unknown): Effort | undefined {
  const kind = isObject(thinking) ? thinking['type'] : undefined;
  const effort = isObject(outputConfig) ? outputConfig['effort'] : undefined;
  if (kind === 'disabled' || kind === 'between_tools') return 'none';
  if (kind === 'enabled') throw new Unmappable('the AI SDK does not support a budget of thinking tokens: say effort in its place');
  if (effort === undefined) return undefined;
  if (!efforts.includes(effort)) throw new Unmappable(`the AI SDK does not support the effort ${show(effort)}`);
  return effort as Effort;
}
