// What connections of ours begin with, whatever the defaults of database and role are.

import { pino } from 'pino';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

import { connect } from '../../runtime/ledger/connection.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import { isConnectionLost } from '../../runtime/ledger/reachable.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import { cliOrFail } from '../cli.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { startProxy } from '../faults/proxy.ts';
import { done, startTeam } from '../team.ts';
import { until } from '../workerProcess.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  const name = new URL(database.url).pathname.slice(1);
  for (const set of [
    `default_transaction_isolation = 'serializable'`,
    `statement_timeout = '5s'`,
    `lock_timeout = '10ms'`,
    `idle_session_timeout = '10s'`,
    `standard_conforming_strings = off`,
    `DateStyle = 'German'`,
    `TimeZone = 'Pacific/Kiritimati'`,
    'jit = on',
  ]) {
    await database.query(`alter database ${name} set ${set}`);
  }
});
afterAll(async () => {
  await database?.query(`alter database ${new URL(database.url).pathname.slice(1)} reset all`);
  await database?.drop();
});

const shown = z.object({
  isolation: z.string(),
  statement: z.string(),
  lock: z.string(),
  idle: z.string(),
  strings: z.string(),
  jit: z.string(),
  at: z.string(),
});
const whatIsSet = sql.type(
  shown,
)`select current_setting('transaction_isolation') as isolation, current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
  current_setting('idle_session_timeout') as idle, current_setting('standard_conforming_strings') as strings, current_setting('jit') as jit, timestamptz '2026-11-22 12:00Z' at time zone 'UTC' as at`;

test("isolation, strings, dates and limits are the ledger's, in a pool and on a single connection", async () => {
  const db = await openDb(database.url, 'ledger');
  expect((await db.ask(() => whatIsSet))[0]).toEqual({
    isolation: 'read committed',
    statement: '1min',
    lock: '0',
    idle: '0',
    strings: 'on',
    jit: 'off',
    at: '2026-11-22 12:00:00',
  });
  await db.close();
  const client = await connect({ connectionString: database.url });
  expect((await client.query(whatIsSet.sql)).rows).toEqual([
    expect.objectContaining({ isolation: 'read committed', statement: '0', lock: '0', idle: '0', strings: 'on', jit: 'off' }),
  ]);
  await client.query('begin');
  expect((await client.query(whatIsSet.sql)).rows).toEqual([expect.objectContaining({ isolation: 'read committed', lock: '0' })]);
  await client.end();
});

test('a worker works where the defaults would stop it', async () => {
  const db = await openDb(database.url, 'ledger');
  const model = await startTeam({ Talk: () => done('Talked.') });
  const worker = await startWorker({
    url: database.url,
    schema: 'ledger',
    tools: [],
    log: pino({ level: 'silent' }),
    docker: null,
    model: createModelClient({ apiKey: 'k', baseURL: model.url }),
  });
  await db.facultySave({ name: 'talker', accepts: ['talk'], awareness: { enabled: false } });
  const items = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => db.workSubmit({ workType: 'talk', description: `Talk ${n}` })));
  for (const { id } of items) await until(async () => (await db.workItem(id))?.state === 'completed');
  await worker.stop();
  await model.close();
  await db.close();
});

test('the command line shows times in the zone of whoever reads, and the console days of UTC', async () => {
  const client = await connect({ connectionString: database.url });
  await client.query(`set work_ledger.now = '2026-11-22 20:30:05Z'`);
  const { rows } = await client.query<{ id: string }>(`select id from ledger.work_submit('talk', 'Talk', p_faculty => 'nobody')`);
  const id = rows[0]?.id ?? '';
  await client.query(`select from ledger.ledger_append($1, 'note', 'Said')`, [id]);
  await client.query(`select from ledger.memory_write('/memories/a.md', 'A note', 'shop')`);
  await client.query(`select from ledger.person_add('Ann')`);
  const env = { ...process.env, DATABASE_URL: database.url, WORK_LEDGER_SCHEMA: 'ledger', TZ: 'Asia/Kolkata' };
  const says = async (...args: string[]): Promise<string> => (await cliOrFail(args, { env })).stdout;
  expect(await says('logs', id)).toBe('2026-11-23\n02:00:05  note: Said\n');
  expect(await says('show', id)).toMatch(/^ {2}created {4}2026-11-23 02:00:05\+05:30$/m);
  expect(await says('memory', 'list', '--project', 'shop')).toMatch(/ 2026-11-23 02:00 {2}\/memories\/a\.md/);
  expect(await says('person', 'list')).toMatch(/^Ann {2}since 2026-11-23$/m);

  const exchange = { id: 'e', at: '2026-01-01T20:00:00Z', model: 'm', text: 'Hello', thinking: [], calls: [] };
  const run = { format: 'codex', sessionId: 's', prompt: 'Hello', exchanges: [exchange], raw: [] };
  const imported = await client.query<{ id: string }>(`select ledger.session_import($1::json) ->> 'work_item_id' as id`, [
    JSON.stringify(run),
  ]);
  await client.end();
  const db = await openDb(database.url, 'ledger');
  expect((await db.console.costByDay(imported.rows[0]?.id ?? '')).map(({ day }) => day)).toEqual(['2026-01-01']);
  await db.close();
});

test('a worker with a role of its own sees its jobs where the role has row-level security off', async () => {
  const prefix = `sessions${process.pid}_`;
  await database.query(
    `set statement_timeout = 0; set lock_timeout = 0; select from ledger.work_roles_create('${prefix}'); create role ${prefix}host login in role ${prefix}worker; alter role ${prefix}host set row_security = off`,
  );
  const model = await startTeam({ Talk: () => done('Talked.') });
  const worker = await startWorker({
    url: database.url.replace('postgres@', `${prefix}host@`),
    schema: 'ledger',
    tools: [],
    log: pino({ level: 'silent' }),
    docker: null,
    model: createModelClient({ apiKey: 'k', baseURL: model.url }),
  });
  const db = await openDb(database.url, 'ledger');
  await db.facultySave({ name: 'talker', accepts: ['talk'], awareness: { enabled: false } });
  const { id } = await db.workSubmit({ workType: 'talk', description: 'Talk' });
  await until(async () => (await db.workItem(id))?.state === 'completed');
  await Promise.all([worker.stop(), model.close(), db.close()]);
  await database.query(`set statement_timeout = 0; set lock_timeout = 0; select ledger.work_roles_drop(); drop role ${prefix}host`);
});

test('a connection that does not answer any more is given up, and counts as lost', async () => {
  const { hostname, pathname } = new URL(database.url);
  const proxy = await startProxy({ path: `${decodeURIComponent(hostname)}/.s.PGSQL.5432` });
  const client = await connect({ connectionString: `postgresql://postgres@127.0.0.1:${proxy.port}${pathname}`, query_timeout: 500 });
  const ended = new Promise<void>((resolve) => client.once('end', resolve));
  void proxy.cutNext('black_hole', 'never answered');
  const error: unknown = await client.query(`select 'never answered'`).catch((refused: unknown) => refused);
  expect(isConnectionLost(error)).toBe(true);
  await ended;
  await proxy.close();
});
