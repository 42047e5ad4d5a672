// JSON Schema is JSON Schema: the official test suite, what is left out of it and why, what errors say, and that no schema
// and no value takes for ever.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

import { schemaErrors } from '../../plv8/jsonSchema.ts';
import { patternFound } from '../../plv8/pattern.ts';

type Suite = Record<string, { description: string; schema: unknown; tests: { description: string; data: unknown; valid: boolean }[] }[]>;
const suite = (draft: string): Suite =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`../fixtures/jsonSchemaSuite/${draft}.json`, import.meta.url)), 'utf8'));
const draft7 = 'http://json-schema.org/draft-07/schema#';

/** A schema is one document: what must be fetched, the drafts' own schemas too, makes a schema that cannot be used. */
const isElsewhere = (errors: string[]): boolean =>
  errors.some((error) => /^the schema cannot be used: it contains no \S+, and nothing is fetched$/.test(error));
const elsewhere = { draft7: 27, 'draft2020-12': 48 };
/** A dialect of one's own is read like its draft. */
const otherwise = new Set([
  'schema that uses custom metaschema with with no validation vocabulary: no validation: invalid number, but it still validates',
]);

test.each(['draft7', 'draft2020-12'] as const)('the official suite: %s', (draft) => {
  const wrong: string[] = [];
  let [right, left] = [0, 0];
  for (const [file, groups] of Object.entries(suite(draft))) {
    for (const group of groups) {
      for (const { description, data, valid } of group.tests) {
        const schema = draft === 'draft7' && typeof group.schema === 'object' ? { $schema: draft7, ...group.schema } : group.schema;
        const errors = schemaErrors(schema, data);
        const name = `${group.description}: ${description}`;
        if (isElsewhere(errors)) left++;
        else if ((errors.length === 0) === valid && !errors.some((error) => error.startsWith('the schema cannot be used'))) right++;
        else if (!otherwise.has(name)) wrong.push(`${file}: ${name}: ${errors.join('; ')}`);
      }
    }
  }
  expect(wrong).toEqual([]);
  expect(left).toBe(elsewhere[draft]);
  expect(right).toBeGreaterThan(850);
});

test.each([
  [{ type: 'object', required: ['a'] }, {}, ['needs "a"']],
  [{ required: ['a'], properties: { a: { default: 1 } } }, {}, ['needs "a"']],
  [{ minimum: 3 }, 2, ['must be at least 3']],
  [{ const: { a: 1, b: [2] } }, { b: [2], a: 1 }, []],
  [{ enum: [{ a: 1 }] }, { a: 1 }, []],
  [{ type: 'integer' }, 1e20, []],
  [{ type: 'string', enum: ['a', 1] }, 1, ['must be string, not number']],
  [{ minItems: 1 }, [], ['must have at least 1 items']],
  [{ not: { type: 'string' } }, 'x', ['must not fit {"type":"string"}']],
  [JSON.parse('{"if": {"required": ["a"]}, "then": {"required": ["b"]}}'), { a: 1 }, ['needs "b"']],
  [
    { properties: { x: { $ref: '#/definitions/n' } }, definitions: { n: { type: 'number' } } },
    { x: 'y' },
    ['/x: must be number, not string'],
  ],
  [{ anyOf: [{ required: ['a'] }, { type: 'string' }] }, {}, ['fits none of 2 alternatives (needs "a"; must be string, not object)']],
  [
    { properties: { a: { items: { properties: { 'b/c': { maxLength: 1 } } } } } },
    { a: [{}, { 'b/c': 'xy' }] },
    ['/a/1/b~1c: must have at most 1 characters'],
  ],
  [{ additionalProperties: false }, JSON.parse('{"__proto__": 1}'), ['/__proto__: is not allowed']],
  [
    { patternProperties: { '^x-': { type: 'null' } }, additionalProperties: false },
    { 'x-a': 1, y: 2 },
    ['/x-a: must be null, not number', '/y: is not allowed'],
  ],
  [{ items: [{ type: 'null' }], additionalItems: false }, [null, 1], ['/1: is not allowed']],
  [{ pattern: '^[\\w\\-]+$' }, 'a-b', []],
  [{ type: 'object', format: 'no-such' }, {}, []],
])('in words, with the place: %j on %j', (schema, value, errors) => {
  expect(schemaErrors(schema, value)).toEqual(errors);
});

test.each([
  ['a schema that is none', 3, 'the schema cannot be used: 3 is not a schema'],
  ['a list for a schema', { properties: { a: [] } }, 'the schema cannot be used: [] is not a schema'],
  ['a reference to nothing', { $ref: '#/$defs/x' }, 'the schema cannot be used: it contains no #/$defs/x'],
  [
    'a reference elsewhere',
    { $ref: 'https://example.com/x' },
    'the schema cannot be used: it contains no https://example.com/x, and nothing is fetched',
  ],
  [
    'a reference to itself',
    { $ref: '#' },
    'the schema cannot be used: schema or value is nested deeper than 250 levels, or a $ref leads back to itself',
  ],
  ['a broken pattern', { properties: { a: { pattern: '(' } } }, 'the schema cannot be used: the pattern "(" is not a regular expression'],
  [
    'a pattern that refers back',
    { properties: { a: { pattern: '(a)\\1' } } },
    'the schema cannot be used: a pattern refers to an earlier group, which is not supported',
  ],
  [
    'a pattern of 10 kB',
    { properties: { a: { pattern: 'a'.repeat(10_000) } } },
    'the schema cannot be used: a pattern can have at most 2000 characters',
  ],
  [
    'a pattern that counts too far',
    { properties: { a: { pattern: '((a{100}){100}){100}' } } },
    'the schema cannot be used: a pattern repeats too often to be checked',
  ],
  ['too much work', { properties: { a: { pattern: '(.*a){200}$' } } }, 'the schema cannot be used: checking it takes too many steps'],
  [
    'doubling',
    Array.from({ length: 40 }).reduce<object>((inner) => ({ allOf: [inner, inner] }), {}),
    'the schema cannot be used: checking it takes too many steps',
  ],
])('what cannot be used says why and ends: %s', (_, schema, error) => {
  expect(schemaErrors(schema, { a: 'a'.repeat(100_000) })).toEqual([error]);
});

test('a value may be as deep and as large as it likes: the answer is in words', () => {
  expect(schemaErrors({ items: { $ref: '#' } }, JSON.parse('['.repeat(5000) + ']'.repeat(5000)))).toEqual([
    expect.stringContaining('nested deeper than 250 levels'),
  ]);
  expect(
    schemaErrors(
      { items: { type: 'string' } },
      Array.from({ length: 100 }, () => 1),
    ),
  ).toHaveLength(21);
});

describe('patterns', () => {
  test('that make an engine try for ever are answered', () => {
    for (const pattern of ['^(a+)+$', '^(a|a)*$', '^(a|ab|b)*$', '^([a-z]+)*$', '(x+x+)+y', '^(?=(a+)+$)a'])
      expect(schemaErrors({ pattern }, `${'a'.repeat(2000)}!`)).toEqual([`must match the pattern ${pattern}`]);
  });

  const spend = (): void => {};
  const patterns = [
    'a',
    '',
    '^a',
    'b$',
    'a|b',
    '(a|b)*c',
    'a{2}',
    'a{1,2}b',
    'a{2,}',
    '^a?b??$',
    '[^ab]',
    '[\\]a-]',
    '\\d+',
    '\\.',
    '.',
    '^.{3}$',
    '\\bab\\b',
    'a\\B',
    '(?=b)b',
    'a(?!b)',
    '(?<=a)b',
    '(?<!a)b',
    '^(?:ab)+$',
    '(?<n>a)b',
    '\\u0061',
    '\\x62',
    '\\u{1F642}',
    '\\p{L}',
    '^\\P{L}*$',
    '\\cA',
    '\\t',
    '^(a*)*$',
    '^(|a)+b',
    '\\/',
    '^\\S+@\\S+$',
    '^[\\w.-]+$',
    '\\-',
    'x*',
    '(a{2}){2}',
    '^$',
    '\\n',
    '🙂',
    '^🙂{2}$',
    '[🙂]',
  ];
  const texts = [
    '',
    'a',
    'b',
    'ab',
    'ba',
    'aab',
    'abab',
    'abc',
    'aaaa',
    '1',
    '12',
    'a b',
    '.',
    ']',
    '-',
    'ä',
    '🙂',
    '🙂🙂',
    'a\nb',
    '\t',
    '\u0001',
    'a@b',
    'a/b',
    'xyz',
    'c',
    'aabb',
    '_',
  ];
  test.each(patterns)('%s finds what the engine finds', (pattern) => {
    let engine: RegExp;
    try {
      engine = new RegExp(pattern, 'u');
    } catch {
      engine = new RegExp(pattern);
    }
    expect(texts.filter((text) => patternFound(pattern, text, spend))).toEqual(texts.filter((text) => engine.test(text)));
  });
});
