// Calls of an MCP client whose answers are lost: between the server and the database, and between the client and the server.

import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { startProxy } from '../faults/proxy.ts';
import type { Proxy } from '../faults/proxy.ts';

const main = fileURLToPath(new URL('../../runtime/start.ts', import.meta.url));
let database: TestDatabase;
let proxy: Proxy;
let client: Client;

beforeAll(async () => {
  database = await createDatabase();
  const { hostname } = new URL(database.url);
  proxy = await startProxy({ path: `${decodeURIComponent(hostname)}/.s.PGSQL.5432` });
  client = await connect();
});
afterAll(async () => {
  await client?.close();
  await proxy?.close();
  await database?.drop();
});

async function connect(): Promise<Client> {
  const through = `postgresql://postgres@127.0.0.1:${proxy.port}${new URL(database.url).pathname}`;
  const made = new Client({ name: 'test', version: '1' });
  await made.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [main, 'mcp', '--conversation', 'repeats'],
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', DATABASE_URL: through },
      stderr: 'inherit',
    }),
  );
  return made;
}

async function call(by: Client, input: Record<string, unknown>, id?: string, name = 'memory'): Promise<string> {
  const result = (await by.callTool({
    name,
    arguments: input,
    ...(id !== undefined && { _meta: { 'claudecode/toolUseId': id } }),
  })) as { content: { text: string }[] };
  return result.content[0]!.text;
}

const versions = (): Promise<unknown[]> =>
  database.query('select command, path, content from ledger.v_memory_versions order by version, path');

const a = '/memories/a.md';
const commands: [Record<string, unknown>, RegExp][] = [
  [{ command: 'create', path: a, file_text: 'one' }, /^File created/],
  [{ command: 'insert', path: a, insert_line: 1, insert_text: 'two' }, /^The file .* has been edited/],
  [{ command: 'str_replace', path: a, old_str: 'two', new_str: 'two two' }, /^The memory file has been edited/],
  [{ command: 'rename', old_path: a, new_path: '/memories/b.md' }, /^Successfully renamed/],
  [{ command: 'delete', path: '/memories/b.md' }, /^Successfully deleted/],
];
const once = [
  { command: 'create', path: a, content: 'one' },
  { command: 'insert', path: a, content: 'one\ntwo' },
  { command: 'str_replace', path: a, content: 'one\ntwo two' },
  { command: 'rename', path: '/memories/b.md', content: 'one\ntwo two' },
  { command: 'delete', path: '/memories/b.md', content: null },
];

test('a call whose answer the server lost is done once, and answered as if nothing had happened', async () => {
  for (const [input, said] of commands) {
    const cut = proxy.cutNext('cut_after', 'ability_invoke');
    expect(await call(client, input)).toMatch(said);
    await cut;
  }
  expect(await versions()).toEqual(once);
  const cut = proxy.cutNext('cut_after', 'ability_invoke');
  await call(client, { entry_type: 'finding', content: 'Seen once' }, undefined, 'ledger_append');
  await cut;
  expect(await database.query(`select content from ledger.v_ledger where entry_type = 'finding'`)).toEqual([{ content: 'Seen once' }]);
});

test('a call that the client makes again under its own id is done once, over another connection, too', async () => {
  const before = (await versions()).length;
  const other = await connect();
  for (const [n, [input, said]] of commands.entries())
    for (const by of [client, other]) expect(await call(by, input, `toolu_${n}`)).toMatch(said);
  await other.close();
  expect((await versions()).length - before).toBe(commands.length);
});

test('without an id of the client a call that is made again is another one, and is told what is', async () => {
  const path = '/memories/c.md';
  expect(await call(client, { command: 'create', path, file_text: 'one' })).toMatch(/^File created/);
  expect(await call(client, { command: 'create', path, file_text: 'one' })).toMatch(/already exists/);
});
