// What the Python side says of code's end, without a container: any text is one line of JSON for the supervisor, who reads it
// as below and writes it anew. And tools may be called anything, as those of MCP servers are.

import { spawnSync } from 'node:child_process';

import { expect, test } from 'vitest';

import { generateSdk } from '../../sandbox/generateSdk.ts';
import type { CodeTool } from '../../sandbox/generateSdk.ts';

const noPython = spawnSync('python3', ['--version']).status === 0 ? null : 'there is no python3';
if (noPython !== null) console.log(`Tests of the Python side are skipped: ${noPython}`);

const supervisor = `
import json, os, sys
sdk, code = json.load(sys.stdin)
answer, into = os.pipe()
if os.fork() == 0:
    names = {"__name__": "__sandbox__"}
    exec(compile(sdk, "<sdk>", "exec"), names)
    names["_call"] = lambda name, arguments: {"name": name, "input": arguments}
    names["_run"](code, into, 4_000_000)
os.close(into)
os.write(1, json.dumps(json.loads(os.fdopen(answer, "rb").read())).encode())
`;

const answer = (code: string, tools: readonly CodeTool[] = []): unknown => {
  const { stdout, stderr } = spawnSync('python3', ['-c', supervisor], { input: JSON.stringify([generateSdk(tools, '/none'), code]) });
  return JSON.parse(stdout.toString() || JSON.stringify(stderr.toString()));
};

test.skipIf(noPython !== null).each([
  ['text', String.raw`return "a\x00b\ud800c"`, { kind: 'text', text: 'a\0b\ud800c' }],
  ['JSON', String.raw`return {"k\x00": "\udc00"}`, { kind: 'text', text: String.raw`{"k\u0000": "` + '\udc00"}' }],
  ['an exception', String.raw`raise Exception("a\x00b\ud800c")`, { kind: 'error', error: expect.stringContaining('a\0b\ud800c') }],
])('code that ends in any text: %s', (_, code, said) => {
  expect(answer(code)).toMatchObject(said);
});

const tool = (name: string, ...parameters: string[]): CodeTool => ({
  name,
  description: 'A tool.',
  input_schema: {
    type: 'object',
    properties: Object.fromEntries(parameters.map((key) => [key, { type: 'string' }])),
    required: parameters,
  },
});

test.skipIf(noPython !== null).each([
  [
    'parameters that differ in what no name may have',
    tool('a', 'user-id', 'user_id', 'user.id'),
    'a(user_id="2", user_id_2="1", user_id_3="3")',
    { 'user-id': '1', user_id: '2', 'user.id': '3' },
  ],
  [
    'parameters of other scripts',
    tool('a', '名前', '住所', 'größe'),
    'a(名前="1", 住所="2", größe="3")',
    { 名前: '1', 住所: '2', größe: '3' },
  ],
  [
    'parameters that Python or the SDK uses',
    tool('a', 'None', '_call', '2', ''),
    'a(None_="1", _call_="2", _2="3", _="4")',
    { None: '1', _call: '2', 2: '3', '': '4' },
  ],
  ['a tool called as a module of the SDK', tool('json'), 'json()', {}],
  ['a tool called as a type that others return', tool('list'), 'list()', {}],
  ['a tool called as what every object has', tool('constructor'), 'constructor()', {}],
  ['a name that no Python function may have', tool('2fa'), '_2fa()', {}],
])('tools of any name can be called, and so can all others: %s', (_, odd, code, input) => {
  const { text } = answer(code, [odd, tool('glob')]) as { text: string };
  expect(JSON.parse(text)).toEqual({ name: odd.name, input });
});

test.skipIf(noPython !== null)('two tools whose names differ in what no name may have are two functions', () => {
  const { text } = answer('[a_b()["name"], a_b_2()["name"]]', [tool('a-b'), tool('a_b')]) as { text: string };
  expect(JSON.parse(text)).toEqual(['a_b', 'a-b']);
});
