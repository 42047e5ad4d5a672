// Where each key and list element of a TOML file was written.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseToml, TomlError } from '../../../runtime/faculty/toml.ts';

type Value = { kind: 'scalar'; text: string } | { kind: 'list'; items: Value[] } | { kind: 'table'; pairs: Pair[] };
type Pair = { keys: string[]; value: Value };
type Table = { keys: string[]; isList: boolean; repeats: number; pairs: Pair[]; noise: string };

const { pair: anyPair } = fc.letrec<{ value: Value; pair: Pair }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc
      .constantFrom(
        '1',
        '-0.5e3',
        'true',
        '0x1F',
        'inf',
        '1979-05-27 07:32:00',
        '07:32:00',
        '""',
        "''",
        '"# [a] \\" = 1"',
        "'\\'",
        '"]}"',
        '"""\n[faculty]\nk = \\""" 1 """',
        '"""a"""""',
        "'''\n[x]\n# ''k' = 1'''",
        "''''a'''''",
        '"""\\\\"""',
        '"""\\\n  # x"""',
      )
      .map((text): Value => ({ kind: 'scalar', text })),
    fc.array(tie('value'), { maxLength: 3 }).map((items): Value => ({ kind: 'list', items })),
    fc.array(tie('pair'), { maxLength: 3 }).map((pairs): Value => ({ kind: 'table', pairs })),
  ),
  pair: fc.record({
    keys: fc.array(fc.string({ unit: 'grapheme-ascii', maxLength: 4 }), { minLength: 1, maxLength: 3 }),
    value: tie('value'),
  }),
}));

const anyTable: fc.Arbitrary<Table> = fc.record({
  keys: fc.array(fc.string({ unit: 'grapheme-ascii', maxLength: 4 }), { minLength: 1, maxLength: 3 }),
  isList: fc.boolean(),
  repeats: fc.integer({ min: 1, max: 2 }),
  pairs: fc.array(anyPair, { maxLength: 3 }),
  noise: fc.constantFrom('', '\n', '\r\n', '# [a]\n', '# k = """\n', '  \t\n'),
});

/** Writes tables as TOML and keeps where each key and list element begins; a number after each key makes it unique. */
class Writer {
  toml = '';
  readonly expected = new Map<string, number>();
  #count = 0;

  names(keys: string[]): string[] {
    return keys.map((key) => `${key}_${this.#count++}`);
  }

  mark(path: (string | number)[], offset = this.toml.length): void {
    const id = JSON.stringify(path);
    if (!this.expected.has(id)) this.expected.set(id, offset);
  }

  key(name: string): void {
    const isBare = /^[\w-]+$/.test(name) && this.#count % 3 !== 0;
    this.toml += isBare ? name : this.#count % 2 === 0 && !name.includes("'") ? `'${name}'` : JSON.stringify(name);
  }

  pair({ keys, value }: Pair, table: (string | number)[]): void {
    const names = this.names(keys);
    names.forEach((name, i) => {
      if (i > 0) this.toml += i % 2 === 0 ? '.' : ' . ';
      this.mark([...table, ...names.slice(0, i + 1)]);
      this.key(name);
    });
    this.toml += this.#count % 2 === 0 ? ' = ' : '=';
    this.value(value, [...table, ...names]);
  }

  value(value: Value, path: (string | number)[]): void {
    if (value.kind === 'scalar') this.toml += value.text;
    else if (value.kind === 'table') {
      this.toml += '{ ';
      value.pairs.forEach((pair, i) => {
        if (i > 0) this.toml += ', ';
        this.pair(pair, path);
      });
      this.toml += ' }';
    } else {
      this.toml += '[ # ]"\n';
      value.items.forEach((item, i) => {
        this.mark([...path, i]);
        this.value(item, [...path, i]);
        this.toml += i % 2 === 0 ? ', # ["\n' : ' ,';
      });
      this.toml += ']';
    }
  }

  table({ keys, isList, repeats, pairs, noise }: Table): void {
    const names = this.names(keys);
    for (let index = 0; index < (isList ? repeats : 1); index++) {
      this.toml += `${noise}  `;
      const path = isList ? [...names, index] : names;
      path.forEach((_, i) => this.mark(path.slice(0, i + 1)));
      this.toml += isList ? '[[' : '[ ';
      names.forEach((name, i) => {
        if (i > 0) this.toml += '.';
        this.key(name);
      });
      this.toml += isList ? ']] # ]\n' : ' ]\n';
      for (const pair of pairs) {
        this.pair(pair, path);
        this.toml += ' # = [x]\n';
      }
    }
  }
}

describe('the positions', () => {
  it('of every key and list element of any TOML are those where it was written', () => {
    fc.assert(
      fc.property(fc.array(anyPair, { maxLength: 2 }), fc.array(anyTable, { maxLength: 4 }), (pairs, tables) => {
        const writer = new Writer();
        for (const pair of pairs) {
          writer.pair(pair, []);
          writer.toml += '\n';
        }
        for (const table of tables) writer.table(table);
        const { positionOf } = parseToml(writer.toml);
        for (const [id, offset] of writer.expected) {
          const before = writer.toml.slice(0, offset);
          expect(positionOf(JSON.parse(id) as string[]), id).toEqual({
            line: before.split('\n').length,
            column: before.length - before.lastIndexOf('\n'),
          });
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('of text that is no TOML are where it stops to be', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('[', ']', '{', '}', '"', "'", '=', '.', ',', '#', '\n', ' ', 'a', '-') }), (text) => {
        try {
          parseToml(text);
        } catch (error) {
          expect(error).toBeInstanceOf(TomlError);
          expect((error as TomlError).position.line).toBeLessThanOrEqual(text.split('\n').length);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
