// Token counts of the scripted model, with the API's names: characters / 3.5, and how many of them the provider's cache would have
// held. Caching works as in the real API, in the order tools, system, messages: a request leaves in the cache what precedes each of its
// breakpoints, and finds there what an earlier request left at one of this request's breakpoints or at most 20 blocks before it, counting
// the breakpoint's own block. The minimum size and the lifetime are not simulated.

import { createHash } from 'node:crypto';

import type { ContentBlock, ModelRequest } from './message.ts';

/** Token counts with the API's names. */
export type ScriptedUsage = {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  output_tokens: number;
  output_tokens_details: { thinking_tokens: number };
};

const charactersPerToken = 3.5;
const lookBack = 20;
export const noUsage: ScriptedUsage = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
  output_tokens_details: { thinking_tokens: 0 },
};

/** JSON without cache marks: they move from request to request, but the conversation and the prompt stay the same. */
export function withoutMarks(value: unknown): string {
  return JSON.stringify(value, (key, item: unknown) => (key === 'cache_control' ? undefined : item)) ?? '';
}

/** `cache` holds hashes of the prompts in the cache; this request's prompts are added. */
export function usageOf(request: ModelRequest, content: readonly ContentBlock[], cache: Set<string>): ScriptedUsage {
  const { total, read, isCached } = cachedIn(request, cache);
  const tokens = (characters: number) => Math.ceil(characters / charactersPerToken);
  const thinking = content.map((block) => (typeof block['thinking'] === 'string' ? block['thinking'].length : 0));
  const cached = Math.min(tokens(total), Math.floor(read / charactersPerToken));
  return {
    input_tokens: isCached ? 0 : tokens(total),
    cache_creation_input_tokens: isCached ? tokens(total) - cached : 0,
    cache_read_input_tokens: cached,
    output_tokens: Math.max(1, tokens(content.length === 0 ? 0 : JSON.stringify(content).length)),
    output_tokens_details: { thinking_tokens: tokens(thinking.reduce((sum, length) => sum + length, 0)) },
  };
}

/** Number of characters of the prompt, and of its longest prefix in the cache. */
function cachedIn(request: ModelRequest, cache: Set<string>): { total: number; read: number; isCached: boolean } {
  const prefixes = prefixesOf(request);
  const marked = prefixes.flatMap(({ isMarked }, n) => (isMarked ? [n] : []));
  const found = marked.flatMap((n) => prefixes.slice(Math.max(0, n - lookBack + 1), n + 1).filter(({ hash }) => cache.has(hash)));
  for (const n of marked) cache.add(prefixes[n]?.hash ?? '');
  return { total: prefixes.at(-1)?.length ?? 0, read: Math.max(0, ...found.map(({ length }) => length)), isCached: marked.length > 0 };
}

/** The prompt up to and including each of its blocks: hash, number of characters, whether there is a breakpoint. */
function prefixesOf(request: ModelRequest): { hash: string; length: number; isMarked: boolean }[] {
  const blocks: [where: string, block: unknown][] = [
    ...listOf(request.tools ?? []).map((tool): [string, unknown] => ['tools', tool]),
    ...listOf(request.system ?? []).map((block): [string, unknown] => ['system', block]),
    ...request.messages.flatMap(({ role, content }, n) => listOf(content).map((block): [string, unknown] => [`${role} ${n}`, block])),
  ];
  let hash = '';
  let length = 0;
  return blocks.map(([where, block], n) => {
    const text = `${where} ${withoutMarks(block)}`;
    hash = createHash('sha256').update(hash).update(text).digest('hex');
    length += text.length;
    const isMarked = hasMark(block) || (n === blocks.length - 1 && hasMark(request));
    return { hash, length, isMarked };
  });
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}

function hasMark(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'cache_control' in value && value.cache_control != null;
}
