// Asks a model by a client of the Anthropic SDK, or of one of its shape: a request body goes out unchanged. The only import of the model's
// SDK.
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

/** A client of the shape of the Anthropic SDK's: its own, or that of its packages for Bedrock, Vertex AI and Foundry. */
export type AnthropicClient = { messages: { create: (...request: never[]) => unknown } };

export type ModelClientOptions = CallTimes & {
  apiKey?: string;
  baseURL?: string;
  /**
   * The server is another than the one that the environment describes: what ANTHROPIC_CUSTOM_HEADERS holds, secrets too, does not go there.
   */
  isOther?: boolean;
  /** The client that asks, with its own key and server, which the options above are for otherwise. It repeats no call: the ledger does. */
  client?: AnthropicClient;
};

/**
 * A client for one provider account. What options leave open comes from the environment, as the SDK reads it at the first call. Throws
 * PackageMissing.
 */
export function createModelClient(options: ModelClientOptions = {}): ModelClient {
  const { client: given, idleTimeoutMs, totalTimeoutMs = defaultTotalTimeoutMs } = options;
  let client = given as Anthropic | undefined;
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
    // The whole body, with `stream` in its place: create() stringifies it as it is, stream() would move that key.
    // Only user_profile_id and workspace_id would be taken out (they become headers); nothing here sends them. betas becomes one here.
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
  // Loaded at the first call: it is 20 MB of memory, which a worker without work does not need.
  const { default: Client } = await import('@anthropic-ai/sdk');
  const client = new Client({
    ...(apiKey !== undefined && { apiKey }),
    ...(baseURL !== undefined && { baseURL }),
    ...(isOther && { defaultHeaders: withoutCustomHeaders(apiKey) }),
    maxRetries: 0,
    timeout,
    // Whatever ANTHROPIC_LOG says: its default logger writes requests to stdout.
    logLevel: 'off',
  });
  keepSecretsOf(client);
  return client;
}

/** The client's own, of Bedrock, of Vertex AI. */
const credentials = ['apiKey', 'authToken', 'awsSecretKey', 'awsSessionToken', 'accessToken'] as const;

function keepSecretsOf(client: object): void {
  const known: Partial<Record<(typeof credentials)[number], unknown>> = client;
  for (const secret of credentials.map((name) => known[name])) if (typeof secret === 'string') keepSecret(secret);
}

/** Takes back what the SDK takes from ANTHROPIC_CUSTOM_HEADERS ("name: value", a line each). */
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
    // Thrown by the SDK before it sends.
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

/** The names of its classes: a given client may come with a copy of the SDK of its own. */
function kindsOf(error: unknown): string[] {
  const kinds: string[] = [];
  for (let at: unknown = error instanceof Error && Object.getPrototypeOf(error); at; at = Object.getPrototypeOf(at))
    kinds.push(at.constructor.name);
  return kinds;
}
