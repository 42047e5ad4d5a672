// Tools of one's own besides SQL functions and modules: commands from a TOML file, and the tools of an MCP server that runs
// in a process of its own, dies, and is started again.

import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { createMcpHandler } from '@modelcontextprotocol/server';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { withTools } from '../../runtime/commands/loadTools.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { testServer } from '../fixtures/mcpServer.ts';
import { call, calls, done, startTeam } from '../team.ts';
import { until } from '../workerProcess.ts';

let database: TestDatabase;
let db: Db;
let directory: string;
const fixture = fileURLToPath(new URL('../fixtures/mcpServer.ts', import.meta.url));
const file = async (name: string, content: string): Promise<string> => {
  await writeFile(join(directory, name), content);
  return join(directory, name);
};

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  directory = await mkdtemp(join(tmpdir(), 'user-tools-'));
  await mkdir(join(directory, 'work'));
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
  await rm(directory, { recursive: true, force: true });
});

test('an agent calls commands and the tools of an MCP server, which may die in between', async () => {
  process.env['WORD'] = 'from the environment';
  const servers = await file(
    'mcp.json',
    JSON.stringify({
      mcpServers: { local: { command: process.execPath, args: [fixture], env: { GIVEN: '${WORD}', OTHERWISE: '${NO_SUCH_WORD:-else}' } } },
    }),
  );
  const commands = await file(
    'commands.toml',
    `
[[tool]]
name = "greet"
description = "Greets."
command = "cat; echo; pwd"
effect = "pure"
risk = "safe"
input = { type = "object", properties = { name = { type = "string" } }, required = ["name"], additionalProperties = false }
touches = [{ key = "name", kind = "record", action = "read" }]

[[tool]]
name = "fails"
description = "Fails."
command = "echo half; echo why >&2; exit 3"
`,
  );
  const script = [
    [call('greet', { name: 'Ann' }), call('greet', { nam: 'Ann' }), call('fails', {})],
    [
      call('mcp__local__count_words', { text: 'one two three' }),
      call('mcp__local__count_words', { text: 3 }),
      call('mcp__local__refuse', {}),
      call('mcp__local__picture', {}),
    ],
    [call('mcp__local__die', {})],
    [call('mcp__local__environment', {})],
  ];
  const model = await startTeam({ '': ({ exchange }) => (script[exchange] ? calls(...script[exchange]) : done('Done.')) });
  const names = ['greet', 'fails', ...['count_words', 'environment', 'picture', 'refuse', 'die'].map((name) => `mcp__local__${name}`)];
  await withTools([servers, commands], async (tools) => {
    await db.facultySave({
      name: 'user',
      accepts: ['use'],
      awareness: { enabled: false },
      engage: { workspace: 'host', workspace_dir: join(directory, 'work'), tools: names, ledger_nudge_interval: 0 },
    });
    const worker = await startWorker({
      url: database.url,
      schema: 'ledger',
      tools,
      log: pino({ level: 'silent' }),
      docker: null,
      model: createModelClient({ apiKey: 'sk-secret', baseURL: model.url }),
    });
    try {
      const item = await db.workSubmit({ workType: 'use', description: 'Use them' });
      await until(async () => (await db.workItem(item.id))?.resolved_at);
    } finally {
      await worker.stop();
      await model.close();
    }
  });
  const results = await database.query<{ tool: string; error: boolean; text: string; images: number }>(`
    select tool_name as tool, is_error as error, ledger._result_text(result) as text, (select count(*)::int from json_array_elements(case json_typeof(result) when 'array' then result end) b where b ->> 'type' = 'image') as images
      from ledger.tool_calls k join ledger.turns t on t.id = k.turn_id order by t.depth, k.ordinal`);
  const environment = results.pop();
  expect(results).toEqual([
    { tool: 'greet', error: false, text: `{"name":"Ann"}\n${join(directory, 'work')}`, images: 0 },
    { tool: 'greet', error: true, text: expect.stringContaining('does not match the schema of greet'), images: 0 },
    { tool: 'fails', error: true, text: 'half\nwhy\n[exit code 3]', images: 0 },
    { tool: 'mcp__local__count_words', error: false, text: '3', images: 0 },
    {
      tool: 'mcp__local__count_words',
      error: true,
      text: expect.stringMatching(
        /^\[engine\] The input does not match the schema of mcp__local__count_words:\n.*\/text: must be string, not number/,
      ),
      images: 0,
    },
    { tool: 'mcp__local__refuse', error: true, text: 'not today', images: 0 },
    { tool: 'mcp__local__picture', error: false, text: expect.stringContaining('(an image)'), images: 1 },
    {
      tool: 'mcp__local__die',
      error: true,
      text: expect.stringMatching(/MCP server "local" did not answer: .*Check what was done before trying again/),
      images: 0,
    },
  ]);
  expect(
    await database.query(
      `select k.tool_name as tool, x.kind, x.action, x.target from ledger.touches x join ledger.tool_calls k on k.id = x.tool_call_id`,
    ),
  ).toEqual([{ tool: 'greet', kind: 'record', action: 'read', target: 'Ann' }]);
  // Started again, and given nothing of the worker's secrets.
  expect(environment).toMatchObject({ tool: 'mcp__local__environment', error: false });
  const given = JSON.parse(environment?.text ?? '{}') as Record<string, string>;
  expect(given).toMatchObject({ GIVEN: 'from the environment', OTHERWISE: 'else' });
  expect(Object.keys(given).filter((key) => /DATABASE|ANTHROPIC|WORD|PG/.test(key))).toEqual([]);
  expect(
    await database.query(
      `select name, effect, risk, input_schema #>> '{properties,text,description}' as described from ledger.abilities where name = any('{${names.join(',')}}') order by name`,
    ),
  ).toEqual([
    { name: 'fails', effect: 'unsafe', risk: 'dangerous', described: null },
    { name: 'greet', effect: 'pure', risk: 'safe', described: null },
    { name: 'mcp__local__count_words', effect: 'pure', risk: 'safe', described: 'The text.' },
    { name: 'mcp__local__die', effect: 'unsafe', risk: 'dangerous', described: null },
    { name: 'mcp__local__environment', effect: 'unsafe', risk: 'moderate', described: null },
    { name: 'mcp__local__picture', effect: 'idempotent', risk: 'dangerous', described: null },
    { name: 'mcp__local__refuse', effect: 'unsafe', risk: 'dangerous', described: null },
  ]);
});

test('a function of the database is not called with [redacted] in place of a secret: the model is told', async () => {
  await database.query(`
    create function public.say_it(input jsonb) returns text language sql as $$ select 'said ' || (input ->> 'words') $$;
    select ledger.ability_register('say_it', 'Says it.', '{"type": "object"}', 'idempotent', 'safe', 'public.say_it(jsonb)')`);
  const key = ['sk', 'ant', 'api03', crypto.randomUUID()].join('-');
  const model = await startTeam({
    '': ({ exchange, results }) =>
      exchange === 0 ? calls(call('say_it', { words: `the key ${key}` }), call('say_it', { words: 'nothing' })) : done(results.join('|')),
  });
  await db.facultySave({
    name: 'sayer',
    accepts: ['say'],
    awareness: { enabled: false },
    engage: { tools: ['say_it'], ledger_nudge_interval: 0 },
  });
  const worker = await startWorker({
    url: database.url,
    schema: 'ledger',
    tools: [],
    log: pino({ level: 'silent' }),
    docker: null,
    model: createModelClient({ apiKey: 'k', baseURL: model.url }),
  });
  try {
    const item = await db.workSubmit({ workType: 'say', description: 'Say it' });
    await until(async () => (await db.workItem(item.id))?.resolved_at);
    expect((await db.workItem(item.id))?.outcome_data?.['summary']).toBe(
      '[engine] Not run: its input contains a secret, which is not stored, and this tool runs in the database. Call it without the secret.|said nothing',
    );
  } finally {
    await worker.stop();
    await model.close();
  }
});

test('a server over HTTP is given the headers of its settings; one that was started anew and knows nobody is met anew', async () => {
  const seen: (string | undefined)[] = [];
  const handler = createMcpHandler(testServer);
  let hasForgotten = false;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    seen.push(request.headers.authorization);
    const body = await text(request);
    if (body.includes('tools/call') && !hasForgotten) {
      hasForgotten = true;
      response.writeHead(404).end('Session not found');
      return;
    }
    const answered = await handler.fetch(
      new Request(`http://localhost${request.url}`, {
        method: request.method ?? 'GET',
        headers: request.headers as Record<string, string>,
        ...(body !== '' && { body }),
      }),
    );
    response.writeHead(answered.status, Object.fromEntries(answered.headers)).end(await answered.text());
  };
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.env['TOKEN_OF_TEST'] = 'abc';
  const servers = await file(
    'http.json',
    JSON.stringify({
      mcpServers: {
        far: {
          url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
          headers: { authorization: 'Bearer ${TOKEN_OF_TEST}' },
        },
      },
    }),
  );
  try {
    await withTools([servers], async (tools) => {
      const outcome = (name: string, input = {}): Promise<unknown> | undefined =>
        tools.find((tool) => tool.name === `mcp__far__${name}`)?.execute(input, { signal: new AbortController().signal } as never);
      expect(await outcome('count_words', { text: 'one two' })).toEqual({ content: '2', isError: false, value: { words: 2 } });
      // Data without text is shown; that of a failure is no value, which code would take for a success.
      expect(await outcome('data')).toEqual({ content: '{"words":2}', isError: false, value: { words: 2 } });
      expect(await outcome('refuse')).toEqual({ content: 'not today', isError: true });
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
  expect(new Set(seen)).toEqual(new Set(['Bearer abc']));
  expect(hasForgotten).toBe(true);
});

test('a result of an MCP server in a form that is not known is told in a sentence', async () => {
  const program = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    const results = {
      initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'odd', version: '1' } },
      'tools/list': { tools: [{ name: 'film', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'film', data: 'x' }] },
    };
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }));
  })`;
  const servers = await file('odd.json', JSON.stringify({ mcpServers: { odd: { command: process.execPath, args: ['-e', program] } } }));
  await withTools([servers], async (tools) => {
    const film = tools.find(({ name }) => name === 'mcp__odd__film');
    expect(await film?.execute({}, { signal: new AbortController().signal } as never)).toEqual({
      content:
        '[engine] The MCP server "odd" answered with a result that is not valid, or has a kind of content that is not known here. Check what was done before trying again.',
      isError: true,
    });
  });
});

test('tools of an MCP server whose names are alike have names of their own, and a lost connection and a picture that is left out say why', async () => {
  const servers = await file('alike.json', JSON.stringify({ mcpServers: { local: { command: process.execPath, args: [fixture] } } }));
  await withTools([servers], async (tools) => {
    const outcome = async (name: string): Promise<unknown> =>
      tools.find((tool) => tool.name === name)?.execute({}, { signal: new AbortController().signal } as never);
    const alike = tools.map(({ name }) => name).filter((name) => /ask|long/.test(name));
    expect(alike).toEqual([
      expect.stringMatching(/^mcp__local__ask_me_[0-9a-f]{8}$/),
      expect.stringMatching(/^mcp__local__ask_me_[0-9a-f]{8}$/),
      expect.stringMatching(/^mcp__local__(?:long){10}lon_[0-9a-f]{8}$/),
      expect.stringMatching(/^mcp__local__(?:long){10}lon_[0-9a-f]{8}$/),
    ]);
    expect(new Set(alike).size).toBe(4);
    expect(await Promise.all(alike.map(outcome))).toMatchObject(
      ['ask.me', 'ask_me', `${'long'.repeat(15)}.one`, `${'long'.repeat(15)}.two`].map((content) => ({ content })),
    );
    expect(await outcome('mcp__local__large_picture')).toMatchObject({ content: '[an image of 4194312 bytes, too large for the model]' });
    expect(await outcome('mcp__local__die')).toMatchObject({
      content: expect.stringContaining('did not answer: Connection closed: no more. '),
    });
    expect(await outcome('mcp__local__flood')).toMatchObject({
      content: expect.stringMatching(/did not answer: Connection closed: .*exceeded maximum size of 10485760 bytes\. /),
    });
    expect(await outcome('mcp__local__data')).toMatchObject({ value: { words: 2 } }); // started again
  });
});

test.each([
  [404, 'Session not found'],
  [400, 'Bad Request: No valid session ID provided'],
])('calls at once to a server that has forgotten their session (%i) each run once, in one new session', async (status, says) => {
  const sessions = new Set<string>();
  const ran: unknown[] = [];
  let begun = 0;
  const again = Promise.withResolvers<void>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const asked = JSON.parse((await text(request)) || '{}') as { id?: number; method?: string; params?: { arguments?: { n: number } } };
    const session = String(request.headers['mcp-session-id']);
    const tell = (result: object, headers = {}): unknown =>
      response
        .writeHead(200, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify({ jsonrpc: '2.0', id: asked.id, result }));
    const n = asked.params?.arguments?.n;
    if (asked.method === 'initialize') {
      sessions.add(`s${++begun}`);
      const about = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'far', version: '1' } };
      tell(about, { 'mcp-session-id': `s${begun}` });
    } else if (asked.method === 'tools/list') tell({ tools: [{ name: 'run', inputSchema: { type: 'object' } }] });
    else if (asked.method !== 'tools/call') response.writeHead(request.method === 'POST' && asked.id === undefined ? 202 : 405).end();
    else if (sessions.has(session)) {
      ran.push(n);
      again.resolve();
      tell({ content: [{ type: 'text', text: `ran ${n}` }] });
    } else {
      if (n === 2) await again.promise; // the other one is already under way in the new session
      response.writeHead(status).end(says);
    }
  };
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  try {
    await withTools([await file('sessions.json', JSON.stringify({ mcpServers: { far: { url } } }))], async (tools) => {
      const far = tools.find(({ name }) => name === 'mcp__far__run');
      sessions.clear(); // as after a restart
      const outcomes = [1, 2].map(async (n) => far?.execute({ n }, { signal: new AbortController().signal } as never));
      void outcomes[0]?.finally(() => again.resolve());
      expect(await Promise.all(outcomes)).toEqual([1, 2].map((n) => ({ content: `ran ${n}`, isError: false })));
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
  expect(ran).toEqual([1, 2]);
  expect(begun).toBe(2);
});

test.each([
  ['commands.toml', '[[tool]]\nname = "a b"\ndescription = "x"\ncommand = "true"\n', /commands\.toml: .*a tool is called by/s],
  ['commands.toml', '[[tool]]\nname = "a"\ndescription = "x"\ncomand = "true"\n', /commands\.toml: .*comand/s],
  ['commands.toml', '[[tool]\n', /commands\.toml:\d+:\d+: this is not TOML: /],
  ['commands.toml', '[[tool]]\nname = nan\n', /commands\.toml:2:1: tool\.0\.name cannot be nan/],
  ['mcp.json', '{"mcpServers": {"a": {"command": "${NO_SUCH_WORD}"}}}', /mcp\.json: .*the environment has no NO_SUCH_WORD/s],
  ['mcp.json', '{"mcpServers": {"a": {"command": "/no/such/program"}}}', /mcp\.json: The MCP server "a" does not start: .*ENOENT/s],
  [
    'mcp.json',
    `{"mcpServers": {"a": {"command": "sh", "args": ["-c", "echo no token >&2; exit 1"]}}}`,
    /The MCP server "a" does not start: .*no token/s,
  ],
  [
    'mcp.json',
    '{"mcpServers": {"a": {"url": "http://localhost:1/", "headers": {"x": "sk-secret\\nmore"}}}}',
    /mcp\.json: (?!.*sk-secret).*one line/s,
  ],
  ['mcp.json', '{"mcpServers": {"a": {"command": "true", "url": "https://example.com"}}}', /mcp\.json: .*a command or a url/s],
  ['mcp.json', '{"mcpServers": {"a": {}}}', /mcp\.json: .*a command or a url/s],
  ['mcp.json', '{', /mcp\.json: /],
  ['nowhere.json', null, /^there is no .*nowhere\.json$/],
])('%s that cannot be used says why', async (name, content, message) => {
  const path = content === null ? join(directory, name) : await file(name, content);
  await expect(withTools([path], async () => {})).rejects.toThrow(message);
});
