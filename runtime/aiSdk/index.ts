// For programs whose agents use a model of the AI SDK: `run({ task, modelClient: modelFromAiSdk(provider) })`. Only the SDK's types are
// imported, so programs that do not use the SDK need not install it.

import type { LanguageModelV4, LanguageModelV4StreamPart, LanguageModelV4StreamResult, SharedV4Warning } from '@ai-sdk/provider';

import type { ModelClient } from '../model/message.ts';
import { streamedCalls } from '../model/streamedCall.ts';
import type { CallTimes } from '../model/streamedCall.ts';
import { keepSecret } from '../secrets/known.ts';
import { tell } from './errors.ts';
import { eventsOf } from './events.ts';
import { callOptions } from './prompt.ts';

/** A model, or a function that creates one by the name in the faculty, such as a provider of the AI SDK. */
export type AiSdkModel = LanguageModelV4 | ((name: string) => LanguageModelV4);

export type AiSdkOptions = CallTimes & {
  /**
   * Whether images that tools return are sent in the tool results. Default: in a message after the results, because servers with OpenAI's
   * chat API accept no images in results; those of Anthropic, Google and OpenAI's Responses API do.
   */
  imagesInResults?: boolean;
  /** Values that must never reach a row or a log, such as the provider's key, if no environment variable holds them. */
  secrets?: readonly string[];
  /** Called with what the model ignores in a request, such as a temperature that it does not support. */
  onWarnings?: (warnings: readonly SharedV4Warning[]) => void;
};

/** A client for run() and startWorker() that calls a model of the AI SDK 7. Throws a TypeError for a model of another version. */
export function modelFromAiSdk(model: AiSdkModel, options: AiSdkOptions = {}): ModelClient {
  if (typeof model !== 'function') checkVersion(model);
  const { imagesInResults = false, secrets = [], onWarnings, ...times } = options;
  for (const secret of secrets) keepSecret(secret);
  const modelFor = (name: string): LanguageModelV4 => checkVersion(typeof model === 'function' ? model(name) : model);
  return streamedCalls({
    ...times,
    tell,
    open: async (request, signal) => {
      const asked = modelFor(request.model);
      const opening = asked.doStream({ ...callOptions(request, { imagesInResults }), abortSignal: signal });
      const { stream, response } = await unlessAborted(opening, signal);
      const { headers = {} } = response ?? {};
      return {
        events: eventsOf(partsOf(stream, signal, onWarnings), asked.modelId),
        requestId: headers['x-request-id'] ?? headers['request-id'] ?? null,
        provider: asked.provider,
      };
    },
  });
}

function checkVersion(model: LanguageModelV4): LanguageModelV4 {
  const version = (model as { specificationVersion: unknown } | null | undefined)?.specificationVersion;
  if (version === 'v4') return model;
  throw new TypeError(
    `modelFromAiSdk takes a model of the AI SDK 7 (v4), not ${String(version)}: wrapLanguageModel({ model, middleware: [] }) of "ai" makes one`,
  );
}

/** Waits for an answer to begin; stops waiting when the signal fires, even if the model ignores it. A later answer is not read. */
async function unlessAborted(opening: PromiseLike<LanguageModelV4StreamResult>, signal: AbortSignal): Promise<LanguageModelV4StreamResult> {
  const { promise: left, reject } = Promise.withResolvers<never>();
  const leave = (): void => {
    reject(signal.reason);
    void opening.then(({ stream }) => stream.cancel()).then(undefined, () => {});
  };
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([opening, left]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** The parts of a stream until the signal fires, even if the model ignores it. */
async function* partsOf(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  signal: AbortSignal,
  onWarnings: AiSdkOptions['onWarnings'],
): AsyncGenerator<LanguageModelV4StreamPart> {
  const reader = stream.getReader();
  const cancel = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const part = read.value;
      if (part.type === 'stream-start' && part.warnings.length > 0) onWarnings?.(part.warnings);
      yield part;
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}
