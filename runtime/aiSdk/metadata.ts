// Keeps in a block what its provider needs back unchanged, such as the signature of its thinking.

import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';

import { isObject } from '../../plv8/isObject.ts';
import type { ContentBlock } from '../model/message.ts';

/** The Messages API requires thinking to have a signature; here it is all of the metadata, after this prefix. */
const mark = 'ai-sdk:';

/** The signature of thinking. Anthropic's is stored unchanged, so that the API accepts it when it is called without the AI SDK. */
export function signatureOf(metadata: SharedV4ProviderMetadata | undefined): string {
  const { signature, ...more } = metadata?.['anthropic'] ?? {};
  const isAnthropics = typeof signature === 'string' && Object.keys(more).length === 0 && Object.keys(metadata ?? {}).length === 1;
  return isAnthropics && signature !== '' ? signature : `${mark}${JSON.stringify(metadata ?? {})}`;
}

/** The metadata in a block, for its provider. */
export function metadataOf(block: ContentBlock): SharedV4ProviderMetadata | undefined {
  const { type, signature, data, provider_metadata } = block;
  if (type === 'redacted_thinking') return { anthropic: { redactedData: String(data) } };
  if (type !== 'thinking') return isObject(provider_metadata) ? (provider_metadata as SharedV4ProviderMetadata) : undefined;
  if (typeof signature !== 'string') return undefined;
  if (!signature.startsWith(mark)) return { anthropic: { signature } };
  const metadata = JSON.parse(signature.slice(mark.length)) as SharedV4ProviderMetadata;
  return Object.keys(metadata).length > 0 ? metadata : undefined;
}
