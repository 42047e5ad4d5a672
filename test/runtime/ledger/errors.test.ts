// One list of error codes: what SQL raises, what TypeScript knows and what sql/README.md tells are the same.

import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { errorCodes } from '../../../runtime/ledger/errors.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const codesIn = (text: string): string[] => [...new Set(text.match(/WL\d{3}/g))].toSorted();

test('SQL, TypeScript and the documentation name the same codes', () => {
  const raised = globSync('sql/{api/*,schema}/*.sql', { cwd: root })
    .map((file) => readFileSync(root + file, 'utf8'))
    .flatMap((text) => text.match(/errcode = (?:case .*? end|'WL\d{3}')/gs) ?? [])
    .join(' ');
  expect(codesIn(raised)).toEqual(Object.keys(errorCodes));
  expect(codesIn(readFileSync(`${root}sql/README.md`, 'utf8'))).toEqual(Object.keys(errorCodes));
});

test('a comment promises only codes that there are', () => {
  const comments = globSync('sql/api/*/*.sql', { cwd: root })
    .map((file) => readFileSync(root + file, 'utf8'))
    .flatMap((text) => text.match(/^comment on [^]*?;$/gm) ?? []);
  expect(comments.length).toBeGreaterThan(50);
  for (const code of codesIn(comments.join(' '))) expect(Object.keys(errorCodes)).toContain(code);
});
