// `work-ledger move` where it cannot begin: one sentence says all that is missing, and nothing has been made at either end.
// test/long/move.test.ts moves ledgers.

import { tmpdir } from 'node:os';

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { installLedger } from '../../runtime/install/installLedger.ts';
import { cli } from '../cli.ts';
import type { Ended } from '../cli.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { startWorkerProcess } from '../workerProcess.ts';

let source: TestDatabase;
let target: TestDatabase;
beforeAll(async () => {
  source = await createDatabase({ from: null });
  target = await createDatabase({ from: null });
  await installLedger(source.url, 'work_ledger');
});
afterAll(async () => {
  await source?.drop();
  await target?.drop();
});

const move = (...args: string[]): Promise<Ended> =>
  cli(['move', '--schema', 'work_ledger', ...args], {
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'], HOME: tmpdir(), DATABASE_URL: source.url },
  });

const as = (database: TestDatabase, role: string): string => database.url.replace('postgres@', `${role}@`);
const made = async (): Promise<unknown> => [
  await source.query('select pubname from pg_publication'),
  await target.query('select subname from pg_subscription s join pg_database d on d.oid = s.subdbid where d.datname = current_database()'),
  await target.query(`select nspname from pg_namespace where nspname = 'work_ledger'`),
];

test('everything that is missing is named in one sentence, before anything is made', async () => {
  const mover = `mover_${process.pid}`;
  await source.query(
    `create role ${mover} login; grant usage on schema work_ledger to ${mover}; grant select on all tables in schema work_ledger to ${mover}; grant execute on all functions in schema work_ledger to ${mover}`,
  );
  onTestFinished(async () => {
    await source.query(`drop owned by ${mover}; drop role ${mover}`);
  });
  await source.query(
    `create function public.slow(input jsonb) returns jsonb language sql as $$ select '{}'::jsonb $$; select from work_ledger.ability_register('slow', 'Takes its time.', '{"type": "object"}', 'unsafe', 'safe', 'public.slow(jsonb)')`,
  );
  const ended = await move('--database-url', as(source, mover), '--to', as(target, mover));
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  for (const says of [
    /^error: the move cannot begin: /,
    /the source has wal_level = replica: alter system set wal_level = logical, and restart it;/,
    /the source lets role mover_\d+ not replicate: alter role mover_\d+ replication;/,
    /the source lets role mover_\d+ make no publication: grant create on database \w+ to mover_\d+;/,
    /the source lets role mover_\d+ not publish abilities, .*work_ledger.*: use the role that owns them;/,
    /the target lets role mover_\d+ make no subscription: grant pg_create_subscription to mover_\d+;/,
    /the target lets role mover_\d+ make no schema: grant create on database \w+ to mover_\d+;/,
    /the target does not have what the ledger calls: make public\.slow\(jsonb\) there\n$/,
  ])
    expect(ended.stderr).toMatch(says);
  expect(await made()).toEqual([[], [], []]);
});

test('a target that has a ledger of its own, or is the source, is refused', async () => {
  expect(await move('--to', source.url)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--to is the database that the ledger is in already: name another one'),
  });
  expect(await move('--to', `${source.url}?application_name=x`)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--to is the database that the ledger is in already'),
  });
  expect(await move('--to', source.url.replace(/[^/]*$/, 'no_such'))).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/"no_such" does not exist\. Correct --to/),
  });
  expect(await move()).toMatchObject({ code: 2, stderr: expect.stringContaining('--to is required: the database') });
  await installLedger(target.url, 'work_ledger');
  await target.query('drop function work_ledger.work_ledger_build()');
  expect((await move('--to', target.url)).stderr).toMatch(
    /the target has a ledger of version [\d.]+ \(build unknown\): move to where there is none/,
  );
  await target.query('drop schema work_ledger cascade; create schema work_ledger; create table work_ledger.ours (id integer)');
  expect((await move('--to', target.url)).stderr).toContain('the target has a schema work_ledger without a ledger');
  await target.query('drop schema work_ledger cascade');
});

test('there is nothing to undo', async () => {
  expect(await move('--undo')).toMatchObject({ code: 0, stdout: 'there is no move to undo\n' });
  expect(await move('--undo', '--to', target.url, '--json')).toMatchObject({ code: 0, stdout: '{"isUndone":false}\n' });
});

test('a worker of a ledger that is moved is told where, and ends', async () => {
  const worker = await startWorkerProcess({
    url: source.url,
    modelUrl: 'http://127.0.0.1:9',
    leaseSeconds: 2,
    env: { WORK_LEDGER_SCHEMA: 'work_ledger' },
  });
  await source.query(
    `create trigger refuse_moved before insert or update on work_ledger.workers for each statement execute function work_ledger._refuse_moved('to', 'work_ledger_move_1', 'db2.example/app')`,
  );
  expect(await worker.ended).toBe(1);
  expect(worker.log()).toContain('this ledger has moved to db2.example/app: nothing more can be written here');
  await source.query('drop trigger refuse_moved on work_ledger.workers');
});

test('a ledger that is being moved here is not moved on', async () => {
  await source.query(
    `create trigger refuse_moved before insert on work_ledger.work_items for each statement execute function work_ledger._refuse_moved('from', 'work_ledger_move_1', 'db1.example/app')`,
  );
  expect(await move('--to', target.url)).toMatchObject({
    code: 1,
    stderr: 'error: this ledger is being moved here from db1.example/app: repeat or undo the move there\n',
  });
  await source.query(
    `create or replace trigger refuse_moved before insert on work_ledger.work_items for each statement execute function work_ledger._refuse_moved('to', 'work_ledger_move_1', 'db2.example/app')`,
  );
  expect(await move('--to', target.url)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('error: this ledger has moved to db2.example/app, not to '),
  });
  expect(await move('--undo')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('error: this ledger was moved to db2.example/app, where work goes on'),
  });
  await source.query('drop trigger refuse_moved on work_ledger.work_items');
});
