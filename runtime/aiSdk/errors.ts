// Maps an error of the AI SDK to its class and retry delay. Errors are recognised by name, because the SDK may not be installed.

import { inspect } from 'node:util';

import { isObject } from '../../plv8/isObject.ts';
import type { ModelErrorClass } from '../model/message.ts';
import { classOfAnswer, retryAfterSeconds, withCauses } from '../model/streamedCall.ts';
import type { Told } from '../model/streamedCall.ts';
import { Unmappable } from './prompt.ts';

const named: Record<string, ModelErrorClass> = {
  AI_LoadAPIKeyError: 'authentication',
  AI_LoadSettingError: 'authentication',
  AI_UnsupportedFunctionalityError: 'invalid_request',
  AI_InvalidPromptError: 'invalid_request',
  AI_InvalidArgumentError: 'invalid_request',
  AI_NoSuchModelError: 'invalid_request',
  AI_NoSuchProviderReferenceError: 'invalid_request',
  AI_JSONParseError: 'malformed_response',
  AI_TypeValidationError: 'malformed_response',
  AI_InvalidResponseDataError: 'malformed_response',
  AI_EmptyResponseBodyError: 'malformed_response',
  AI_NoContentGeneratedError: 'malformed_response',
  TimeoutError: 'timeout',
};

export function tell(error: unknown): Told {
  if (error instanceof Unmappable) return { class: 'invalid_request', message: error.message };
  if (typeof error === 'string') return { class: classOf(null, '', '', error), message: error };
  if (!isObject(error)) return { class: 'unknown', message: String(error) };
  const { name, message, statusCode, responseHeaders, responseBody } = error;
  const said = error instanceof Error ? withCauses(error) : typeof message === 'string' ? message : jsonOf(error);
  const headers = isObject(responseHeaders) ? responseHeaders : {};
  const header = (one: string): string | null => (typeof headers[one] === 'string' ? headers[one] : null);
  const body = typeof responseBody === 'string' ? responseBody : '';
  const status = typeof statusCode === 'number' ? statusCode : null;
  const { type, code } = detailsOf(error, body);
  return {
    class: classByName(String(name), said, status) ?? classOf(status, type, code, said),
    message: said,
    status,
    retryAfterSeconds: retryAfterSeconds(header) ?? delayIn(body),
    requestId: header('x-request-id') ?? header('request-id'),
  };
}

function classByName(name: string, message: string, status: number | null): ModelErrorClass | undefined {
  // The connection failed.
  if (name === 'AI_APICallError' && status === null) return 'transport';
  // The server ended the stream early.
  if (name === 'AI_InvalidResponseDataError' && /ended without/i.test(message)) return 'transport';
  return Object.hasOwn(named, name) ? named[name] : undefined;
}

/** Describes anything that may be thrown, even if it cannot be written as JSON. */
function jsonOf(error: object): string {
  try {
    return JSON.stringify(error);
  } catch {
    return inspect(error, { breakLength: Infinity });
  }
}

/** Classifies the error codes of providers other than Anthropic. */
function classOf(status: number | null, type: string, code: string, message: string): ModelErrorClass {
  const both = `${type} ${code}`;
  if (/insufficient_quota|billing|invalid_api_key|account_deactivated/.test(both)) return 'authentication';
  const isTooLong =
    /context_length_exceeded|string_above_max_length/.test(both) ||
    /too many (input )?tokens|(input|prompt) .{0,40}(is too long|exceeds? .{0,40}tokens)|reduce the length of the (messages|prompt)/i.test(
      message,
    );
  if (isTooLong && (status === null || status < 429)) return 'context_overflow';
  if (/overloaded/i.test(message) && (status === null || status >= 500)) return 'overloaded';
  if (status === null && /rate_limit|too_many_requests|resource_exhausted/i.test(both)) return 'rate_limited';
  if (status === null && /server_error|internal/i.test(both)) return 'server_error';
  return classOfAnswer(status, type, code, message);
}

/** A provider's error details: {error: {type, code}}, the same without the outer level, or a textual status (Google). */
function detailsOf(error: Record<string, unknown>, body: string): { type: string; code: string } {
  const given = isObject(error['data']) ? error['data'] : (jsonIn(body) ?? error);
  const { type, code, status } = isObject(given['error']) ? given['error'] : given;
  const word = (value: unknown): string => (typeof value === 'string' ? value : '');
  return { type: word(type) || word(status), code: word(code) };
}

function jsonIn(body: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** The retry delay, which Google puts in the body. */
function delayIn(body: string): number | null {
  const found = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/.exec(body);
  return found ? Number(found[1]) : null;
}
