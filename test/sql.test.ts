// Every pgTAP file is a test: its folder the suite, its name the title. An assertion that fails is named with pgTAP's diagnostics.
// T=text picks the files whose path holds it, -t a title.

import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';

const folder = fileURLToPath(new URL('./sql/', import.meta.url));
const files = globSync('**/*.test.sql', { cwd: folder }).toSorted().filter((file) => `test/sql/${file}`.includes(process.env['T'] ?? ''));
const suites = Map.groupBy(files, (file) => (file.includes('/') ? file.replace(/\/.*/, '') : 'the catalog'));

let database: TestDatabase;
let client: pg.Client;
let assertions = 0;
beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('set search_path to ledger, work_test, public');
});
afterAll(async () => {
  await client?.end();
  await database?.drop();
  console.log(`pgTAP: ${assertions} assertions`);
});

if (files.length === 0) test(`no file matches T=${process.env['T']}`, () => expect(files).not.toEqual([]));

for (const [suite, members] of suites) {
  describe(suite, () => {
    for (const file of members) {
      test(file.replace(/.*\//, '').replace('.test.sql', '').replaceAll('_', ' '), async () => {
        const run = await runFile(readFileSync(folder + file, 'utf8'));
        assertions += run.assertions.length;
        const wrong = run.assertions.filter((assertion) => !assertion.isOk).map((assertion) => assertion.text);
        if (run.error) wrong.push(run.error);
        if (!run.error && run.assertions.length !== run.plan) wrong.push(`${run.assertions.length} assertions ran of ${run.plan} that are planned`);
        if (wrong.length > 0) expect.fail(`test/sql/${file}\n${wrong.join('\n')}`);
      });
    }
  });
}

type Run = { plan: number; error: string | null; assertions: { isOk: boolean; text: string }[] };

/** A pg.Query with events, because the promise form loses every row before an error. */
async function runFile(sql: string): Promise<Run> {
  const rows: string[] = [];
  const error = await new Promise<string | null>((resolve) => {
    let failure: string | null = null;
    const query = new pg.Query({ text: sql, rowMode: 'array' } as never) as unknown as NodeJS.EventEmitter;
    query.on('row', (row: unknown[]) => rows.push(String(row[0])));
    query.on('error', (thrown: Error & { code?: string; where?: string }) => {
      failure = [`${thrown.code ?? ''} ${thrown.message}`.trim(), thrown.where].filter(Boolean).join('\n');
      resolve(failure);
    });
    query.on('end', () => resolve(failure));
    client.query(query as never);
  });
  if (error !== null) await client.query('rollback');
  return {
    error,
    plan: Number(rows.map((row) => /^1\.\.(\d+)$/.exec(row)?.[1]).find(Boolean) ?? -1),
    assertions: rows.flatMap((row) => {
      const line = /^(not )?ok \d+/m.exec(row);
      return line ? [{ isOk: !line[1], text: row }] : [];
    }),
  };
}
