// Every rule is broken once by hand; conversations made at random by the rules must pass, and one change to any of them must not.

import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import type { ContentBlock, Message, ModelRequest } from '../../../runtime/model/message.ts';
import { validateRequest } from '../../../runtime/model/validateRequest.ts';

const text = (value: string): ContentBlock => ({ type: 'text', text: value });
const call = (id: string, input: unknown = {}): ContentBlock => ({ type: 'tool_use', id, name: 'look', input });
const result = (id: string, content: unknown = 'seen'): ContentBlock => ({ type: 'tool_result', tool_use_id: id, content });
const thinking: ContentBlock = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' };
const user = (...content: ContentBlock[]): Message => ({ role: 'user', content });
const model = (...content: ContentBlock[]): Message => ({ role: 'assistant', content });
const mark = { cache_control: { type: 'ephemeral' } };
const base: ModelRequest = {
  model: 'claude-sonnet-5-5',
  max_tokens: 100,
  system: 'Work.',
  tools: [{ name: 'look' }],
  messages: [user(text('Go.'))],
  stream: true,
};
const talk = (...messages: Message[]): ModelRequest => ({ ...base, messages });
const deep = (depth: number): unknown => (depth === 0 ? 'bottom' : [deep(depth - 1)]);

const broken: [rule: string, request: unknown, sentences: (string | RegExp)[]][] = [
  ['not an object', [], ['the request is not an object']],
  ['no model', { ...base, model: '' }, ['model is not a name']],
  ['a fraction of a token', { ...base, max_tokens: 1.5 }, ['max_tokens is not a whole number from 0']],
  ['not streaming', { ...base, stream: false }, ['stream is not true']],
  [
    'a budget for thinking as large as the response',
    { ...base, max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 2000 } },
    ['thinking.budget_tokens is refused: `max_tokens` must be greater than `thinking.budget_tokens`'],
  ],
  [
    'a small budget for thinking',
    { ...base, thinking: { type: 'enabled', budget_tokens: 10 } },
    ['thinking.budget_tokens is not a whole number from 1024'],
  ],
  [
    'a forced tool with a budget for thinking',
    { ...base, max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 1024 }, tool_choice: { type: 'any' } },
    ['tool_choice is refused: Thinking may not be enabled when tool_choice forces tool use.'],
  ],
  ['a temperature', { ...base, temperature: 2, top_p: 0.5 }, ['temperature is not a number from 0 to 1']],
  ['a forced tool', { ...base, tool_choice: { type: 'tool', name: 'there' } }, ['tool_choice names a tool that is not offered: there']],
  ['betas', { ...base, betas: ['a, b'] }, ['betas is not a list of names of beta features']],
  [
    'an hour behind five minutes',
    { ...base, system: [{ ...text('a'), ...mark }], cache_control: { type: 'ephemeral', ttl: '1h' } },
    ["request is refused: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"],
  ],
  ['no messages', { ...base, messages: [] }, ['messages is not an array with at least one message']],
  [
    'too many messages',
    talk(...Array.from({ length: 100_001 }, (_, n) => (n % 2 === 0 ? user(text('a')) : model(text('b'))))),
    ['messages has 100001 messages; the most is 100000'],
  ],
  [
    'an unknown role',
    talk({ role: 'tool', content: 'x' } as unknown as Message),
    ['messages[0].role is not user, assistant or system', 'messages[0] is the first message and not from the user'],
  ],
  ['the assistant first', talk(model(text('Hi.')), user(text('Go.'))), ['messages[0] is the first message and not from the user']],
  ['the assistant last', talk(user(text('Go.')), model(text('Hi.'))), ['messages[1] is the last message and from the assistant']],
  ['user twice', talk(user(text('Go.')), user(text('Go on.'))), ['messages[1] follows another message with the role user']],
  [
    'assistant twice',
    talk(user(text('Go.')), model(text('a')), model(text('b')), user(text('Go.'))),
    ['messages[2] follows another message with the role assistant'],
  ],
  [
    'user twice around system',
    talk(user(text('Go.')), { role: 'system', content: 'Hm.' }, user(text('Go.'))),
    ['messages[2] follows another message with the role user'],
  ],
  [
    'system behind the assistant',
    talk(user(text('Go.')), model(text('a')), { role: 'system', content: 'Hm.' }),
    ['messages[2] is a system message that does not follow a user message'],
  ],
  [
    'an image in a system message',
    talk(user(text('Go.')), { role: 'system', content: [{ type: 'image' }] }),
    ['messages[1].content[0] is in a system message and not text'],
  ],
  [
    'an unanswered call',
    talk(user(text('Go.')), model(call('a'), call('b')), user(result('a'))),
    ['messages[1].content[1] is a tool_use without its tool_result in the next message: b'],
  ],
  [
    'an unanswered call at the end',
    talk(user(text('Go.')), model(call('a'))),
    [
      'messages[1] is the last message and from the assistant',
      'messages[1].content[0] is a tool_use without its tool_result in the next message: a',
    ],
  ],
  [
    'an answer one message late',
    talk(user(text('Go.')), model(call('a')), user(text('wait')), model(text('ok')), user(result('a'))),
    [
      'messages[1].content[0] is a tool_use without its tool_result in the next message: a',
      'messages[4].content[0] is a tool_result for no tool_use of the message before: a',
    ],
  ],
  ['an orphan result', talk(user(result('a'))), ['messages[0].content[0] is a tool_result for no tool_use of the message before: a']],
  [
    'a second result',
    talk(user(text('Go.')), model(call('a')), user(result('a'), result('a'))),
    ['messages[2].content[1] is a second tool_result for a'],
  ],
  [
    'a result behind text',
    talk(user(text('Go.')), model(call('a')), user(text('Here:'), result('a'))),
    ['messages[2].content[1] is a tool_result behind other content: results come first'],
  ],
  [
    'a result between results',
    talk(user(text('Go.')), model(call('a'), call('b')), user(result('a'), text('and'), result('b'))),
    ['messages[2].content[2] is a tool_result behind other content: results come first'],
  ],
  [
    'a repeated id in one message',
    talk(user(text('Go.')), model(call('a'), call('a')), user(result('a'))),
    ['messages[1].content[1].id is used before in this request: a'],
  ],
  [
    'a repeated id further on',
    talk(user(text('Go.')), model(call('a')), user(result('a')), model(call('a')), user(result('a'))),
    ['messages[3].content[0].id is used before in this request: a'],
  ],
  ['a call without an id', talk(user(text('Go.')), model(call('')), user(result(''))), ['messages[1].content[0].id is not an id']],
  [
    'a call in a user message',
    talk(user(call('a'))),
    ['messages[0].content[0] is a tool_use block, which only the assistant writes', /without its tool_result/],
  ],
  [
    'a result from the assistant',
    talk(user(text('Go.')), model(result('a')), user(text('Go.'))),
    ['messages[1].content[0] is a tool_result outside a user message', /for no tool_use/],
  ],
  ['thinking from the user', talk(user(thinking)), ['messages[0].content[0] is a thinking block, which only the assistant writes']],
  ['empty content', talk(user()), ['messages[0].content is empty']],
  ['an empty string', talk({ role: 'user', content: '' }), ['messages[0].content is empty']],
  ['an empty text', talk(user(text('Go.'), text(''))), ['messages[0].content[1].text is empty']],
  ['white space', talk(user(text(' \n\t'))), ['messages[0].content[0].text is nothing but white space']],
  [
    'white space inside a result',
    talk(user(text('Go.')), model(call('a')), user(result('a', [text(' ')]))),
    ['messages[2].content[0].content[0].text is nothing but white space'],
  ],
  ['an empty system prompt', { ...base, system: '' }, ['system is empty']],
  ['white space in a system block', { ...base, system: [text('Work.'), text(' ')] }, ['system[1].text is nothing but white space']],
  ['a block without a type', talk(user({ text: 'x' } as unknown as ContentBlock)), ['messages[0].content[0].type is not a kind of block']],
  [
    'content that is a number',
    talk({ role: 'user', content: 7 as unknown as string }),
    ['messages[0].content is neither a string nor an array of blocks'],
  ],
  [
    'a call without a name',
    talk(user(text('Go.')), model({ ...call('a'), name: '' }), user(result('a'))),
    [/^messages\[1\]\.content\[0\]\.name is not 1 to 128/],
  ],
  [
    'input that is text',
    talk(user(text('Go.')), model(call('a', '{}')), user(result('a'))),
    ['messages[1].content[0].input is not an object'],
  ],
  ['a tool without a name', { ...base, tools: [{ description: 'x' }] }, [/^tools\[0\]\.name is not/]],
  ['a tool with a colon', { ...base, tools: [{ name: 'a:b' }] }, [/^tools\[0\]\.name is not/]],
  ['a tool name of 129', { ...base, tools: [{ name: 'a'.repeat(129) }] }, [/^tools\[0\]\.name is not/]],
  ['two tools of one name', { ...base, tools: [{ name: 'a' }, { name: 'a' }] }, ['tools[1] has the same name as a tool before it: a']],
  [
    'five breakpoints',
    {
      ...base,
      ...mark,
      system: [{ ...text('a'), ...mark }],
      tools: [{ name: 'look', ...mark }],
      messages: [user({ ...text('a'), ...mark }, { ...text('b'), ...mark })],
    },
    ["messages[0].content[1] is one of 5 cache breakpoints, with the request's own; the most is 4"],
  ],
  [
    'a breakpoint on thinking',
    talk(user(text('Go.')), model({ ...thinking, ...mark }, text('a')), user(text('Go.'))),
    ['messages[1].content[0] is a thinking block with cache_control'],
  ],
  [
    'a thought at the end of a message',
    talk(user(text('Go.')), model(text('a'), thinking), user(text('Go.'))),
    ['messages[1].content[1] is refused: The final block in an assistant message cannot be `thinking`.'],
  ],
  [
    'a redacted thought at the end of a message',
    talk(user(text('Go.')), model({ type: 'redacted_thinking', data: 'ZA==' }), user(text('Go.'))),
    ['messages[1].content[0] is refused: The final block in an assistant message cannot be `thinking`.'],
  ],
  [
    'an image in a result that is an error',
    talk(user(text('Go.')), model(call('a')), user({ ...result('a', [text('no'), { type: 'image' }]), is_error: true })),
    ['messages[2].content[0] is refused: all content must be type `text` if `is_error` is true'],
  ],
  [
    'an id with other characters',
    talk(user(text('Go.')), model(call('call|fc:1')), user(result('call|fc:1'))),
    ["messages[1].content[0].id is refused: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'"],
  ],
  [
    'an id of 65',
    talk(user(text('Go.')), model(call('a'.repeat(65))), user(result('a'.repeat(65)))),
    ["messages[1].content[0].id is refused: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'"],
  ],
  [
    'thinking without a signature',
    talk(user(text('Go.')), model({ type: 'thinking', thinking: 'Hm.' }, text('a')), user(text('Go.'))),
    ['messages[1].content[0] is a thinking block without its signature'],
  ],
  [
    'redacted thinking without data',
    talk(user(text('Go.')), model({ type: 'redacted_thinking' }, text('a')), user(text('Go.'))),
    ['messages[1].content[0] is a redacted thinking block without its data'],
  ],
  [
    'a tool loop that lost its thinking',
    {
      ...talk(user(text('Go.')), model(call('a')), user(result('a'))),
      max_tokens: 2000,
      thinking: { type: 'enabled', budget_tokens: 1024 },
    },
    ['messages[1] begins the tool loop without a thinking block although thinking is enabled'],
  ],
  [
    'a server call without its result',
    talk(user(text('Go.')), model({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }, text('a')), user(text('Go.'))),
    ['messages[1].content[0] is a server tool call without its result in the same message: s'],
  ],
  [
    'a server result without its call',
    talk(user(text('Go.')), model({ type: 'web_search_tool_result', tool_use_id: 's', content: [] }, text('a')), user(text('Go.'))),
    ['messages[1].content[0] is a web_search_tool_result without its call before it in the same message'],
  ],
  ['a lone surrogate', talk(user(text('a\ud800b'))), ['messages[0].content[0].text holds a lone surrogate']],
  [
    'NUL in a key of an input',
    talk(user(text('Go.')), model(call('a', { 'x\0': 1 })), user(result('a'))),
    ['messages[1].content[0].input has a key with a lone surrogate or the character U+0000'],
  ],
  ['NUL in the system prompt', { ...base, system: 'a\0' }, ['system holds the character U+0000']],
  [
    'a number out of range',
    talk(user(text('Go.')), model(call('a', { x: JSON.parse('1e400') as number })), user(result('a'))),
    ['messages[1].content[0].input.x is a number that JSON cannot write'],
  ],
  [
    'endless nesting',
    talk(user(text('Go.')), model(call('a', { x: deep(5_000) })), user(result('a'))),
    [/is nested deeper than 100 levels$/],
  ],
  ['25 MB', talk(user(text('é'.repeat(12_500_000)))), ["request is 25.0 MB, above 24 MB: too near the API's limit of 32 MB"]],
  ['33 MB', talk(user(text('x'.repeat(33_000_000)))), ['request is 33.0 MB; the API takes 32 MB']],
];

it.each(broken)('reports %s and nothing else', (_rule, request, sentences) => {
  const reported = validateRequest(request as ModelRequest);
  expect(reported).toHaveLength(sentences.length);
  for (const [n, sentence] of sentences.entries()) {
    if (typeof sentence === 'string') expect(reported[n]).toBe(sentence);
    else expect(reported[n]).toMatch(sentence);
  }
});

it.each<[string, ModelRequest]>([
  ['plain strings', talk({ role: 'user', content: 'Go.' }, { role: 'assistant', content: 'Yes?' }, { role: 'user', content: 'Go.' })],
  [
    'a tool that printed nothing',
    talk(user(text('Go.')), model(call('a'), call('b')), user(result('a', ''), { type: 'tool_result', tool_use_id: 'b' })),
  ],
  [
    'an error that is text, with its image behind the results',
    talk(user(text('Go.')), model(call('a')), user({ ...result('a', [text('no')]), is_error: true }, { type: 'image' })),
  ],
  ['an image in a result that is none', talk(user(text('Go.')), model(call('a')), user(result('a', [text('page'), { type: 'image' }])))],
  [
    'results in another order, text behind them',
    talk(user(text('Go.')), model(call('a'), call('b')), user(result('b'), result('a'), text('And?'))),
  ],
  ['a system message at the end', talk(user(text('Go.')), { role: 'system', content: 'Hurry.' })],
  [
    'a system message before an answer',
    talk(user(text('Go.')), { role: 'system', content: 'Hurry.' }, model(text('Yes.')), user(text('Go.'))),
  ],
  ['thinking whose text is left out', talk(user(text('Go.')), model({ ...thinking, thinking: '' }, text('a')), user(text('Go.')))],
  [
    'a loop in which only its first message thinks',
    {
      ...talk(user(text('Go.')), model(thinking, call('a')), user(result('a')), model(call('b')), user(result('b'))),
      max_tokens: 2000,
      thinking: { type: 'enabled', budget_tokens: 1024 },
    },
  ],
  [
    'a loop without thinking where it is adaptive',
    { ...talk(user(text('Go.')), model(call('a')), user(result('a'))), thinking: { type: 'adaptive' } },
  ],
  [
    'four breakpoints',
    {
      ...base,
      ...mark,
      system: [{ ...text('a'), ...mark }],
      tools: [{ name: 'look', ...mark }],
      messages: [user({ ...text('a'), ...mark })],
    },
  ],
  [
    'cache_control inside an input',
    talk(user(text('Go.')), model(call('a', { all: Array.from({ length: 9 }, () => mark) })), user(result('a'))),
  ],
  [
    'a toolset without a name',
    { ...base, tools: [{ type: 'computer_toolset_20260801' }, { type: 'web_search_20260318', name: 'web_search' }] },
  ],
  ['max_tokens 0, which warms the cache', { ...base, max_tokens: 0 }],
  [
    "a server tool's code that calls our tool",
    talk(
      user(text('Go.')),
      model(
        { type: 'server_tool_use', id: 's', name: 'code_execution', input: {} },
        { ...call('a'), caller: { type: 'code_execution_20260120', tool_id: 's' } },
      ),
      user(result('a')),
      model({ type: 'code_execution_tool_result', tool_use_id: 's', content: {} }, text('ok')),
      user(text('Go.')),
    ),
  ],
])('accepts %s', (_what, request) => {
  expect(validateRequest(request)).toEqual([]);
});

// A conversation is a list of exchanges: what the assistant says, how many tools it calls, what the user adds.
const words = fc.string({ unit: 'grapheme', minLength: 1 }).map((value) => `.${value.replaceAll('\0', '')}`);
const exchange = fc.record({
  thinks: fc.boolean(),
  says: fc.option(words, { nil: null }),
  inputs: fc.array(
    fc.dictionary(
      fc.string({ unit: 'grapheme' }).filter((key) => !key.includes('\0')),
      words,
    ),
    { maxLength: 4 },
  ),
  swaps: fc.boolean(),
  adds: fc.option(words, { nil: null }),
});
const conversation = fc.tuple(words, fc.array(exchange, { maxLength: 8 })).map(([first, exchanges]) => {
  const messages = [user(text(first))];
  exchanges.forEach(({ thinks, says, inputs, swaps, adds }, n) => {
    const calls = inputs.map((input, k) => call(`toolu_${n}_${k}`, input));
    const said = says !== null || calls.length === 0 ? [text(says ?? 'Hm.')] : [];
    messages.push(model(...(thinks ? [thinking] : []), ...said, ...calls));
    const results = calls.map(({ id }) => result(String(id)));
    if (swaps) results.reverse();
    messages.push(user(...results, ...(adds !== null || results.length === 0 ? [text(adds ?? 'Go on.')] : [])));
  });
  return talk(...messages);
});

it('accepts every conversation that is made by the rules', () => {
  fc.assert(
    fc.property(conversation, (request) => {
      expect(validateRequest(request)).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

it('refuses such a conversation when any one message is dropped, doubled or emptied', () => {
  const change = fc.constantFrom<(messages: Message[], at: number) => Message[]>(
    (messages, at) => messages.toSpliced(at, 1),
    (messages, at) => messages.toSpliced(at, 0, messages[at] as Message),
    (messages, at) => messages.with(at, { ...(messages[at] as Message), content: [] }),
  );
  fc.assert(
    fc.property(conversation, change, fc.nat(), (request, apply, seed) => {
      const messages = apply(request.messages, seed % request.messages.length);
      expect(validateRequest({ ...request, messages })).not.toEqual([]);
    }),
    { numRuns: 500 },
  );
});

it('refuses such a conversation when any tool result is taken away', () => {
  fc.assert(
    fc.property(conversation, fc.nat(), (request, seed) => {
      const places = request.messages.flatMap(({ content }, at) =>
        (content as ContentBlock[]).flatMap((block, n) => (block.type === 'tool_result' ? [[at, n] as const] : [])),
      );
      fc.pre(places.length > 0);
      const [at, n] = places[seed % places.length] as readonly [number, number];
      const { content } = request.messages[at] as { content: ContentBlock[] };
      expect(validateRequest({ ...request, messages: request.messages.with(at, user(...content.toSpliced(n, 1))) })).not.toEqual([]);
    }),
    { numRuns: 500 },
  );
});

it('answers any JSON whatever with sentences, throws nothing and changes nothing', () => {
  const keys = fc.constantFrom(
    'type',
    'role',
    'content',
    'messages',
    'tools',
    'system',
    'id',
    'tool_use_id',
    'input',
    'cache_control',
    'toString',
    '__proto__',
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom('text', 'tool_use', 'tool_result', 'user', 'assistant', '', null, 7),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(keys, tie('value'), { maxKeys: 6 }),
    ),
  }));
  fc.assert(
    fc.property(value, fc.array(value), (request, messages) => {
      for (const given of [request, { ...base, messages }]) {
        const before = JSON.stringify(given);
        const sentences = validateRequest(given as ModelRequest);
        expect(sentences.every((sentence) => typeof sentence === 'string' && sentence !== '')).toBe(true);
        expect(JSON.stringify(given)).toBe(before);
      }
    }),
    { numRuns: 2_000 },
  );
});
