// One model call whose answer arrives as stream events of the Messages API; returns the whole message or one classified error. Nothing is
// retried here, and an incomplete message is never returned. The caller supplies how to send the request and what its errors mean.

import type { ContentBlock, ModelClient, ModelError, ModelErrorClass, ModelRequest } from './message.ts';
import { storableText } from '../../plv8/storable.ts';
import { withoutSecrets } from '../secrets/known.ts';
import { Draft, MalformedError } from './messageDraft.ts';

export type CallTimes = {
  /** The longest time allowed without an event; pings do not count. */
  idleTimeoutMs?: number | undefined;
  totalTimeoutMs?: number | undefined;
};

/** What a failure means: the fields of a ModelError, with the full message. */
export type Told = {
  class: ModelErrorClass;
  message: string;
  status?: number | null;
  retryAfterSeconds?: number | null;
  requestId?: string | null;
};

/** An answer that has begun; `provider` is who answers, if not Anthropic. */
export type Opened = { events: AsyncIterable<unknown>; requestId: string | null; provider?: string };

export type Asking = CallTimes & {
  /** Sends a request. Both this function and its events may throw. */
  open: (request: ModelRequest, signal: AbortSignal) => Promise<Opened>;
  tell: (error: unknown) => Told;
};

/** How long to wait for the stream to end after the message is complete, so that the next call can reuse the connection. */
const drainTimeoutMs = 1_000;
const maxErrorLength = 1_000;

export const defaultTotalTimeoutMs = 600_000;

export function streamedCalls({ open, tell, idleTimeoutMs = 90_000, totalTimeoutMs = defaultTotalTimeoutMs }: Asking): ModelClient {
  const call: ModelClient['call'] = async (request, { signal, onDelta, onGrowth }) => {
    if (signal.aborted) return { kind: 'aborted' };
    const startedAt = performance.now();
    const watchdog = startWatchdog(idleTimeoutMs, totalTimeoutMs);
    const draft = new Draft();
    const soFar = (): ContentBlock[] => draft.soFar();
    let requestId: string | null = null;
    let provider: string | undefined;
    let firstTokenMs: number | null = null;
    let failure: unknown = null;
    try {
      const answer = await open(request, AbortSignal.any([signal, watchdog.signal]));
      ({ requestId, provider } = answer);
      for await (const event of answer.events) {
        watchdog.heard();
        const text = draft.take(event);
        if (draft.hasContent) firstTokenMs ??= Math.round(performance.now() - startedAt);
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
      // The message is complete, so a later error does not invalidate it.
      try {
        const message = draft.finish();
        const durationMs = Math.round(performance.now() - startedAt);
        return { kind: 'response', response: { ...(provider && { provider }), ...message, requestId, firstTokenMs, durationMs } };
      } catch (error) {
        failure = error;
      }
    } else if (signal.aborted) {
      return { kind: 'aborted' };
    } else if (watchdog.signal.aborted) {
      failure = new SilenceError(String(watchdog.signal.reason));
    }
    return { kind: 'error', error: describe(failure, tell, requestId) };
  };
  return { call };
}

/** The stream ended early. */
export class CutOffError extends Error {}
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

function describe(error: unknown, tell: Asking['tell'], requestId: string | null): ModelError {
  const told = ours(error) ?? tell(error);
  const message = withoutSecrets(told.message, 'model_error');
  return {
    class: told.class,
    message: storableText(message.length > maxErrorLength ? `${message.slice(0, maxErrorLength)}…` : message),
    status: told.status ?? null,
    retryAfterSeconds: told.retryAfterSeconds ?? null,
    requestId: told.requestId ?? requestId,
  };
}

/** Classifies failures on our side or in transport, whichever provider was asked; null for others. */
function ours(error: unknown): Told | null {
  const classOf = (): ModelErrorClass | null => {
    if (error instanceof MalformedError || error instanceof SyntaxError) return 'malformed_response';
    if (error instanceof SilenceError) return 'timeout';
    if (error instanceof CutOffError) return 'transport';
    // Thrown by fetch while reading the body.
    if (error instanceof TypeError && error.message === 'terminated') return 'transport';
    return null;
  };
  const found = classOf();
  return found && { class: found, message: withCauses(error) };
}

/** The error's message with those of its causes: "Connection error." alone says nothing. */
export function withCauses(error: unknown, said = error instanceof Error ? error.message : String(error)): string {
  if (!(error instanceof Error)) return said;
  const { cause } = error;
  if (!(cause instanceof Error)) return said;
  const root = cause.cause instanceof Error ? cause.cause : cause;
  return `${said} (${'code' in root ? `${String(root.code)}: ` : ''}${root.message})`;
}

/** What a provider's answer means. Within a stream there is no status, so type, code and message decide. */
export function classOfAnswer(status: number | null, type: string, code: string, message: string): ModelErrorClass {
  if (status === 529 || type === 'overloaded_error') return 'overloaded';
  // Some account problems are reported as 400 or 429, but waiting cannot help.
  if ([401, 402, 403].includes(status ?? 0) || /^(authentication|permission|billing)_error$/.test(type)) return 'authentication';
  if (/spend_limit_reached$|^organization_on_hold$/.test(code) || /credit balance is too low/i.test(message)) return 'authentication';
  if (status === 413 || type === 'request_too_large') return 'context_overflow';
  if (status === 429 || type === 'rate_limit_error') return 'rate_limited';
  if ((status ?? 0) >= 500 || status === 409 || type === 'api_error') return 'server_error';
  if (status === 408 || type === 'timeout_error') return 'timeout';
  if (/(?:prompt|input) is too long|context (length|limit|window)/i.test(message)) return 'context_overflow';
  if ((status ?? 0) >= 400 || /^(invalid_request|not_found)_error$/.test(type)) return 'invalid_request';
  return 'unknown';
}

/** The delay that the headers of an answer ask for. */
export function retryAfterSeconds(header: (name: string) => string | null | undefined): number | null {
  const milliseconds = header('retry-after-ms') ?? '';
  if (/^\d+(\.\d+)?$/.test(milliseconds)) return Number(milliseconds) / 1000;
  const given = header('retry-after') ?? '';
  if (/^\d+(\.\d+)?$/.test(given)) return Number(given);
  // A time, of the clock that answered: this machine's may be wrong.
  const [at, answeredAt] = [Date.parse(given), Date.parse(header('date') ?? '')];
  return Number.isNaN(at) ? null : Math.max(0, (at - (Number.isNaN(answeredAt) ? Date.now() : answeredAt)) / 1000);
}
