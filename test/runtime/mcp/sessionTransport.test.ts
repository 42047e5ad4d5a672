import { ProtocolError, Server } from '@modelcontextprotocol/server';
import { afterEach, expect, test } from 'vitest';

import { SessionTransport } from '../../../runtime/mcp/sessionTransport.ts';
import { until } from '../../workerProcess.ts';

const url = 'http://localhost/mcp';
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** A server whose call of a tool is answered with its name, when it is let go; `stopped` are those whose calls were cancelled. */
async function serve() {
  const held = new Map<string, PromiseWithResolvers<void>>();
  const stopped: string[] = [];
  const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: { listChanged: true }, resources: {} } });
  server.setRequestHandler('tools/call', async ({ params: { name } }, { mcpReq: { signal } }) => {
    signal.addEventListener('abort', () => stopped.push(name));
    const gate = Promise.withResolvers<void>();
    held.set(name, gate);
    await gate.promise;
    return { content: [{ type: 'text', text: name }] };
  });
  server.setRequestHandler('resources/read', () => {
    throw new ProtocolError(-32602, 'there is no such thing');
  });
  const transport = new SessionTransport({ sessionIdGenerator: () => 'session' });
  await server.connect(transport);
  servers.push(server);
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-session-id': 'session',
    'mcp-protocol-version': '2025-11-25',
  };
  const post = (parsedBody: object): Promise<Response> =>
    transport.handleRequest(new Request(url, { method: 'POST', headers }), { parsedBody });
  const resume = (lastEventId = ''): Promise<Response> =>
    transport.handleRequest(new Request(url, { headers: { ...headers, 'last-event-id': lastEventId } }), {});
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'by hand', version: '1' } };
  const begin = async (): Promise<void> => void (await (await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params })).text());
  async function finish(name: string): Promise<void> {
    await until(() => held.has(name));
    held.get(name)?.resolve();
  }
  const changed = (): Promise<void> => server.sendToolListChanged();
  return { post, resume, begin, held, finish, stopped, changed };
}
const call = (id: number | string, name: string) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } });
const cancel = (requestId: number | string) => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
/** The messages of a stream, when it has ended. */
const messages = async (response: Response) =>
  [...(await response.text()).matchAll(/^data: (\{.+)$/gm)].map(
    ([, data]) => JSON.parse(data ?? '') as { id: unknown; result?: { content: { text: string }[] }; error?: { code: number } },
  );
const result = (id: number | string, text: string) => ({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } });

test('two requests with one id at once have each their own answer', async () => {
  const { post, begin, finish } = await serve();
  await begin();
  const [slow, quick] = [await post(call(1, 'slow')), await post(call(1, 'quick'))];
  await finish('quick');
  expect(await messages(quick)).toEqual([result(1, 'quick')]);
  await finish('slow');
  expect(await messages(slow)).toEqual([result(1, 'slow')]);
  const twice = await post([call('a', 'one'), call('a', 'other')]);
  for (const name of ['one', 'other']) await finish(name);
  expect(await messages(twice)).toEqual([result('a', 'one'), result('a', 'other')]);
});

test('the stream of a request that is cancelled ends, and its id can be used again', async () => {
  const { post, begin, held, finish, stopped } = await serve();
  await begin();
  const waiting = await post(call(7, 'waits'));
  await until(() => held.has('waits'));
  expect((await post(cancel(7))).status).toBe(202);
  expect(await messages(waiting)).toEqual([{ jsonrpc: '2.0', id: 7, error: { code: -32800, message: 'the request was cancelled' } }]);
  expect(stopped).toEqual(['waits']);
  await finish('waits'); // that it has an answer after all is heard by nobody
  const again = await post(call(7, 'again'));
  await finish('again');
  expect(await messages(again)).toEqual([result(7, 'again')]);
});

test('of a batch only what is cancelled ends; what nobody asked for is not cancelled', async () => {
  const { post, begin, held, finish, stopped } = await serve();
  await begin();
  const both = await post([call('left', 'left'), call('kept', 'kept')]);
  await until(() => held.size === 2);
  for (const id of [1, 2, 3, 4, '2', 'unknown']) await post(cancel(id)); // as they may be numbered inside
  await post(cancel('left'));
  await finish('kept');
  const said = await messages(both);
  expect(said.map(({ id, error }) => [id, error?.code])).toEqual([
    ['left', -32800],
    ['kept', undefined],
  ]);
  expect(stopped).toEqual(['left']);
});

test('who asks for the rest of a stream that is over is told so; who missed its end gets it', async () => {
  const { post, resume, begin, held, finish } = await serve();
  await begin();
  const failed = await (await post({ jsonrpc: '2.0', id: 2, method: 'resources/read', params: { uri: 'work-ledger://nothing' } })).text();
  const [before, end] = [...failed.matchAll(/^id: (\d+)$/gm)].map(([, id]) => id ?? '');
  expect((await resume(end)).status).toBe(204);
  expect(await messages(await resume(before))).toMatchObject([{ id: 2, error: { code: -32602 } }]);

  const waiting = await post([call(3, 'quick'), call(4, 'slow')]);
  await finish('quick');
  const reader = waiting.body?.pipeThrough(new TextDecoderStream()).getReader();
  let heard = '';
  while (!heard.includes('"id":3')) heard += (await reader?.read())?.value;
  await reader?.cancel();
  const rest = await resume([...heard.matchAll(/^id: (\d+)$/gm)].at(-1)?.[1]);
  await until(() => held.has('slow'));
  await finish('slow');
  expect(await messages(rest)).toEqual([result(4, 'slow')]);
});

test('a stream goes to whoever asks for it, even if it was not noticed that the connection before was lost', async () => {
  const { post, resume, begin, held, finish, changed } = await serve();
  await begin();
  const waiting = await post(call(2, 'slow'));
  const reader = waiting.body?.pipeThrough(new TextDecoderStream()).getReader();
  const first = /^id: (\d+)$/m.exec((await reader?.read())?.value ?? '')?.[1];
  await until(() => held.has('slow'));
  const rest = await resume(first); // nobody reads the first any more, nor says so
  await finish('slow');
  expect(await messages(rest)).toEqual([result(2, 'slow')]);
  expect((await reader?.read())?.done).toBe(true);

  const [lost, own] = [await resume(), await resume()];
  expect([lost.status, own.status]).toEqual([200, 200]);
  expect(await messages(lost)).toEqual([]);
  await changed();
  const heard = (await own.body?.pipeThrough(new TextDecoderStream()).getReader().read())?.value ?? '';
  expect(heard).toContain('notifications/tools/list_changed');
  const again = await resume(/^id: (\d+)$/m.exec(heard)?.[1]);
  expect(again.status).toBe(200);
  expect((await resume('nonsense')).status).toBe(400);
});
