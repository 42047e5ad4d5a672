// Many writers, lost connections, jobs in the submitting transaction.

import { createConnection, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { entryTypes } from '../../runtime/ledger/entryTypes.ts';
import { listen } from '../../runtime/ledger/listener.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import { createDatabase, isWaitedFor } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { until } from '../workerProcess.ts';

let database: TestDatabase;
let db: Db;

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

test('16 connections append 500 entries each to one item: 8,000 rows numbered 1 to 8,000', async () => {
  const item = await db.workSubmit({ workType: 'many', description: 'x' });
  await Promise.all(
    Array.from({ length: 16 }, async (_, writer) => {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      for (let n = 0; n < 500; n++) await client.query(`select ledger.ledger_append($1, 'note', $2)`, [item.id, `${writer} ${n}`]);
      await client.end();
    }),
  );
  const [row] = await database.query<{ rows: number; first: number; last: number; distinct: number }>(
    `select count(*)::int as rows, min(seq) as first, max(seq) as last, count(distinct content)::int as distinct from ledger.work_ledger where work_item_id = '${item.id}'`,
  );
  expect(row).toEqual({ rows: 8000, first: 1, last: 8000, distinct: 8000 });
});

test('what was done before its answer was lost is repeated, and done once', async () => {
  const lost: string[] = [];
  const url = new URL(database.url);
  const socket = `${decodeURIComponent(url.hostname)}/.s.PGSQL.5432`;
  // The connection breaks when the server has committed the first of each of these, before the client hears of it.
  const gate = createServer((client) => {
    const server = createConnection(socket);
    let doomed = '';
    const end = (): void => {
      client.destroy();
      server.destroy();
    };
    client
      .on('error', end)
      .on('close', end)
      .on('data', (data) => {
        const asked = /work_submit|ledger_append/.exec(data.toString('latin1'))?.[0] ?? '';
        if (!lost.includes(asked)) doomed = asked;
        server.write(data);
      });
    server
      .on('error', end)
      .on('close', end)
      .on('data', (data) => {
        if (doomed !== '' && data.toString('latin1').includes('SELECT 1')) {
          lost.push(doomed);
          end();
        } else client.write(data);
      });
  });
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
  url.hostname = '127.0.0.1';
  url.port = String((gate.address() as AddressInfo).port);
  const through = await openDb(url.href, 'ledger');
  const item = await through.workSubmit({ workType: 'once', description: 'Only once' });
  await through.ledgerAppend(item.id, 'note', 'Said once');
  await through.close();
  gate.close();
  expect(lost).toEqual(['work_submit', 'ledger_append']);
  expect(await database.query(`select id from ledger.work_items where work_type = 'once'`)).toEqual([{ id: item.id }]);
  expect(await database.query(`select seq, content from ledger.work_ledger where work_item_id = '${item.id}'`)).toEqual([
    { seq: 1, content: 'Said once' },
  ]);
});

test('a submission that is rolled back leaves no job', async () => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const jobs = async () => (await client.query(`select count(*)::int as n from graphile_worker.jobs`)).rows[0].n as number;
  const before = await jobs();
  await client.query('begin');
  await client.query(`select ledger.work_submit('talk', 'x', p_priority => 5)`);
  expect(await jobs()).toBe(before + 1);
  expect((await client.query(`select priority from graphile_worker.jobs order by id desc limit 1`)).rows[0].priority).toBe(-5);
  await client.query('rollback');
  expect(await jobs()).toBe(before);
  await client.end();
});

test('work submitted before any worker or faculty was there is picked up when they come', async () => {
  await database.query(`delete from graphile_worker._private_jobs`);
  const item = await db.workSubmit({ workType: 'early', description: 'x' });
  await database.query(`delete from graphile_worker._private_jobs`);
  await db.facultySave({ name: 'other', accepts: ['other'] });
  const model = await startScriptedModel(scriptOf([{ content: [{ type: 'text', text: 'Done.' }] }]));
  const worker = await startWorker({
    url: database.url,
    schema: 'ledger',
    tools: [],
    log: pino({ level: 'silent' }),
    leaseSeconds: 3,
    model: createModelClient({ apiKey: 'k', baseURL: model.url }),
  });
  const other = await db.workSubmit({ workType: 'other', description: 'x' });
  await until(async () => (await db.workItem(other.id))?.state === 'completed');
  expect((await db.workItem(item.id))?.state).toBe('queued');
  await db.facultySave({ name: 'early-bird', accepts: ['early'] });
  await until(async () => (await db.workItem(item.id))?.state === 'completed');
  await worker.stop();
  await model.close();
});

test('connections dropped again and again in the middle of the work do it no harm', async () => {
  await db.facultySave({ name: 'talker', accepts: ['talk'] });
  const append = (n: number) => ({
    content: [{ type: 'tool_use', name: 'ledger_append', input: { entry_type: 'note', content: `${n}` } }],
    delayMs: 150,
  });
  // One after the other, or a drop would meet the next one.
  let dropped: Promise<unknown> = Promise.resolve();
  const drop = () =>
    (dropped = dropped.then(() =>
      database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
      ),
    ));
  const script = scriptOf([1, 2, 3, 4, 5, 6, 7, 8].map(append));
  const model = await startScriptedModel((...asked) => {
    void drop(); // while the model answers
    return script(...asked);
  });
  const worker = await startWorker({
    url: database.url,
    schema: 'ledger',
    tools: [],
    log: pino({ level: 'silent' }),
    leaseSeconds: 3,
    model: createModelClient({ apiKey: 'k', baseURL: model.url }),
  });
  const item = await db.workSubmit({ workType: 'talk', description: 'x' });
  let entries = 0;
  await until(async () => {
    const found = (await db.ledgerRead(item.id, null, null)).length;
    if (found > entries) await drop(); // and between answers
    entries = found;
    return (await db.workItem(item.id))?.resolved_at;
  });
  await dropped;
  expect((await db.workItem(item.id))?.state).toBe('completed');
  expect((await db.ledgerRead(item.id, null, null)).map((entry) => entry.content)).toEqual(['1', '2', '3', '4', '5', '6', '7', '8']);
  await worker.stop();
  await model.close();
});

test.each(['40P01', '40001', '53100'])('a call that the server rolled back with %s is made again, and nobody hears of it', async (code) => {
  await database.query(`
    create sequence public.tries;
    create function public.roll_back() returns trigger language plpgsql as $$ begin
      if nextval('public.tries') <= 2 then raise exception using errcode = '${code}'; end if;
      return new;
    end $$;
    create trigger roll_back before insert on ledger.work_items for each row when (new.work_type = 'contended') execute function public.roll_back()`);
  const item = await db.workSubmit({ workType: 'contended', description: 'x' });
  expect(
    await database.query(
      `select id, (select last_value::int from public.tries) as tries from ledger.work_items where work_type = 'contended' and id = '${item.id}'`,
    ),
  ).toEqual([{ id: item.id, tries: 3 }]);
  await database.query('drop trigger roll_back on ledger.work_items; drop function public.roll_back; drop sequence public.tries');
});

test('a call that waited for an upgrade, which took away what it was about to call, is made again', async () => {
  const body = (calls: string): string => `
    create sequence if not exists public.tries;
    create or replace function public.touch() returns trigger language plpgsql as $$ begin
      perform nextval('public.tries'); perform from ledger.fences for share; perform ${calls}; return new; end $$`;
  await database.query(`${body('public.former()')};
    create function public.former() returns void language sql return null;
    create trigger touch before insert on ledger.work_items for each row when (new.work_type = 'touched') execute function public.touch()`);
  const installer = new pg.Client(database.url);
  await installer.connect();
  await installer.query('begin; lock table ledger.fences in exclusive mode');
  const submitted = db.workSubmit({ workType: 'touched', description: 'x' });
  await until(() => isWaitedFor(database, 'ledger.fences'));
  await installer.query(`drop function public.former(); ${body('now()')}; commit`);
  const { id } = await submitted;
  expect(await database.query(`select id from ledger.work_items where work_type = 'touched'`)).toEqual([{ id }]);
  // What is missing in any case is said after the second time.
  await installer.query(`alter sequence public.tries restart; ${body('public.former()')}`);
  await expect(db.workSubmit({ workType: 'touched', description: 'y' })).rejects.toThrow('former');
  expect(await database.query('select last_value::int as tries from public.tries')).toEqual([{ tries: 2 }]);
  await installer.query('drop trigger touch on ledger.work_items; drop function public.touch; drop sequence public.tries');
  await installer.end();
});

test('a listener hears of watched appends and of ends, again after its connection was lost', async () => {
  const heard: string[] = [];
  let connections = 0;
  const listener = listen(database.url, ['work_ledger', 'work_item_completed'], {
    onNotification: (channel, payload) => heard.push(`${channel} ${payload}`),
    onConnected: () => connections++,
  });
  await until(() => connections === 1);
  const item = await db.workSubmit({ workType: 'listen', description: 'x' });
  await db.ledgerAppend(item.id, 'note', 'nobody watches');
  await db.ledgerWatch(item.id, 60);
  await database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'work-ledger listener'`,
  );
  await until(() => connections === 2);
  await db.ledgerAppend(item.id, 'note', 'somebody watches');
  await database.query(`select ledger.work_complete('${item.id}', 'done')`);
  await until(() => new Set(heard).size >= 2); // a hint may come again before the end is told
  expect(new Set(heard)).toEqual(new Set([`work_ledger ${item.id}`, `work_item_completed ${item.id}`]));
  await until(() => heard.filter((one) => one.startsWith('work_ledger')).length === 3); // twice more, for the last of a burst
  await listener.close();
});

test('whoever watches an item hears that an entry of it was taken back, and nobody else has to', async () => {
  const item = await db.workSubmit({ workType: 'listen', description: 'x' });
  const entry = await db.ledgerAppend(item.id, 'finding', 'The moon is cheese');
  const other = await db.ledgerAppend(item.id, 'finding', 'The sea is soup');
  const ears = new pg.Client(database.url);
  await ears.connect();
  const heard: string[] = [];
  ears.on('notification', ({ payload }) => heard.push(payload ?? ''));
  await ears.query('listen work_ledger');
  await database.query(`select ledger.ledger_retract('${item.id}', ${entry.seq}, 'It is rock')`);
  await ears.query('select'); // what was sent before has come
  expect(heard).toEqual([]);
  await db.ledgerWatch(item.id, 60);
  await database.query(`select ledger.ledger_retract('${item.id}', ${other.seq}, 'It is water')`);
  await ears.query('select');
  expect(heard).toEqual([item.id]);
  await ears.end();
});

test('a watched item hints at its appends ten times a second at most', async () => {
  const item = await db.workSubmit({ workType: 'listen', description: 'x' });
  const [client, ears, holder] = [new pg.Client(database.url), new pg.Client(database.url), new pg.Client(database.url)];
  await Promise.all([client.connect(), ears.connect(), holder.connect()]);
  let hints = 0;
  ears.on('notification', () => hints++);
  await ears.query('listen work_ledger');
  const start = Date.parse('2026-11-20T12:00:00Z');
  const at = (ms: number): Promise<unknown> => client.query(`set work_ledger.now = '${new Date(start + ms).toISOString()}'`);
  await at(0);
  await client.query(`select ledger.ledger_watch('${item.id}', 60)`);
  for (const ms of [0, 1, 50, 99, 100, 150, 199, 200, 1000, 59_999, 60_000, 60_001]) {
    await at(ms);
    await client.query(`select ledger.ledger_append('${item.id}', 'note', '${ms}')`);
  }
  await ears.query('select'); // what was sent before has come
  expect(hints).toBe(5); // at 0, 100, 200, 1000 and 59,999; from 60,000 on nobody watches
  await at(70_000);
  await client.query(`select ledger.ledger_watch('${item.id}', 60)`);
  await client.query(
    `select count(*) from ledger.ledger_append_batch('${item.id}', '[{"entry_type": "note", "content": "a"}, {"entry_type": "note", "content": "b"}]')`,
  );
  await ears.query('select');
  expect(hints).toBe(6);
  // While another transaction is about to notify, once a second is enough: nobody waits for it.
  await holder.query(`begin; select from ledger.locks where purpose = 'hint' for no key update`);
  for (const [ms, heard] of [
    [70_150, 6],
    [70_999, 6],
    [71_000, 7],
  ] as const) {
    await at(ms);
    await client.query(`select ledger.ledger_append('${item.id}', 'note', '${ms}')`);
    await ears.query('select');
    expect(hints, String(ms)).toBe(heard);
  }
  await Promise.all([client.end(), ears.end(), holder.end()]);
});

test('the types of entries are those of the database', async () => {
  const [known] = await database.query<{ types: string[] }>('select ledger._ledger_entry_types() as types');
  expect(entryTypes.toSorted()).toEqual(known?.types.toSorted());
});

test('who appends a long entry is warned', async () => {
  const item = await db.workSubmit({ workType: 'long', description: 'x' });
  const client = new pg.Client(database.url);
  const warnings: (string | undefined)[] = [];
  client.on('notice', ({ message }) => warnings.push(message));
  await client.connect();
  for (const bytes of [4096, 4097]) await client.query(`select ledger.ledger_append('${item.id}', 'note', repeat('x', ${bytes}))`);
  await client.end();
  expect(warnings).toEqual([`entry 2 of work item ${item.id} has 4097 bytes: every agent that reads this ledger pays for it`]);
});

test('cancelling stops a model call that is under way, and what it says is dropped', async () => {
  await db.facultySave({ name: 'talker', accepts: ['talk'] });
  const model = await startScriptedModel(() => ({ content: [{ type: 'text', text: 'too late' }], delayMs: 20_000 }));
  const worker = await startWorker({
    url: database.url,
    schema: 'ledger',
    tools: [],
    log: pino({ level: 'silent' }),
    model: createModelClient({ apiKey: 'k', baseURL: model.url }),
  });
  const item = await db.workSubmit({ workType: 'talk', description: 'x' });
  await until(() => model.requests.length === 1);
  await db.workCancel(item.id, 'not needed');
  await until(async () => (await database.query(`select 1 from graphile_worker.jobs where key like '%${item.id}%'`)).length === 0);
  expect(await db.workItem(item.id)).toMatchObject({ state: 'cancelled', state_reason: 'not needed' });
  await worker.stop();
  await model.close();
});
