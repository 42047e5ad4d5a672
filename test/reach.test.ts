// What CI may leave out after a change.

import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, matchesGlob, relative, resolve } from 'node:path';

import { describe, expect, test } from 'vitest';

import { costly, unreached } from './reach.ts';

const root = resolve(import.meta.dirname, '..');
const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter(Boolean);
const all = costly.flatMap(({ tests }) => tests);

/** What a file of ours imports, and what these import as long as they are helpers of tests. */
function importsOf(file: string, seen = new Set<string>()): Set<string> {
  const text = readFileSync(join(root, file), 'utf8');
  for (const [, name = ''] of text.matchAll(/from '(\.[^']*\.ts)'/g)) {
    const imported = relative(root, join(root, dirname(file), name));
    if (seen.has(imported)) continue;
    seen.add(imported);
    if (imported.startsWith('test/')) importsOf(imported, seen);
  }
  return seen;
}

test.each([...new Set(costly.flatMap(({ tests, paths }) => [...tests, ...paths]))])('%s names files that are there', (glob) => {
  expect(files.some((file) => matchesGlob(file, glob))).toBe(true);
});

describe.each(costly)('$tests', ({ tests, paths }) => {
  test.each(globSync([...tests], { cwd: root }))('%s is reached by what it imports', (file) => {
    const unnamed = [...importsOf(file)].filter((imported) => ![...tests, ...paths].some((glob) => matchesGlob(imported, glob)));
    expect(unnamed).toEqual([]);
  });
});

test('words and other tests reach none of them', () => {
  expect(
    unreached(['README.md', 'docs/sql.md', 'test/docs.test.ts', 'test/e2e/crash.test.ts', 'test/sql/work_cancel/ends.test.sql']),
  ).toEqual(all);
});

test('the path of a connection reaches what changes servers, and whatever else starts with it', () => {
  expect(unreached(['runtime/ledger/pool.ts'])).toEqual([]);
});

test('what an agent is shown reaches browsers, and no pair of servers', () => {
  const left = unreached(['sql/api/50_context/elision_due.sql']);
  expect(left).toContain('test/long/failover.test.ts');
  expect(left).not.toContain('test/console/browser*.test.ts');
});

test('a test that changed is run, whatever else did not', () => {
  expect(unreached(['test/long/move.test.ts'])).not.toContain('test/long/move.test.ts');
});

test('a change that the table does not know reaches all of them', () => {
  expect(unreached(['docs/sql.md', 'package-lock.json'])).toEqual([]);
  expect(unreached(['runtime/newFolder/code.ts'])).toEqual([]);
  expect(unreached(['.ci/run'])).toEqual([]);
});
