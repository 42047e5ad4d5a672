// Every pgTAP file as vitest tests, each assertion by its own name. T=pattern picks files.

import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';

import { createDatabase } from './database.ts';

const folder = fileURLToPath(new URL('./sql/', import.meta.url));
const files = globSync('**/*.test.sql', { cwd: folder }).toSorted().filter((file) => file.includes(process.env['T'] ?? ''));
const database = await createDatabase();
const client = new pg.Client({ connectionString: database.url });
await client.connect();

afterAll(async () => {
  await client.end();
  await database.drop();
});

if (files.length === 0) test(`no file matches T=${process.env['T']}`, () => expect(files).not.toEqual([]));

for (const file of files) {
  const run = await runFile(readFileSync(folder + file, 'utf8'));
  describe(file.replace('.test.sql', '').replaceAll('_', ' '), () => {
    for (const assertion of run.assertions) {
      test(assertion.name, () => expect(assertion.isOk, assertion.detail).toBe(true));
    }
    test('ran to its end', () => {
      expect(run.error).toBeNull();
      expect(run.assertions).toHaveLength(run.plan);
    });
  });
}

type Run = { plan: number; error: string | null; assertions: { name: string; isOk: boolean; detail: string }[] };

/** A pg.Query with events, because the promise form loses every row before an error. */
async function runFile(sql: string): Promise<Run> {
  const rows: string[] = [];
  const error = await new Promise<string | null>((resolve) => {
    let failure: string | null = null;
    const query = new pg.Query({ text: sql, rowMode: 'array' } as never) as unknown as NodeJS.EventEmitter;
    query.on('row', (row: unknown[]) => rows.push(String(row[0])));
    query.on('error', (thrown: Error) => {
      failure = thrown.message;
      resolve(failure);
    });
    query.on('end', () => resolve(failure));
    client.query(query as never);
  });
  if (error !== null) await client.query('rollback');
  const run: Run = { plan: -1, error, assertions: [] };
  for (const row of rows) {
    const line = /^(not )?ok \d+(?: - (.*))?$/m.exec(row);
    const plan = /^1\.\.(\d+)$/.exec(row)?.[1];
    if (plan) run.plan = Number(plan);
    else if (line) run.assertions.push({ isOk: !line[1], name: line[2] ?? `assertion ${run.assertions.length + 1}`, detail: row });
  }
  return run;
}
