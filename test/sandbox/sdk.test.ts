// What the Python side says of code's end, without a container: any text is one line of JSON for the supervisor, who reads it
// as below and writes it anew.

import { spawnSync } from 'node:child_process';

import { expect, test } from 'vitest';

import { generateSdk } from '../../sandbox/generateSdk.ts';

const noPython = spawnSync('python3', ['--version']).status === 0 ? null : 'there is no python3';
if (noPython !== null) console.log(`Tests of the Python side are skipped: ${noPython}`);

const supervisor = `
import json, os, sys
sdk, code = json.load(sys.stdin)
answer, into = os.pipe()
if os.fork() == 0:
    names = {"__name__": "__sandbox__"}
    exec(compile(sdk, "<sdk>", "exec"), names)
    names["_run"](code, into, 4_000_000)
os.close(into)
os.write(1, json.dumps(json.loads(os.fdopen(answer, "rb").read())).encode())
`;

const answer = (code: string): unknown => {
  const { stdout, stderr } = spawnSync('python3', ['-c', supervisor], { input: JSON.stringify([generateSdk([], '/none'), code]) });
  return JSON.parse(stdout.toString() || JSON.stringify(stderr.toString()));
};

test.skipIf(noPython !== null).each([
  ['text', String.raw`return "a\x00b\ud800c"`, { kind: 'text', text: 'a\0b\ud800c' }],
  ['JSON', String.raw`return {"k\x00": "\udc00"}`, { kind: 'text', text: String.raw`{"k\u0000": "` + '\udc00"}' }],
  ['an exception', String.raw`raise Exception("a\x00b\ud800c")`, { kind: 'error', error: expect.stringContaining('a\0b\ud800c') }],
])('code that ends in any text: %s', (_, code, said) => {
  expect(answer(code)).toMatchObject(said);
});
