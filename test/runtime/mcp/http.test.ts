// The handler in this process, where it can be seen what it keeps and what it still does.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { seatAt } from '../../../runtime/commands/mcp.ts';
import { openDb } from '../../../runtime/ledger/db.ts';
import type { Db } from '../../../runtime/ledger/db.ts';
import { McpHttp } from '../../../runtime/mcp/http.ts';
import type { McpHttpOptions } from '../../../runtime/mcp/http.ts';
import { Updates } from '../../../runtime/mcp/updates.ts';
import { createDatabase } from '../../database.ts';
import type { TestDatabase } from '../../database.ts';
import { until } from '../../workerProcess.ts';

const token = 'a-token-for-this-test';
const url = new URL('http://localhost/mcp');
let database: TestDatabase;
let db: Db;
let updates: Updates;
const handlers: McpHttp[] = [];

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  updates = new Updates(db, database.url);
});
afterAll(async () => {
  for (const handler of handlers) await handler.close();
  await updates?.close();
  await db?.close();
  await database?.drop();
});

function handlerWith(options: Partial<McpHttpOptions> = {}, over = db, isLeft = (): void => {}): McpHttp {
  const handler = new McpHttp({
    token,
    async seatFor(identity) {
      const seat = await seatAt(over, updates, identity);
      return { ...seat, leave: () => seat.leave().then(isLeft) };
    },
    ledger: async () => ({ db: over }),
    ...options,
  });
  handlers.push(handler);
  return handler;
}
const into =
  (handler: McpHttp) =>
  (to: URL | string, init?: RequestInit): Promise<Response> => {
    const headers = new Headers(init?.headers);
    headers.set('host', 'localhost');
    headers.set('authorization', `Bearer ${token}`);
    return handler.fetch(new Request(to, { ...init, headers }));
  };
async function clientOf(handler: McpHttp, { query = '', isStateless = false } = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, isStateless ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {});
  await client.connect(
    new StreamableHTTPClientTransport(new URL(query, url), {
      fetch: into(handler),
      reconnectionOptions: { maxRetries: 0, initialReconnectionDelay: 1, maxReconnectionDelay: 1, reconnectionDelayGrowFactor: 1 },
    }),
  );
  return client;
}
const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'by hand', version: '1' } },
});
const ping = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' });
const digest = JSON.stringify({ jsonrpc: '2.0', id: 3, method: 'resources/read', params: { uri: 'work-ledger://digest' } });
async function post(handler: McpHttp, body: string, session?: string): Promise<Response> {
  const answer = await into(handler)(url, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session !== undefined && { 'mcp-session-id': session }),
    },
  });
  await answer.clone().text();
  return answer;
}
async function openSession(handler: McpHttp): Promise<string> {
  const answer = await post(handler, initialize);
  await answer.text();
  return answer.headers.get('mcp-session-id') ?? '';
}

test.for([false, true])('a wait that its client cancels is over for the server, too (stateless: %s)', async (isStateless) => {
  let checks = 0;
  const counting: Db = {
    ...db,
    abilityInvoke: (name, ...rest) => (name === 'check_child_work' && checks++, db.abilityInvoke(name, ...rest)),
  };
  const client = await clientOf(handlerWith({}, counting), { query: '?conversation=cancels', isStateless });
  const { content } = await client.callTool({ name: 'spawn_child_work', arguments: { work_type: 'nobody', description: 'Part' } });
  const stop = new AbortController();
  const waiting = client.callTool(
    { name: 'await_child_work', arguments: { work_item_ids: [(content as { text: string }[])[0]?.text], timeout_seconds: 3600 } },
    { signal: stop.signal, onprogress: () => stop.abort('enough') },
  );
  await expect(waiting).rejects.toThrow();
  await until(() => checks === 2, 60); // one before it waited, one when it was over
  await client.close();
});

test.for([false, true])('a call that its client cancels takes no messages (stateless: %s)', async (isStateless) => {
  const conversation = `cancels in time ${isStateless}`;
  let [checks, taken] = [0, 0];
  const taking: Db = {
    ...db,
    abilityInvoke: (name, ...rest) => db.abilityInvoke(name, ...rest).finally(() => (checks += name === 'check_child_work' ? 1 : 0)),
    inboxTake: (id) => (taken++, db.inboxTake(id)),
  };
  const client = await clientOf(handlerWith({}, taking), { query: `?conversation=${conversation}`, isStateless });
  const texts = async (name: string, input: Record<string, unknown>, options = {}): Promise<string> => {
    const { content } = await client.callTool({ name, arguments: input }, options);
    return (content as { text: string }[]).map(({ text }) => text).join('\n');
  };
  const child = await texts('spawn_child_work', { work_type: 'nobody', description: 'Part' });
  const item = (await db.journal.sessionActive(conversation))?.id ?? '';
  const other = await db.journal.sessionOpen('teller', null, null);
  const stop = new AbortController();
  const waiting = texts(
    'await_child_work',
    { work_item_ids: [child], timeout_seconds: 3600 },
    {
      signal: stop.signal,
      async onprogress() {
        if (stop.signal.aborted) return;
        await db.abilityInvoke('tell_agent', { to: item, text: 'Mind the gap' }, other);
        stop.abort('enough');
      },
    },
  );
  await expect(waiting).rejects.toThrow();
  await until(() => checks === 2, 60); // one before it waited, one when it was over
  expect(taken).toBe(1); // with the answer about the child
  expect(await texts('ledger_read', {})).toContain('Mind the gap');
  await client.close();
});

test.for([false, true])('a client whose work is over goes on with other work (stateless: %s)', async (isStateless) => {
  let left = 0;
  const handler = handlerWith({}, db, () => left++);
  const conversation = `goes on ${isStateless}`;
  const client = await clientOf(handler, { query: `?conversation=${conversation}`, isStateless });
  const call = async (name: string, input: object = {}): Promise<string> => {
    const { content } = await client.callTool({ name, arguments: input as Record<string, unknown> });
    return (content as { text: string }[])[0]?.text ?? '';
  };
  const append = (content: string): Promise<string> => call('ledger_append', { entry_type: 'finding', content });
  const item = async (): Promise<string> => (await db.journal.sessionActive(conversation))?.id ?? '';
  await append('first');
  const first = await item();
  await call('work_complete', { summary: 'done' });
  expect(await append('unheard')).toContain('is completed');
  await append('second');
  const second = await item();
  expect([second === first, (await db.ledgerRead(second, null, null)).map(({ content }) => content)]).toEqual([false, ['second']]);
  await until(() => left === 1);
  // What others have ended costs nothing.
  expect(await call('check_child_work', { work_item_ids: [first] })).toBeTruthy();
  await append('third');
  expect([await item(), (await db.ledgerRead(second, null, null)).map(({ content }) => content)]).toEqual([second, ['second', 'third']]);
  await client.close();
});

test('what a client watches of its own work is watched of the work that it goes on with', async () => {
  const client = await clientOf(handlerWith(), { query: '?conversation=watches' });
  const told: string[] = [];
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void told.push(params.uri));
  const append = async (): Promise<unknown> =>
    (await client.callTool({ name: 'ledger_append', arguments: { entry_type: 'finding', content: 'Found' } })).isError ?? false;
  await append();
  const other = `work-ledger://ledger/${(await db.journal.sessionActive('watches'))?.id}`;
  for (const uri of ['work-ledger://ledger', other]) await client.subscribeResource({ uri });
  await client.callTool({ name: 'work_complete', arguments: { summary: 'done' } });
  expect([await append(), await append()]).toEqual([true, false]);
  await until(() => told.includes('work-ledger://ledger'));
  await until(() => updates.size === 2); // the old one is not watched for it any more
  told.length = 0;
  await append();
  await until(() => told.includes('work-ledger://ledger'));
  await client.unsubscribeResource({ uri: 'work-ledger://ledger' });
  await client.unsubscribeResource({ uri: other });
  expect(updates.size).toBe(0);
  await client.close();
});

test('no more sessions than it may have: the one that was idle for longest makes room, one that is connected does not', async () => {
  const handler = handlerWith({ maxClients: 2 });
  const [first, second] = [await openSession(handler), await openSession(handler)];
  await post(handler, ping, first); // now second is the older
  const third = await openSession(handler);
  expect((await post(handler, ping, second)).status).toBe(404);
  expect([(await post(handler, ping, first)).status, (await post(handler, ping, third)).status]).toEqual([200, 200]);
  const streams = await Promise.all(
    [first, third].map((session) => into(handler)(url, { headers: { accept: 'text/event-stream', 'mcp-session-id': session } })),
  );
  const refused = await post(handler, initialize);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
  await streams[0]?.body?.cancel();
  expect((await post(handler, initialize)).status).toBe(200);
  expect((await post(handler, ping, first)).status).toBe(404);
});

test('a client that was not heard of for long is forgotten, and its seat is left; one with an open stream is not', async () => {
  let left = 0;
  const handler = handlerWith({ idleSeconds: 0.2 }, db, () => left++);
  // No time passes before all of them were heard of, however long that takes.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  const [idle, connected] = [await openSession(handler), await openSession(handler)];
  const stream = await into(handler)(url, { headers: { accept: 'text/event-stream', 'mcp-session-id': connected } });
  const client = await clientOf(handler, { query: '?conversation=comes and goes', isStateless: true });
  for (const session of [idle, connected]) expect((await post(handler, digest, session)).status).toBe(200);
  await client.callTool({ name: 'ledger_read', arguments: {} });
  clock.mockRestore();
  await until(() => left === 2);
  expect((await post(handler, ping, idle)).status).toBe(404);
  expect((await post(handler, ping, connected)).status).toBe(200);
  expect((await client.callTool({ name: 'ledger_read', arguments: {} })).isError).toBeFalsy(); // it is known again
  await stream.body?.cancel();
  await client.close();
});

test('a handler that is closed ends its streams and serves nobody', async () => {
  const handler = handlerWith();
  const session = await openSession(handler);
  const stream = await into(handler)(url, { headers: { accept: 'text/event-stream', 'mcp-session-id': session } });
  const listening = await clientOf(handler, { query: '?conversation=listens', isStateless: true });
  const subscription = await listening.listen({ resourceSubscriptions: ['work-ledger://digest', 'work-ledger://ledger'] });
  expect(updates.size).toBe(2);
  await handler.close();
  expect(await stream.text()).toBe('');
  await subscription.closed;
  expect(updates.size).toBe(0);
  expect((await post(handler, initialize)).status).toBe(503);
});
