// A standby takes over from its primary under load: 3,000 appends that were acknowledged are there, workers go on, and an old primary
// that comes back is not written to. Everybody has one address, which names both servers.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { sql } from 'slonik';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';

import { installLedger } from '../../runtime/install/installLedger.ts';
import { startThrowaway } from '../../runtime/install/throwaway.ts';
import { withConnection } from '../../runtime/ledger/connection.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { crash } from '../faults/ground.ts';
import { startStandby } from '../standby.ts';
import type { Standby } from '../standby.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';
import type { WorkerProcess } from '../workerProcess.ts';

const schema = 'work_ledger';
const WRITERS = 12;
const APPENDS = 3000 / WRITERS;
const ITEMS = 8;
const NOTES = 6;

/** What is to be stopped when a test is over, the last first. */
const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const one of cleanUp.splice(0).toReversed()) await one();
});

type Primary = Awaited<ReturnType<typeof startThrowaway>>;

/** A primary that acknowledges nothing before its standby has it. */
async function startPair(): Promise<{ primary: Primary; standby: Standby; url: string }> {
  const primary = await startThrowaway({ isDurable: true });
  cleanUp.push(primary.stop);
  await installLedger(primary.url, schema);
  const standby = await startStandby(primary);
  cleanUp.push(() => standby.stop());
  await withConnection({ connectionString: primary.url }, async (client) => {
    await client.query(`alter system set synchronous_standby_names = '*'`);
    await client.query('select pg_reload_conf()');
    await until(async () => (await client.query(`select from pg_stat_replication where sync_state = 'sync'`)).rowCount === 1);
  });
  const hosts = [primary.url, standby.url].map((url) => /@([^/]+)\//.exec(url)?.[1]);
  return { primary, standby, url: `postgresql://postgres@${hosts.join(',')}/work_ledger?target_session_attrs=read-write` };
}

/** Appends until all of them are acknowledged, the last third once there is a fault; what was acknowledged, as it must be there. */
async function write(db: Db, id: string, acknowledged: string[], faulted: Promise<void>): Promise<void> {
  for (let n = 1; n <= APPENDS; n++) {
    if (n > (APPENDS * 2) / 3) await faulted;
    const append = async (): Promise<boolean> => {
      const { seq } = await db.ledgerAppend(id, 'note', `entry ${n}`, { key: `key ${n}` });
      acknowledged.push(`${id} ${seq} entry ${n}`);
      return true;
    };
    await until(() => append().catch(() => false));
  }
}

/**
 * Twelve writers and two workers at one address; `fail` is called when a third of the entries is acknowledged and the items are under way;
 * it calls `begins` just before its fault.
 */
async function load(
  url: string,
  fail: (workers: readonly [WorkerProcess, WorkerProcess], begins: () => void) => Promise<void>,
): Promise<{ db: Db; afterwards: () => Promise<void> }> {
  const db = await openDb(url, schema, { maximumPoolSize: WRITERS + 2 });
  cleanUp.push(() => db.close());
  await db.facultySave({ name: 'talker', accepts: ['talk'], engage: { ledger_nudge_interval: 0 }, awareness: { enabled: false } });
  const { promise: faulted, resolve: begins } = Promise.withResolvers<void>();
  const note = (n: number) => ({
    content: [{ type: 'tool_use', name: 'ledger_append', input: { entry_type: 'note', content: String(n) } }],
    delayMs: 700,
    afterEvent: () => (n > 2 ? faulted : undefined), // so that the items are under way then
  });
  const notes = Array.from({ length: NOTES }, (_, n) => note(n + 1));
  const model = await startScriptedModel(scriptOf([...notes, { content: [{ type: 'text', text: 'Done.' }] }]));
  cleanUp.push(() => model.close());
  const start = (): Promise<WorkerProcess> => startWorkerProcess({ url, modelUrl: model.url, leaseSeconds: 10 });
  const workers = await Promise.all([start(), start()]);
  cleanUp.push(() => Promise.all(workers.map((worker) => worker.end('SIGKILL'))));
  const logs = (error: unknown): never => {
    throw new Error(`${String(error)}\n${workers.map((worker) => worker.log()).join('\n---\n')}`);
  };
  const submit = (n: number): Promise<string[]> =>
    Promise.all(Array.from({ length: n }, async (_, i) => (await db.workSubmit({ workType: 'talk', description: `item ${i}` })).id));
  const completed = async (ids: readonly string[]): Promise<void> => {
    for (const id of ids) {
      const item = await until(async () => {
        const now = await db.workItem(id).catch(() => null);
        return now?.resolved_at ? now : null;
      }).catch(logs);
      expect(item.state, workers.map((worker) => worker.log()).join('\n---\n')).toBe('completed');
      expect((await db.ledgerRead(id, 'note', null)).map(({ content }) => content)).toEqual(
        Array.from({ length: NOTES }, (_, n) => String(n + 1)),
      );
    }
  };

  const acknowledged: string[] = [];
  const written = await Promise.all(
    Array.from({ length: WRITERS }, async () => (await db.workSubmit({ workType: 'written', description: 'by hand' })).id),
  );
  const writing = Promise.all(written.map((id) => write(db, id, acknowledged, faulted)));
  await until(() => acknowledged.length >= 500);
  const items = await submit(ITEMS);
  await until(() => acknowledged.length >= 1000 && model.requests.length >= ITEMS);
  await fail(workers, begins);
  await writing;
  await completed(items);

  const there = await db.ask(
    () => sql.type(z.object({ line: z.string() }))`
    select concat_ws(' ', work_item_id, seq, content) as line from work_ledger where work_item_id = any (${sql.array(written, 'uuid')})`,
  );
  expect(acknowledged).toHaveLength(3000);
  expect(there.map(({ line }) => line).toSorted()).toEqual(acknowledged.toSorted());
  for (const id of written)
    expect((await db.ledgerRead(id, null, null)).map(({ seq }) => seq)).toEqual(Array.from({ length: APPENDS }, (_, n) => n + 1));
  expect(await db.ledgerVerify(null, null)).toEqual([]);
  expect(await db.ask(() => sql.type(z.unknown())`select * from work_ledger_check()`)).toEqual([]);
  return {
    db,
    afterwards: async () => completed(await submit(2)),
  };
}

const directory = (url: string): Promise<string> =>
  withConnection(
    { connectionString: url },
    async (client) => (await client.query<{ of: string }>(`select current_setting('data_directory') as of`)).rows[0]?.of ?? '',
  );

test('the primary is killed: what was acknowledged is there, and the work goes on', async () => {
  const { primary, standby, url } = await startPair();
  const { afterwards } = await load(url, async ([sleeper], begins) => {
    // A worker that sleeps through it wakes up when another has what it held.
    const holds = (at: string): Promise<boolean> =>
      withConnection(
        { connectionString: at },
        async (client) =>
          (await client.query('select from v_leases l join v_workers w on w.id = l.lease_owner where w.pid = $1', [sleeper.pid]))
            .rowCount !== 0,
      );
    await until(() => holds(primary.url));
    sleeper.signal('SIGSTOP');
    begins();
    await crash(primary.dataDir, 'kill');
    await standby.promote();
    await until(async () => !(await holds(standby.url)));
    sleeper.signal('SIGCONT');
  });
  expect(await directory(url)).toBe(await directory(standby.url));
  await afterwards();
});

test('the primary is frozen, overtaken, and wakes up: nobody writes to it, though it would take it', async () => {
  const { primary, standby, url } = await startPair();
  const old = await processesOf(primary.dataDir);
  cleanUp.push(async () => old().then((pids) => signal(pids, 'SIGCONT')));
  const { db, afterwards } = await load(url, async (_, begins) => {
    begins();
    await freeze(primary.dataDir);
    await standby.promote();
  });

  await signal(await old(), 'SIGCONT');
  // It is a primary as ever: libpq would take it, since it comes first.
  await withConnection({ connectionString: primary.url }, async (client) => {
    expect((await client.query('select pg_is_in_recovery() as is_standby')).rows).toEqual([{ is_standby: false }]);
  });
  expect(await directory(primary.url)).not.toBe(await directory(standby.url));
  expect(await directory(url)).toBe(await directory(standby.url));
  await afterwards();

  // Who still writes there is never told that it is done.
  const { id } = await db.workSubmit({ workType: 'written', description: 'to the new one' });
  const told = withConnection({ connectionString: primary.url }, (client) =>
    client.query(`select from work_ledger.work_submit('written', 'to the old one')`),
  ).then(
    () => 'acknowledged',
    () => 'broken off',
  );
  await withConnection({ connectionString: primary.url }, async (client) => {
    // For the standby, or behind somebody who waits for it.
    const [waiting] = await until(async () => {
      const { rows } = await client.query<{ pid: number }>(
        `select pid from pg_stat_activity where (wait_event = 'SyncRep' or wait_event_type = 'Lock') and query like 'select from%to the old one%'`,
      );
      return rows.length > 0 ? rows : null;
    });
    expect((await client.query('select from work_ledger.work_items where id = $1', [id])).rowCount).toBe(0);
    await client.query('select pg_terminate_backend($1)', [waiting?.pid]);
  });
  expect(await told).toBe('broken off');
  expect(await db.ask(() => sql.type(z.unknown())`select from work_items where description = 'to the old one'`)).toEqual([]);
});

test('a standby that is not promoted yet is waited for', async () => {
  const { primary, standby, url } = await startPair();
  const db = await openDb(url, schema);
  cleanUp.push(() => db.close());
  await crash(primary.dataDir, 'kill');
  const refused = await withConnection({ connectionString: url }, async () => '').catch((error: unknown) => String(error));
  expect(refused).toMatch(/cannot be reached: no server there takes writes: .*; .* is a standby$/);
  const submitted = db.workSubmit({ workType: 'written', description: 'meanwhile' });
  await standby.promote();
  expect((await db.workItem((await submitted).id))?.state).toBe('queued');
});

/** The processes of a server, which may begin and end. */
async function processesOf(dataDir: string): Promise<() => Promise<number[]>> {
  const postmaster = Number((await readFile(join(dataDir, 'cluster', 'postmaster.pid'), 'utf8')).split('\n')[0]);
  return async () => {
    const { stdout } = await promisify(execFile)('pgrep', ['-P', String(postmaster)]).catch(() => ({ stdout: '' }));
    return [postmaster, ...stdout.split('\n').filter(Boolean).map(Number)];
  };
}

/** The postmaster first: from then on there are no more than are listed. */
async function freeze(dataDir: string): Promise<void> {
  const pids = await processesOf(dataDir);
  await signal((await pids()).slice(0, 1), 'SIGSTOP');
  await signal(await pids(), 'SIGSTOP');
}

async function signal(pids: readonly number[], name: NodeJS.Signals): Promise<void> {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // it has ended
    }
  }
}
