// Every pgTAP file is a test: its folder the suite, its name the title. An assertion that fails is named with pgTAP's diagnostics.
// Each has a database and a connection of its own, so that no plan, statistic or cached function of one reaches another.
// T=text picks the files whose path holds it, -t a title.

import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';

import { createDatabase } from './database.ts';
import { runPgtap, wrongOf } from './pgtap.ts';
import type { PgtapRun } from './pgtap.ts';

const folder = fileURLToPath(new URL('./sql/', import.meta.url));
const files = globSync('**/*.test.sql', { cwd: folder })
  .toSorted()
  .filter((file) => `test/sql/${file}`.includes(process.env['T'] ?? ''));
const suites = Map.groupBy(files, (file) => (file.includes('/') ? file.replace(/\/.*/, '') : 'the catalog'));

let assertions = 0;
afterAll(() => console.log(`pgTAP: ${assertions} assertions`));

async function play(file: string): Promise<PgtapRun> {
  const database = await createDatabase();
  const client = new pg.Client({ connectionString: database.url });
  try {
    await client.connect();
    await client.query('set search_path to ledger, work_test, public');
    return await runPgtap(client, readFileSync(folder + file, 'utf8'));
  } finally {
    await client.end();
    await database.drop({ unchecked: 'all that a file did is rolled back' });
  }
}

if (files.length === 0) test(`no file matches T=${process.env['T']}`, () => expect(files).not.toEqual([]));

for (const [suite, members] of suites) {
  describe.concurrent(suite, () => {
    for (const file of members) {
      test(file.replace(/.*\//, '').replace('.test.sql', '').replaceAll('_', ' '), async () => {
        const run = await play(file);
        assertions += run.assertions.length;
        const wrong = wrongOf(run);
        if (wrong.length > 0) expect.fail(`test/sql/${file}\n${wrong.join('\n')}`);
      });
    }
  });
}
