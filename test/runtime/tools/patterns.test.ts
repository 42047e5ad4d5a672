// Patterns that a model may write: how many others their braces stand for is known before they are tried, and what takes for
// ever is ended beside the worker's thread.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { glob, globWithin } from '../../../runtime/tools/glob.ts';
import { grep, grepWithin } from '../../../runtime/tools/grep.ts';
import { alternatives } from '../../../runtime/tools/patterns.ts';
import type { Tool } from '../../../runtime/tools/tool.ts';
import { HostWorkspace } from '../../../sandbox/hostWorkspace.ts';
import { heldWhile } from './heldWhile.ts';
import { noLedger } from '../../noLedger.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'patterns-test-'));
  await writeFile(join(root, 'a'.repeat(200)), `${'a'.repeat(1_000_000)}!`);
});
afterAll(() => rm(root, { recursive: true, force: true }));

const call = (tool: Tool, input: object) =>
  tool.execute(tool.input.parse(input), {
    workspace: new HostWorkspace(root),
    webFetchAllow: [],
    workItemId: 'w',
    toolCallId: 't',
    ledger: noLedger,
    isFromCode: false,
    signal: new AbortController().signal,
  });

test.each([
  ['*.ts', 1],
  ['*.{ts,js}', 2],
  ['{a,b}{c,d}', 4],
  ['{a,{b,c}}', 3],
  ['{a,b{c,d}}/{e,f}', 6],
  ['{1..9}', 9],
  ['{9..1..2}', 5],
  ['\\{a,b}', 2],
  ['x{y}z', 1],
  ['}{', 1],
  ['{a,b}'.repeat(24), 2 ** 24],
])('%s stands for %i patterns at most', (pattern, count) => {
  expect(Math.floor(alternatives(pattern))).toBeGreaterThanOrEqual(count);
  expect(alternatives(pattern)).toBeLessThan(count * 1.5 + 1);
});

const MILLISECONDS = 1500; // longer than the thread may be held up
const aa = '{a,b}'.repeat(24);
test.each([
  ['braces for millions', glob, { pattern: aa }, 'stand for more than 1000 patterns'],
  ['braces for millions, of grep', grep, { pattern: 'x', glob: aa }, 'stand for more than 1000 patterns'],
  ['a range of millions', glob, { pattern: '{1..9999999}' }, 'stand for more than 1000 patterns'],
  ['a megabyte of braces', glob, { pattern: '{a,b}'.repeat(200_000) }, 'too long'],
  ['a megabyte of braces, of grep', grep, { pattern: 'x', glob: '{'.repeat(1_000_000) }, 'too long'],
  ['stars that take for ever', globWithin(MILLISECONDS), { pattern: `${'*a'.repeat(40)}b` }, 'takes too long'],
  ['stars that take for ever, of grep', grepWithin(MILLISECONDS), { pattern: 'x', glob: `${'*a'.repeat(40)}b` }, 'takes too long'],
  ['a megabyte on one line that takes for ever', grepWithin(MILLISECONDS), { pattern: '^(a+)+$' }, 'takes too long'],
  ['a megabyte of a regular expression', grep, { pattern: '(a?){50}'.repeat(120_000) }, ''],
])('%s holds up nothing', async (_, tool, input, said) => {
  const { result, wasHeld } = await heldWhile(() => call(tool, input));
  expect(result.isError || said === '').toBe(true);
  expect(result.content).toContain(said);
  expect(wasHeld).toBe(false);
});
