// Clocks that are wrong or jump. A worker's clock decides nothing; the server's clock may be set forward and back under work.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { installLedger } from '../../runtime/install/installLedger.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { withConnection } from '../../runtime/ledger/connection.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { createDatabase } from '../database.ts';
import { fakeClock, hasFakeClock, restartUnder } from '../fakeClock.ts';
import type { FakeClock } from '../fakeClock.ts';
import { call, calls, done, startTeam } from '../team.ts';
import { startThrowaway } from '../../runtime/install/throwaway.ts';
import { forget, startWorkerProcess, until } from '../workerProcess.ts';
import type { WorkerProcess } from '../workerProcess.ts';

const HOUR = 3600;
const NOTES = 5;
const expected = Array.from({ length: NOTES }, (_, n) => String(n));

describe.skipIf(!hasFakeClock)('clocks that jump', () => {
  let directory: string;
  let server: Awaited<ReturnType<typeof startThrowaway>>;
  let serverClock: FakeClock;
  let db: Db;
  let model: ScriptedModel;
  const workers: WorkerProcess[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'wl-clocks-'));
    server = await startThrowaway({ isDurable: false });
    serverClock = await fakeClock(join(server.dataDir, 'clock'));
    await restartUnder(serverClock, server);
    await installLedger(server.url, 'work_ledger');
    db = await openDb(server.url, 'work_ledger');
    model = await startTeam({
      '': ({ exchange }) => ({
        ...(exchange < NOTES ? calls(call('ledger_append', { entry_type: 'note', content: String(exchange) })) : done('All noted.')),
        delayMs: 300,
      }),
    });
    await db.facultySave({ name: 'noter', accepts: ['note'], budget: { seconds: HOUR / 2 }, recover: { max_attempts: 20 } });
  });
  afterEach(async () => {
    for (const worker of workers.splice(0)) await worker.end('SIGKILL');
  });
  afterAll(async () => {
    await model?.close();
    await db?.close();
    await server?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const query = <Row>(sql: string): Promise<Row[]> =>
    withConnection({ connectionString: server.url }, async (client) => (await client.query(sql)).rows as Row[]);
  async function startWorker(env: Record<string, string> = {}, leaseSeconds = 10): Promise<WorkerProcess> {
    const worker = await startWorkerProcess({ url: server.url, modelUrl: model.url, leaseSeconds, args: ['--concurrency', '12'], env });
    workers.push(worker);
    return worker;
  }
  const submit = (count: number): Promise<{ id: string }[]> =>
    Promise.all(Array.from({ length: count }, (_, n) => db.workSubmit({ workType: 'note', description: `Note ${n}` })));
  const under = (items: { id: string }[], state = `state <> 'queued'`): Promise<boolean> =>
    query(`select from work_items where ${state} and id in (${items.map(({ id }) => `'${id}'`).join()})`).then(
      (found) => found.length === items.length,
    );

  /** Nothing lost or doubled, numbers in order, nothing given back, nothing left. */
  async function expectDone(items: { id: string }[]): Promise<void> {
    for (const { id } of items) {
      const item = await until(async () => {
        const now = await db.workItem(id);
        return now?.resolved_at ? now : null;
      }).catch((error: Error) => {
        throw new Error(`${error.message}\n${workers.map((worker) => worker.log()).join('\n')}`);
      });
      expect(item.state).toBe('completed');
      expect((await db.ledgerRead(id, null, null)).map(({ seq, content }) => [seq, content])).toEqual(
        expected.map((content, n) => [n + 1, content]),
      );
    }
    const ids = items.map(({ id }) => `'${id}'`).join();
    const [spent] = await query<{ is_sane: boolean }>(
      `select bool_and(spent between 0 and 300) as is_sane from budgets where resource = 'seconds' and work_item_id in (${ids})`,
    );
    expect(spent?.is_sane).toBe(true);
    await until(async () => (await query('select from graphile_worker.jobs where run_at <= now()')).length === 0);
  }

  test('workers whose clocks are an hour off, and jump, drive work as others do', async () => {
    const clocks = [await fakeClock(join(directory, 'ahead')), await fakeClock(join(directory, 'behind'))] as const;
    await clocks[0].jump(HOUR);
    await clocks[1].jump(-HOUR);
    const started = await Promise.all(clocks.map(({ env }) => startWorker(env, 60))); // renewed in time on a busy machine, too
    const items = await submit(6);
    await until(() => under(items));
    await clocks[0].jump(-HOUR);
    await clocks[1].jump(HOUR);
    await started[0]?.end('SIGKILL');
    await forget({ query }, `pid = ${started[0]?.pid}`, 'work_ledger');
    await expectDone(items);
    expect(started[1]?.log()).not.toContain('lease lost');
    expect(await query(`select from work_ledger where created_at not between now() - interval '30 minutes' and now()`)).toEqual([]);
  });

  test('where the clock of the server is set forward and back, work goes on at once', async () => {
    const first = await startWorker();
    const items = await submit(6);
    await until(() => under(items));
    await serverClock.jump(HOUR);
    await until(() =>
      under(
        items,
        `exists (select from turns where work_item_id = work_items.id and started_at > now() - interval '30 minutes') or resolved_at is not null`,
      ),
    );
    const more = await submit(6);
    await until(() => under(more));
    // A sweep has seen the later time: what goes forward and back between two of them, within five seconds, is seen as less than it was.
    await until(
      async () => (await query(`select from sweep_walks where walk = 'clock' and run_at > now() - interval '1 minute'`)).length > 0,
    );
    await first.end('SIGKILL');
    await serverClock.jump(-HOUR);
    const late = await submit(2);
    await startWorker();
    await expectDone([...items, ...more, ...late]);
  });
});

test('a clock that is set back moves each wait once, whoever works on one of the items meanwhile', async () => {
  const database = await createDatabase();
  try {
    const ids = (
      await database.query<{ id: string }>(`
      select (ledger.work_submit('nobody', 'Waits')).id from generate_series(1, 5)`)
    )
      .map(({ id }) => id)
      .toSorted();
    await database.query(`update ledger.work_items set run_at = '2026-11-20 13:10+00', state_reason = 'overloaded'`);
    const sweepAt = (time: string): Promise<unknown> =>
      withConnection({ connectionString: database.url }, async (client) => {
        await client.query(`set work_ledger.now = '2026-11-20 ${time}+00'`);
        await client.query('select ledger.work_sweep()');
      });
    const waits = async (): Promise<string[]> =>
      (
        await database.query<{ until: string }>(
          `select to_char(run_at at time zone 'utc', 'HH24:MI') as until from ledger.work_items order by id`,
        )
      ).map(({ until: time }) => time);
    await sweepAt('13:00');
    await withConnection({ connectionString: database.url }, async (client) => {
      await client.query('begin');
      await client.query('select from ledger.ledger_append($1, $2, $3)', [ids[2], 'note', 'Under way']);
      await sweepAt('12:00');
      expect(await waits()).toEqual(['12:10', '12:10', '13:10', '13:10', '13:10']);
      await client.query('commit');
    });
    for (let n = 0; n < 3; n++) await sweepAt('12:00');
    expect(await waits()).toEqual(ids.map(() => '12:10'));
  } finally {
    await database.drop();
  }
});
