// What code may say on its socket: calls, at most 64 levels deep, and nothing that ends or holds up whoever reads it.

import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { ToolSocket } from '../../sandbox/toolSocket.ts';
import type { CodeCall } from '../../sandbox/toolSocket.ts';
import { heldWhile } from '../runtime/tools/heldWhile.ts';

let root: string;
let socket: ToolSocket;
const heard: CodeCall[] = [];

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'socket-test-'));
  socket = await ToolSocket.listen(root);
  socket.serve(async (call) => {
    heard.push(call);
    return { value: 'answered' };
  });
});
afterAll(async () => {
  await socket?.close();
  await rm(root, { recursive: true, force: true });
});

function say(body: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const asking = request({ socketPath: join(String(socket.directory), 'tool.sock'), method: 'POST' }, (response) => {
      text(response).then((answer) => resolve(JSON.parse(answer)), reject);
    });
    asking.on('error', reject).end(body);
  });
}
const withInput = (input: string): Promise<unknown> => say(`{"ordinal": 0, "name": "t", "input": ${input}}`);

test('a call is heard', async () => {
  expect(await withInput('{"a": ["\\\\", "]}\\"[[{", 1]}')).toEqual({ value: 'answered' });
  expect(heard.at(-1)).toEqual({ ordinal: 0, name: 't', input: { a: ['\\', ']}"[[{', 1] } });
});

test('64 levels are read, 65 are not, brackets in texts are none', async () => {
  const nested = (levels: number): string => `{"a": ${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}}`;
  expect(await withInput(nested(64))).toEqual({ value: 'answered' });
  expect(await withInput(nested(65))).toEqual({ error: 'a call can be at most 64 levels deep' });
  expect(await withInput(JSON.stringify({ a: '[{"'.repeat(1000) }))).toEqual({ value: 'answered' });
});

test.each(['[', '{"a":', '["', '\\"[', '"['])('a megabyte of %s holds up nothing and is no call', async (part) => {
  const before = heard.length;
  const { result, wasHeld } = await heldWhile(() => withInput(part.repeat(1_000_000 / part.length)));
  expect(result).toEqual({ error: expect.any(String) });
  expect(wasHeld).toBe(false);
  expect(heard).toHaveLength(before);
});
