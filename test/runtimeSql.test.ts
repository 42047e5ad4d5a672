// What runtime/ names of the ledger's SQL: its public functions and views. A private function or a table may change with every build,
// and programs of another version go on with it.

import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const sql = globSync('sql/{api,schema}/**/*.sql', { cwd: root })
  .map((file) => readFileSync(root + file, 'utf8'))
  .join('\n');
const privates = new Set([...sql.matchAll(/^create (?:or replace )?function (_\w+)\(/gm)].map(([, name = '']) => name));
const tables = new Set([...sql.matchAll(/^create (?:unlogged )?table (\w+) \(/gm)].map(([, name = '']) => name));

const sources = globSync('runtime/**/*.ts', { cwd: root })
  .toSorted()
  .map((file) => ({ file, source: readFileSync(root + file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/gm, '') }));

/** By file, what of these it names as `words` finds them. */
function named(names: ReadonlySet<string>, words: RegExp): Record<string, string[]> {
  return Object.fromEntries(
    sources
      .map(
        ({ file, source }) =>
          [file, [...new Set([...source.matchAll(words)].map(([word]) => word).filter((word) => names.has(word)))].toSorted()] as const,
      )
      .filter(([, found]) => found.length > 0),
  );
}

test('no file names a private function, but where the code of a ledger is made, which is of the same build', () => {
  expect(privates.size).toBeGreaterThan(500);
  expect(named(privates, /\b_\w+(?=[('])/g)).toEqual({
    'runtime/install/comparedCode.ts': ['_refuse_moved'], // is what stands there the code of this package?
    'runtime/install/installLedger.ts': ['_code_note'],
    'runtime/install/renamedScript.ts': ['_code_now'],
    'runtime/move/ends.ts': ['_moved', '_refuse_moved'], // who moves a ledger installs it at the target
  });
});

test('no file names a table, but where a ledger is made, looked for and carried away', () => {
  expect(tables.size).toBeGreaterThan(40);
  // As `named('work_items')`, `${schema}.work_items` or '.work_items'.
  expect(
    Object.keys(named(tables, /(?<=named\(')\w+|(?<=invoked\(')\w+|(?<=\}\.)\w+|(?<='\.)\w+/g)).filter(
      (file) => !/^runtime\/(?:install|move)\//.test(file),
    ),
  ).toEqual([
    'runtime/ledger/checkLedger.ts', // before anything of a ledger may be called: is there one, and whole?
  ]);
});
