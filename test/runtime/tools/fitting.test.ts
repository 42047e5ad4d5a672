// The input of a tool that was described by a JSON Schema of somebody else's.

import { expect, test } from 'vitest';

import { fitting } from '../../../runtime/tools/fitting.ts';

const saysOf = (schema: object, input: unknown, options?: { isCheckedAgain: boolean }): string[] =>
  fitting(schema, options)
    .safeParse(input)
    .error?.issues.map(({ message }) => message) ?? [];

const draft7 = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: { place: { $ref: '#/definitions/place' } },
  definitions: { place: { items: [{ type: 'number' }], additionalItems: false } },
};

test('is refused in words, by the draft that the schema names', () => {
  expect(saysOf(draft7, { place: [1] })).toEqual([]);
  expect(saysOf(draft7, { place: ['x', 2] }, { isCheckedAgain: true })).toEqual([
    '/place/0: must be number, not string',
    '/place/1: is not allowed',
  ]);
});

test('comes through as it is', () => {
  const input = JSON.parse('{"__proto__": 1, "a": null}') as object;
  expect(fitting({ type: 'object' }).parse(input)).toBe(input);
});

test('is left to whoever checks it again where the schema cannot be used', () => {
  const elsewhere = { type: 'object', properties: { a: { $ref: 'https://example.com/a' } } };
  expect(saysOf(elsewhere, { a: 1 }, { isCheckedAgain: true })).toEqual([]);
  expect(saysOf(elsewhere, { a: 1 })).toEqual([expect.stringMatching(/^the schema cannot be used: /)]);
});
