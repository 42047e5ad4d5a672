// What a model of the AI SDK is asked and what is understood of its answer, with the SDK's own mock.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError } from '@ai-sdk/provider';
import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { MockLanguageModelV3, MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import { expect, test } from 'vitest';

import { modelFromAiSdk } from '../../../runtime/aiSdk/index.ts';
import type { AiSdkModel, AiSdkOptions } from '../../../runtime/aiSdk/index.ts';
import type { ContentBlock, Message, ModelError, ModelOutcome, ModelRequest, ModelResponse } from '../../../runtime/model/message.ts';
import { validateRequest } from '../../../runtime/model/validateRequest.ts';

const usage = {
  inputTokens: { total: 100, noCache: 30, cacheRead: 60, cacheWrite: 10 },
  outputTokens: { total: 20, text: 15, reasoning: 5 },
};
const finish = (unified: LanguageModelV4Finish = 'stop', raw: string | undefined = unified): LanguageModelV4StreamPart => ({
  type: 'finish',
  usage,
  finishReason: { unified, raw },
});
type LanguageModelV4Finish = Extract<LanguageModelV4StreamPart, { type: 'finish' }>['finishReason']['unified'];
const said = (text: string, id = '0'): LanguageModelV4StreamPart[] => [
  { type: 'text-start', id },
  { type: 'text-delta', id, delta: text },
  { type: 'text-end', id },
];
const thought = (text: string, metadata?: SharedV4ProviderMetadata): LanguageModelV4StreamPart[] => [
  { type: 'reasoning-start', id: 'r' },
  { type: 'reasoning-delta', id: 'r', delta: text },
  { type: 'reasoning-end', id: 'r', ...(metadata && { providerMetadata: metadata }) },
];
const called = (toolCallId: string, toolName: string, input: string): LanguageModelV4StreamPart => ({
  type: 'tool-call',
  toolCallId,
  toolName,
  input,
});
const mock = (...parts: LanguageModelV4StreamPart[]): MockLanguageModelV4 =>
  new MockLanguageModelV4({
    provider: 'mock.chat',
    modelId: 'mock-1',
    doStream: async () => ({ stream: simulateReadableStream({ chunks: parts, initialDelayInMs: null, chunkDelayInMs: null }) }),
  });

const basic: ModelRequest = {
  model: 'any',
  max_tokens: 1000,
  system: 'Work.',
  messages: [{ role: 'user', content: 'Begin.' }],
  stream: true,
};

async function ask(
  model: AiSdkModel,
  request: Partial<ModelRequest> = {},
  {
    onDelta,
    signal = new AbortController().signal,
    ...options
  }: AiSdkOptions & { onDelta?: (text: string) => void; signal?: AbortSignal } = {},
): Promise<ModelOutcome> {
  return modelFromAiSdk(model, options).call({ ...basic, ...request }, { signal, ...(onDelta && { onDelta }) });
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
/** What the model is asked. */
async function asked(request: Partial<ModelRequest>, options: AiSdkOptions = {}): Promise<LanguageModelV4CallOptions> {
  const model = mock(...said('Yes.'), finish());
  await answered(ask(model, request, options));
  const [{ abortSignal: _, ...call } = {} as LanguageModelV4CallOptions] = model.doStreamCalls;
  return call;
}
const refused = async (request: Partial<ModelRequest>): Promise<string> => {
  const { class: kind, message } = await failed(ask(mock(finish()), request));
  expect(kind).toBe('invalid_request');
  return message;
};

const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aW1n' } };
const png = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'aW1n' } };
const exchange: Message[] = [
  { role: 'user', content: [{ type: 'text', text: 'Look.' }, image] },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Both.', signature: 'sig' },
      { type: 'text', text: 'I look.', provider_metadata: { openai: { itemId: 'm1' } } },
      { type: 'tool_use', id: 'a', name: 'see', input: { n: 1 } },
      { type: 'tool_use', id: 'b', name: 'hear', input: {} },
    ],
  },
  {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'A picture' }, image] },
      { type: 'tool_result', tool_use_id: 'b', content: 'Deaf', is_error: true },
      { type: 'text', text: 'Go on.' },
    ],
  },
];

test('a request of all kinds of content goes out in the words of the AI SDK', async () => {
  expect(
    await asked({
      system: [
        { type: 'text', text: 'The rules.' },
        { type: 'text', text: 'Your part.', cache_control: { type: 'ephemeral' } },
      ],
      cache_control: { type: 'ephemeral', ttl: '1h' },
      tools: [{ name: 'see', description: 'Sees.', input_schema: { type: 'object' } }],
      tool_choice: { type: 'any' },
      output_config: { effort: 'high' },
      temperature: 0.5,
      top_p: 0.9,
      messages: exchange,
    }),
  ).toEqual({
    maxOutputTokens: 1000,
    temperature: 0.5,
    topP: 0.9,
    reasoning: 'high',
    tools: [{ type: 'function', name: 'see', description: 'Sees.', inputSchema: { type: 'object' } }],
    toolChoice: { type: 'required' },
    prompt: [
      { role: 'system', content: 'The rules.\n\nYour part.', providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } },
      { role: 'user', content: [{ type: 'text', text: 'Look.' }, png] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Both.', providerOptions: { anthropic: { signature: 'sig' } } },
          { type: 'text', text: 'I look.', providerOptions: { openai: { itemId: 'm1' } } },
          { type: 'tool-call', toolCallId: 'a', toolName: 'see', input: { n: 1 } },
          { type: 'tool-call', toolCallId: 'b', toolName: 'hear', input: {} },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'a', toolName: 'see', output: { type: 'text', value: 'A picture' } },
          { type: 'tool-result', toolCallId: 'b', toolName: 'hear', output: { type: 'error-text', value: 'Deaf' } },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'text', text: '[engine] What see showed (a):' }, png, { type: 'text', text: 'Go on.' }],
        providerOptions: { anthropic: { cacheControl: { type: 'ephemeral', ttl: '1h' } } },
      },
    ],
  });
});

test('images stay in results where the provider takes them there', async () => {
  const { prompt } = await asked({ messages: exchange }, { imagesInResults: true });
  expect(prompt.slice(-2)).toMatchObject([
    { role: 'tool', content: [{ output: { type: 'content', value: [{ type: 'text', text: 'A picture' }, png] } }, { toolCallId: 'b' }] },
    { role: 'user', content: [{ type: 'text', text: 'Go on.' }] },
  ]);
});

test.each([
  [{ tool_choice: { type: 'auto' } }, { toolChoice: { type: 'auto' } }],
  [{ tool_choice: { type: 'none' } }, { toolChoice: { type: 'none' } }],
  [{ tool_choice: { type: 'tool', name: 'see' } }, { toolChoice: { type: 'tool', toolName: 'see' } }],
  [{ thinking: { type: 'disabled' } }, { reasoning: 'none' }],
  [{ thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }, { reasoning: 'max' }],
])('%j is said as %j', async (request, options) => {
  expect(await asked(request)).toMatchObject(options);
});

test('what has no place in the AI SDK is refused by its name, and nothing is sent', async () => {
  const user = (block: ContentBlock): Partial<ModelRequest> => ({ messages: [{ role: 'user', content: [block] }] });
  expect(await refused({ thinking: { type: 'enabled', budget_tokens: 2000 } })).toContain('say effort in its place');
  expect(await refused({ service_tier: 'auto' })).toContain('service_tier');
  expect(await refused({ betas: ['some-beta'] })).toContain('betas');
  expect(await refused({ tools: [{ type: 'web_search_20250305', name: 'web_search' }] })).toContain('web_search_20250305');
  expect(await refused(user({ type: 'search_result', source: 'x' }))).toContain('search_result');
  expect(await refused(user({ type: 'document', source: { type: 'content' } }))).toContain(
    'document block with a source of the type content',
  );
  expect(
    await refused({
      messages: [...exchange.slice(0, 1), { role: 'assistant', content: [{ type: 'server_tool_use', id: 's', name: 'x', input: {} }] }],
    }),
  ).toContain('server_tool_use');
});

test('thinking, words and calls side by side come back as blocks, and their words as they come', async () => {
  const heard: string[] = [];
  const model = mock(
    { type: 'stream-start', warnings: [] },
    { type: 'response-metadata', id: 'resp_1', modelId: 'mock-1-2026' },
    ...thought('Hm.', { openai: { itemId: 'rs_1' } }),
    ...said('I look '),
    ...said('twice.', '1'),
    { type: 'tool-input-start', id: 'a', toolName: 'see' },
    { type: 'tool-input-start', id: 'b', toolName: 'hear' },
    { type: 'tool-input-delta', id: 'a', delta: '{"n"' },
    { type: 'tool-input-delta', id: 'b', delta: '{' },
    { type: 'tool-input-delta', id: 'a', delta: ':1}' },
    { type: 'tool-input-end', id: 'a' },
    { ...called('a', 'see', '{"n":1}'), providerMetadata: { google: { thoughtSignature: 'ts' } } } as LanguageModelV4StreamPart,
    called('b', 'hear', '{"m":2}'),
    called('c', 'wait', ''),
    { ...finish('tool-calls') },
  );
  const response = await answered(ask(model, {}, { onDelta: (text) => heard.push(text) }));
  expect(response).toMatchObject({
    id: 'resp_1',
    provider: 'mock.chat',
    model: 'mock-1-2026',
    stopReason: 'tool_use',
    content: [
      { type: 'thinking', thinking: 'Hm.', signature: 'ai-sdk:{"openai":{"itemId":"rs_1"}}' },
      { type: 'text', text: 'I look ' },
      { type: 'text', text: 'twice.' },
      { type: 'tool_use', id: 'a', name: 'see', input: { n: 1 }, provider_metadata: { google: { thoughtSignature: 'ts' } } },
      { type: 'tool_use', id: 'b', name: 'hear', input: { m: 2 } },
      { type: 'tool_use', id: 'c', name: 'wait', input: {} },
    ],
    usage: { inputTokens: 30, cachedInputTokens: 60, cacheWriteTokens: 10, outputTokens: 20, reasoningTokens: 5 },
  });
  expect(heard).toEqual(['I look ', 'twice.']);
  expect(response.firstTokenMs).not.toBeNull();
});

test.each<[string, SharedV4ProviderMetadata | undefined]>([
  ['none', undefined],
  ['of Anthropic', { anthropic: { signature: 'sig' } }],
  ['of Anthropic and more', { anthropic: { signature: 'sig', more: 1 } }],
  ['of Anthropic, whose thinking is hidden', { anthropic: { redactedData: 'data' } }],
  ['of another', { openai: { itemId: 'rs', reasoningEncryptedContent: 'x' } }],
])('thinking goes back with what its provider said of it: %s', async (_name, metadata) => {
  const isHidden = metadata?.['anthropic']?.['redactedData'] !== undefined;
  const model = mock(
    { type: 'reasoning-start', id: 'r', ...(isHidden && metadata && { providerMetadata: metadata }) },
    ...(isHidden ? [] : ([{ type: 'reasoning-delta', id: 'r', delta: 'Hm.' }] as const)),
    { type: 'reasoning-end', id: 'r', ...(metadata && { providerMetadata: metadata }) },
    called('a', 'see', '{}'),
    finish('tool-calls'),
  );
  const { content } = await answered(ask(model));
  const messages: Message[] = [
    ...basic.messages,
    { role: 'assistant', content },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'Seen' }] },
  ];
  expect(validateRequest({ ...basic, messages })).toEqual([]);
  const { prompt } = await asked({ messages });
  expect(prompt[2]?.content[0]).toEqual({ type: 'reasoning', text: isHidden ? '' : 'Hm.', ...(metadata && { providerOptions: metadata }) });
});

test.each<[LanguageModelV4Finish, string | undefined, string]>([
  ['stop', 'stop', 'end_turn'],
  ['length', 'length', 'max_tokens'],
  ['content-filter', 'content_filter', 'refusal'],
  ['other', 'eos', 'end_turn'],
])('an end by %s (%s) is %s', async (unified, raw, expected) => {
  expect(await answered(ask(mock(...said('So.'), finish(unified, raw))))).toMatchObject({ stopReason: expected });
});

test.each<[string, LanguageModelV4StreamPart[], string]>([
  ['breaks off', said('So'), 'transport'],
  ['ends without a reason', [...said('So'), { type: 'finish', usage, finishReason: { unified: 'other', raw: undefined } }], 'transport'],
  ['was interrupted', [...said('So'), finish('interrupted')], 'transport'],
  ['ends with an error', [...said('So'), finish('error')], 'malformed_response'],
  ['calls with broken JSON', [called('a', 'see', '{"n":'), finish('tool-calls')], 'malformed_response'],
  ['goes on with what had not begun', [{ type: 'text-delta', id: 'x', delta: 'y' }, finish()], 'malformed_response'],
  ['says so in its stream', [{ type: 'error', error: { message: 'Slow down', code: 'rate_limit_exceeded' } }, finish()], 'rate_limited'],
  ['is overloaded in its stream', [{ type: 'error', error: 'The model is overloaded' }, finish()], 'overloaded'],
  ['answers with a file', [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'x' } }, finish()], 'invalid_request'],
  [
    'ran a tool itself',
    [{ type: 'tool-input-start', id: 'a', toolName: 'search', providerExecuted: true }, finish('tool-calls')],
    'invalid_request',
  ],
  ['begins a call and makes none', [{ type: 'tool-input-start', id: 'a', toolName: 'see' }, finish('stop')], 'malformed_response'],
  [
    'begins one call twice',
    [
      { type: 'tool-input-start', id: 'a', toolName: 'see' },
      { type: 'tool-input-start', id: 'a', toolName: 'see' },
      called('a', 'see', '{}'),
      finish('tool-calls'),
    ],
    'malformed_response',
  ],
  ['says what no JSON can', [{ type: 'error', error: { code: 5n } }, finish()], 'unknown'],
])('a model that %s gives an error and no message', async (_name, parts, expected) => {
  expect(await failed(ask(mock(...parts)))).toMatchObject({ class: expected });
});

test('a call that the output limit cut off has no input', async () => {
  const model = mock(
    { type: 'tool-input-start', id: 'a', toolName: 'see' },
    { type: 'tool-input-delta', id: 'a', delta: '{"n' },
    finish('length'),
  );
  expect(await answered(ask(model))).toMatchObject({ stopReason: 'max_tokens', content: [{ type: 'tool_use', id: 'a', input: {} }] });
});

test('the input of a call is what the call says, not what came of it before; blank is none', async () => {
  const begun: LanguageModelV4StreamPart[] = [
    { type: 'tool-input-start', id: 'a', toolName: 'see' },
    { type: 'tool-input-delta', id: 'a', delta: '{"n": "1"' },
  ];
  const model = mock(...begun, called('a', 'see', '{"n":1}'), called('b', 'wait', ' \n'), finish('tool-calls'));
  const { content } = await answered(ask(model));
  expect(content.map(({ input }) => input)).toEqual([{ n: 1 }, {}]);
});

test.each<[string, unknown]>([
  ['not', undefined],
  ['not at all', { inputTokens: undefined, outputTokens: undefined }],
  ['not as numbers', { inputTokens: { total: Number.NaN, cacheRead: null }, outputTokens: { total: Number.NaN } }],
])('an answer is kept whose tokens its provider counts %s', async (_name, odd) => {
  const end = { ...finish(), usage: odd } as LanguageModelV4StreamPart;
  const { content, usage: counted } = await answered(ask(mock(...said('So.'), end)));
  expect(content).toEqual([{ type: 'text', text: 'So.' }]);
  expect(new Set(Object.values(counted))).toEqual(new Set([0]));
});

test('sources are kept with the words that they are for, and are not sent back', async () => {
  const source = { type: 'source' as const, sourceType: 'url' as const, id: '1', url: 'https://example.com/' };
  const { content } = await answered(ask(mock(source, ...said('So.'), { ...source, id: '2' }, finish())));
  expect(content).toEqual([{ type: 'text', text: 'So.', citations: [source, { ...source, id: '2' }] }]);
  const { prompt } = await asked({ messages: [...basic.messages, { role: 'assistant', content }, { role: 'user', content: 'Go on.' }] });
  expect(prompt[2]).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'So.' }] });
});

const error = (statusCode: number | undefined, body: object | string = '', responseHeaders: Record<string, string> = {}): APICallError => {
  const responseBody = typeof body === 'string' ? body : JSON.stringify({ error: body });
  const message = typeof body === 'string' ? body : String((body as { message?: string }).message);
  return new APICallError({
    message,
    url: 'http://x',
    requestBodyValues: {},
    ...(statusCode && { statusCode }),
    responseHeaders,
    responseBody,
  });
};
test.each<[string, Error, Partial<ModelError>]>([
  [
    '429',
    error(429, '', { 'retry-after': '7', 'x-request-id': 'r1' }),
    { class: 'rate_limited', status: 429, retryAfterSeconds: 7, requestId: 'r1' },
  ],
  ['429 of Google', error(429, '{"details":[{"retryDelay": "17s"}]}'), { class: 'rate_limited', retryAfterSeconds: 17 }],
  ['no money', error(429, { message: 'x', code: 'insufficient_quota' }), { class: 'authentication' }],
  ['401', error(401, 'no'), { class: 'authentication' }],
  ['529', error(529), { class: 'overloaded' }],
  ['503 overloaded', error(503, { message: 'The model is overloaded.', status: 'UNAVAILABLE' }), { class: 'overloaded' }],
  ['500', error(500), { class: 'server_error' }],
  ['too long (OpenAI)', error(400, { message: 'x', code: 'context_length_exceeded' }), { class: 'context_overflow' }],
  [
    'too long (Google)',
    error(400, { message: 'The input token count (9) exceeds the maximum number of tokens allowed (8).' }),
    { class: 'context_overflow' },
  ],
  ['too long (vLLM)', error(400, "This model's maximum context length is 8192 tokens."), { class: 'context_overflow' }],
  ['400', error(400, { message: 'unknown field' }), { class: 'invalid_request', message: 'unknown field' }],
  ['no server', error(undefined, 'Cannot connect to API'), { class: 'transport', status: null }],
  ['no key', Object.assign(new Error('no key'), { name: 'AI_LoadAPIKeyError' }), { class: 'authentication' }],
  ['anything else', new Error('odd'), { class: 'unknown', message: 'odd' }],
])('%s', async (_name, thrown, expected) => {
  const model = new MockLanguageModelV4({
    doStream: async () => {
      throw thrown;
    },
  });
  expect(await failed(ask(model))).toMatchObject(expected);
});

test('what stays silent is given up, and what is called off ends at once, heeded or not', async () => {
  const silent = new MockLanguageModelV4({ doStream: async () => ({ stream: new ReadableStream() }) });
  expect(await failed(ask(silent, {}, { idleTimeoutMs: 5 }))).toMatchObject({ class: 'timeout' });
  const off = new AbortController();
  const outcome = ask(silent, {}, { signal: off.signal });
  off.abort();
  expect(await outcome).toEqual({ kind: 'aborted' });
});

test('so is what does not even begin to answer, and what it says later is not read', async () => {
  const { promise: late, resolve } = Promise.withResolvers<{ stream: ReadableStream<LanguageModelV4StreamPart> }>();
  const model = new MockLanguageModelV4({ doStream: () => late });
  expect(await failed(ask(model, {}, { idleTimeoutMs: 5 }))).toMatchObject({ class: 'timeout' });
  const off = new AbortController();
  const outcome = ask(model, {}, { signal: off.signal });
  off.abort();
  expect(await outcome).toEqual({ kind: 'aborted' });
  await new Promise((cancelled) => resolve({ stream: new ReadableStream({ cancel: cancelled }) }));
});

test('a secret that is named does not stand in an error', async () => {
  const model = new MockLanguageModelV4({
    doStream: async () => {
      throw error(401, 'Incorrect API key provided: key-of-the-mock-123');
    },
  });
  expect((await failed(ask(model, {}, { secrets: ['key-of-the-mock-123'] }))).message).not.toContain('key-of-the-mock');
});

test('a provider is asked for the model that the request names; one model is asked whatever it names', async () => {
  const named: string[] = [];
  const model = mock(...said('Yes.'), finish());
  const provider = (name: string) => {
    named.push(name);
    return model;
  };
  await answered(ask(provider, { model: 'small' }));
  expect(named).toEqual(['small']);
  expect(modelFromAiSdk(createOpenAICompatible({ name: 'local', baseURL: 'http://127.0.0.1:9' }))).toHaveProperty('call');
});

test('a model of an older SDK is refused with the way out', () => {
  expect(() => modelFromAiSdk(new MockLanguageModelV3() as never)).toThrow('wrapLanguageModel');
});

test('warnings are told to who asks for them', async () => {
  const told: unknown[] = [];
  const warning = { type: 'unsupported' as const, feature: 'temperature' };
  await answered(
    ask(mock({ type: 'stream-start', warnings: [warning] }, ...said('Yes.'), finish()), {}, { onWarnings: (all) => told.push(...all) }),
  );
  expect(told).toEqual([warning]);
});
