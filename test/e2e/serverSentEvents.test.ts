// What happens to work as server-sent events: a real client of two real servers, which is cut off, comes back and is told the rest.

import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { eventResponse, LedgerClient, LedgerError, sendEvents } from '../../runtime/index.ts';
import type { EventStreamOptions, WorkEvent } from '../../runtime/index.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';
import type { WorkerProcess } from '../workerProcess.ts';

let database: TestDatabase;
let ledger: LedgerClient;
let model: ScriptedModel;
let worker: WorkerProcess;
let held = Promise.withResolvers<void>();
let options: EventStreamOptions = {};
/** What the server of Node has in hand. */
let response: ServerResponse | null = null;
const servers: { name: string; url: () => string; close: () => Promise<unknown> }[] = [];
const words = 'I look at the log before anything else, whatever it may hold.';

const status = (error: unknown): number => (error instanceof LedgerError ? (error.code === 'WL002' ? 400 : 404) : 500);

function startServers(): void {
  const plain = createServer((request: IncomingMessage, answer: ServerResponse) => {
    response = answer;
    sendEvents(ledger, (request.url ?? '').slice(1), request, answer, options).catch((error: unknown) =>
      answer.writeHead(status(error)).end(),
    );
  }).listen(0, '127.0.0.1');
  const app = new Hono();
  app.get('/:id', (c) =>
    eventResponse(ledger, c.req.param('id'), c.req.raw, options).catch((error: unknown) => new Response(null, { status: status(error) })),
  );
  const web = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server;
  for (const [name, server] of [
    ['a server of Node', plain],
    ['a web Response', web],
  ] as const)
    servers.push({
      name,
      url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      close: () => {
        server.closeAllConnections();
        return once(server.close(), 'close');
      },
    });
}
startServers();

beforeAll(async () => {
  database = await createDatabase();
  ledger = await LedgerClient.open({ databaseUrl: database.url, schema: 'ledger' });
  await ledger.saveFaculty({ name: 'engineer', accepts: ['fix'], awareness: { enabled: false } });
  model = await startScriptedModel(
    scriptOf([
      {
        content: [
          { type: 'thinking', thinking: 'First I look at it.', signature: 'c2lnbmVk' },
          { type: 'text', text: words },
          { type: 'tool_use', name: 'ledger_append', input: { entry_type: 'finding', content: 'It is\nlong\r\nand\u2028full' } },
        ],
        afterEvent: (count) => (count === 8 ? held.promise : undefined), // the thinking whole, two pieces of the text
      },
      { content: [{ type: 'tool_use', name: 'work_complete', input: { summary: 'Done' } }] },
    ]),
  );
  worker = await startWorkerProcess({ url: database.url, modelUrl: model.url });
  await until(async () => (await listening()) === 2 || null); // for jobs, and for what people do: those that come later are of tests
});
afterEach(() => {
  held.resolve();
  options = {};
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
  await worker?.end('SIGTERM');
  await model?.close();
  await ledger?.close();
  await database?.drop();
});

type Sent = { id?: string; event?: string; data?: Record<string, unknown> };
const parsed = (text: string): Sent[] =>
  text
    .split('\n\n')
    .slice(0, -1)
    .map((block) => Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string])))
    .filter((fields) => 'event' in fields)
    .map((fields) => ({ ...fields, data: JSON.parse(fields['data'] ?? '') as Record<string, unknown> }));

/** A client: what it has heard, and how it goes away. */
function listenTo(url: string, lastEventId?: string): { heard(): string; leave(): void; ended: Promise<IncomingMessage> } {
  let heard = '';
  const request = get(url, { agent: false, headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId } });
  const ended = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (answer) => {
      answer.setEncoding('utf8').on('data', (text: string) => (heard += text));
      answer.on('close', () => resolve(answer));
    });
  });
  ended.catch(() => {});
  return { heard: () => heard, leave: () => request.destroy(), ended };
}

const said = (events: readonly Sent[], kind = 'said'): string =>
  events
    .filter(({ event }) => event === kind)
    .map(({ data }) => String(data?.['text']))
    .join('');
const listening = async (): Promise<number> =>
  (await database.query(`select from pg_stat_activity where datname = current_database() and query ilike 'listen %'`)).length;

describe.each(servers)('$name', ({ url }) => {
  test('tells each word once to a client that is cut off in the middle and comes back', async () => {
    held = Promise.withResolvers();
    options = { heartbeatSeconds: 3600 };
    const before = await listening();
    const { id } = await ledger.submit({ workType: 'fix', description: 'Look at it' });
    const first = listenTo(`${url()}/${id}`);
    await until(() => said(parsed(first.heard())).includes('I look at the log'));
    const begun = parsed(first.heard());
    expect(said(begun)).not.toContain('may hold');
    first.leave();
    await until(async () => (await listening()) === before || null); // nothing is read for whoever is gone

    const second = listenTo(`${url()}/${id}`, begun.at(-1)?.id);
    await until(async () => (await listening()) > before || null);
    held.resolve();
    const { headers } = await second.ended;
    expect(headers).toMatchObject({ 'content-type': 'text/event-stream', 'cache-control': expect.stringContaining('no-cache') });
    const all = [...begun, ...parsed(second.heard())];
    expect([said(all, 'thinking'), said(all)]).toEqual(['First I look at it.', words]);
    expect(all.filter(({ event }) => event === 'entry').map(({ data }) => [data?.['seq'], data?.['content']])).toEqual(
      (await ledger.read(id)).map(({ seq, content }) => [seq, content]),
    );
    const calls = all.filter(({ event }) => event === 'call').map(({ data }) => `${String(data?.['name'])} ${String(data?.['status'])}`);
    expect(calls).toEqual([...new Set(calls)]);
    expect(all.at(-1)).toMatchObject({ event: 'end', data: { state: 'completed', outcome_data: { summary: 'Done' }, next_id: null } });
    expect(await (await fetch(`${url()}/${id}`, { headers: { 'last-event-id': all.at(-1)?.id ?? '' } })).text()).toBe('');
    expect((await fetch(`${url()}/${id}`, { headers: { 'last-event-id': all.at(-1)?.id ?? '' } })).status).toBe(204);
    await until(async () => (await listening()) === before || null);
  });

  test('answers for itself where there is no such work, or a position of other work', async () => {
    const [one, other] = await Promise.all([1, 2].map((n) => ledger.submit({ workType: 'nobody takes it', description: `Wait ${n}` })));
    expect((await fetch(`${url()}/nope`)).status).toBe(404);
    expect((await fetch(`${url()}/00000000-0000-7000-8000-000000000000`)).status).toBe(404);
    for (const id of [`${other?.id.slice(-6)}.1`, `${one?.id.slice(-6)}.1.x`, '7'])
      expect((await fetch(`${url()}/${one?.id}`, { headers: { 'last-event-id': id } })).status).toBe(400);
  });

  test('keeps a quiet stream alive, and ends and goes on with work that is paused', async () => {
    options = { heartbeatSeconds: 0.02 };
    const { id } = await ledger.submit({ workType: 'nobody takes it', description: 'Wait' });
    const quiet = listenTo(`${url()}/${id}`);
    await until(() => quiet.heard().includes(': alive\n\n: alive\n\n') || null);
    await ledger.pause(id, 'lunch');
    await quiet.ended;
    const [end] = parsed(quiet.heard());
    expect(end).toMatchObject({ event: 'end', data: { state: 'paused', state_reason: 'lunch' } });
    const again = (): Promise<Response> => fetch(`${url()}/${id}`, { headers: { 'last-event-id': end?.id ?? '' } });
    expect((await again()).status).toBe(204);
    await ledger.resume(id);
    await ledger.append(id, 'note', 'Back');
    await ledger.pause(id);
    expect(parsed(await (await again()).text())).toMatchObject([{ event: 'entry', data: { content: 'Back' } }, { event: 'end' }]);
  });

  test('says that it broke off, not why, and goes on for a client that comes back', async () => {
    const { id } = await ledger.submit({ workType: 'nobody takes it', description: 'Wait' });
    await ledger.append(id, 'note', 'One');
    const errors: unknown[] = [];
    options = { onError: (error) => errors.push(error) };
    const first = listenTo(`${url()}/${id}`);
    await until(() => first.heard().includes('event: entry') || null);
    await database.query('alter function ledger.work_activity rename to work_activity_of_a_secret');
    await first.ended;
    await database.query('alter function ledger.work_activity_of_a_secret rename to work_activity');
    const begun = parsed(first.heard());
    expect(begun.at(-1)).toEqual({ event: 'problem', data: { code: '42883' } });
    expect(errors).toMatchObject([{ name: 'LedgerError', message: expect.stringContaining('work_activity') }]);
    await ledger.append(id, 'note', 'Two');
    await ledger.cancel(id);
    const second = listenTo(`${url()}/${id}`, begun.at(-2)?.id);
    await second.ended;
    expect(parsed(second.heard()).map(({ data }) => data?.['content'] ?? data?.['state'])).toEqual(['Two', 'cancelled']);
  });
});

test('show says what a client is told, and what not', async () => {
  const { id } = await ledger.submit({ workType: 'nobody takes it', description: 'Wait' });
  for (const content of ['One', 'Two']) await ledger.append(id, 'note', content);
  await ledger.cancel(id);
  const show: EventStreamOptions['show'] = (event) =>
    event.kind === 'end' ? event.item.state : event.kind === 'entry' && event.entry.seq === 2 ? event.entry.content : undefined;
  const answer = await eventResponse(ledger, id, new Request('http://here'), { show });
  expect(parsed(await answer.text()).map(({ data }) => data)).toEqual(['Two', 'cancelled']);
});

test('a client that reads slowly is not written to faster than it reads', async () => {
  const { id } = await ledger.submit({ workType: 'nobody takes it', description: 'Wait' });
  const [count, content] = [400, 'x'.repeat(15_000)];
  await database.query(`select ledger.ledger_append('${id}', 'note', n || '${content}') from generate_series(1, ${count}) n`);
  await ledger.cancel(id);
  let shown = 0;
  let waiting = 0; // to be sent
  const show: EventStreamOptions['show'] = (event) => {
    waiting = Math.max(waiting, response?.writableLength ?? 0);
    return event.kind === 'entry' ? (shown += 1) && content + content : event.kind;
  };
  options = { show };
  const slow = get(`${servers[0]?.url()}/${id}`, { agent: false });
  const [answer] = (await once(slow, 'response')) as [IncomingMessage];
  await until(() => response?.writableNeedDrain || null);
  let heard = '';
  answer.setEncoding('utf8').on('data', (text: string) => (heard += text));
  await once(answer, 'end');
  expect(parsed(heard)).toHaveLength(count + 1);
  expect(waiting).toBeLessThan(100_000);

  const web = await eventResponse(ledger, id, new Request('http://here'), { show });
  const reader = web.body?.getReader();
  shown = 0;
  for (let n = 0; n < 4; n++) await reader?.read(); // the first is for the client alone
  expect(shown).toBe(3);
  await reader?.cancel();
});

test('a request that is taken back ends the reading, also where nobody reads the answer', async () => {
  const { id } = await ledger.submit({ workType: 'nobody takes it', description: 'Wait' });
  const before = await listening();
  const gone = new AbortController();
  const answer = await eventResponse(ledger, id, new Request('http://here', { signal: gone.signal }), { heartbeatSeconds: 0.02 });
  const reader = answer.body?.getReader();
  for (let n = 0; n < 2; n++) await reader?.read();
  await until(async () => (await listening()) > before || null);
  gone.abort();
  await until(async () => (await listening()) === before || null);
  await ledger.cancel(id);
});

test('a client that is gone before its stream begins is not waited with', async () => {
  const { id } = await ledger.submit({ workType: 'nobody takes it', description: 'Wait' });
  const request = new Request('http://here', { signal: AbortSignal.abort() });
  const answer = await eventResponse(ledger, id, request, { heartbeatSeconds: Infinity });
  expect(await answer.text()).toBe('retry: 1000\n\n');
  await ledger.cancel(id);
});

test('a heartbeat is a time that passes: others are refused, and one that never comes is none', async () => {
  const { id } = await ledger.submit({ workType: 'nobody takes it', description: 'Wait' });
  for (const heartbeatSeconds of [0, -1, Number.NaN])
    await expect(eventResponse(ledger, id, new Request('http://here'), { heartbeatSeconds })).rejects.toMatchObject({
      code: 'WL002',
      message: `heartbeatSeconds must be more than 0, not ${heartbeatSeconds}`,
    });
  const answer = await eventResponse(ledger, id, new Request('http://here'), { heartbeatSeconds: Infinity });
  const heard = answer.text();
  await until(async () => (await listening()) > 0 || null);
  await ledger.cancel(id);
  expect(await heard).not.toContain(': alive');
});

test('follow goes on behind every event of work that is over', async () => {
  held.resolve();
  const { id } = await ledger.submit({ workType: 'fix', description: 'Look at it again' });
  await ledger.wait(id);
  const eventsAfter = async (after?: string): Promise<WorkEvent[]> => {
    const events: WorkEvent[] = [];
    for await (const event of ledger.follow(id, after === undefined ? {} : { after })) events.push(event);
    return events;
  };
  const all = await eventsAfter();
  expect(all.length).toBeGreaterThan(4);
  for (const [n, { position }] of all.entries()) expect(await eventsAfter(position)).toEqual(all.slice(n + 1));
});
