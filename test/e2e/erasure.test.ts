// Retention erases by itself, beside running work and across crashes. A tree of 1,000 turns: test/long/erasure.

import { afterAll, beforeAll, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { playedDatabase } from '../playedDatabase.ts';
import type { Played } from '../playedDatabase.ts';
import { Session } from '../session.ts';
import { call, calls, done, startTeam } from '../team.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';

let database: Played;
let db: Db;
beforeAll(async () => {
  database = await playedDatabase();
  await database.query(`select agent('{"tools": ["look"], "max_turns": 5000, "stall_limit": 0}')`);
  db = await openDb(database.url, 'ledger');
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

test('retention erases beside running work, in a worker, and the running work ends as it would', async () => {
  const model = await startTeam({
    Run: ({ exchange }) =>
      exchange < 8 ? { ...calls(call('ledger_append', { entry_type: 'note', content: `note ${exchange}` })), delayMs: 30 } : done('Ran'),
  });
  await db.facultySave({ name: 'runner', accepts: ['run'], awareness: { enabled: false } });
  for (let n = 0; n < 3; n++)
    await database.play(
      `select submit('Old quagga'); select play('[[["look", "quagga"], ["finding", "quagga"]], ["done"]]'); select item()`,
    );
  const running = await Promise.all([1, 2, 3].map((n) => db.workSubmit({ workType: 'run', description: `Run ${n}` })));
  expect((await database.cli('retention', '0 seconds', '--faculty', 'worker')).stdout).toContain('due now');
  const worker = await startWorkerProcess({ url: database.url, modelUrl: model.url, args: ['--schema', 'ledger'] });
  await until(
    async () => (await database.query(`select from ledger.work_items where work_type = 'run' and state <> 'completed'`)).length === 0,
  );
  await until(async () => (await database.tablesWith('quagga')).length === 0);
  await worker.end('SIGTERM');
  await model.close();
  for (const { id } of running)
    expect((await db.ledgerRead(id, null, null)).map(({ content }) => content)).toEqual(Array.from({ length: 8 }, (_, n) => `note ${n}`));
  expect((await database.cli('retention', 'never', '--faculty', 'worker')).stdout).toContain('nothing is erased by itself');
});

test('a batch that dies takes nothing half: the next one goes on, until no word is left', async () => {
  const item = await database.play(`
    select submit('Old okapi'); select play((select jsonb_agg('[["look", "okapi"], ["finding", "okapi"]]'::jsonb) from generate_series(1, 60))); select play('[["done"]]'); select item()`);
  await db.retentionPolicySave('0 seconds', null, 'worker', 'nothing', null);
  await until(async () => (await db.retentionRun()).root_id === item);
  // Few rows a batch: how much one does in its 40 ms is the machine's affair.
  await database.query('select ledger.work_retention_run(false, 5)');
  const left = async (): Promise<number> =>
    (
      await database.query<{ n: number }>(`select count(*)::int as n from work_ledger where work_item_id = '${item}' and content = 'okapi'`)
    )[0]?.n ?? 0;
  const first = await left();
  expect(first).toBeGreaterThan(0);
  // A batch stands in the middle of its work, and its server process is killed.
  const [holder, batch, admin] = [await Session.open(database.url), await Session.open(database.url), await Session.open(database.url)];
  await holder.run(`begin; lock table work_ledger in exclusive mode`);
  const begin = async (): Promise<string> => {
    const dying = batch.begin('select work_retention_run(false, 5)');
    if (!(await dying.waitsFor(holder))) return begin(); // it has not come to the entries yet
    await admin.run(`select pg_terminate_backend(${batch.pid})`);
    return dying.outcome;
  };
  expect(await begin()).not.toBe('done');
  await holder.run('rollback');
  expect(await left()).toBe(first);
  await Promise.all([holder.close(), admin.close()]);
  const worker = await database.cli('retention', '--run');
  expect(worker.stdout).toMatch(/erased \d+ trees, \d+ rows/);
  expect(await database.tablesWith('okapi')).toEqual([]);
  expect((await database.query(`select from ledger.erasures where erased_at is null`)).length).toBe(0);
  await db.retentionPolicySave(null, null, 'worker', 'nothing', null);
});
