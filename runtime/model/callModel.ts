// Calls a model through a client of the Anthropic SDK, or one of the same shape; the request body is sent unchanged. The only file that
// imports the model's SDK.
//
// The SDK's own MessageStream is not used: it completes the JSON of a cut-off tool input by guessing, and moves `input`
// to the end of its block. Here blocks keep the keys and the order that the provider sent.

import type Anthropic from '@anthropic-ai/sdk';
import type { APIError } from '@anthropic-ai/sdk';

import { placeOf } from '../../sandbox/optionalPackage.ts';
import { keepSecret } from '../secrets/known.ts';
import type { ModelClient } from './message.ts';
import { classOfAnswer, defaultTotalTimeoutMs, retryAfterSeconds, streamedCalls, withCauses } from './streamedCall.ts';
import type { CallTimes, Told } from './streamedCall.ts';

/** A client of the same shape as the Anthropic SDK's: its own, or that of its packages for Bedrock, Vertex AI and Foundry. */
export type AnthropicClient = { messages: { create: (...request: never[]) => unknown } };

export type ModelClientOptions = CallTimes & {
  apiKey?: string;
  baseURL?: string;
  /**
   * Whether the server is a different one from that described by the environment. If so, ANTHROPIC_CUSTOM_HEADERS, which may hold secrets,
   * is not sent.
   */
  isOther?: boolean;
  /**
   * The client to use; it brings its key and server, so the options above do not apply. Its own retries are turned off: the ledger retries.
   */
  client?: AnthropicClient;
};

/**
 * A client for one provider account. Options that are not given come from the environment, as the SDK reads it at the first call. Throws
 * PackageMissing.
 */
export function createModelClient(options: ModelClientOptions = {}): ModelClient {
  const { client: given, idleTimeoutMs, totalTimeoutMs = defaultTotalTimeoutMs } = options;
  let client = given as Anthropic | undefined;
  if (client !== undefined && typeof (client as Partial<Anthropic> | null)?.messages?.create !== 'function')
    throw new TypeError('createModelClient: the client must have messages.create(), as one of the Anthropic SDK has');
  if (client) keepSecretsOf(client);
  else {
    placeOf('@anthropic-ai/sdk', 'calling a model');
    keepSecret(options.apiKey ?? process.env['ANTHROPIC_API_KEY']);
    keepSecret(process.env['ANTHROPIC_AUTH_TOKEN']);
  }
  return streamedCalls({
    idleTimeoutMs,
    totalTimeoutMs,
    tell,
    // The whole body, with `stream` where it already is: create() stringifies it unchanged, while stream() would move that key. The SDK
    // would take out only user_profile_id and workspace_id, which become headers; nothing here sends them. betas is made a header here.
    open: async ({ betas, ...rest }, signal) => {
      const body = rest as unknown as Anthropic.MessageCreateParamsStreaming;
      client ??= await connect(options, totalTimeoutMs);
      const answer = await client.messages
        .create(body, {
          signal,
          maxRetries: 0,
          timeout: totalTimeoutMs,
          ...(betas && betas.length > 0 && { headers: { 'anthropic-beta': betas.join(',') } }),
        })
        .withResponse();
      return { events: answer.data, requestId: answer.request_id ?? null };
    },
  });
}

async function connect({ apiKey, baseURL, isOther }: ModelClientOptions, timeout: number): Promise<Anthropic> {
  // Loaded at the first call, because it takes 20 MB of memory, which a worker without work does not need.
  const { default: Client } = await import('@anthropic-ai/sdk');
  const client = new Client({
    ...(apiKey !== undefined && { apiKey }),
    ...(baseURL !== undefined && { baseURL }),
    ...(isOther && { defaultHeaders: withoutCustomHeaders(apiKey) }),
    maxRetries: 0,
    timeout,
    // Off whatever ANTHROPIC_LOG says: the SDK's default logger writes requests to stdout.
    logLevel: 'off',
  });
  keepSecretsOf(client);
  return client;
}

/** The fields for credentials of the SDK's own client and of those for Bedrock and Vertex AI. */
const credentials = ['apiKey', 'authToken', 'awsSecretKey', 'awsSessionToken', 'accessToken'] as const;

function keepSecretsOf(client: object): void {
  const known: Partial<Record<(typeof credentials)[number], unknown>> = client;
  for (const secret of credentials.map((name) => known[name])) if (typeof secret === 'string') keepSecret(secret);
}

/** Removes the headers that the SDK takes from ANTHROPIC_CUSTOM_HEADERS ("name: value", one per line). */
function withoutCustomHeaders(apiKey: string | undefined): Record<string, string | null> {
  const names = (process.env['ANTHROPIC_CUSTOM_HEADERS'] ?? '')
    .split('\n')
    .filter((line) => line.includes(':'))
    .map((line) => line.slice(0, line.indexOf(':')).trim());
  return Object.fromEntries(
    names.map((name) => [name, name.toLowerCase() === 'authorization' && apiKey !== undefined ? `Bearer ${apiKey}` : null]),
  );
}

function tell(error: unknown): Told {
  const kinds = kindsOf(error);
  if (!kinds.includes('APIError')) {
    const message = withCauses(error);
    // Thrown by the SDK before it sends the request.
    const isKey = error instanceof Error && /authentication method|invalid header value/i.test(error.message);
    return { class: isKey ? 'authentication' : 'unknown', message };
  }
  const { status, type, errorCode, message, apiMessage, headers, requestID } = error as APIError;
  return {
    class: kinds.includes('APIConnectionTimeoutError')
      ? 'timeout'
      : kinds.includes('APIConnectionError')
        ? 'transport'
        : classOfAnswer(status ?? null, type ?? '', errorCode ?? '', message),
    message: withCauses(error, apiMessage ?? message),
    status: status ?? null,
    retryAfterSeconds: retryAfterSeconds((name) => headers?.get(name)),
    requestId: requestID ?? null,
  };
}

/** The class names of an error and its ancestors. instanceof would not do: a given client may bring another copy of the SDK. */
function kindsOf(error: unknown): string[] {
  const kinds: string[] = [];
  for (let at: unknown = error instanceof Error && Object.getPrototypeOf(error); at; at = Object.getPrototypeOf(at))
    kinds.push(at.constructor.name);
  return kinds;
}
