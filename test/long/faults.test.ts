// `work-ledger faults` with a user's own faculty and tools, at a user's own database: what it prints, how it ends, what it leaves.

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { ownSchema } from '../../runtime/faults/ground.ts';
import { isClean, scorecardText } from '../../runtime/faults/scorecard.ts';
import type { Scorecard } from '../../runtime/faults/scorecard.ts';
import { leastInput } from '../../runtime/faults/usersWorkload.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';

const main = fileURLToPath(new URL('../../runtime/main.ts', import.meta.url));
let database: TestDatabase;
let directory: string;
beforeAll(async () => {
  database = await createDatabase();
  directory = await mkdtemp(join(tmpdir(), 'faults-command-'));
  await writeFile(join(directory, 'clerk.toml'), '[faculty]\nname = "clerk"\naccepts = ["file"]\n[faculty.engage]\nworkspace = "none"\ntools = ["pay_bill", "count_bills"]\n[faculty.budget]\ntokens = 1\n');
  await writeFile(join(directory, 'bills.ts'), `
import { z } from '${import.meta.resolve('zod')}';
const tool = (name, effect) => ({ name, description: name, input: z.strictObject({ amount: z.number().min(3) }), effect, risk: 'safe', execute: async ({ amount }) => ({ content: name + ' ' + amount, isError: false }) });
export default [tool('pay_bill', 'unsafe'), tool('count_bills', 'pure')];
`);
  await writeFile(join(directory, 'replies.json'), JSON.stringify([{ calls: [{ name: 'pay_bill', input: { amount: 12 } }, { name: 'count_bills', input: { amount: 5 } }] }, { say: 'All is paid.' }]));
});
afterAll(async () => {
  await database?.drop();
  await rm(directory, { recursive: true, force: true });
});

function faults(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, 'faults', '--database-url', database.url, '--workers', '1', ...args], { cwd: directory, env: { PATH: process.env['PATH'], HOME: directory, DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/never_looked_at', WORK_LEDGER_SCHEMA: 'ledger', DOCKER_HOST: 'unix:///nowhere.sock' } }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }));
  });
}

test.each([
  ['the replies of a file', ['--scripted', 'replies.json']],
  ['each tool once', []],
])('own tools, by %s: a clean scorecard, and the database as it was', async (_, scripted) => {
  const before = await database.query(`select nspname from pg_namespace order by 1`);
  const ended = await faults('--seed', '7', '--kills', '2', '--database-faults', '1', '--faculty', 'clerk.toml', '--tools', 'bills.ts', '--json', ...scripted);
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  const card = JSON.parse(ended.stdout) as Scorecard & { isClean: boolean };
  expect(card).toMatchObject({ seed: 7, isClean: true, lost: [], doubled: [], stuck: [], failed: [], violations: [] });
  expect(card.kills).toBeGreaterThanOrEqual(2);
  expect(card.effects).toBeGreaterThan(0);
  expect(card.completed).toBe(card.items);
  expect(await database.query(`select nspname from pg_namespace order by 1`)).toEqual(before);
});

test('it is never played in a ledger that is there', async () => {
  expect(await faults('--schema', 'ledger')).toMatchObject({ code: 2, stderr: expect.stringContaining('unknown option') });
  expect(await faults('--faculty', 'nowhere.toml')).toMatchObject({ code: 2 });
  expect(await database.query(`select nspname from pg_namespace where nspname like 'work_ledger_faults%'`)).toEqual([]);
});

test('it ends no connections but those of its own workers', async () => {
  const ground = await ownSchema(database.url);
  const { hostname, pathname } = new URL(database.url);
  const worker = new URL(ground.behind(1)).searchParams.get('application_name');
  const clients = [null, worker].map((name) => new pg.Client({ connectionString: `postgresql://postgres@${hostname}${pathname}${name === null ? '' : `?application_name=${name}`}` }));
  for (const client of clients) client.on('error', () => {});
  await Promise.all(clients.map((client) => client.connect()));
  await ground.terminate();
  const [other, own] = clients;
  await expect(other?.query('select 1')).resolves.toMatchObject({ rowCount: 1 });
  await expect(own?.query('select 1')).rejects.toThrow();
  await other?.end();
  await ground.remove();
});

test('the scorecard says what was found', () => {
  const clean: Scorecard = {
    seed: 7, seconds: 65.2, items: 20, completed: 20, iterations: 160, kills: 6, freezes: 1, faults: { cut_after: 1, kill: 1 }, acknowledged: 349, effects: 370,
    lost: [], doubled: [], uncertain: 5, uncertainHappened: 4, stuck: [], failed: [], violations: [],
  };
  expect(isClean(clean)).toBe(true);
  expect(scorecardText(clean)).toMatch(/^seed 7, 65 s: 20 of 20 work items completed, 160 iterations\nkills +6 +and 1 processes frozen.*\nfaults +2 +cut after 1, kill 1\nacknowledged +349 .*\neffects +370 .*\nlost +0\ndoubled +0\nuncertain +5 .*4 of them had begun\nstuck +0\nfailed +0\nviolations +0 /);
  for (const list of ['lost', 'doubled', 'stuck', 'failed', 'violations'] as const) {
    expect(isClean({ ...clean, [list]: ['this one'] })).toBe(false);
    expect(scorecardText({ ...clean, [list]: ['this one'] })).toMatch(new RegExp(`\n${list} +1.*\n {4}this one`));
  }
});

test.each([
  [{ type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer', minimum: 3 }, c: { type: 'boolean' } }, required: ['a', 'b'] }, { a: 'x', b: 3 }],
  [{ type: 'array', items: { enum: ['one', 'two'] }, minItems: 2 }, ['one', 'one']],
  [{ anyOf: [{ type: 'null' }, { type: 'string' }] }, null],
  [{ type: 'string', minLength: 4 }, 'xxxx'],
  [{ type: 'number', exclusiveMinimum: 0 }, 1],
  [{ type: 'string', default: 'given' }, 'given'],
  [{}, {}],
])('the least input of %j is %j', (schema, least) => {
  expect(leastInput(schema)).toEqual(least);
});
