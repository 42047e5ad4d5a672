// The scripted model, spoken to by the SDK as a user would and by plain HTTP where the SDK would not go.

import Anthropic from '@anthropic-ai/sdk';
import { afterEach, expect, it } from 'vitest';

import type { ContentBlock, Message, ModelRequest } from '../../../runtime/model/message.ts';
import { scriptOf, withFaults } from '../../../runtime/model/script.ts';
import type { Script, ScriptedReply } from '../../../runtime/model/script.ts';
import { startScriptedModel } from '../../../runtime/model/scriptedModel.ts';
import type { ScriptedModel } from '../../../runtime/model/scriptedModel.ts';

const text = (value: string): ContentBlock => ({ type: 'text', text: value });
const request = (...messages: Message[]): ModelRequest => ({
  model: 'claude-sonnet-5-5',
  max_tokens: 1000,
  cache_control: { type: 'ephemeral' },
  system: 'You are a test.',
  tools: [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }],
  messages: messages.length > 0 ? messages : [{ role: 'user', content: 'Begin.' }],
  stream: true,
});
const look = (input: Record<string, unknown>): ContentBlock => ({ type: 'tool_use', name: 'look', input });

let server: ScriptedModel | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});
const start = async (script: Script) => (server = await startScriptedModel(script, { pingEveryMs: 10 }));
const sdk = (model: ScriptedModel) => new Anthropic({ apiKey: 'sk-test', baseURL: model.url, maxRetries: 0 });
const params = (body: ModelRequest) => body as unknown as Anthropic.MessageStreamParams;
const plain = (body: ModelRequest) => ({ ...body, stream: false }) as unknown as Anthropic.MessageCreateParamsNonStreaming;
const post = (
  model: ScriptedModel,
  body: string,
  headers: Record<string, string> = { 'x-api-key': 'k', 'anthropic-version': '2026-10-21' },
  path = '/v1/messages',
) => fetch(model.url + path, { method: 'POST', body, headers });

it('says the same to the SDK streaming and whole', async () => {
  const content = [
    { type: 'thinking', thinking: 'Where would it be? 🤔 '.repeat(9), signature: 'c2lnbmVk' },
    text('I shall look in the first drawer, then in the second one. 🙂'),
    look({ where: ['drawer', 1], note: 'a "quoted" \\ thing' }),
    look({}),
  ];
  const model = await start(scriptOf([{ content }]));
  const streamed = await sdk(model).messages.stream(params(request())).finalMessage();
  const whole = await sdk(model).messages.create(plain(request()));
  expect(whole.content).toMatchObject(content);
  expect(streamed.content).toEqual(whole.content);
  expect(streamed.stop_reason).toBe('tool_use');
  expect(streamed.usage.output_tokens).toBe(whole.usage.output_tokens);
});

it('sends what grows in pieces and pings in between', async () => {
  const model = await start(scriptOf([{ content: [look({ path: '/a/long/path/to/look/at' })] }]));
  const wire = await (await post(model, JSON.stringify(request()))).text();
  expect(
    wire
      .match(/^event: .*$/gm)
      ?.map((line) => line.slice(7))
      .join(' '),
  ).toBe(
    'message_start ping content_block_start content_block_delta content_block_delta content_block_delta content_block_delta content_block_stop message_delta message_stop',
  );
});

it('answers by the number of assistant messages, and the same again when asked again', async () => {
  const model = await start(scriptOf([{ content: [look({ n: 1 })] }, { content: [text('Found.')] }]));
  const ask = async (body: ModelRequest) => (await sdk(model).messages.create(plain(body))).content as unknown as ContentBlock[];
  const first = await ask(request());
  expect(await ask(request())).toEqual(first);
  const found: Message[] = [
    { role: 'user', content: 'Begin.' },
    { role: 'assistant', content: first },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: first[0]?.['id'], content: 'it is here' }] },
  ];
  expect(await ask(request(...found))).toMatchObject([text('Found.')]);
  const after: Message[] = [...found, { role: 'assistant', content: 'Found.' }, { role: 'user', content: 'And?' }];
  expect(await ask(request(...after))).toMatchObject([text('Done.')]);
});

it('gives every tool_use without an id one of its own', async () => {
  const model = await start(() => ({ content: [look({}), look({}), { ...look({}), id: 'toolu_given' }] }));
  const ids = new Set<unknown>();
  for (const content of ['Begin.', 'Begin otherwise.']) {
    const { content: blocks } = await sdk(model).messages.create(plain(request({ role: 'user', content })));
    for (const block of blocks) ids.add(block.type === 'tool_use' && block.id);
  }
  expect(ids.size).toBe(5);
});

it('plays the faults of an exchange one per attempt, then the reply', async () => {
  const faults: ScriptedReply[] = [
    { error: { status: 529, type: 'overloaded_error' } },
    { error: { status: 429, type: 'rate_limit_error', headers: { 'retry-after': '7' } } },
  ];
  const model = await start(withFaults(scriptOf([{ content: [text('At last.')] }]), { 0: faults }));
  const statuses = [];
  for (let n = 0; n < 4; n += 1) statuses.push((await post(model, JSON.stringify(request()))).status);
  expect(statuses).toEqual([529, 429, 200, 200]);
  expect((await post(model, JSON.stringify(request({ role: 'user', content: 'Another conversation.' })))).status).toBe(529);
});

it('tells the script which attempt of which conversation it is', async () => {
  const seen: unknown[] = [];
  const model = await start((_request, position) => {
    seen.push([position.exchange, position.attempt]);
    return { content: [text(position.conversation)] };
  });
  const first = await sdk(model).messages.create(plain(request()));
  // A moved cache mark is no other conversation.
  const marked = { type: 'text', text: 'Begin.', cache_control: { type: 'ephemeral' } };
  const unmarked = { type: 'text', text: 'Begin.' };
  const [a, b] = [
    await sdk(model).messages.create(plain(request({ role: 'user', content: [marked] }))),
    await sdk(model).messages.create(plain(request({ role: 'user', content: [unmarked] }))),
  ];
  expect(a.content).toEqual(b.content);
  expect(first.content).not.toEqual(a.content);
  expect(seen).toEqual([
    [0, 0],
    [0, 0],
    [0, 1],
  ]);
});

it('counts the common prefix with the previous request as read from the cache', async () => {
  const model = await start(scriptOf([]));
  const long = 'word '.repeat(2_000);
  const ask = async (body: ModelRequest) => (await sdk(model).messages.create(plain(body))).usage;
  const first = await ask(request({ role: 'user', content: long }));
  const longer: Message[] = [
    { role: 'user', content: long },
    { role: 'assistant', content: 'Yes.' },
    { role: 'user', content: 'And?' },
  ];
  const second = await ask(request(...longer));
  expect(first.cache_read_input_tokens).toBe(0);
  expect(first.cache_creation_input_tokens).toBeGreaterThan(10_000 / 3.5);
  // All of the first prompt but the bracket that closed its messages.
  expect(Math.abs((second.cache_read_input_tokens ?? 0) - (first.cache_creation_input_tokens ?? 0))).toBeLessThanOrEqual(1);
  expect(second.cache_creation_input_tokens).toBeLessThan(50);
  const { cache_control: _mark, ...unmarked } = request(...longer);
  const third = await ask(unmarked);
  expect([third.cache_read_input_tokens, third.cache_creation_input_tokens]).toEqual([0, 0]);
  expect(third.input_tokens).toBe((second.cache_read_input_tokens ?? 0) + (second.cache_creation_input_tokens ?? 0));
});

it('finds in the cache what an earlier request left within 20 blocks before a breakpoint, and no further', async () => {
  const model = await start(scriptOf([]));
  const begun: Message = { role: 'user', content: [text('word '.repeat(500))] };
  const blocks = (n: number): ContentBlock[] => Array.from({ length: n }, (_, k) => text(`block ${k}`));
  const read = async (...messages: Message[]) =>
    (await sdk(model).messages.create(plain(request(...messages)))).usage.cache_read_input_tokens;
  const whole = (await sdk(model).messages.create(plain(request(begun)))).usage.cache_creation_input_tokens ?? 0;
  expect(await read(begun, { role: 'assistant', content: 'Yes.' }, { role: 'user', content: blocks(18) })).toBeGreaterThanOrEqual(
    whole - 1,
  );
  expect(await read(begun, { role: 'assistant', content: 'No.' }, { role: 'user', content: blocks(19) })).toBe(0);
  const marked: Message = { role: 'user', content: [{ ...text('word '.repeat(500)), cache_control: { type: 'ephemeral' } }] };
  expect(await read(marked, { role: 'assistant', content: 'Well.' }, { role: 'user', content: blocks(19) })).toBeGreaterThanOrEqual(
    whole - 1,
  );
});

it('takes counts that the script gives before its own', async () => {
  const model = await start(() => ({ content: [], usage: { input_tokens: 5, output_tokens: 6 } }));
  expect((await sdk(model).messages.stream(params(request())).finalMessage()).usage).toMatchObject({ input_tokens: 5, output_tokens: 6 });
});

it.each<[string, string, Message[]]>([
  [
    'a message that ends in thinking',
    'The final block in an assistant message cannot be `thinking`.',
    [
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm', signature: 'c2ln' }] },
      { role: 'user', content: 'Go on.' },
    ],
  ],
  [
    'an image in an error',
    'all content must be type `text` if `is_error` is true',
    [
      { role: 'assistant', content: [{ ...look({}), id: 'a' }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'a', is_error: true, content: [text('no'), { type: 'image', source: {} }] }],
      },
    ],
  ],
  [
    'an id that is none',
    "String should match pattern '^[a-zA-Z0-9_-]{1,64}$'",
    [
      { role: 'assistant', content: [{ ...look({}), id: 'a|b' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a|b', content: 'seen' }] },
    ],
  ],
])('refuses %s in the words of the API', async (_what, words, messages) => {
  const model = await start(scriptOf([]));
  const refused = await post(model, JSON.stringify(request({ role: 'user', content: 'Begin.' }, ...messages)));
  expect(refused.status).toBe(400);
  expect(((await refused.json()) as { error: { message: string } }).error.message).toContain(words);
});

it('refuses a request that breaks a rule, with the rule in the sentence', async () => {
  const model = await start(scriptOf([]));
  const refused = await post(
    model,
    JSON.stringify(request({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_x', content: 'hm' }] })),
  );
  expect(refused.status).toBe(400);
  expect(refused.headers.get('request-id')).toMatch(/^req_/);
  expect(await refused.json()).toMatchObject({
    type: 'error',
    error: {
      type: 'invalid_request_error',
      message: 'messages[0].content[0] is a tool_result for no tool_use of the message before: toolu_x',
    },
  });
});

it.each([
  ['a request without a key', 401, JSON.stringify(request()), { 'anthropic-version': '2026-10-21' }, '/v1/messages'],
  ['a request without a version', 400, JSON.stringify(request()), { 'x-api-key': 'k' }, '/v1/messages'],
  ['what is not JSON', 400, '{"model":', undefined, '/v1/messages'],
  ['JSON that is not an object', 400, 'null', undefined, '/v1/messages'],
  ['another path', 404, '{}', undefined, '/v1/complete'],
])('refuses %s', async (_what, status, body, headers, path) => {
  const model = await start(scriptOf([]));
  expect((await post(model, body, headers, path)).status).toBe(status);
});

it('keeps every body as it was received', async () => {
  const model = await start(scriptOf([]));
  const bodies = ['{ "model" : "é\u2028🙂" }', JSON.stringify(request())];
  for (const body of bodies) await (await post(model, body)).text();
  expect(model.requests.map(({ body }) => body)).toEqual(bodies);
});

it('answers 500 where the script throws, and goes on', async () => {
  let calls = 0;
  const model = await start(() => {
    calls += 1;
    if (calls === 1) throw new Error('a defect');
    return { content: [text('Well again.')] };
  });
  expect((await post(model, JSON.stringify(request()))).status).toBe(500);
  expect((await post(model, JSON.stringify(request()))).status).toBe(200);
});

it('closes while a stalled request is open', async () => {
  const model = await start(() => ({ stall: true }));
  const stalled = await post(model, JSON.stringify(request()));
  await model.close();
  server = null;
  await expect(stalled.text()).rejects.toThrow('terminated');
});
