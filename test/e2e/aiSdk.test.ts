// An agent whose model is asked through the AI SDK: a real worker, the SDK's provider for servers with OpenAI's chat API, and such a server.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

import { modelFromAiSdk } from '../../runtime/aiSdk/index.ts';
import { defineTool, ok, run } from '../../runtime/index.ts';
import type { ModelClient, RunOptions, WorkEvent } from '../../runtime/index.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import type { ModelRequest } from '../../runtime/model/message.ts';
import { withConnection } from '../../runtime/ledger/connection.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { startOpenAiServer } from '../openAiServer.ts';
import type { ChatReply, OpenAiServer } from '../openAiServer.ts';
import { weigh } from '../weigh.ts';

let database: TestDatabase;
let db: Db;
const servers: OpenAiServer[] = [];
beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
});
afterAll(async () => {
  for (const server of servers) await server.close();
  await db?.close();
  await database?.drop();
});

async function started(...replies: ChatReply[]): Promise<{ server: OpenAiServer; modelClient: ModelClient }> {
  const server = await startOpenAiServer(replies);
  servers.push(server);
  return {
    server,
    modelClient: modelFromAiSdk(createOpenAICompatible({ name: 'local', baseURL: server.url, apiKey: 'key', includeUsage: true })),
  };
}
const work = (modelClient: ModelClient, options: Partial<RunOptions> = {}) =>
  run({ databaseUrl: database.url, schema: 'ledger', task: 'How heavy are the parcels?', model: 'qwen-9', modelClient, ...options });
const done: ChatReply = { calls: [['work_complete', { summary: '7 kg' }]] };

const rows = (sql: string, id: string): Promise<Record<string, unknown>[]> =>
  withConnection(
    { connectionString: database.url },
    async (connection) => (await connection.query(sql, [id])).rows as Record<string, unknown>[],
  );
const turnsOf = (id: string) =>
  rows('select t.*, ledger.context_at(t.id) as request from ledger.turns t where t.work_item_id = $1 order by t.depth', id);
const callsOf = (id: string) =>
  rows(
    `select c.error_class as class, c.status from ledger.model_calls c join ledger.turns t on t.id = c.turn_id
      where t.work_item_id = $1 order by c.started_at, c.attempt`,
    id,
  );

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const photograph = defineTool({
  name: 'photograph',
  description: 'Takes a picture.',
  input: z.object({}),
  effect: 'pure',
  risk: 'safe',
  execute: async () => ({ ...ok('A picture'), images: [{ media_type: 'image/png', data: png }] }),
});

test('thinking, calls side by side, an image and a cache are those of any other model', async () => {
  const { server, modelClient: client } = await started(
    {
      reasoning: 'First both.',
      text: 'I weigh them.',
      calls: [
        ['weigh', { thing: 'one' }],
        ['weigh', { thing: 'two' }],
        ['photograph', {}],
      ],
    },
    { ...done, cached: 4000 },
  );
  const asked: ModelRequest[] = [];
  const modelClient: ModelClient = { call: (request, how) => (asked.push(request), client.call(request, how)) };
  const task = work(modelClient, { tools: [weigh, photograph] });
  const told: WorkEvent[] = [];
  for await (const event of task) told.push(event);
  expect(await task.result).toMatchObject({ state: 'completed', outcome_data: { summary: '7 kg' } });
  expect(told).toContainEqual(expect.objectContaining({ kind: 'said', text: 'I weigh them.' }));

  const [first, second] = server.requests;
  expect(first).toMatchObject({ model: 'qwen-9', stream: true });
  expect(second?.messages.slice(2)).toEqual([
    {
      role: 'assistant',
      content: 'I weigh them.',
      reasoning_content: 'First both.',
      tool_calls: [
        { id: 'call_0_0', type: 'function', function: { name: 'weigh', arguments: '{"thing":"one"}' } },
        { id: 'call_0_1', type: 'function', function: { name: 'weigh', arguments: '{"thing":"two"}' } },
        { id: 'call_0_2', type: 'function', function: { name: 'photograph', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_0_0', content: expect.stringContaining('one weighs 3 kg') },
    { role: 'tool', tool_call_id: 'call_0_1', content: expect.stringContaining('two weighs 3 kg') },
    { role: 'tool', tool_call_id: 'call_0_2', content: expect.stringContaining('A picture') },
    {
      role: 'user',
      content: expect.arrayContaining([
        { type: 'text', text: '[engine] What photograph showed (call_0_2):' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
      ]),
    },
  ]);

  const turns = await turnsOf(await task.id);
  expect(turns).toMatchObject([
    {
      provider: 'local.chat',
      model: 'qwen-9-2026',
      request_id: 'req_0',
      stop_reason: 'tool_use',
      input_tokens: 100,
      output_tokens: 20,
      reasoning_tokens: 7,
    },
    { stop_reason: 'tool_use', input_tokens: 100, cached_input_tokens: 4000, reasoning_tokens: 0, response_id: 'chatcmpl-1' },
  ]);
  expect(turns.map(({ request }) => request)).toEqual(asked);
});

test('a limited rate is waited for, as long as the server says', async () => {
  const { server, modelClient } = await started(
    { status: 429, error: { message: 'Slow down', code: 'rate_limit_exceeded' }, headers: { 'retry-after': '1' } },
    done,
  );
  const task = work(modelClient);
  expect(await task.result).toMatchObject({ state: 'completed' });
  expect(server.requests[1]).toEqual(server.requests[0]);
  expect(await callsOf(await task.id)).toEqual([
    { class: 'rate_limited', status: 429 },
    { class: null, status: null },
  ]);
});

test('a request that is too long is made shorter', async () => {
  const { server, modelClient } = await started(
    { text: 'I weigh one.', calls: [['weigh', { thing: 'x'.repeat(3000) }]] },
    { calls: [['weigh', { thing: 'two' }]] },
    { status: 400, error: { message: 'Too long', code: 'context_length_exceeded', type: 'invalid_request_error' } },
    done,
    done,
  );
  const task = work(modelClient, { tools: [weigh] });
  expect(await task.result).toMatchObject({ state: 'completed' });
  expect(await callsOf(await task.id)).toContainEqual({ class: 'context_overflow', status: 400 });
  expect(JSON.stringify(server.requests.at(-1)).length).toBeLessThan(JSON.stringify(server.requests[2]).length);
});

test('a request that the SDK has no words for fails the item by its name', async () => {
  const { server, modelClient } = await started(done);
  const task = work(modelClient, { faculty: { engage: { thinking: 2000 } } });
  expect(await task.result).toMatchObject({ state: 'failed', state_reason: expect.stringContaining('say effort in its place') });
  expect(server.requests).toEqual([]);
});
