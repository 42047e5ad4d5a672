// What a provider wants back with a block as it gave it, such as the signature of its thinking: kept in the block itself.

import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';

import { isObject } from '../../plv8/isObject.ts';
import type { ContentBlock } from '../model/message.ts';

/** Thinking has a signature by the rules of the Messages API: here it is all metadata, behind this word. */
const mark = 'ai-sdk:';

/** The signature of thinking. That of Anthropic stays itself, so that the API also understands it where it is asked without the AI SDK. */
export function signatureOf(metadata: SharedV4ProviderMetadata | undefined): string {
  const { signature, ...more } = metadata?.['anthropic'] ?? {};
  const isAnthropics = typeof signature === 'string' && Object.keys(more).length === 0 && Object.keys(metadata ?? {}).length === 1;
  return isAnthropics && signature !== '' ? signature : `${mark}${JSON.stringify(metadata ?? {})}`;
}

/** What stands in a block, for its provider. */
export function metadataOf(block: ContentBlock): SharedV4ProviderMetadata | undefined {
  const { type, signature, data, provider_metadata } = block;
  if (type === 'redacted_thinking') return { anthropic: { redactedData: String(data) } };
  if (type !== 'thinking') return isObject(provider_metadata) ? (provider_metadata as SharedV4ProviderMetadata) : undefined;
  if (typeof signature !== 'string') return undefined;
  if (!signature.startsWith(mark)) return { anthropic: { signature } };
  const metadata = JSON.parse(signature.slice(mark.length)) as SharedV4ProviderMetadata;
  return Object.keys(metadata).length > 0 ? metadata : undefined;
}
