// The proxy: what its cuts do to a statement, to a request of the model and to one of the Docker daemon, and what becomes of it.

import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import Docker from 'dockerode';

import { openDb } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { noDocker } from '../docker.ts';
import { startProxy } from './proxy.ts';
import type { Proxy } from './proxy.ts';

let database: TestDatabase;
let proxy: Proxy;
let through: string;
beforeAll(async () => {
  database = await createDatabase();
  await database.query('create table said (what text)');
  const { hostname, pathname } = new URL(database.url);
  proxy = await startProxy({ path: `${decodeURIComponent(hostname)}/.s.PGSQL.5432` });
  through = `postgresql://postgres@127.0.0.1:${proxy.port}${pathname}`;
});
afterAll(async () => {
  await proxy?.close();
  await database?.drop();
});

const said = async (what: string): Promise<number> => (await database.query(`select from said where what = '${what}'`)).length;

/** Inserts a row by a connection of its own; how the insert ended. */
async function insert(what: string): Promise<string> {
  const client = new pg.Client({ connectionString: through });
  client.on('error', () => {});
  await client.connect();
  const ended = client.query(`insert into said values ('${what}')`).then(
    () => 'done',
    () => 'broken off',
  );
  const outcome = await ended;
  await client.end().catch(() => {});
  return outcome;
}

test('cut before: the statement does not arrive', async () => {
  const cut = proxy.cutNext('cut_before', 'before it');
  expect(await insert('before it')).toBe('broken off');
  await cut;
  expect(await said('before it')).toBe(0);
});

test('cut after: it is executed, and nobody is told', async () => {
  void proxy.cutNext('cut_after', 'after it');
  expect(await insert('after it')).toBe('broken off');
  expect(await said('after it')).toBe(1);
});

test('a drip: it takes longer, and arrives whole', async () => {
  void proxy.cutNext('drip', 'drop by drop');
  expect(await insert('drop by drop')).toBe('done');
  expect(await said('drop by drop')).toBe(1);
});

test('a black hole: neither answer nor end, until it is broken', async () => {
  const fallen = proxy.cutNext('black_hole', 'into the hole');
  let outcome = '';
  const inserted = insert('into the hole').then((ended) => (outcome = ended));
  await fallen;
  expect(await insert('beside it')).toBe('done');
  expect(outcome).toBe('');
  proxy.cutAll();
  await inserted;
  expect(outcome).toBe('broken off');
  expect(await said('into the hole')).toBe(0);
});

test('an entry whose acknowledgement is lost is appended once', async () => {
  const db = await openDb(through, 'ledger');
  const { id } = await db.workSubmit({ workType: 'any', description: 'x' });
  void proxy.cutNext('cut_after', 'the lost answer');
  expect(await db.ledgerAppend(id, 'note', 'the lost answer')).toMatchObject({ seq: 1 });
  expect(await db.ledgerRead(id, null, null)).toHaveLength(1);
  await db.close();
});

test('a response of the model that is cut is an error that can be tried again, and no half message', async () => {
  const model = await startScriptedModel(scriptOf([{ content: [{ type: 'text', text: 'Done.' }] }]));
  const cutting = await startProxy({ host: '127.0.0.1', port: Number(new URL(model.url).port) });
  const client = createModelClient({ apiKey: 'k', baseURL: `http://127.0.0.1:${cutting.port}` });
  const request = {
    model: 'claude-sonnet-5-5',
    max_tokens: 100,
    stream: true as const,
    messages: [{ role: 'user' as const, content: 'x' }],
  };
  const ask = () => client.call(request as never, { signal: new AbortController().signal });
  void cutting.cutNext('cut_before', '/v1/messages');
  expect(await ask()).toMatchObject({ kind: 'error', error: { class: 'transport' } });
  expect(model.requests).toHaveLength(0);
  void cutting.cutNext('cut_after', '/v1/messages');
  expect(await ask()).toMatchObject({ kind: 'error', error: { class: 'transport' } });
  expect(model.requests).toHaveLength(1);
  void cutting.cutNext('drip', '/v1/messages');
  expect(await ask()).toMatchObject({ kind: 'response' });
  await cutting.close();
  await model.close();
});

test.skipIf(noDocker !== null)('a Docker daemon behind it is reached, cut off and reached again', async () => {
  const socketPath = (new Docker().modem as { socketPath?: string }).socketPath ?? '/var/run/docker.sock';
  const cutting = await startProxy({ path: socketPath });
  const docker = new Docker({ host: '127.0.0.1', port: cutting.port, protocol: 'http' });
  await docker.ping();
  void cutting.cutNext('cut_after', '/_ping');
  await expect(docker.ping()).rejects.toThrow();
  await docker.ping();
  await cutting.close();
});

test('a proxy without its server breaks the connection', async () => {
  const nobody = createServer();
  await new Promise<void>((resolve) => nobody.listen(0, '127.0.0.1', resolve));
  const { port } = nobody.address() as AddressInfo;
  await new Promise((resolve) => nobody.close(resolve));
  const dead = await startProxy({ host: '127.0.0.1', port });
  const client = new pg.Client({ connectionString: `postgresql://127.0.0.1:${dead.port}/x` });
  client.on('error', () => {});
  await expect(client.connect()).rejects.toThrow();
  await dead.close();
});
