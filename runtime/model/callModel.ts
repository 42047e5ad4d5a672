// One call of the model: a request body goes out unchanged, the whole message or one classified error comes back. The only
// import of the model's SDK. Nothing is retried here, and an incomplete message is never passed on.
//
// The SDK's own MessageStream is not used: it completes the JSON of a cut-off tool input by guessing, and moves `input`
// to the end of its block. Here blocks keep the keys and the order that the provider sent.

import type Anthropic from '@anthropic-ai/sdk';
import type * as sdkModule from '@anthropic-ai/sdk';

import { storableText } from '../../plv8/storable.ts';
import { placeOf } from '../../sandbox/optionalPackage.ts';
import { keepSecret, withoutSecrets } from '../secrets/known.ts';
import type { ContentBlock, ModelClient, ModelError, ModelErrorClass } from './message.ts';
import { Draft, MalformedError } from './messageDraft.ts';

export type ModelClientOptions = {
  apiKey?: string;
  baseURL?: string;
  /**
   * The server is another than the one that the environment describes: what ANTHROPIC_CUSTOM_HEADERS holds, secrets too, does not go there.
   */
  isOther?: boolean;
  /** The longest time without an event; pings do not count. */
  idleTimeoutMs?: number;
  totalTimeoutMs?: number;
};

/** How long to wait for the end of the stream after the message is complete, so that the next call can reuse the connection. */
const drainTimeoutMs = 1_000;
const maxErrorLength = 1_000;

type Sdk = typeof sdkModule;

/** Loaded at the first call: it is 20 MB of memory, which a worker without work does not need. */
let sdk: Sdk | undefined;
const loadSdk = async (): Promise<Sdk> => (sdk ??= await import('@anthropic-ai/sdk'));
const is = <Kind extends 'APIError' | 'APIConnectionError' | 'APIConnectionTimeoutError'>(
  kind: Kind,
  error: unknown,
): error is InstanceType<Sdk[Kind]> => sdk !== undefined && error instanceof sdk[kind];

/**
 * A client for one provider account. What options leave open comes from the environment, as the SDK reads it at the first call. Throws
 * PackageMissing.
 */
export function createModelClient(options: ModelClientOptions = {}): ModelClient {
  const { apiKey, idleTimeoutMs = 90_000, totalTimeoutMs = 600_000 } = options;
  placeOf('@anthropic-ai/sdk', 'calling a model');
  keepSecret(apiKey ?? process.env['ANTHROPIC_API_KEY']);
  keepSecret(process.env['ANTHROPIC_AUTH_TOKEN']);
  let client: Anthropic | undefined;

  const call: ModelClient['call'] = async (request, { signal, onDelta, onGrowth }) => {
    if (signal.aborted) return { kind: 'aborted' };
    const startedAt = performance.now();
    const watchdog = startWatchdog(idleTimeoutMs, totalTimeoutMs);
    const draft = new Draft();
    const soFar = (): ContentBlock[] => draft.soFar();
    let requestId: string | null = null;
    let firstTokenMs: number | null = null;
    let failure: unknown = null;
    try {
      // The whole body, with `stream` in its place: create() stringifies it as it is, stream() would move that key.
      // Only user_profile_id and workspace_id would be taken out (they become headers); nothing here sends them. betas becomes one here.
      const { betas, ...rest } = request;
      const body = rest as unknown as Anthropic.MessageCreateParamsStreaming;
      client ??= connect(await loadSdk(), options, totalTimeoutMs);
      const answer = await client.messages
        .create(body, {
          signal: AbortSignal.any([signal, watchdog.signal]),
          ...(betas && betas.length > 0 && { headers: { 'anthropic-beta': betas.join(',') } }),
        })
        .withResponse();
      requestId = answer.request_id ?? null;
      for await (const event of answer.data) {
        watchdog.heard();
        const text = draft.take(event);
        if (event.type === 'content_block_delta') firstTokenMs ??= Math.round(performance.now() - startedAt);
        if (text !== '') onDelta?.(text);
        onGrowth?.(soFar);
        if (draft.isComplete) watchdog.drain();
      }
      if (!draft.isComplete) failure = new CutOffError('the stream ended before the message was complete');
    } catch (error) {
      failure = error;
    } finally {
      watchdog.stop();
    }
    if (draft.isComplete) {
      // An error after a complete message does not invalidate it.
      try {
        return {
          kind: 'response',
          response: { ...draft.finish(), requestId, firstTokenMs, durationMs: Math.round(performance.now() - startedAt) },
        };
      } catch (error) {
        failure = error;
      }
    } else if (signal.aborted) {
      return { kind: 'aborted' };
    } else if (watchdog.signal.aborted) {
      failure = new SilenceError(String(watchdog.signal.reason));
    }
    return { kind: 'error', error: describe(failure, requestId) };
  };
  return { call };
}

function connect({ default: Client }: Sdk, { apiKey, baseURL, isOther }: ModelClientOptions, timeout: number): Anthropic {
  const client = new Client({
    ...(apiKey !== undefined && { apiKey }),
    ...(baseURL !== undefined && { baseURL }),
    ...(isOther && { defaultHeaders: withoutCustomHeaders(apiKey) }),
    maxRetries: 0,
    timeout,
    // Whatever ANTHROPIC_LOG says: its default logger writes requests to stdout.
    logLevel: 'off',
  });
  keepSecret(client.apiKey);
  keepSecret(client.authToken);
  return client;
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

/** The stream broke off. */
class CutOffError extends Error {}
/** The provider took too long. */
class SilenceError extends Error {}

function startWatchdog(idleTimeoutMs: number, totalTimeoutMs: number) {
  const controller = new AbortController();
  const after = (ms: number, reason: string) => setTimeout(() => controller.abort(reason), ms);
  const total = after(totalTimeoutMs, `no complete message within ${totalTimeoutMs} ms`);
  let idle = after(idleTimeoutMs, `nothing but silence or pings for ${idleTimeoutMs} ms`);
  return {
    signal: controller.signal,
    heard: () => idle.refresh(),
    drain: () => {
      clearTimeout(idle);
      idle = after(drainTimeoutMs, 'the connection stayed open behind the message');
    },
    stop: () => {
      clearTimeout(idle);
      clearTimeout(total);
    },
  };
}

function describe(error: unknown, requestId: string | null): ModelError {
  const message = withoutSecrets(said(error), 'model_error');
  const isApiError = is('APIError', error);
  return {
    class: classOf(error),
    message: storableText(message.length > maxErrorLength ? `${message.slice(0, maxErrorLength)}…` : message),
    status: isApiError ? (error.status ?? null) : null,
    retryAfterSeconds: isApiError ? retryAfterSeconds(error.headers) : null,
    requestId: (isApiError ? error.requestID : null) ?? requestId,
  };
}

function classOf(error: unknown): ModelErrorClass {
  if (error instanceof MalformedError || error instanceof SyntaxError) return 'malformed_response';
  if (error instanceof SilenceError || is('APIConnectionTimeoutError', error)) return 'timeout';
  if (error instanceof CutOffError || is('APIConnectionError', error)) return 'transport';
  if (is('APIError', error)) return classOfAnswer(error.status ?? null, error.type ?? '', error.errorCode ?? '', error.message);
  // Thrown by fetch while the body is read, and by the SDK before it sends.
  if (error instanceof TypeError && error.message === 'terminated') return 'transport';
  if (error instanceof Error && /authentication method|invalid header value/i.test(error.message)) return 'authentication';
  return 'unknown';
}

/** Inside a stream there is no status: the type decides alone. */
function classOfAnswer(status: number | null, type: string, code: string, message: string): ModelErrorClass {
  if (status === 529 || type === 'overloaded_error') return 'overloaded';
  // Some problems of an account come as 400 or as 429, and waiting cannot help.
  if ([401, 402, 403].includes(status ?? 0) || /^(authentication|permission|billing)_error$/.test(type)) return 'authentication';
  if (/spend_limit_reached$|^organization_on_hold$/.test(code) || /credit balance is too low/i.test(message)) return 'authentication';
  if (status === 413 || type === 'request_too_large') return 'context_overflow';
  if (status === 429 || type === 'rate_limit_error') return 'rate_limited';
  if ((status ?? 0) >= 500 || status === 409 || type === 'api_error') return 'server_error';
  if (status === 408 || type === 'timeout_error') return 'timeout';
  if (/prompt is too long|context (length|limit|window)/i.test(message)) return 'context_overflow';
  if ((status ?? 0) >= 400 || /^(invalid_request|not_found)_error$/.test(type)) return 'invalid_request';
  return 'unknown';
}

/** The message with those of its causes: "Connection error." alone says nothing. */
function said(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const message = is('APIError', error) ? (error.apiMessage ?? error.message) : error.message;
  const { cause } = error;
  if (!(cause instanceof Error)) return message;
  const root = cause.cause instanceof Error ? cause.cause : cause;
  return `${message} (${'code' in root ? `${String(root.code)}: ` : ''}${root.message})`;
}

function retryAfterSeconds(headers: Headers | undefined): number | null {
  const milliseconds = headers?.get('retry-after-ms') ?? '';
  if (/^\d+(\.\d+)?$/.test(milliseconds)) return Number(milliseconds) / 1000;
  const given = headers?.get('retry-after') ?? '';
  if (/^\d+(\.\d+)?$/.test(given)) return Number(given);
  const at = Date.parse(given);
  return Number.isNaN(at) ? null : Math.max(0, (at - Date.now()) / 1000);
}
