// The table of `work-ledger list` in terminals of several widths.

import { stripVTControlCharacters } from 'node:util';

import { expect, test } from 'vitest';

import { widthOf } from '../../../runtime/commands/cells.ts';
import { table } from '../../../runtime/commands/list.ts';
import type { ListedItem } from '../../../runtime/ledger/overview.ts';

const id = '01a222cd-97c7-715e-a67a-9870bef29622';
const item = {
  id,
  parent_id: null,
  description: 'Find why the nightly import takes five hours',
  state: 'running',
  state_reason: null,
  why: null,
  faculty: 'engineer',
  age_seconds: 5,
} as ListedItem;

test.for([
  [60, 'f29622', false],
  [80, 'f29622', true],
  [140, id, true],
  [Infinity, id, true],
] as const)('with %d columns an item fits in its line, by an id that commands accept', ([width, shown, isWhole]) => {
  const lines = table([item], width).map((line) => stripVTControlCharacters(line));
  expect(lines[1]?.split(' ')[0]).toBe(shown);
  expect(lines.every((line) => line.length <= width)).toBe(true);
  expect(lines[1]?.endsWith(item.description)).toBe(isWhole);
});

test.for([60, 80, 140])('with %d columns characters of two cells fit as well, and none is cut in two', (width) => {
  const wide = ['漢字仮名交じり文'.repeat(30), `x${'👍'.repeat(100)}`].map((description) => ({ ...item, description, faculty: '技術者' }));
  for (const line of table(wide, width).map((text) => stripVTControlCharacters(text))) {
    expect(widthOf(line)).toBeLessThanOrEqual(width);
    expect(line.isWellFormed()).toBe(true);
  }
});
