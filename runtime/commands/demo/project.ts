// The project that the demo's agent works on: small, real, and with a test that really fails.

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const files: Record<string, string> = {
  'package.json': `{
  "name": "invoices",
  "type": "module",
  "private": true,
  "scripts": { "test": "node --test" }
}
`,
  'src/money.js': `// Amounts are kept in whole cents, so that sums are exact.

export function toCents(amount) {
  return Math.trunc(amount * 100);
}

export function format(cents) {
  return (cents / 100).toFixed(2);
}
`,
  'src/invoice.js': `import { format, toCents } from './money.js';

export function total(lines) {
  const cents = lines.reduce((sum, line) => sum + line.quantity * toCents(line.price), 0);
  return format(cents);
}
`,
  'test/invoice.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';

import { total } from '../src/invoice.js';

test('an empty invoice costs nothing', () => {
  assert.equal(total([]), '0.00');
});

test('quantities are multiplied', () => {
  assert.equal(total([{ price: 2.5, quantity: 4 }]), '10.00');
});

test('no cent is lost', () => {
  assert.equal(total([{ price: 19.99, quantity: 3 }, { price: 0.29, quantity: 100 }]), '88.97');
});
`,
};

/** Writes the project into an empty directory. */
export async function layOutProject(directory: string): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), content);
  }
}

export const task =
  'The test "no cent is lost" of this project fails. Find the cause, fix it in the source (not in the test), and show that all tests pass.';
