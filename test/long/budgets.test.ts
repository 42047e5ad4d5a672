// Budgets under load: children on real workers that all draw on one budget, and never use more than there is.

import { setTimeout as sleep } from 'node:timers/promises';

import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
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

const children = 16;
const usage = { input_tokens: 900, output_tokens: 100, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };

const workerOf = (baseURL: string, concurrency?: number): ReturnType<typeof startWorker> =>
  startWorker({
    url: database.url,
    schema: 'ledger',
    tools: [],
    log: pino({ level: 'silent' }),
    ...(concurrency !== undefined && { concurrency }),
    model: createModelClient({ apiKey: 'k', baseURL }),
  });

test('16 children reserve from one budget and never exceed it; a raise lets all of them finish', async () => {
  const engage = { max_output_tokens: 1000, max_turns: 100, ledger_nudge_interval: 0 };
  await db.facultySave({ name: 'lead', accepts: ['lead'], engage, awareness: { enabled: false } });
  await db.facultySave({ name: 'part', accepts: ['part'], engage, awareness: { enabled: false } });
  await database.query(`
    select ledger.model_price_save('claude-sonnet-5-5', 3, 15);
    create table most (resource text, held numeric);
    create function note_held() returns trigger language plpgsql as $$ begin insert into most values (new.resource, new.spent + new.reserved); return null; end $$;
    create trigger note_held after update on ledger.budgets for each row execute function note_held()`);
  const model = await startTeam({
    lead: ({ exchange, children: ids }) => ({
      ...(exchange === 0
        ? calls(...Array.from({ length: children }, (_, n) => spawn(`part ${n}`)))
        : exchange === 1
          ? calls(awaits(ids, 3600))
          : done('All parts are done.')),
      usage,
    }),
    part: ({ exchange }) => ({
      ...(exchange < 5 ? calls(call('ledger_append', { entry_type: 'note', content: `${exchange}` })) : done('Done.')),
      usage,
      delayMs: 20,
    }),
  });
  const workers = await Promise.all([workerOf(model.url, 8), workerOf(model.url, 8)]);
  try {
    const root = await db.workSubmit({ workType: 'lead', description: 'lead', budget: { tokens: 60_000, money: 10, calls: 1000 } });
    const states = (): Promise<{ state: string; n: number }[]> =>
      database.query(`select state, count(*)::int as n from ledger.work_items group by state order by state`);
    // 16 x 6 requests of 1,000 tokens are more than 60,000: all that is left unfinished is parked, by itself.
    await until(
      async () =>
        (await states()).every(({ state }) => state === 'waiting' || state === 'completed') &&
        (await database.query(`select from ledger.v_children`)).length === children,
    );
    const parked = await database.query<{ state_reason: string }>(
      `select state_reason from ledger.work_items where parent_id = '${root.id}' and state = 'waiting'`,
    );
    expect(parked.length).toBeGreaterThan(0);
    for (const { state_reason: reason } of parked)
      expect(reason).toMatch(
        /^the budget of 60000 tokens of work item .* is used up: 5\d{4}, and the next request needs about \d+ tokens$/,
      );
    const [used] = await database.query<{ spent: string; reserved: string; requests: number }>(`
      select spent, reserved, (select count(*)::int from ledger.turns where status = 'completed') as requests from ledger.budgets where resource = 'tokens'`);
    expect(used).toEqual({ spent: `${1000 * used!.requests}`, reserved: '0', requests: used!.requests });
    // What was held at any moment, row by row; many were under way at once.
    const [most] = await database.query<{ held: string; spread: number }>(
      `select max(held) as held, count(distinct held)::int as spread from most where resource = 'tokens'`,
    );
    expect(Number(most!.held)).toBeLessThanOrEqual(60_000);
    expect(Number(most!.held)).toBeGreaterThan(50_000);

    await database.query(`select ledger.budget_set('${root.id}', 'tokens', 200000)`);
    await until(async () => (await db.workItem(root.id))?.state === 'completed');
    expect(await states()).toEqual([{ state: 'completed', n: children + 1 }]);
    expect(await db.budgets(root.id)).toEqual([
      { resource: 'calls', amount: '1000', spent: '99', reserved: '0', remaining: '901' },
      // 900 in at 3, 100 out at 15 for a million
      { resource: 'money', amount: '10', spent: '0.4158', reserved: '0', remaining: '9.5842' },
      { resource: 'tokens', amount: '200000', spent: '99000', reserved: '0', remaining: '101000' },
    ]);
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
    await model.close();
  }
});

test('a tree is cancelled while its children reserve and settle: no deadlock, nothing left held', async () => {
  const model = await startTeam({
    root: ({ exchange, children: ids }) =>
      exchange === 0 ? calls(...Array.from({ length: 8 }, (_, n) => spawn(`part ${n}`))) : calls(awaits(ids, 3600)),
    part: ({ exchange }) => calls(call('ledger_append', { entry_type: 'note', content: `${exchange}` })),
  });
  const worker = await workerOf(model.url, 8);
  try {
    for (let round = 0; round < 5; round++) {
      const root = await db.workSubmit({
        workType: 'lead',
        description: `root ${round}`,
        budget: { tokens: 10_000_000, calls: 100_000, seconds: 10_000 },
      });
      await until(async () => Number((await db.budgets(root.id)).find((one) => one.resource === 'calls')?.spent) > 20);
      expect(await database.query(`select from ledger.work_cancel('${root.id}')`)).toHaveLength(9);
      expect((await db.budgets(root.id)).map((one) => one.reserved)).toEqual(['0', '0', '0']);
    }
  } finally {
    await worker.stop();
    await model.close();
  }
});

test('work of one project has so many calls a day, whoever makes them, and goes on when there may be more', async () => {
  const engage = { max_output_tokens: 1000, max_turns: 100, ledger_nudge_interval: 0 };
  await db.facultySave({ name: 'daily', accepts: ['daily'], engage, awareness: { enabled: false } });
  const [left] = await database.query<{ ms: number }>(
    `select (extract(epoch from ledger._day_ends_at(ledger._today()) - now()) * 1000)::int as ms`,
  );
  if ((left?.ms ?? 0) < 120_000) await sleep(left?.ms ?? 0); // all of it on one day
  await db.dailyBudgetSet('calls', '10', { scope: 'project', name: 'day/shop' });
  const model = await startScriptedModel((_, { exchange }) => ({
    ...(exchange < 3 ? calls(call('ledger_append', { entry_type: 'note', content: `${exchange}` })) : done('Done.')),
    usage,
    delayMs: 20,
  }));
  const workers = await Promise.all([workerOf(model.url, 4), workerOf(model.url, 4)]);
  try {
    for (let n = 0; n < 8; n++) await db.workSubmit({ workType: 'daily', description: `Part ${n}`, project: 'day/shop' });
    const states = (): Promise<{ state: string; until: string | null }[]> =>
      database.query(
        `select state, to_char(run_at at time zone 'UTC', 'HH24:MI:SS') as until from ledger.work_items where work_type = 'daily'`,
      );
    // 8 x 4 requests are more than 10.
    await until(async () => (await states()).every(({ state }) => state === 'waiting' || state === 'completed'));
    for (const { state, until: at } of await states()) if (state === 'waiting') expect(at).toBe('00:00:00');
    expect(await db.dailyBudgets()).toMatchObject([{ amount: '10', spent: '10', reserved: '0', remaining: '0' }]);
    expect(
      await database.query(
        `select count(*)::int as n from ledger.turns t join ledger.work_items w on w.id = t.work_item_id where w.work_type = 'daily' and t.status = 'completed'`,
      ),
    ).toEqual([{ n: 10 }]);
    await db.dailyBudgetSet('calls', '100', { scope: 'project', name: 'day/shop' });
    await until(async () => (await states()).every(({ state }) => state === 'completed'));
    expect(await db.dailyBudgets()).toMatchObject([{ spent: '32', reserved: '0' }]);
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
    await model.close();
  }
});

test('a model that is asked too much is stood in for by the fallback model, until it can be asked again', async () => {
  await db.facultySave({
    name: 'patient',
    accepts: ['patient'],
    engage: { model: 'main', fallback_model: 'spare', ledger_nudge_interval: 0 },
    awareness: { enabled: false },
  });
  let isRefusing = true;
  const model = await startScriptedModel((request, { exchange }) => {
    if (isRefusing && request.model === 'main')
      return { error: { status: 429, type: 'rate_limit_error', message: 'slow down', headers: { 'retry-after': '3600' } } };
    return exchange < 2 ? calls(call('ledger_append', { entry_type: 'note', content: `${exchange}` })) : done('Done.');
  });
  const worker = await workerOf(model.url);
  try {
    const asked = async (description: string): Promise<string[]> => {
      const item = await db.workSubmit({ workType: 'patient', description });
      await until(async () => (await db.workItem(item.id))?.state === 'completed');
      return model.requests.filter(({ body }) => body.includes(`Work item ${item.id}`)).map(({ body }) => String(JSON.parse(body).model));
    };
    expect(await asked('while it refuses')).toEqual(['main', 'spare', 'spare', 'spare']);
    isRefusing = false;
    await database.query(`update ledger.models set cooldown_ends_at = null where name = 'main'`);
    expect(await asked('when it answers')).toEqual(['main', 'main', 'main']);
  } finally {
    await worker.stop();
    await model.close();
  }
});
