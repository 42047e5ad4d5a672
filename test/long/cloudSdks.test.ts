// createModelClient({ client }) with Anthropic's own clients for Bedrock, Vertex AI and Foundry, which speak HTTP to a gateway of the test: it
// has their paths, bodies, framing and errors, and the scripted model behind it. WORK_LEDGER_CLOUD_SDKS names the folder in whose node_modules
// the packages are (test/fetchCloudSdks.sh fetches them).

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createModelClient, LedgerClient, run } from '../../runtime/index.ts';
import type { WorkEvent } from '../../runtime/index.ts';
import type { AnthropicClient } from '../../runtime/model/callModel.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { withoutKnown } from '../../runtime/secrets/known.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { weigh } from '../weigh.ts';

const folder = process.env['WORK_LEDGER_CLOUD_SDKS'] ?? '';
if (folder === '')
  console.warn('cloudSdks.test.ts is skipped: WORK_LEDGER_CLOUD_SDKS is not set (test/fetchCloudSdks.sh DIRECTORY fetches the packages)');

let database: TestDatabase;
let model: ScriptedModel;
let gateway: Server;
/** What the gateway answers next, in the place of the model. */
let failure: { status: number; headers?: Record<string, string>; body: object } | null = null;
const asked: { path: string; headers: IncomingMessage['headers']; body: Record<string, unknown> }[] = [];

type Class = new (options: object) => AnthropicClient;
const url = (): string => `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
const classOf = (name: string, of: string): Class =>
  (createRequire(join(folder, 'index.js'))(`@anthropic-ai/${name}`) as Record<string, Class>)[of] as Class;
const quiet = { logLevel: 'off' };

const clouds = [
  {
    name: 'Bedrock',
    model: 'anthropic.claude-sonnet-5-5-20260601-v1:0',
    path: '/model/anthropic.claude-sonnet-5-5-20260601-v1:0/invoke-with-response-stream',
    authorization: /^AWS4-HMAC-SHA256 Credential=AKIATEST\//,
    secret: 'aws-secret-of-a-test',
    open: () =>
      new (classOf('bedrock-sdk', 'AnthropicBedrock'))({
        ...quiet,
        awsRegion: 'eu-west-1',
        awsAccessKey: 'AKIATEST',
        awsSecretKey: 'aws-secret-of-a-test',
        baseURL: url(),
      }),
    busy: {
      status: 429,
      headers: { 'x-amzn-errortype': 'ThrottlingException' },
      body: { message: 'Too many requests, please wait before trying again.' },
    },
    long: {
      status: 400,
      headers: { 'x-amzn-errortype': 'ValidationException' },
      body: { message: 'Input is too long for requested model.' },
    },
    bad: {
      status: 400,
      headers: { 'x-amzn-errortype': 'ValidationException' },
      body: { message: 'The provided model identifier is invalid.' },
    },
  },
  {
    name: 'Vertex AI',
    model: 'claude-sonnet-5-5@20260601',
    path: '/projects/shop/locations/europe-west1/publishers/anthropic/models/claude-sonnet-5-5@20260601:streamRawPredict',
    authorization: /^Bearer google-token-of-a-test$/,
    secret: null, // its credentials are Google's library's
    open: () =>
      new (classOf('vertex-sdk', 'AnthropicVertex'))({
        ...quiet,
        region: 'europe-west1',
        projectId: 'shop',
        baseURL: url(),
        authClient: { getRequestHeaders: async () => new Headers({ authorization: 'Bearer google-token-of-a-test' }) },
      }),
    busy: { status: 429, body: { error: { code: 429, message: 'Quota exceeded for requests.', status: 'RESOURCE_EXHAUSTED' } } },
    long: {
      status: 400,
      body: { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' } },
    },
    bad: { status: 400, body: { error: { code: 400, message: 'Request contains an invalid argument.', status: 'INVALID_ARGUMENT' } } },
  },
  {
    name: 'Foundry',
    model: 'claude-sonnet-5-5',
    path: '/anthropic/v1/messages',
    authorization: null,
    secret: 'azure-key-of-a-test',
    open: () =>
      new (classOf('foundry-sdk', 'AnthropicFoundry'))({ ...quiet, apiKey: 'azure-key-of-a-test', baseURL: `${url()}/anthropic/` }),
    busy: { status: 429, headers: { 'retry-after': '7' }, body: { error: { code: '429', message: 'Rate limit is exceeded.' } } },
    long: {
      status: 400,
      body: { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' } },
    },
    bad: { status: 400, body: { error: { code: 'BadRequest', message: 'The deployment does not exist.' } } },
  },
];

beforeAll(async () => {
  if (folder === '') return;
  database = await createDatabase();
  model = await startScriptedModel(
    scriptOf([
      {
        content: [
          { type: 'text', text: 'I weigh it.' },
          { type: 'tool_use', name: 'weigh', input: { thing: 'a stone' } },
        ],
      },
      { content: [{ type: 'tool_use', name: 'work_complete', input: { summary: '7 kg' } }] },
    ]),
  );
  gateway = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  }).listen(0, '127.0.0.1');
  await once(gateway, 'listening');
});
afterAll(async () => {
  gateway?.closeAllConnections();
  gateway?.close();
  await model?.close();
  await database?.drop();
});

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  const path = request.url ?? '';
  const body = JSON.parse(text) as Record<string, unknown>;
  asked.push({ path, headers: request.headers, body });
  if (failure) {
    const { status, headers, body: said } = failure;
    return void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(said));
  }
  const { anthropic_version: _, ...rest } = body;
  const named = (/\/model\/([^/]+)/.exec(path) ?? /\/models\/([^/:]+)/.exec(path))?.[1];
  const answer = await fetch(`${model.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'key-of-a-test', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({ ...(named !== undefined && { model: decodeURIComponent(named), stream: true }), ...rest }),
  });
  const isBedrock = path.startsWith('/model/');
  response.writeHead(answer.status, {
    'content-type': isBedrock && answer.ok ? 'application/vnd.amazon.eventstream' : (answer.headers.get('content-type') ?? ''),
  });
  const said = await answer.text();
  if (!isBedrock || !answer.ok) return void response.end(said);
  for (const [, event = ''] of said.matchAll(/^data: (.*)$/gm)) response.write(framed(event));
  response.end();
}

/** An event of Bedrock's stream: lengths, headers, the event within JSON, checksums. */
function framed(event: string): Buffer {
  const header = (name: string, value: string): Buffer =>
    Buffer.concat([
      Buffer.from([name.length]),
      Buffer.from(name),
      Buffer.from([7, value.length >> 8, value.length & 255]),
      Buffer.from(value),
    ]);
  const headers = Buffer.concat([
    header(':event-type', 'chunk'),
    header(':content-type', 'application/json'),
    header(':message-type', 'event'),
  ]);
  const payload = Buffer.from(JSON.stringify({ bytes: Buffer.from(event).toString('base64') }));
  const number = (value: number): Buffer => {
    const four = Buffer.alloc(4);
    four.writeUInt32BE(value);
    return four;
  };
  const lengths = Buffer.concat([number(16 + headers.length + payload.length), number(headers.length)]);
  const whole = Buffer.concat([lengths, number(crc32(lengths)), headers, payload]);
  return Buffer.concat([whole, number(crc32(whole))]);
}

describe.skipIf(folder === '').each(clouds)('$name', (cloud) => {
  test('its client drives an agent to the end', async () => {
    asked.length = 0;
    const work = run({
      task: 'How heavy is it?',
      model: cloud.model,
      tools: [weigh],
      modelClient: createModelClient({ client: cloud.open() }),
      databaseUrl: database.url,
      schema: 'ledger',
    });
    const events: WorkEvent[] = [];
    for await (const event of work) events.push(event);
    expect(await work.result).toMatchObject({ state: 'completed', outcome_data: { summary: '7 kg' } });
    expect(events).toContainEqual(expect.objectContaining({ kind: 'said', text: 'I weigh it.' }));
    expect(events).toContainEqual(expect.objectContaining({ kind: 'call', name: 'weigh', status: 'completed' }));
    expect(asked.map(({ path }) => decodeURIComponent(path))).toEqual([cloud.path, cloud.path]);
    if (cloud.authorization) expect(asked[0]?.headers.authorization).toMatch(cloud.authorization);
    else expect(asked[0]?.headers['x-api-key']).toBe('azure-key-of-a-test');
    expect(JSON.stringify(asked[1]?.body)).toContain('a stone weighs 3 kg');
    await using ledger = await LedgerClient.open({ databaseUrl: database.url, schema: 'ledger' });
    expect(await ledger.turns(await work.id)).toMatchObject([
      { model: cloud.model, status: 'completed' },
      { model: cloud.model, status: 'completed' },
    ]);
  });

  test('its errors have the classes of any other', async () => {
    const client = createModelClient({ client: cloud.open() });
    const request = {
      model: cloud.model,
      max_tokens: 10,
      system: 'Weigh.',
      messages: [{ role: 'user' as const, content: 'It' }],
      stream: true as const,
    };
    const answer = async (given: typeof failure): Promise<unknown> => {
      failure = given;
      asked.length = 0;
      const outcome = await client.call(request, { signal: new AbortController().signal });
      failure = null;
      expect(asked).toHaveLength(1); // it repeats nothing by itself
      return outcome.kind === 'error' ? outcome.error : outcome;
    };
    expect(await answer(cloud.busy)).toMatchObject({
      class: 'rate_limited',
      status: 429,
      retryAfterSeconds: 'retry-after' in (cloud.busy.headers ?? {}) ? 7 : null,
    });
    expect(await answer(cloud.long)).toMatchObject({ class: 'context_overflow', status: 400 });
    expect(await answer(cloud.bad)).toMatchObject({ class: 'invalid_request', status: 400 });
  });

  test('its credentials are secrets, and the window of its model is known', async () => {
    createModelClient({ client: cloud.open() });
    if (cloud.secret !== null) expect(withoutKnown(`It is ${cloud.secret}.`)).not.toContain(cloud.secret);
    expect(
      await database.query(
        `select (ledger._family('${cloud.model}')).context_window as window, ledger._model_takes('${cloud.model}') ? 'effort' as takes`,
      ),
    ).toEqual([{ window: 200_000, takes: true }]);
  });
});
