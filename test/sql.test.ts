// Every pgTAP file is a test: its folder the suite, its name the title. An assertion that fails is named with pgTAP's diagnostics.
// Each rolls back what it did, so that the next is played on the same connection, which knows the functions already: a third less CPU. Those
// that ask about plans, statistics or sessions have a database and a connection of their own. For the others a statement is planned once, not
// anew for each of its first five executions: a tenth less CPU; on other versions of PostgreSQL (installcheck.sh) they are played as users do.
// T=text picks the files whose path holds it, -t a title.

import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';

import { createDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import { asksOfServer } from './ofServer.ts';
import { runPgtap, wrongOf } from './pgtap.ts';
import type { PgtapRun } from './pgtap.ts';

const folder = fileURLToPath(new URL('./sql/', import.meta.url));
const files = globSync('**/*.test.sql', { cwd: folder })
  .toSorted()
  .filter((file) => `test/sql/${file}`.includes(process.env['T'] ?? ''));
const suites = Map.groupBy(files, (file) => (file.includes('/') ? file.replace(/\/.*/, '') : 'the catalog'));

let assertions = 0;
afterAll(() => console.log(`pgTAP: ${assertions} assertions`));

type Stage = { database: TestDatabase; client: pg.Client };

/** Stages that nobody plays on. */
const free: Stage[] = [];

async function setStage(): Promise<Stage> {
  const database = await createDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  return { database, client };
}

async function clear({ database, client }: Stage): Promise<void> {
  await client.end();
  await database.drop({ unchecked: 'all that a file did is rolled back' });
}

afterAll(async () => {
  for (const stage of free) await clear(stage);
});

async function play(file: string): Promise<PgtapRun> {
  const sql = readFileSync(folder + file, 'utf8');
  const isAlone = asksOfServer(sql);
  const stage = (isAlone ? undefined : free.pop()) ?? (await setStage());
  await stage.client.query('reset session authorization; reset all; deallocate all; select pg_advisory_unlock_all(); unlisten *');
  await stage.client.query('set search_path to ledger, work_test, public');
  if (!isAlone) await stage.client.query('set plan_cache_mode = force_generic_plan');
  const run = await runPgtap(stage.client, sql);
  if (isAlone || run.error !== null) await clear(stage);
  else free.push(stage);
  return run;
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
