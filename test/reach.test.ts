// What CI may leave out after a change.

import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { matchesGlob, resolve } from 'node:path';

import { afterEach, describe, expect, test, vi } from 'vitest';

import { costly, importsOf, namesWords, unreached } from './reach.ts';

const root = resolve(import.meta.dirname, '..');
const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter(Boolean);
const all = [...new Set(costly.flatMap(({ tests }) => tests))];

afterEach(() => vi.unstubAllEnvs());

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
  expect(unreached(['README.md', 'docs/sql.md', 'test/docs.test.ts', 'test/runtime/config.test.ts'])).toEqual(all);
});

test('what names words is run when they change', () => {
  expect(all).toContain('test/e2e/crash.test.ts');
  for (const reader of ['test/e2e/traces.test.ts', 'test/long/metrics.test.ts', 'test/long/restore.test.ts']) {
    expect(namesWords(reader)).toBe(true);
    expect(all).not.toContain(reader);
  }
});

test('a test that changed is run alone, what tests share reaches all of them', () => {
  const left = unreached(['test/e2e/crash.test.ts']);
  expect(all.filter((file) => !left.includes(file))).toEqual(['test/e2e/crash.test.ts']);
  const shared = unreached(['test/faults/clients.ts']);
  expect(shared).not.toContain('test/e2e/crash.test.ts');
  expect(unreached(['test/database.ts', 'test/faults/clients.ts'])).toEqual([]);
});

test('a pgTAP file reaches what plays such files', () => {
  const left = unreached(['test/sql/work_cancel/ends.test.sql']);
  expect(all.filter((file) => !left.includes(file))).toEqual(['test/sql.test.ts']);
  expect(unreached(['test/sql/_fixtures.sql'])).not.toContain('test/e2e/crash.test.ts');
});

test('what is left out is left out of each project', async () => {
  const played = async (leftOut: string): Promise<string[]> => {
    vi.resetModules();
    vi.stubEnv('LEFT_OUT', leftOut);
    const { projects } = await import('../vitest.config.ts');
    return projects.flatMap(({ test: { include, exclude } }) => globSync(include, { cwd: root, exclude }));
  };
  const costs = ['test/sql.test.ts', 'test/e2e/move.test.ts', 'test/console/browserKeys.test.ts', 'test/faults/long/promotion.test.ts'];
  const everything = await played('');
  const left = await played('test/sql.test.ts test/e2e/move.test.ts test/console/browser*.test.ts test/faults/long/**');
  for (const file of costs) expect([file, everything.includes(file), left.includes(file)]).toEqual([file, true, false]);
  expect(left).toContain('test/reach.test.ts');
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
