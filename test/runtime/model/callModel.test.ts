// The model client against servers that speak the real protocol: the scripted model, and raw bytes where it is too polite.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

import Anthropic from '@anthropic-ai/sdk';
import * as fc from 'fast-check';
import { afterEach, expect, it, vi } from 'vitest';

import { createModelClient } from '../../../runtime/model/callModel.ts';
import type { ModelClientOptions } from '../../../runtime/model/callModel.ts';
import type {
  ContentBlock,
  ModelError,
  ModelErrorClass,
  ModelOutcome,
  ModelRequest,
  ModelResponse,
} from '../../../runtime/model/message.ts';
import { scriptOf } from '../../../runtime/model/script.ts';
import type { ScriptedReply } from '../../../runtime/model/script.ts';
import { startScriptedModel } from '../../../runtime/model/scriptedModel.ts';
import type { ScriptedModel } from '../../../runtime/model/scriptedModel.ts';

const apiKey = 'sk-ant-api03-canary_0123456789';
const request: ModelRequest = {
  model: 'claude-sonnet-5-5',
  max_tokens: 1000,
  system: 'Work.',
  messages: [{ role: 'user', content: 'Begin.' }],
  stream: true,
};
const text = (value: string): ContentBlock => ({ type: 'text', text: value });

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

async function scripted(...replies: ScriptedReply[]): Promise<ScriptedModel> {
  const model = await startScriptedModel(scriptOf(replies), { pingEveryMs: 5 });
  opened.push(() => model.close());
  return model;
}

async function raw(listener: RequestListener): Promise<{ url: string }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A server that answers every request with these bytes and a clean end. */
const streaming = (bytes: string) =>
  raw((_incoming, response) => void response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': 'req_raw' }).end(bytes));

function call(
  server: { url: string },
  options: ModelClientOptions & { body?: ModelRequest; signal?: AbortSignal; onDelta?: (delta: string) => void } = {},
): Promise<ModelOutcome> {
  const { body = request, signal = new AbortController().signal, onDelta, ...rest } = options;
  return createModelClient({ apiKey, baseURL: server.url, ...rest }).call(body, { signal, ...(onDelta && { onDelta }) });
}

async function answered(outcome: Promise<ModelOutcome>): Promise<ModelResponse> {
  const settled = await outcome;
  if (settled.kind !== 'response') throw new Error(`no response: ${JSON.stringify(settled)}`);
  return settled.response;
}

async function failed(outcome: Promise<ModelOutcome>): Promise<ModelError> {
  const settled = await outcome;
  if (settled.kind !== 'error') throw new Error(`no error: ${JSON.stringify(settled)}`);
  return settled.error;
}

it('brings the whole message, its usage and the text as it arrives', async () => {
  const content = [
    { type: 'thinking', thinking: 'A look will tell.', signature: 'c2lnbmVk' },
    { type: 'redacted_thinking', data: 'b3BhcXVl' },
    text('I shall look at it now, and then tell you what is there. 🙂'),
    { type: 'tool_use', id: 'toolu_1', name: 'look', input: { path: ['a', { b: null }], n: -1.5e-7 }, caller: { type: 'direct' } },
    { type: 'tool_use', id: 'toolu_2', name: 'look', input: {} },
  ];
  const usage = {
    input_tokens: 10,
    cache_read_input_tokens: 200,
    cache_creation_input_tokens: 30,
    output_tokens: 40,
    output_tokens_details: { thinking_tokens: 5 },
  };
  const server = await scripted({ content, usage });
  const deltas: string[] = [];
  const response = await answered(call(server, { onDelta: (delta) => deltas.push(delta) }));
  // As text: the order of keys is part of the promise.
  expect(JSON.stringify(response.content)).toBe(JSON.stringify(content));
  expect(response).toMatchObject({
    model: 'claude-sonnet-5-5',
    stopReason: 'tool_use',
    stopDetails: null,
    usage: { inputTokens: 10, outputTokens: 40, cachedInputTokens: 200, cacheWriteTokens: 30, reasoningTokens: 5 },
    requestId: 'req_scripted_1',
  });
  expect(response.id).toMatch(/^msg_/);
  expect(Number.isInteger(response.durationMs)).toBe(true);
  expect(Number.isInteger(response.firstTokenMs)).toBe(true);
  expect(response.firstTokenMs).toBeLessThanOrEqual(response.durationMs);
  expect(deltas.length).toBeGreaterThan(1);
  expect(deltas.join('')).toBe(content[2]?.['text']);
});

it('sends the body byte for byte as JSON.stringify writes it', async () => {
  const body = String.raw`{"model":"claude-sonnet-5-5","max_tokens":1000,"cache_control":{"type":"ephemeral"},"system":[{"type":"text","text":"é\u2028 🙂 \"q\" \\u0041","cache_control":{"type":"ephemeral"}}],"tools":[{"name":"look","input_schema":{"z":1,"a":{"__proto__":{"x":1}},"10":1,"2":1}}],"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"Begin."}]}],"zz_unknown":[1e3,1.50,null]}`;
  const server = await scripted();
  await answered(call(server, { body: JSON.parse(body) as ModelRequest }));
  expect(server.requests.map((received) => received.body)).toEqual([JSON.stringify(JSON.parse(body))]);
  expect(server.requests[0]?.body).toMatch(/"stream":true,"messages"/);
});

it('sends any body as it is, wherever its keys stand', async () => {
  const seen: string[] = [];
  const server = await raw((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      seen.push(Buffer.concat(chunks).toString());
      response.writeHead(400, { 'content-type': 'application/json' }).end('{}');
    });
  });
  const extra = fc.dictionary(
    fc.string({ unit: 'grapheme' }).map((key) => `${key}~`),
    fc.jsonValue(),
  );
  await fc.assert(
    fc.asyncProperty(extra, extra, async (before, after) => {
      const body = JSON.parse(JSON.stringify({ ...before, stream: true, model: 'm', ...after, messages: [] })) as ModelRequest;
      await failed(call(server, { body }));
      expect(seen.pop()).toBe(JSON.stringify(body));
    }),
    { numRuns: 100 },
  );
});

it.each<[number, string, string, Record<string, string>, ModelErrorClass]>([
  [429, 'rate_limit_error', 'slow down', {}, 'rate_limited'],
  [529, 'overloaded_error', 'Overloaded', {}, 'overloaded'],
  [503, 'overloaded_error', 'Overloaded', {}, 'overloaded'],
  [500, 'api_error', 'Internal server error', { 'x-should-retry': 'true' }, 'server_error'],
  [502, 'api_error', 'Bad gateway', {}, 'server_error'],
  [504, 'timeout_error', 'Gateway timeout', {}, 'server_error'],
  [409, 'conflict_error', 'Locked', {}, 'server_error'],
  [408, 'timeout_error', 'Request timeout', {}, 'timeout'],
  [401, 'authentication_error', 'invalid x-api-key', {}, 'authentication'],
  [402, 'billing_error', 'pay first', {}, 'authentication'],
  [403, 'permission_error', 'not yours', {}, 'authentication'],
  [400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API.', {}, 'authentication'],
  [400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum', {}, 'context_overflow'],
  [400, 'invalid_request_error', 'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000', {}, 'context_overflow'],
  [413, 'request_too_large', 'Request exceeds the maximum size', {}, 'context_overflow'],
  [400, 'invalid_request_error', 'tools.0.name: too odd', {}, 'invalid_request'],
  [404, 'not_found_error', 'model: claude-none', {}, 'invalid_request'],
])('classes a %i %s that says "%s"', async (status, type, message, headers, expected) => {
  const server = await scripted({ error: { status, type, message, headers } });
  const error = await failed(call(server));
  expect(error).toEqual({ class: expected, message, status, retryAfterSeconds: null, requestId: 'req_scripted_1' });
  expect(server.requests).toHaveLength(1);
});

it('takes a spend limit, which comes as 429, for a matter of the account', async () => {
  const server = await raw((_incoming, response) => {
    const error = { type: 'rate_limit_error', message: 'limit', details: { error_code: 'enforced_spend_limit_reached' } };
    response.writeHead(429, { 'content-type': 'application/json' }).end(JSON.stringify({ type: 'error', error }));
  });
  expect((await failed(call(server))).class).toBe('authentication');
});

it('keeps the first thousand characters of an error that is a page of HTML', async () => {
  const server = await raw(
    (_incoming, response) => void response.writeHead(502, { 'content-type': 'text/html' }).end(`<html>\0${'x'.repeat(100_000)}`),
  );
  const error = await failed(call(server));
  expect(error).toMatchObject({ class: 'server_error', status: 502 });
  expect(error.message.length).toBeLessThan(1_010);
  expect(error.message).not.toContain('\0');
});

it.each<[Record<string, string>, number, number]>([
  [{ 'retry-after': '7' }, 7, 7],
  [{ 'retry-after': '0' }, 0, 0],
  [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1.5, 1.5],
  [{ 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }, 3_000, 3_600],
  [{ 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 0, 0],
  [{ 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT', date: 'Wed, 21 Oct 2015 07:00:00 GMT' }, 1680, 1680],
])('reads when to try again from %o', async (headers, least, most) => {
  const { retryAfterSeconds } = await failed(call(await scripted({ error: { status: 429, type: 'rate_limit_error', headers } })));
  expect(retryAfterSeconds).toBeGreaterThanOrEqual(least);
  expect(retryAfterSeconds).toBeLessThanOrEqual(most);
});

it('knows no time to try again where the header says nonsense', async () => {
  const server = await scripted({ error: { status: 429, type: 'rate_limit_error', headers: { 'retry-after': 'soon' } } });
  expect((await failed(call(server))).retryAfterSeconds).toBeNull();
});

it.each<[string, ModelErrorClass]>([
  ['overloaded_error', 'overloaded'],
  ['rate_limit_error', 'rate_limited'],
  ['api_error', 'server_error'],
  ['timeout_error', 'timeout'],
  ['invalid_request_error', 'invalid_request'],
  ['never_heard_of_error', 'unknown'],
])('classes a %s in the middle of a stream', async (type, expected) => {
  const server = await scripted({ midStreamError: { type, message: 'so sorry' }, content: [text('Half a sen')] });
  const deltas: string[] = [];
  const error = await failed(call(server, { onDelta: (delta) => deltas.push(delta) }));
  expect(error).toEqual({ class: expected, message: 'so sorry', status: null, retryAfterSeconds: null, requestId: 'req_scripted_1' });
  expect(deltas.join('')).toBe('Half a sen');
});

it('gives up on a stream that only pings', async () => {
  const server = await scripted({ stall: true });
  const error = await failed(call(server, { idleTimeoutMs: 3000 })); // long enough for the headers to come
  expect(error).toMatchObject({ class: 'timeout', message: 'nothing but silence or pings for 3000 ms', requestId: 'req_scripted_1' });
});

it('waits for a stream that is slow but alive longer than the longest silence', async () => {
  const server = await scripted({ content: [text('slow '.repeat(1000))], chunkDelayMs: 20 });
  const response = await answered(call(server, { idleTimeoutMs: 3000 }));
  expect(response.durationMs).toBeGreaterThan(3000);
});

it('gives up where not even headers come', async () => {
  const server = await raw(() => {});
  expect(await failed(call(server, { idleTimeoutMs: 100 }))).toMatchObject({ class: 'timeout', requestId: null });
});

it('gives up on a slow drip at the total deadline', async () => {
  const server = await scripted({ content: [text('drip '.repeat(10_000))], chunkDelayMs: 5 });
  const error = await failed(call(server, { idleTimeoutMs: 60_000, totalTimeoutMs: 150 }));
  expect(error).toMatchObject({ class: 'timeout', message: 'no complete message within 150 ms' });
});

it('takes a refused connection for transport', async () => {
  const server = await scripted();
  await opened.pop()?.();
  const error = await failed(call(server));
  expect(error).toMatchObject({ class: 'transport', status: null });
  expect(error.message).toContain('ECONNREFUSED');
});

it.each([0, 1, 3, 5])('takes a socket that drops behind %i events for transport', async (afterEvents) => {
  expect((await failed(call(await scripted({ drop: true, afterEvents })))).class).toBe('transport');
});

it('takes a stream that ends at any byte before its last event for transport, and none of it for a message', async () => {
  const recorded = await scripted({
    content: [
      { type: 'thinking', thinking: 'é🙂', signature: 'cw==' },
      { type: 'tool_use', name: 'look', input: { a: 'é🙂' } },
    ],
  });
  const answer = await fetch(`${recorded.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': 'k', 'anthropic-version': '2026-10-21' },
    body: JSON.stringify(request),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  let end = 0;
  const server = await raw((_incoming, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(bytes.subarray(0, end));
  });
  const client = createModelClient({ apiKey, baseURL: server.url });
  for (; end <= bytes.length; end += 1) {
    const outcome = await client.call(request, { signal: new AbortController().signal });
    // The last line feed but one ends the data of message_stop; its event ends with the last.
    const expected = end >= bytes.length ? 'response' : 'transport';
    expect([end, outcome.kind === 'error' ? outcome.error.class : outcome.kind]).toEqual([end, expected]);
  }
  expect(bytes.length).toBeGreaterThan(1_000);
});

it('keeps a message that was complete before the connection broke or hung', async () => {
  const recorded = await scripted({ content: [text('All of it.')] });
  const answer = await fetch(`${recorded.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': 'k', 'anthropic-version': '2026-10-21' },
    body: JSON.stringify(request),
  });
  const bytes = await answer.text();
  const breaking = await raw((_incoming, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(bytes, () => response.destroy());
  });
  const hanging = await raw((_incoming, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(bytes));
  for (const server of [breaking, hanging]) expect((await answered(call(server))).content).toEqual([{ type: 'text', text: 'All of it.' }]);
});

it('is aborted before it sends anything, between headers and text, and in the middle of the text', async () => {
  const never = await scripted();
  expect(await call(never, { signal: AbortSignal.abort() })).toEqual({ kind: 'aborted' });
  expect(never.requests).toHaveLength(0);

  const stalled = await scripted({ stall: true });
  expect(await call(stalled, { signal: AbortSignal.timeout(50) })).toEqual({ kind: 'aborted' });

  const slow = await scripted({ content: [text('slow '.repeat(10_000))], chunkDelayMs: 1 });
  const controller = new AbortController();
  expect(await call(slow, { signal: controller.signal, onDelta: () => controller.abort('lost') })).toEqual({ kind: 'aborted' });
});

it('leaves no listener behind on a signal that lives long', async () => {
  const server = await scripted();
  const { signal } = new AbortController();
  const warned = vi.spyOn(process, 'emitWarning');
  for (let n = 0; n < 30; n += 1) await answered(call(server, { signal }));
  expect(warned).not.toHaveBeenCalled();
});

it('gives a call that the output limit cut off an empty input, and keeps what came before it', async () => {
  const content = [
    text('Now the file.'),
    { type: 'tool_use', id: 'toolu_1', name: 'write', inputJson: '{"path":"/a","content":"never fini' },
  ];
  const response = await answered(call(await scripted({ content, stopReason: 'max_tokens' })));
  expect(response.stopReason).toBe('max_tokens');
  expect(response.content).toEqual([text('Now the file.'), { type: 'tool_use', id: 'toolu_1', name: 'write', input: {} }]);
});

it.each(['tool_use', 'end_turn', 'stop_sequence', 'pause_turn'])(
  'takes an input that breaks off for no message where %s says that it is whole',
  async (stopReason) => {
    const content = [{ type: 'tool_use', id: 'toolu_1', name: 'write', inputJson: '{"path":"/a","content":"never fini' }];
    expect(await failed(call(await scripted({ content, stopReason })))).toMatchObject({ class: 'malformed_response' });
  },
);

it.each([
  ['cut short', '{"path":"/a'],
  ['that only lacks its end', '{"path":"/a"'],
  ['with something behind it', '{"path":"/a"} and more'],
  ['that is no object', '["/a"]'],
  ['with a number out of range', '{"n":1e400}'],
  ['nested too deep', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`],
  ['nested deeper than a stack', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
])('refuses the input of a call %s', async (_what, inputJson) => {
  const server = await scripted({ content: [{ type: 'tool_use', id: 'toolu_1', name: 'write', inputJson }] });
  const error = await failed(call(server));
  expect(error).toMatchObject({ class: 'malformed_response', status: null, requestId: 'req_scripted_1' });
});

it('brings a refusal with its details, and a message without any content', async () => {
  const stopDetails = { type: 'refusal', category: 'cyber', explanation: null };
  const refusal = await answered(call(await scripted({ content: [], stopReason: 'refusal', stopDetails })));
  expect(refusal).toMatchObject({ content: [], stopReason: 'refusal', stopDetails });
  const empty = await answered(call(await scripted({ content: [] })));
  expect(empty).toMatchObject({ content: [], stopReason: 'end_turn', stopDetails: null });
});

it('replaces what Postgres cannot hold, in keys too, and leaves escapes that only look like it', async () => {
  const inputJson = String.raw`{"nul":"a\u0000b","lone":"\ud83d!","pair":"\ud83d\ude42","text":"\\u0000","k\u0000":[{"\udc00":"\udc00"}],"__proto__":{"x":1}}`;
  const response = await answered(
    call(await scripted({ content: [text('a\0b\ud800'), { type: 'tool_use', id: 'toolu_1', name: 'write', inputJson }] })),
  );
  expect(response.content[0]).toEqual(text('a␀b\uFFFD'));
  expect(JSON.stringify(response.content[1]?.['input'])).toBe(
    String.raw`{"nul":"a␀b","lone":"�!","pair":"🙂","text":"\\u0000","k␀":[{"�":"�"}],"__proto__":{"x":1}}`,
  );
});

const start =
  'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}\n\n';
const delta = 'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}\n\n';
const stop = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';

it.each([
  ['an event that is not JSON', `${start}event: message_delta\ndata: {"type":\n\n${stop}`],
  ['a message that does not begin', `${delta}${stop}`],
  ['a message that begins twice', `${start}${start}${delta}${stop}`],
  ['a message without a stop reason', `${start}${stop}`],
  [
    'a delta of a block that has not begun',
    `${start}event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}\n\n${delta}${stop}`,
  ],
  [
    'a kind of delta that nobody knows',
    `${start}event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\nevent: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"odd_delta","odd":"x"}}\n\n${delta}${stop}`,
  ],
])('refuses %s', async (_what, bytes) => {
  expect(await failed(call(await streaming(bytes)))).toMatchObject({ class: 'malformed_response', requestId: 'req_raw' });
});

it('passes over kinds of events that nobody knows, and takes the last word on usage', async () => {
  const odd = 'event: odd\ndata: {"type":"odd"}\n\n';
  const response = await answered(call(await streaming(`${start}${odd}${delta}${odd}${stop}`)));
  expect(response.usage).toEqual({ inputTokens: 1, outputTokens: 3, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 });
});

it.each([
  ['not', undefined],
  ['as no object', 'many'],
  ['as text', { input_tokens: '12', output_tokens: {}, output_tokens_details: 3 }],
  ['below zero', { input_tokens: -1, output_tokens: -0.4 }],
])('keeps an answer whose tokens its provider counts %s', async (_how, usage) => {
  const begun = `event: message_start\ndata: ${JSON.stringify({ type: 'message_start', message: { id: 'm', model: 'm', usage } })}\n\n`;
  const ended = `event: message_delta\ndata: ${JSON.stringify({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage })}\n\n`;
  const response = await answered(call(await streaming(`${begun}${ended}${stop}`)));
  expect(new Set(Object.values(response.usage))).toEqual(new Set([0]));
});

it('takes a count for no more than the database takes', async () => {
  const response = await answered(call(await streaming(`${start}${delta.replace('3', '1e300')}${stop}`)));
  expect(response.usage).toMatchObject({ inputTokens: 1, outputTokens: 100_000_000 });
});

it('never lets the key into an error', async () => {
  const echo = await scripted({ error: { status: 401, type: 'authentication_error', message: `no such key: ${apiKey}` } });
  expect((await failed(call(echo))).message).toBe('no such key: [redacted]');
  const other = await scripted({
    error: { status: 401, type: 'authentication_error', message: 'no such key: sk-ant-oat01-someone_elses' },
  });
  expect((await failed(call(other))).message).toBe('no such key: [redacted]');
  const broken = await failed(call(await scripted(), { apiKey: 'canary\nkey' }));
  expect(broken.class).toBe('authentication');
  expect(broken.message).not.toContain('canary');
});

it('prints nothing, whatever ANTHROPIC_LOG says and however old the model is', async () => {
  vi.stubEnv('ANTHROPIC_LOG', 'debug');
  const spies = (['log', 'info', 'debug', 'error'] as const).map((method) => vi.spyOn(console, method).mockImplementation(() => {}));
  // The SDK's notice about an old model goes through console.warn, which Node writes to stderr.
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  await answered(call(await scripted(), { body: { ...request, model: 'claude-sonnet-4-5' } }));
  await failed(call(await streaming(`${start}event: message_delta\ndata: {\n\n`)));
  for (const spy of spies) expect(spy).not.toHaveBeenCalled();
});

it('sends betas as a header, and everything else as it is', async () => {
  const seen: { beta: unknown; body: string }[] = [];
  const server = await raw((incoming, response) => {
    let body = '';
    incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
    incoming.on('end', () => {
      seen.push({ beta: incoming.headers['anthropic-beta'], body });
      response.writeHead(529).end();
    });
  });
  const client = createModelClient({ apiKey, baseURL: server.url });
  const options = { thinking: { type: 'adaptive' }, output_config: { effort: 'low' }, service_tier: 'auto', tool_choice: { type: 'auto' } };
  await client.call({ ...request, ...options, betas: ['one-2026-01-01', 'two-2026-01-01'] }, { signal: new AbortController().signal });
  await client.call({ ...request, ...options }, { signal: new AbortController().signal });
  expect(seen).toEqual([
    { beta: 'one-2026-01-01,two-2026-01-01', body: JSON.stringify({ ...request, ...options }) },
    { beta: undefined, body: JSON.stringify({ ...request, ...options }) },
  ]);
});

it('asks by a client that is given, which repeats nothing, and understands its errors', async () => {
  const model = await startScriptedModel((_request, { attempt }) =>
    attempt === 0 ? { error: { status: 429, type: 'rate_limit_error', headers: { 'retry-after': '3' } } } : { content: [text('By it.')] },
  );
  opened.push(() => model.close());
  const given = createModelClient({ client: new Anthropic({ apiKey: 'key-of-the-client', baseURL: model.url, logLevel: 'off' }) });
  const how = { signal: new AbortController().signal };
  expect(await failed(given.call(request, how))).toMatchObject({ class: 'rate_limited', status: 429, retryAfterSeconds: 3 });
  expect(model.requests).toHaveLength(1);
  expect(await answered(given.call({ ...request, betas: ['a-beta'] }, how))).toMatchObject({ content: [text('By it.')] });
  expect(model.requests.map(({ body }) => body)).toEqual([JSON.stringify(request), JSON.stringify(request)]);
});

it('knows the errors of a copy of the SDK that it did not load', async () => {
  class APIError extends Error {
    status = 529;
    type = 'overloaded_error';
  }
  class InternalServerError extends APIError {}
  const client = { messages: { create: () => ({ withResponse: () => Promise.reject(new InternalServerError('full')) }) } };
  const outcome = createModelClient({ client }).call(request, { signal: new AbortController().signal });
  expect(await failed(outcome)).toMatchObject({ class: 'overloaded', status: 529, message: 'full' });
});
