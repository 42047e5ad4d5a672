// `work-ledger cost` as a user sees it, of a tree that a real worker did.

import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import { defineTool, ok } from '../../runtime/tools/tool.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import { cli as typed } from '../cli.ts';
import type { Ended } from '../cli.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { awaits, call, calls, done, spawn, startTeam } from '../team.ts';
import { until } from '../workerProcess.ts';

let database: TestDatabase;
let db: Db;
let rootId: string;

const cli = (...args: string[]): Promise<Ended> =>
  typed(args, { env: { PATH: process.env['PATH'], HOME: process.env['HOME'], DATABASE_URL: database.url } });

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.strictObject({}),
  effect: 'pure',
  risk: 'safe',
  execute: async () => ok('x'.repeat(20_000)),
});

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  const engage = { ledger_nudge_interval: 0, tools: ['look'], workspace: 'none', elide_budget: 0 };
  await db.facultySave({ name: 'lead', accepts: ['lead'], engage });
  await db.facultySave({ name: 'part', accepts: ['part'], engage: { ...engage, model: 'model-without-price' } });
  await database.query(`select ledger.model_price_save('claude-sonnet-5-5', 3, 15)`);
  let said = 0;
  const model = await startTeam({
    // Counted here: a cut takes responses out of the request.
    lead: ({ children }) =>
      [
        calls(spawn('part of it')),
        calls(awaits(children, 3600)),
        calls(call('look', {})),
        calls(call('ledger_append', { entry_type: 'step', content: 'Looked' })),
        calls(call('look', {})),
      ][said++] ?? done('Done.'),
    part: () => done('Done.'),
  });
  const worker = await startWorker({
    url: database.url,
    schema: 'ledger',
    tools: [look],
    log: pino({ level: 'silent' }),
    docker: null,
    model: createModelClient({ apiKey: 'key', baseURL: model.url }),
  });
  try {
    rootId = (
      await db.workSubmit({
        workType: 'lead',
        description: 'lead: find why the nightly import is slow, in so many words that no line of a terminal has room for all of them',
      })
    ).id;
    await until(async () => (await db.workItem(rootId))?.state === 'completed');
  } finally {
    await worker.stop();
    await model.close();
  }
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

test('the report fits in 80 columns, its numbers are aligned, and it names the model without a price and what sets one', async () => {
  const { code, stdout, stderr } = await cli('cost', rootId);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.trimEnd().split('\n');
  for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
  expect(lines[0]).toMatch(/^child +requests +input +cached +output +cost$/);
  const rows = lines.filter((line) => /^([0-9a-f-]{36}|total) /.test(line));
  expect(rows).toHaveLength(3);
  for (const row of rows) expect(row).toHaveLength(80);
  expect(rows[0]).toMatch(new RegExp(`^${rootId} +6 +[\\d.]+k +\\d+ % +\\d+ +\\d\\.\\d{4}$`));
  expect(rows[1]).toMatch(/ 1 +[\d.]+k? +\d+ % +\d+ +–$/);
  expect(rows[2]).toMatch(/^total +7 .* \d\.\d{4}\+$/);
  expect(stdout).toContain('  lead: find why the nightly import is slow');
  expect(stdout).toMatch(/\nof that: steps 0\.\d{4}/);
  expect(stdout).toMatch(/\ncache: {3}(hit|first|cut)/);
  expect(stdout).toMatch(/\nblocks 1 +1\.5 +[\d.]+k \([\d.]+k\) +[\d.]+k? \([\d.]+k?\) +[\d–]+ \(\d+\) +2 +-?\d+\.\d{4}\n/);
  expect(stdout).toContain(
    "\nmodel-without-price has no price. Set those of a million tokens in and out:\n  select model_price_save('model-without-price', INPUT, OUTPUT);",
  );
});

test('--json has the same numbers as the rows', async () => {
  const report = JSON.parse((await cli('cost', rootId, '--json')).stdout);
  const [sum] = await database.query<{ cost: number }>('select sum(ledger._turn_cost(t))::float8 as cost from ledger.turns t');
  expect(report.total.cost).toBeCloseTo(sum!.cost, 9);
  expect(report.rows.map((row: { key: string }) => row.key)[0]).toBe(rootId);
  expect(report).toMatchObject({
    by: 'child',
    models_without_price: ['model-without-price'],
    cuts: [{ cut: 'elision', blocks: '1', requests: 2 }],
  });
  expect(report.cache.reduce((n: number, row: { requests: number }) => n + row.requests, 0)).toBe(7);
});

test('every grouping adds up to the total; other words are refused', async () => {
  for (const by of ['tree', 'item', 'faculty', 'model', 'day', 'cache']) {
    const { rows, total } = JSON.parse((await cli('cost', '--by', by, '--json')).stdout);
    expect(
      rows.reduce((n: number, row: { requests: number }) => n + row.requests, 0),
      by,
    ).toBe(total.requests);
    expect(
      rows.reduce((n: number, row: { cost: number | null }) => n + (row.cost ?? 0), 0),
      by,
    ).toBeCloseTo(total.cost, 9);
  }
  expect(await cli('cost', '--by', 'colour')).toMatchObject({ code: 2 });
  expect(await cli('cost', '--by', 'child')).toMatchObject({ code: 2, stderr: expect.stringContaining('needs a work item') });
  expect(await cli('cost', 'x')).toMatchObject({ code: 2 });
  expect(await cli('cost', '019e0000-0000-7000-8000-000000000000')).toMatchObject({ code: 1, stderr: expect.stringContaining('WL001') });
});

test('the last line of tail says what all of it cost, that a request has no price, and nothing of cost where none has', async () => {
  const used = String.raw`requests?, [\d.]+k? tokens in \(\d+ % from the cache\), \d+ out`;
  const { total } = JSON.parse((await cli('cost', rootId, '--json')).stdout);
  const { code, stdout, stderr } = await cli('logs', rootId, '--follow');
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n {2}outcome {4}Done\.\n/) });
  expect(stderr).toMatch(new RegExp(String.raw`^7 ${used}, cost ${total.cost.toFixed(4)}\+\n$`));

  const [child] = await database.query<{ id: string }>(`select id from ledger.work_items where parent_id = '${rootId}'`);
  expect((await cli('logs', child?.id ?? '', '--follow')).stderr).toMatch(new RegExp(`^1 ${used}\n$`));
  await database.query(`select ledger.model_price_save('model-without-price', 3, 15)`);
  expect((await cli('logs', child?.id ?? '', '--follow')).stderr).toMatch(new RegExp(String.raw`^1 ${used}, cost \d\.\d{4}\n$`));
  expect(await cli('logs', child?.id ?? '', '--follow', '--json')).toMatchObject({ stderr: '' });
});
