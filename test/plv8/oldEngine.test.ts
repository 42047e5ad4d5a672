// The bundles as a database would run them whose engine is V8 10 or older: without what it lacks, and without anything that
// Node has beside the language.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';

import { expect, test } from 'vitest';

import { databaseFunctions } from '../../plv8/build.ts';

/** Newer than V8 9.6, which is older than any plv8 that PostgreSQL 15 takes. */
const newer = {
  'Array.prototype': ['toSorted', 'toReversed', 'toSpliced', 'with', 'findLast', 'findLastIndex', 'group', 'groupToMap'],
  'Object.getPrototypeOf(Uint8Array.prototype)': ['toSorted', 'toReversed', 'with', 'findLast', 'findLastIndex'],
  'String.prototype': ['isWellFormed', 'toWellFormed'],
  'Set.prototype': ['union', 'intersection', 'difference', 'symmetricDifference', 'isSubsetOf', 'isSupersetOf', 'isDisjointFrom'],
  'Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()))': [
    'map',
    'filter',
    'take',
    'drop',
    'flatMap',
    'reduce',
    'toArray',
    'forEach',
    'some',
    'every',
    'find',
  ],
  Array: ['fromAsync'],
  Object: ['groupBy'],
  Map: ['groupBy'],
  Promise: ['withResolvers', 'try'],
  RegExp: ['escape'],
  Math: ['sumPrecise'],
  JSON: ['rawJSON', 'isRawJSON'],
  globalThis: [
    'Iterator',
    'structuredClone',
    'URL',
    'TextEncoder',
    'TextDecoder',
    'Buffer',
    'process',
    'console',
    'setTimeout',
    'Temporal',
    'WebAssembly',
  ],
};

type Answer = { value?: unknown; error?: string };

/** Each function by its name, in one context, as one connection would have them. */
async function functions(): Promise<Record<string, (...given: unknown[]) => Answer>> {
  const context = createContext({});
  for (const [place, names] of Object.entries(newer))
    for (const name of names) runInContext(`delete (${place})[${JSON.stringify(name)}]`, context);
  const bodies = [
    ...(await databaseFunctions()).matchAll(/function @extschema@\._js_(\w+)\(([^)]*)\)[^$]*\$bundle\$\n([^]*?)\$bundle\$;/g),
  ];
  expect(bodies).toHaveLength(4);
  return Object.fromEntries(
    bodies.map(([, name = '', takes = '', body = '']) => {
      const run = runInContext(`(function (${takes.replaceAll(' text', '')}) {${body}})`, context) as (...given: unknown[]) => Answer;
      return [name, (...given: unknown[]) => JSON.parse(JSON.stringify(run(...given))) as Answer];
    }),
  );
}

test('what old engines lack is not there, and nothing misses it', async () => {
  const {
    json_schema_errors: schema,
    markdown_codeblocks: blocks,
    markdown_file_references: references,
    recorded_runs_parse: runs,
  } = await functions();
  const suite = JSON.parse(
    readFileSync(fileURLToPath(new URL('../fixtures/jsonSchemaSuite/draft2020-12.json', import.meta.url)), 'utf8'),
  ) as Record<string, { schema: unknown; tests: { data: unknown }[] }[]>;
  for (const group of Object.values(suite).flat())
    for (const { data } of group.tests) expect(schema?.(JSON.stringify(group.schema), JSON.stringify(data)).error).toBeUndefined();
  const text = readFileSync(fileURLToPath(new URL('../../docs/context.md', import.meta.url)), 'utf8');
  expect(blocks?.(text).value).not.toEqual([]);
  expect(references?.(text).value).not.toEqual([]);
  const transcript = readFileSync(fileURLToPath(new URL('../fixtures/claudeCode.jsonl', import.meta.url)), 'utf8');
  expect(runs?.(transcript).value).toMatchObject([{ format: 'claude-code' }]);
  expect(
    runs?.(
      String.raw`{"trajectory_format":"mini-swe-agent-1","messages":[{"role":"user","content":"a\u0000\ud800"},{"role":"assistant","content":"x","extra":{"response":{"usage":{"prompt_tokens":1,"completion_tokens":7}}}}]}`,
    ).value,
  ).toMatchObject([{ prompt: 'a␀\ufffd' }]);
});

test('what goes wrong is an answer in one sentence', async () => {
  const { markdown_codeblocks: blocks, recorded_runs_parse: runs } = await functions();
  expect(runs?.('garbage')).toEqual({ error: expect.stringMatching(/^not a recorded run: [^\n]{1,290}$/) });
  expect(blocks?.('> '.repeat(20_000))).toEqual({ error: 'it is too large or nests too deep' });
});
