// People step in while a real worker works: messages, interruptions, pauses, and the end of a whole tree.

import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import { defineTool, ok } from '../../runtime/tools/tool.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { awaits, call, calls, done, spawn, startTeam } from '../team.ts';
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

/** A tool that sleeps until it is stopped, and knows how many of it sleep. */
function sleeper() {
  const state = { sleeping: 0, began: 0 };
  const tool = defineTool({
    name: 'sleep',
    description: 'Sleeps.',
    input: z.strictObject({}),
    effect: 'unsafe',
    risk: 'safe',
    execute: (_, { signal }) =>
      new Promise((resolve) => {
        state.sleeping++;
        state.began++;
        signal.addEventListener('abort', () => {
          state.sleeping--;
          resolve(ok('woken'));
        });
      }),
  });
  return { tool, state };
}

/** Its leases are so long that only a hint can tell the worker in time that one was taken away. */
async function withWorker(
  roles: Parameters<typeof startTeam>[0],
  use: (sleep: ReturnType<typeof sleeper>['state']) => Promise<void>,
  concurrency = 4,
): Promise<void> {
  const { tool, state } = sleeper();
  const model = await startTeam(roles);
  const worker = await startWorker({
    url: database.url,
    schema: 'ledger',
    tools: [tool],
    log: pino({ level: 'silent' }),
    concurrency,
    leaseSeconds: 3600,
    model: createModelClient({ apiKey: 'k', baseURL: model.url }),
  });
  await db.facultySave({
    name: 'lead',
    accepts: ['lead', 'part'],
    engage: { tools: ['sleep'], max_turns: 30 },
    awareness: { enabled: false },
  });
  try {
    await use(state);
  } finally {
    await worker.stop();
    await model.close();
  }
}

test('an interruption ends a running tool at once, and the model hears what was said', async () => {
  await withWorker(
    {
      Lead: ({ exchange, results, said }) => (exchange === 0 ? calls(call('sleep', {})) : done(`${results.join()} | ${said.join()}`)),
    },
    async (sleep) => {
      const item = await db.workSubmit({ workType: 'lead', description: 'Lead and sleep' });
      await until(() => sleep.sleeping === 1);
      await db.workMessage(item.id, 'Wake up', true);
      await until(() => sleep.sleeping === 0);
      await until(async () => (await db.workItem(item.id))?.state === 'completed');
      const summary = String((await db.workItem(item.id))?.outcome_data?.['summary']);
      expect(summary).toMatch(
        /a person interrupted while this call ran\. Whether it took effect is unknown.*\| \[message from the people you work for\]\nWake up$/s,
      );
    },
  );
});

test('a lease that is taken away while nobody listens is missed once the worker listens again', async () => {
  await withWorker(
    {
      Lead: ({ exchange, results }) => (exchange === 0 ? calls(call('sleep', {})) : done(results.join())),
    },
    async (sleep) => {
      const item = await db.workSubmit({ workType: 'lead', description: 'Lead and be cut off' });
      await until(() => sleep.sleeping === 1);
      const name = new URL(database.url).pathname.slice(1);
      const [inside, outside] = [new pg.Client(database.url), new pg.Client(database.url.replace(name, 'postgres'))];
      await Promise.all([inside.connect(), outside.connect()]);
      await until(
        async () =>
          (await inside.query(`select from pg_stat_activity where application_name = 'work-ledger listener' and datname = '${name}'`))
            .rowCount === 1,
      );
      await outside.query(`alter database ${name} with allow_connections false`); // it cannot come back yet
      await inside.query(
        `select pg_terminate_backend(pid, 60000) from pg_stat_activity where application_name = 'work-ledger listener' and datname = '${name}'`,
      );
      await inside.query(`select ledger.work_message('${item.id}', 'Wake up', true)`);
      await outside.query(`alter database ${name} with allow_connections true`);
      await Promise.all([inside.end(), outside.end()]);
      await until(() => sleep.sleeping === 0);
      await until(async () => (await db.workItem(item.id))?.state === 'completed');
    },
    1,
  ); // it has no slot in which it could meet the item again
});

test('an interruption ends a wait for children with what there is', async () => {
  await withWorker(
    {
      Lead: ({ exchange, children, results }) =>
        exchange === 0 ? calls(spawn('Part that sleeps')) : exchange === 1 ? calls(awaits(children)) : done(results.join()),
      Part: () => calls(call('sleep', {})),
    },
    async (sleep) => {
      const item = await db.workSubmit({ workType: 'lead', description: 'Lead and wait' });
      await until(async () => sleep.sleeping === 1 && (await db.workItem(item.id))?.state === 'waiting');
      await db.workMessage(item.id, 'What do you have?', true);
      await until(async () => (await db.workItem(item.id))?.state === 'completed');
      expect(String((await db.workItem(item.id))?.outcome_data?.['summary'])).toMatch(
        /^\[engine\] The wait was interrupted; some children have not ended\..*"state": "running"/s,
      );
      const [child] = await database.query<{ id: string }>(`select id from ledger.work_items where parent_id = '${item.id}'`);
      await db.workCancel(child?.id ?? '', null);
      await until(() => sleep.sleeping === 0);
    },
  );
});

test('cancelling the root of a tree of twenty leaves nothing running: no job, no lease, no tool; late writes are refused', async () => {
  await withWorker(
    {
      Lead: ({ exchange, children }) =>
        exchange === 0 ? calls(...[1, 2, 3].map((n) => spawn(`Branch ${n}`)), spawn('Part of its own')) : calls(awaits(children)),
      Branch: ({ exchange, children, description }) =>
        exchange === 0 ? calls(...[1, 2, 3, 4, 5].map((n) => spawn(`Part ${n} of ${description}`))) : calls(awaits(children)),
      Part: () => calls(call('sleep', {})),
    },
    async (sleep) => {
      const root = await db.workSubmit({ workType: 'lead', description: 'Lead twenty' });
      await until(() => sleep.sleeping >= 16);
      const [driven] = await database.query<{ id: string }>(
        `select w.id from ledger.work_items w join ledger.fences e on e.work_item_id = w.id where w.root_id = '${root.id}' and e.lease_hash is not null limit 1`,
      );
      await db.workCancel(root.id, 'enough');
      await until(() => sleep.sleeping === 0);
      const [left] = await database.query<Record<string, number>>(`
      select (select count(*)::int from ledger.work_items where root_id = '${root.id}') as items,
             (select count(*)::int from ledger.work_items where root_id = '${root.id}' and state <> 'cancelled') as alive,
             (select count(*)::int from ledger.foci f join ledger.work_items w on w.id = f.work_item_id where w.root_id = '${root.id}' and f.ended_at is null) as foci,
             (select count(*)::int from ledger.tool_calls k join ledger.work_items w on w.id = k.work_item_id where w.root_id = '${root.id}' and k.completed_at is null) as open_calls`);
      expect(left).toEqual({ items: 20, alive: 0, foci: 0, open_calls: 0 });
      await expect(
        database.query(`select ledger.ledger_append('${driven?.id}', 'note', 'late', p_lease => gen_random_uuid())`),
      ).rejects.toThrow(/is cancelled/);
      await until(
        async () =>
          (
            await database.query(
              `select from graphile_worker.jobs j join ledger.work_items w on j.key like '%' || w.id || '%' where w.root_id = '${root.id}'`,
            )
          ).length === 0,
      );
    },
    20,
  );
});

test('a dangerous call waits for a person, over the end of its worker, and runs once', async () => {
  const erased: string[] = [];
  const erase = defineTool({
    name: 'erase',
    description: 'Erases.',
    input: z.strictObject({ what: z.string() }),
    effect: 'unsafe',
    risk: 'dangerous',
    execute: async ({ what }) => {
      erased.push(what);
      return ok(`erased ${what}`);
    },
  });
  const model = await startTeam({
    Lead: ({ exchange, results }) =>
      exchange === 0
        ? calls(call('erase', { what: 'a' }), call('erase', { what: 'b' }), call('erase', { what: 'c' }))
        : done(results.join(' | ')),
  });
  await db.facultySave({
    name: 'careful',
    accepts: ['careful'],
    engage: { tools: ['erase'], require_approval: 'dangerous' },
    awareness: { enabled: false },
  });
  const start = () =>
    startWorker({
      url: database.url,
      schema: 'ledger',
      tools: [erase],
      log: pino({ level: 'silent' }),
      model: createModelClient({ apiKey: 'k', baseURL: model.url }),
    });
  const first = await start();
  const item = await db.workSubmit({ workType: 'careful', description: 'Lead and erase' });
  await until(async () => (await db.workItem(item.id))?.state === 'waiting');
  await first.stop();
  const waiting = await db.approvals();
  expect(waiting.map(({ tool_name, risk, input }) => [tool_name, risk, input])).toEqual(
    ['a', 'b', 'c'].map((what) => ['erase', 'dangerous', { what }]),
  );
  expect(erased).toEqual([]);
  const [a, b, c] = waiting.map((one) => one.tool_call_id);
  await db.toolCallApprove(a ?? '');
  const second = await start();
  await db.toolCallReject(b ?? '', 'not that one');
  await db.toolCallApprove(c ?? '');
  await db.toolCallApprove(c ?? '');
  await until(async () => (await db.workItem(item.id))?.state === 'completed');
  await second.stop();
  await model.close();
  expect(erased.toSorted()).toEqual(['a', 'c']);
  expect((await db.workItem(item.id))?.outcome_data?.['summary']).toBe(
    'erased a | [engine] Not executed: a person rejected this call: not that one | erased c',
  );
  await expect(db.toolCallReject(a ?? '', null)).rejects.toMatchObject({ code: 'WL008' });
});

test('a paused item stops between two iterations and goes on when it is resumed', async () => {
  const asked = Promise.withResolvers<void>();
  await withWorker(
    {
      Lead: ({ exchange }) =>
        exchange < 6
          ? { ...calls(call('ledger_read', {})), ...(exchange === 2 && { afterEvent: () => asked.promise }) } // until it is to pause
          : done('Went on'),
      Other: ({ exchange }) => (exchange < 3 ? calls(call('ledger_read', {})) : done('Done')),
    },
    async () => {
      const item = await db.workSubmit({ workType: 'lead', description: 'Lead and pause' });
      await until(async () => (await db.workProgress(item.id)).turns >= 2);
      await db.workPause(item.id, 'lunch');
      asked.resolve();
      await until(async () => (await db.workItem(item.id))?.state === 'paused');
      const { turns } = await db.workProgress(item.id);
      const other = await db.workSubmit({ workType: 'lead', description: 'Other that nobody pauses' });
      await until(async () => (await db.workItem(other.id))?.state === 'completed');
      expect((await db.workProgress(item.id)).turns).toBe(turns);
      await db.workResume(item.id);
      await until(async () => (await db.workItem(item.id))?.state === 'completed');
    },
  );
});
