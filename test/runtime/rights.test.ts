// The grants that docs/operating.md names are enough for what it says, and no more.

import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';

let database: TestDatabase;
const suffix = Date.now();
const writer = `writer_${suffix}`;
const reader = `reader_${suffix}`;

beforeAll(async () => {
  database = await createDatabase();
  await database.query(`
    create role ${writer} login; create role ${reader} login;
    grant usage on schema ledger to ${writer}, ${reader};
    grant select on all tables in schema ledger to ${writer}, ${reader};
    grant insert, update on ledger.work_items, ledger.fences to ${writer};
    grant insert on ledger.work_ledger, ledger.inbox, ledger.search_entries to ${writer};
    grant insert, update on ledger.budgets to ${writer};
    grant update on ledger.foci, ledger.turns, ledger.tool_calls, ledger.approvals, ledger.compactions, ledger.inbox to ${writer}`);
});
afterAll(async () => {
  await database.query(`drop owned by ${writer}, ${reader}; drop role ${writer}; drop role ${reader}`);
  await database.drop();
});

async function as(role: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: database.url.replace('postgres@', `${role}@`) });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

test('a writer submits, and the job is rung although graphile-worker\'s schema is closed to him', async () => {
  await expect(as(writer, 'select * from graphile_worker.jobs')).rejects.toMatchObject({ code: '42501' });
  const [item] = await as(writer, `select id from work_submit('a', 'x')`);
  expect(await database.query(`select 1 from graphile_worker.jobs where key like '%${String(item?.['id'])}%'`)).toHaveLength(1);
});

test('a writer appends, reads, completes, delegates, speaks and cancels', async () => {
  const [item] = await as(writer, `select id from work_submit('a', 'x')`);
  const id = String(item?.['id']);
  expect(await as(writer, `select seq from ledger_append('${id}', 'note', 'x', '{"a": 1}')`)).toEqual([{ seq: 1 }]);
  expect(await as(writer, `select state from work_complete('${id}', 'done')`)).toEqual([{ state: 'completed' }]);
  const [parent] = await as(writer, `select id from work_submit('a', 'x')`);
  const [child] = await as(writer, `select id from spawn_child_work('${String(parent?.['id'])}', 'b', 'y')`);
  await as(writer, `select work_message('${String(parent?.['id'])}', 'hello', true), work_pause('${String(parent?.['id'])}')`);
  expect(await as(writer, `select state from work_complete('${String(child?.['id'])}', 'done')`)).toEqual([{ state: 'completed' }]);
  const [other] = await as(writer, `select id from work_submit('a', 'x')`);
  expect(await as(writer, `select state from work_cancel('${String(other?.['id'])}')`)).toEqual([{ state: 'cancelled' }]);
});

test('a reader reads ledger and digest, and changes nothing', async () => {
  const [item] = await database.query<{ id: string }>(`select id from work_submit('a', 'x')`);
  expect(await as(reader, `select count(*)::int as n from ledger_read('${item?.id}')`)).toEqual([{ n: 0 }]);
  expect((await as(reader, `select awareness_digest() as text`))[0]?.['text']).toContain('== AWARENESS ==');
  await expect(as(reader, `select ledger_append('${item?.id}', 'note', 'x')`)).rejects.toMatchObject({ code: '42501' });
  await expect(as(reader, `select work_submit('a', 'x')`)).rejects.toMatchObject({ code: '42501' });
});

test('neither frees the jobs of workers', async () => {
  for (const role of [writer, reader]) {
    await expect(as(role, `select _unlock_jobs(array['pool-1'])`)).rejects.toMatchObject({ code: '42501' });
    await expect(as(role, `select work_sweep()`)).rejects.toMatchObject({ code: '42501' });
  }
});
