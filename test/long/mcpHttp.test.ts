// MCP over streamable HTTP: the server in a process of its own, driven by the protocol's own client, in both of its eras, and by
// hand where no client would do such a thing.

import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Progress } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { startMcpHttp } from '../mcpHttpProcess.ts';
import type { McpHttpProcess } from '../mcpHttpProcess.ts';
import { until } from '../workerProcess.ts';

const main = fileURLToPath(new URL('../../runtime/start.ts', import.meta.url));
const token = randomBytes(32).toString('hex');
let database: TestDatabase;
let db: Db;
let server: McpHttpProcess;
let directory: string;
const clients: Client[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mcp-http-test-'));
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  server = await startMcpHttp({ databaseUrl: database.url, token, args: ['--allow-host', 'ledger.example'] });
});
afterAll(async () => {
  for (const client of clients) await client.close().catch(() => {});
  await server?.end('SIGTERM');
  await db?.close();
  await database?.drop();
  await rm(directory, { recursive: true, force: true });
});

type Era = 'session' | 'stateless';
const eras: Era[] = ['session', 'stateless'];
const headers = (given = token): Record<string, string> => ({ authorization: `Bearer ${given}` });
const address = (query = ''): URL => new URL(query, server.url);
const newClient = (era: Era): Client =>
  new Client({ name: 'test', version: '1' }, era === 'stateless' ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {});
const transportTo = (url: URL): StreamableHTTPClientTransport =>
  new StreamableHTTPClientTransport(url, {
    requestInit: { headers: headers() },
    reconnectionOptions: { initialReconnectionDelay: 50, maxReconnectionDelay: 200, reconnectionDelayGrowFactor: 1, maxRetries: 100 },
  });

async function connect(era: Era, query: string): Promise<Client> {
  const client = newClient(era);
  await client.connect(transportTo(address(query)));
  clients.push(client);
  return client;
}
async function call(client: Client, name: string, input: Record<string, unknown> = {}, options = {}): Promise<string> {
  const { content, isError } = (await client.callTool({ name, arguments: input }, options)) as {
    content: { text: string }[];
    isError?: boolean;
  };
  const text = content.map((part) => part.text).join('\n');
  if (isError) throw new Error(text);
  return text;
}
const itemOf = async (conversation: string): Promise<string> => (await db.journal.sessionActive(conversation))?.id ?? '';

/** What is told of resources, in the order in which it comes. */
async function heard(client: Client, era: Era, uris: string[]): Promise<{ said: string[]; stop: () => Promise<void> }> {
  const said: string[] = [];
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void said.push(params.uri));
  if (era === 'stateless') {
    const subscription = await client.listen({ resourceSubscriptions: uris });
    return { said, stop: () => subscription.close() };
  }
  for (const uri of uris) await client.subscribeResource({ uri });
  return { said, stop: async () => void (await Promise.all(uris.map((uri) => client.unsubscribeResource({ uri })))) };
}

/** Posts whatever it is given, as no client would. */
const post = (body: string | Buffer | ReadableStream, more: Record<string, string> = {}): Promise<Response> =>
  fetch(server.url, {
    method: 'POST',
    body,
    headers: { ...headers(), 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...more },
    duplex: 'half',
  });
const message = (method: string, params: object = {}, id = 1): string => JSON.stringify({ jsonrpc: '2.0', id, method, params });
const initialize = message('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'by hand', version: '1' },
});

describe('who may come in', () => {
  test('only who has the token', async () => {
    for (const [given, name] of [
      [{}, 'none'],
      [headers('wrong'), 'wrong'],
      [headers(token.slice(0, -1)), 'its beginning'],
      [headers(`${token}0`), 'more'],
      [{ authorization: token }, 'not as bearer'],
    ] as const) {
      for (const method of ['POST', 'GET', 'DELETE', 'OPTIONS']) {
        const answer = await fetch(server.url, {
          method,
          headers: { 'content-type': 'application/json', ...given },
          ...(method === 'POST' && { body: initialize }),
        });
        expect([answer.status, answer.headers.get('www-authenticate')], `${name} ${method}`).toEqual([
          401,
          expect.stringMatching(/^Bearer /),
        ]);
      }
    }
    const nobody = newClient('session');
    await expect(nobody.connect(new StreamableHTTPClientTransport(server.url))).rejects.toThrow();
    expect((await fetch(new URL('/other', server.url), { headers: headers() })).status).toBe(404);
    expect(server.log()).not.toContain(token);
  });

  test('no page of another site, and no name that was rebound to this machine', async () => {
    for (const origin of ['https://evil.example', 'http://127.0.0.1.evil.example', 'null', 'file://'])
      expect((await post(initialize, { origin })).status, origin).toBe(403);
    for (const origin of ['http://localhost:3000', 'https://ledger.example'])
      expect((await post(initialize, { origin })).status, origin).toBe(200);
    const statusFor = (host: string): Promise<number | undefined> =>
      new Promise((resolve, reject) =>
        request(server.url, { method: 'POST', headers: { ...headers(), host } }, (answer) => resolve(answer.resume().statusCode))
          .on('error', reject)
          .end(),
      );
    expect(await statusFor('evil.example')).toBe(403);
    expect(await statusFor('ledger.example')).toBe(400);
  });

  test('a server is not started with options that it would not heed', async () => {
    for (const args of [
      ['--conversation', 'x'],
      ['--work-item', 'x'],
      ['--allow-host', 'https://ledger.example'],
      ['--allow-host', 'ledger.example:443'],
    ]) {
      await expect(startMcpHttp({ databaseUrl: database.url, token, args })).rejects.toThrow(
        /the address identifies each client|not a host name/,
      );
    }
    await expect(
      startMcpHttp({ databaseUrl: database.url, token, command: ['console'], args: ['--allow-host', 'https://ledger.example'] }),
    ).rejects.toThrow(/not a host name/);
  });

  test('a server without a token, or with a short one, does not start', async () => {
    for (const bad of ['', 'short', 'with spaces in it, but long'])
      await expect(startMcpHttp({ databaseUrl: database.url, token: bad })).rejects.toThrow(/openssl rand/);
  });
});

describe.for(eras)('a client (%s)', (era) => {
  test('has an identity of its own, several at once', async () => {
    const [anna, ben] = await Promise.all([connect(era, `?conversation=anna-${era}`), connect(era, `?conversation=ben-${era}`)]);
    expect((await anna.listTools()).tools.map(({ name }) => name)).toContain('ledger_append');
    await Promise.all([
      call(anna, 'ledger_append', { entry_type: 'finding', content: `The cache is stale (${era})` }),
      call(ben, 'ledger_append', { entry_type: 'plan', content: '- look' }),
    ]);
    expect(JSON.parse(await call(anna, 'ledger_read'))).toMatchObject([{ content: `The cache is stale (${era})` }]);
    expect(JSON.parse(await call(ben, 'ledger_read'))).toMatchObject([{ content: '- look' }]);
    expect(await call(ben, 'awareness_digest')).toContain(`The cache is stale (${era})`);
    const id = await itemOf(`anna-${era}`);
    for (const name of [id, id.toUpperCase(), id.slice(-6)]) {
      const item = await connect(era, `?work_item=${name}`);
      expect(JSON.parse(await call(item, 'ledger_read'))).toMatchObject([{ content: `The cache is stale (${era})` }]);
    }
    await expect(call(await connect(era, '?work_item=ffffffff'), 'ledger_read')).rejects.toThrow('there is no work item ffffffff');
    const { resourceTemplates } = await ben.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(['work-ledger://ledger/{work_item_id}']);
    for (const name of [id, id.toUpperCase()])
      expect((await ben.readResource({ uri: `work-ledger://ledger/${name}` })).contents[0]).toMatchObject({
        text: expect.stringContaining(`The cache is stale (${era})`),
      });
    for (const uri of ['work-ledger://ledger/00000000-0000-4000-8000-000000000000', 'work-ledger://nothing', 'file:///etc/passwd'])
      await expect(ben.readResource({ uri })).rejects.toThrow(/not found/i);
  });

  test('sees the abilities that users registered, at once', async () => {
    const client = await connect(era, `?conversation=tools-${era}`);
    await client.listTools();
    await database.query(`create or replace function public.add_up(jsonb) returns int language sql as 'select ($1 ->> ''a'')::int + 1'`);
    await database.query(
      `select ledger.ability_register('sum:${era}', 'Adds one.', '{"type": "object", "properties": {"a": {"type": "integer"}}}', 'pure', 'safe', 'public.add_up(jsonb)')`,
    );
    expect((await client.listTools(undefined, { cacheMode: 'refresh' })).tools.map(({ name }) => name)).toContain(`sum_${era}`);
    expect(await call(client, `sum_${era}`, { a: 1 })).toBe('2');
    await expect(call(client, `sum_${era}`, { a: 'one' })).rejects.toThrow(/does not fit its schema/);
  });

  test('hears of the digest and of ledgers that it subscribes to, and of nothing else', async () => {
    const client = await connect(era, `?conversation=hears-${era}`);
    await call(client, 'ledger_append', { entry_type: 'note', content: 'Before' });
    const own = await itemOf(`hears-${era}`);
    const other = await db.workSubmit({ workType: 'nobody', description: `Other work (${era})` });
    const isWatched = async (id: string): Promise<boolean> =>
      (
        await database.query<{ is: boolean }>(
          `select coalesce(watch_ends_at > now(), false) as is from ledger.fences where work_item_id = '${id}'`,
        )
      )[0]?.is ?? false;
    expect([await isWatched(own), await isWatched(other.id)]).toEqual([false, false]);

    const uris = ['work-ledger://digest', 'work-ledger://ledger', `work-ledger://ledger/${other.id}`];
    const { said, stop } = await heard(client, era, uris);
    expect([await isWatched(own), await isWatched(other.id)]).toEqual([true, true]);
    await call(client, 'ledger_append', { entry_type: 'note', content: 'Own' });
    await until(() => said.includes('work-ledger://ledger'));
    expect(new Set(said)).toEqual(new Set(['work-ledger://ledger']));
    await db.ledgerAppend(other.id, 'note', 'No news to others');
    await until(() => said.includes(`work-ledger://ledger/${other.id}`));
    expect(said).not.toContain('work-ledger://digest');
    await db.ledgerAppend(other.id, 'finding', `News to all (${era})`);
    await until(() => said.includes('work-ledger://digest'));
    expect((await client.readResource({ uri: 'work-ledger://digest' })).contents[0]).toMatchObject({
      text: expect.stringContaining(`News to all (${era})`),
    });

    // Nobody watches any more: nothing is listened to, and nothing more is told.
    await stop();
    await until(async () => (await listeners()) === 0);
    const before = said.length;
    await db.ledgerAppend(other.id, 'finding', `More (${era})`);
    await call(client, 'ledger_append', { entry_type: 'note', content: 'More' });
    expect(said.length).toBe(before);
  });

  test('is told how a wait goes on, and can end it', async () => {
    const client = await connect(era, `?conversation=waits-${era}`);
    const children = await Promise.all(
      ['One', 'Two'].map((description) => call(client, 'spawn_child_work', { work_type: 'nobody', description })),
    );
    const progress: Progress[] = [];
    const waiting = call(
      client,
      'await_child_work',
      { work_item_ids: children, timeout_seconds: 600 },
      { onprogress: (one: Progress) => progress.push(one) },
    );
    await until(() => progress.some(({ message: said }) => said === '0 of 2 finished: 2 queued'));
    await db.workCancel(children[0] ?? '', 'not needed');
    await until(() => progress.some(({ message: said }) => said === '1 of 2 finished: 1 cancelled, 1 queued'));
    await db.workCancel(children[1] ?? '', 'not needed');
    expect(await waiting).toMatch(/cancelled.*cancelled/s);
    const values = progress.map((one) => one.progress);
    expect(values).toEqual(values.toSorted((a, b) => a - b));
    expect(new Set(values).size).toBe(values.length);
    expect(progress.every(({ total }) => total === 600)).toBe(true);

    const child = await call(client, 'spawn_child_work', { work_type: 'nobody', description: 'Three' });
    const stop = new AbortController();
    const cancelled = call(
      client,
      'await_child_work',
      { work_item_ids: [child], timeout_seconds: 600 },
      { signal: stop.signal, onprogress: () => stop.abort('enough') },
    );
    await expect(cancelled).rejects.toThrow();
  });
});

test('a request that is for itself and names nobody can only look', async () => {
  const client = await connect('stateless', '');
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('ledger_append');
  await expect(call(client, 'ledger_read')).rejects.toThrow(/names no conversation\nAdd \?conversation=NAME/);
});

test('a session that names nobody is a conversation of its own', async () => {
  const [one, other] = [await connect('session', ''), await connect('session', '')];
  const sessions = (): Promise<unknown[]> =>
    database.query(`select from ledger.work_items where params ->> 'conversationId' like 'test %'`);
  const before = (await sessions()).length;
  expect((await one.listTools()).tools.map(({ name }) => name)).toContain('ledger_append');
  expect(await sessions()).toHaveLength(before); // it did nothing yet
  await call(one, 'ledger_append', { entry_type: 'note', content: 'Mine' });
  expect(JSON.parse(await call(one, 'ledger_read'))).toHaveLength(1);
  expect(JSON.parse(await call(other, 'ledger_read'))).toHaveLength(0);
});

test('what is no request is refused, and the server goes on', async () => {
  const deep = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const nested = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ledger_append","arguments":{"content":${deep(500_000)}}}}`;
  for (const [name, body, status] of [
    ['a megabyte of lists', deep(500_000), 400],
    ['nested arguments', nested, 400],
    ['an unclosed one', '['.repeat(1_000_000), 400],
    ['at the limit', deep(64), 400],
    ['bad UTF-8', Buffer.from(initialize.replace('by hand', 'ÿ'), 'latin1'), 400],
    ['nothing', '', 400],
    ['no JSON', '{"jsonrpc"', 400],
    ['null', 'null', 400],
    ['a number', '1', 400],
    ['a batch of 100,000', `[${Array.from({ length: 100_000 }, () => '{}').join(',')}]`, 400],
    ['a batch of pings', `[${Array.from({ length: 5000 }, (_, id) => message('ping', {}, id)).join(',')}]`, 400],
    ['five megabytes', `"${'x'.repeat(5_000_000)}"`, 413],
  ] as const) {
    const answer = await post(body);
    expect([answer.status, name]).toEqual([status, name]);
    expect(await answer.json(), name).toMatchObject({ jsonrpc: '2.0', error: { message: expect.stringMatching(/\w/) }, id: null });
  }
  // As much without saying how long it is.
  const endless = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(new Uint8Array(1 << 16).fill(0x20)) });
  expect(
    await post(endless).then(
      ({ status }) => status,
      () => 'cut off',
    ),
  ).toBeOneOf([413, 'cut off']);
  expect((await post(initialize, { 'content-type': 'text/plain' })).status).toBe(415);
  // In a session, too.
  const session = (await post(initialize)).headers.get('mcp-session-id') ?? '';
  for (const body of [nested, `[${Array.from({ length: 5000 }, (_, id) => message('ping', {}, id)).join(',')}]`])
    expect((await post(body, { 'mcp-session-id': session })).status).toBe(400);
  for (const query of ['?work_item=x', '?work_item=last', '?conversation=', `?conversation=${'x'.repeat(201)}`]) {
    expect((await fetch(address(query), { method: 'POST', body: initialize, headers: headers() })).status, query).toBe(400);
  }
  expect((await fetch(server.url, { method: 'PUT', headers: headers(), body: '{}' })).status).toBe(405);
  expect(
    await call(await connect('session', '?conversation=after'), 'ledger_append', { entry_type: 'note', content: 'Still here' }),
  ).toContain('"seq"');
});

test('a session that is over, or never was, is not found', async () => {
  expect((await post(message('tools/list'), { 'mcp-session-id': 'e0000000-0000-4000-8000-000000000000' })).status).toBe(404);
  expect((await post(message('tools/list'))).status).toBe(400);
  const session = { 'mcp-session-id': (await post(initialize)).headers.get('mcp-session-id') ?? '' };
  expect((await post(message('tools/list'), session)).status).toBe(200);
  expect((await fetch(server.url, { method: 'DELETE', headers: { ...headers(), ...session } })).status).toBe(200);
  expect((await post(message('tools/list'), session)).status).toBe(404);
});

test('a stream that broke off goes on where it was', async () => {
  const session = {
    'mcp-session-id': (await post(initialize, {})).headers.get('mcp-session-id') ?? '',
    'mcp-protocol-version': '2025-11-25',
  };
  const tell = (name: string, input: object, id: number): Promise<Response> =>
    post(message('tools/call', { name, arguments: input, _meta: { progressToken: 'p' } }, id), session);
  const child = (
    JSON.parse((await eventsOf(await tell('spawn_child_work', { work_type: 'nobody', description: 'Part' }, 2))).at(-1) ?? '') as {
      result: { content: [{ text: string }] };
    }
  ).result.content[0].text;
  const stop = new AbortController();
  const broken = await fetch(server.url, {
    method: 'POST',
    body: message('tools/call', { name: 'await_child_work', arguments: { work_item_ids: [child] }, _meta: { progressToken: 'p' } }, 3),
    signal: stop.signal,
    headers: { ...headers(), ...session, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  });
  let seen = '';
  for await (const chunk of broken.body ?? []) {
    seen += Buffer.from(chunk as Uint8Array).toString();
    if (seen.includes('0 of 1 finished')) break;
  }
  stop.abort();
  const lastEventId = [...seen.matchAll(/^id: (\S+)$/gm)].at(-1)?.[1] ?? '';
  await db.workCancel(child, 'not needed');
  const events = await until(async () => {
    const answer = await fetch(server.url, {
      headers: { ...headers(), ...session, accept: 'text/event-stream', 'last-event-id': lastEventId },
    });
    const got = answer.ok ? await eventsOf(answer) : [];
    return got.some((event) => event.includes('"result"')) ? got : null;
  });
  expect(events.at(-1)).toContain('cancelled');
  expect(events.join('\n')).not.toContain('0 of 1 finished'); // it had that
  expect(
    (await fetch(server.url, { headers: { ...headers(), ...session, accept: 'text/event-stream', 'last-event-id': 'nonsense' } })).status,
  ).toBe(400);
});

test('a server that stops ends what waits and streams; its sessions are unknown to the next, where clients start anew', async () => {
  const mortal = await startMcpHttp({ databaseUrl: database.url, token });
  const url = new URL('?conversation=outlives', mortal.url);
  const client = newClient('session');
  await client.connect(transportTo(url));
  clients.push(client);
  const { said } = await heard(client, 'session', ['work-ledger://ledger']);
  await call(client, 'ledger_append', { entry_type: 'note', content: 'Before' });
  await until(() => said.length > 0);
  const child = await call(client, 'spawn_child_work', { work_type: 'nobody', description: 'Part' });
  const progress: Progress[] = [];
  const waiting = call(
    client,
    'await_child_work',
    { work_item_ids: [child], timeout_seconds: 3000 },
    { onprogress: (one: Progress) => progress.push(one) },
  );
  await until(() => progress.length > 0);
  expect(await mortal.end('SIGTERM')).toBe(0);
  expect(await waiting).toContain('queued'); // what there was to say
  expect(mortal.log()).toBe(`${mortal.url.href}\n`);

  const next = await startMcpHttp({ databaseUrl: database.url, token, port: Number(mortal.url.port) });
  await expect(call(client, 'ledger_read')).rejects.toMatchObject({ status: 404 });
  const again = newClient('session');
  await again.connect(transportTo(url));
  clients.push(again);
  expect(JSON.parse(await call(again, 'ledger_read'))).toMatchObject([{ content: 'Before' }]);
  await again.close();
  expect(await next.end('SIGINT')).toBe(0);
});

test('the console answers at /mcp, with the token for MCP and no other', async () => {
  const console = await startMcpHttp({ databaseUrl: database.url, token, command: ['console'] });
  const mcp = new URL('/mcp?conversation=console', console.url);
  expect(
    (await fetch(mcp, { method: 'POST', body: initialize, headers: headers(console.url.searchParams.get('token') ?? '') })).status,
  ).toBe(401);
  const client = newClient('session');
  await client.connect(transportTo(mcp));
  clients.push(client);
  await call(client, 'ledger_append', { entry_type: 'note', content: 'Beside the pages' });
  expect(await (await fetch(new URL(`/work/${await itemOf('console')}`, console.url))).text()).toContain('Beside the pages');
  expect(await console.end('SIGTERM')).toBe(0);
  expect(console.log()).not.toContain(token);
});

test.each([[['mcp', '--http']], [['console']]])('%s reads the token from a file, and no process list shows it', async (command) => {
  const file = join(directory, 'token');
  await writeFile(file, `${token}\n`, { mode: 0o600 });
  const running = await startMcpHttp({ databaseUrl: database.url, token: null, command, args: ['--token-file', file] });
  const answer = (given: string): Promise<{ status: number }> =>
    fetch(new URL('/mcp', running.url), {
      method: 'POST',
      body: initialize,
      headers: { ...headers(given), 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    });
  expect([(await answer(token)).status, (await answer('another token of 32 characters')).status]).toEqual([200, 401]);
  for (const seen of ['cmdline', 'environ']) expect(await readFile(`/proc/${running.pid}/${seen}`, 'utf8')).not.toContain(token);
  expect(await running.end('SIGTERM')).toBe(0);
  expect(running.log()).not.toContain(token);
  await rm(file);
  await expect(startMcpHttp({ databaseUrl: database.url, token, command, args: ['--token-file', file] })).rejects.toThrow(
    `error: there is no file ${file}`,
  );
});

/** Sends a request under a name that leads elsewhere here, as a proxy does. */
const under = (
  url: URL,
  host: string,
  { method = 'GET', body = '', ...more }: { method?: string; body?: string; [header: string]: string } = {},
): Promise<{ status: number; cookie: string; text: string }> =>
  new Promise((resolve, reject) =>
    request(url, { method, headers: { host, ...more } }, (answer) => {
      let text = '';
      answer
        .setEncoding('utf8')
        .on('data', (chunk: string) => (text += chunk))
        .on('error', reject);
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, cookie: answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '', text }),
      );
    })
      .on('error', reject)
      .end(body),
  );

test('the console is reached under the names that it was given and no others: its pages with its token, agents with theirs', async () => {
  const item = await db.workSubmit({ workType: 'nobody', description: 'Seen from elsewhere' });
  for (const args of [
    ['--host', '0.0.0.0', '--allow-host', 'ledger.example'],
    ['--allow-host', 'ledger.example'],
    ['--host', '127.0.0.2', '--allow-host', 'Ledger.example'],
  ]) {
    const console = await startMcpHttp({ databaseUrl: database.url, token, command: ['console'], args });
    const json = {
      ...headers(),
      method: 'POST',
      body: initialize,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const [mcp, page] = [new URL('/mcp', console.url), new URL(`/work/${item.id}`, console.url)];
    expect(await under(mcp, 'ledger.example', { ...json, origin: 'https://ledger.example' }), args.join(' ')).toMatchObject({
      status: 200,
      text: expect.stringContaining('serverInfo'),
    });
    expect(await under(mcp, console.url.host, json)).toMatchObject({ status: 200 });
    for (const more of [{}, { origin: 'https://ledger.example' }])
      expect((await under(mcp, 'evil.example', { ...json, ...more })).status).toBe(403);
    expect((await under(mcp, 'ledger.example', { ...json, origin: 'https://evil.example' })).status).toBe(403);

    const { cookie } = await under(console.url, 'ledger.example');
    for (const host of ['ledger.example', 'LEDGER.example:8443', console.url.host]) {
      expect([host, (await under(page, host)).status]).toEqual([host, 403]);
      expect(await under(page, host, { cookie })).toMatchObject({ status: 200, text: expect.stringContaining('Seen from elsewhere') });
    }
    for (const host of ['evil.example', 'ledger.example.evil.example'])
      expect([host, (await under(page, host, { cookie })).status]).toEqual([host, 403]);

    const formToken = /name="form_token" value="([^"]+)"/.exec((await under(page, 'ledger.example', { cookie })).text)?.[1] ?? '';
    const form = {
      method: 'POST',
      cookie,
      body: new URLSearchParams({ form_token: formToken, content: 'Said from elsewhere' }).toString(),
      'content-type': 'application/x-www-form-urlencoded',
    };
    const path = new URL(`${page.pathname}/message`, page);
    for (const origin of ['https://evil.example', 'http://evil.example', 'https://127.0.0.1', 'null'])
      expect([origin, (await under(path, 'ledger.example', { ...form, origin })).status]).toEqual([origin, 403]);
    for (const [host, origin] of [
      ['ledger.example', 'https://ledger.example'],
      ['127.0.0.1', 'https://ledger.example:8443'],
      [console.url.host, console.url.origin],
    ] as const) {
      expect([host, (await under(path, host, { ...form, origin })).status]).toEqual([host, 303]);
    }
    expect(await console.end('SIGTERM')).toBe(0);
  }
  expect(await database.query(`select count(*)::int as n from ledger.inbox where work_item_id = '${item.id}'`)).toEqual([{ n: 9 }]);
});

test('a console that cannot change anything answers no agents', async () => {
  const console = await startMcpHttp({ databaseUrl: database.url, token, command: ['console', '--read-only'] });
  expect((await fetch(new URL('/mcp', console.url), { method: 'POST', body: initialize, headers: headers() })).status).toBe(403);
  expect(await console.end('SIGTERM')).toBe(0);
});

test.for(eras)('over stdio, too, resources notify and waits report (%s)', async (era) => {
  const client = newClient(era);
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [main, 'mcp', '--conversation', `stdio-${era}`],
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', DATABASE_URL: database.url },
      stderr: 'inherit',
    }),
  );
  clients.push(client);
  await call(client, 'ledger_append', { entry_type: 'note', content: 'Before' });
  expect(await listeners()).toBe(0);
  const { said, stop } = await heard(client, era, ['work-ledger://ledger']);
  await until(async () => (await listeners()) === 1);
  await call(client, 'ledger_append', { entry_type: 'note', content: 'After' });
  await until(() => said.includes('work-ledger://ledger'));
  await stop();
  await until(async () => (await listeners()) === 0);
  const child = await call(client, 'spawn_child_work', { work_type: 'nobody', description: 'Part' });
  const stopped = new AbortController();
  const waiting = call(
    client,
    'await_child_work',
    { work_item_ids: [child] },
    { signal: stopped.signal, onprogress: () => stopped.abort('enough') },
  );
  await expect(waiting).rejects.toThrow();
  await client.close();
});

/** Connections of servers that listen. */
const listeners = async (): Promise<number> =>
  (
    await database.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity where datname = current_database() and application_name = 'work-ledger listener'`,
    )
  )[0]?.n ?? -1;

async function eventsOf(answer: Response): Promise<string[]> {
  return [...(await answer.text()).matchAll(/^data: (.+)$/gm)].map(([, data]) => data ?? '');
}
