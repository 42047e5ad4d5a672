// A worker and the connections that it needs: how many at most, and what happens when the server refuses them, breaks them,
// or is not there. It never ends, and never lives without working. A server of its own: its limits are the test.

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { ensureEmbedded, stopEmbedded } from '../../runtime/install/embedded.ts';
import { installLedger } from '../../runtime/install/installLedger.ts';
import { connect } from '../../runtime/ledger/connection.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { startOtlpReceiver } from '../otlpReceiver.ts';
import { until } from '../workerProcess.ts';

const main = fileURLToPath(new URL('../../runtime/start.ts', import.meta.url));
const CONCURRENCY = 4;
const MOST = 20;
let dataDir: string;
let url: string;
let model: ScriptedModel;
/** Opened before the places are filled: it asks how the worker does. */
let watcher: pg.Client;
let submitter: pg.Client;
/** Who take the places that it had. */
const others: pg.Client[] = [];
let child: ChildProcess | undefined;
let log = '';
/** Called with each request to the model. */
let asked: () => unknown = () => {};

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'wl-connections-'));
  await chmod(dataDir, 0o755);
  ({ url } = await ensureEmbedded({ dataDir, isDurable: false }));
  await installLedger(url, 'work_ledger');
  const admin = await connect({ connectionString: url });
  await admin.query(`alter system set max_connections = ${MOST}`);
  await admin.query(
    'create function work_ledger.slowly() returns trigger language plpgsql as $$ begin perform pg_sleep(0.2); return new; end $$',
  );
  await admin.query(`create trigger slowly before insert on work_ledger.work_ledger for each row execute function work_ledger.slowly()`);
  await admin.query(
    `select work_ledger.faculty_save('{"name": "talker", "accepts": ["talk"], "engage": {"ledger_nudge_interval": 0}, "awareness": {"enabled": false}}')`,
  );
  await admin.end();
  await restart();
  const note = { type: 'tool_use', name: 'ledger_append', input: { entry_type: 'note', content: 'x' } };
  const read = { type: 'tool_use', name: 'ledger_read', input: {} };
  model = await startScriptedModel((_request, { exchange }) => {
    asked();
    return { delayMs: 300, content: exchange < 3 ? [note, read, read, read] : [{ type: 'text', text: 'Done.' }] };
  });
});
afterAll(async () => {
  await model?.close();
  await stopEmbedded(dataDir).catch(() => {});
  await rm(dataDir, { recursive: true, force: true });
});
afterEach(async () => {
  asked = () => {};
  if (!child) return;
  child.kill('SIGTERM');
  if (child.exitCode === null) await once(child, 'exit');
  child = undefined;
  await watcher?.end();
  await submitter?.end();
});

async function restart(): Promise<void> {
  await stopEmbedded(dataDir);
  await ensureEmbedded({ dataDir, isDurable: false });
}

function start(env: Record<string, string> = {}): void {
  log = '';
  child = spawn(process.execPath, [main, 'work', '--concurrency', String(CONCURRENCY), '--grace-seconds', '1'], {
    env: {
      PATH: process.env['PATH'],
      HOME: dataDir,
      DATABASE_URL: url,
      ANTHROPIC_API_KEY: 'k',
      ANTHROPIC_BASE_URL: model.url,
      WORK_LEDGER_LEASE_SECONDS: '4',
      DOCKER_HOST: 'unix:///nowhere.sock',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (log += chunk));
}

const says = (text: string): Promise<unknown> =>
  until(() => {
    if (child?.exitCode !== null) throw new Error(`the worker ended: ${log}`);
    return log.includes(text);
  });

/** The worker's: all but those of this test, which is the only process beside it. */
async function backends(): Promise<number[]> {
  const { rows } = await watcher.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend' and pid <> all ($1)`,
    [[...others, watcher, submitter].map(pidOf)],
  );
  return rows.map((row) => row.pid);
}
const pidOf = (client: pg.Client): number => (client as unknown as { processID: number }).processID;

async function watch(): Promise<void> {
  watcher = await connect({ connectionString: url });
  submitter = await connect({ connectionString: url });
}

async function submit(n: number): Promise<string[]> {
  const { rows } = await submitter.query<{ id: string }>(
    `select w.id from generate_series(1, $1) i, work_ledger.work_submit('talk', 'item ' || i) w`,
    [n],
  );
  return rows.map((row) => row.id);
}

/** All of them completed, each with its three entries, and nothing left behind. */
async function done(items: readonly string[], meanwhile: () => Promise<void> = async () => {}): Promise<void> {
  await until(async () => {
    if (child?.exitCode !== null) throw new Error(`the worker ended: ${log}`);
    await meanwhile();
    const { rows } = await watcher.query<{ n: number }>(
      `select count(*)::int as n from work_ledger.work_items where id = any ($1) and state = 'completed'`,
      [items],
    );
    return rows[0]?.n === items.length;
  }).catch(tell);
  const { rows } = await watcher.query<{ entries: number }>(
    'select count(*)::int as entries from work_ledger.work_ledger where work_item_id = any ($1)',
    [items],
  );
  expect(rows[0]?.entries).toBe(items.length * 3);
  await until(async () => (await watcher.query('select from graphile_worker.jobs')).rowCount === 0).catch(tell);
}
async function tell(error: Error): Promise<never> {
  const { rows } = await watcher.query(
    'select key, attempts, max_attempts, run_at, locked_at, locked_by, last_error, now() from graphile_worker.jobs',
  );
  throw new Error(`${error.message}\n${JSON.stringify(rows)}\n${log}`);
}

test.each([
  { exports: 'nothing', needs: CONCURRENCY + 4, env: {} },
  { exports: 'traces', needs: CONCURRENCY + 5, env: { OTEL_METRICS_EXPORTER: 'none' } },
  { exports: 'traces and metrics', needs: CONCURRENCY + 6, env: {} },
])(
  'a worker that exports $exports opens at most $needs connections, and says at start that it needs them and what is left',
  async ({ exports, needs, env }) => {
    const collector = await startOtlpReceiver();
    await watch();
    const items = await submit(12);
    start(exports === 'nothing' ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env });
    await says('worker started');
    expect(log).toMatch(
      new RegExp(
        `"needs":${needs},"left":\\d+,"most":20,"msg":"this worker opens at most ${needs} connections; the server has \\d+ of 20 left"`,
      ),
    );
    let most = 0;
    await done(items, async () => {
      most = Math.max(most, (await backends()).length);
    });
    expect(most).toBeLessThanOrEqual(needs);
    expect(most).toBeGreaterThan(4);
    await collector.close();
  },
);

test('what is left is what the role or the database leaves, if that is less than the server', async () => {
  await watch();
  const leftTo = async (role: string): Promise<{ whose: string; most: number; left: number }> => {
    const db = await openDb(url.replace('postgres@', `${role}@`), 'work_ledger');
    const found = await db.connections();
    await db.close();
    return found;
  };
  /** As soon as the server has let go of connections that ended just before. */
  const leaves = (whose: string, most: number, left: number): Promise<unknown> =>
    until(async () => {
      const found = await leftTo('narrow').catch(() => null);
      if (found !== null) expect(found).toMatchObject({ whose, most });
      return found?.left === left;
    });
  await watcher.query(
    'create role narrow login connection limit 3 in role pg_read_all_data; grant execute on all functions in schema work_ledger to narrow',
  );
  await leaves('role', 3, 2);
  await watcher.query('alter role narrow connection limit -1; alter database work_ledger connection limit 5');
  await leaves('database', 5, 2);
  expect(await leftTo('postgres')).toMatchObject({ whose: 'server', most: MOST }); // superusers ignore it
  await watcher.query('alter database work_ledger connection limit -1; drop owned by narrow; drop role narrow');
  await watcher.end();
  await submitter.end();
});

test('when others take every connection it waits, says so, and comes back by itself', async () => {
  await watch();
  start();
  await says('worker started');
  const items = await submit(12);
  await until(() => model.requests.length > 0);
  // Its connections are broken, and others are faster than it.
  const fill = async (): Promise<void> => {
    for (;;) {
      const one = await connect({ connectionString: url }).catch(() => null);
      if (one === null) return;
      others.push(one);
    }
  };
  await until(async () => {
    await watcher.query('select pg_terminate_backend(pid) from unnest($1::integer[]) pid', [await backends()]);
    await fill();
    return log.includes('"code":"53300"') || /too many clients|remaining connection slots/.test(log);
  });
  await until(
    async () =>
      (await watcher.query('select from work_ledger.foci where lease_owner is not null and lease_expires_at > now()')).rowCount === 0,
  ); // it cannot renew any
  for (const one of others.splice(0)) await one.end();
  await done(items);
});

test('each of its connections may break at any moment', async () => {
  await watch();
  start();
  await says('worker started');
  let n = 0;
  // One after the other: with each of the first requests, whose answer takes a while, and between them.
  let broken = Promise.resolve();
  const breakAnother = async (before: Promise<void>): Promise<void> => {
    await before;
    const pids = await backends();
    if (n < 60 && pids.length > 0) await watcher.query('select pg_terminate_backend($1)', [pids[n++ % pids.length]]);
  };
  const breakOne = (): Promise<void> => (broken = breakAnother(broken));
  asked = breakOne;
  await done(await submit(12), breakOne);
  await broken;
  expect(n).toBeGreaterThan(10);
});

test('a worker whose graphile-worker is answered no more falls silent, and starts anew', async () => {
  await watch();
  start();
  await says('worker started');
  await watcher.query('begin; lock table graphile_worker._private_jobs in access exclusive mode');
  await says('graphile-worker stopped');
  const seen = async (): Promise<unknown> => (await watcher.query('select id, seen_at from work_ledger.workers')).rows;
  const before = await seen();
  // It goes on to sign off, which the lock holds up.
  await until(
    async () =>
      (
        await submitter.query(
          `select from pg_stat_activity where datname = current_database() and query like '%worker_stop%' and wait_event_type = 'Lock'`,
        )
      ).rowCount === 1,
  );
  expect(await seen()).toEqual(before);
  await watcher.query('commit');
  await says('at work again');
  await done(await submit(2));
});

test('a worker that is refused its jobs, for whatever reason, starts anew until it is not', async () => {
  await watch();
  start();
  await says('worker started');
  await watcher.query('alter table graphile_worker._private_jobs rename to elsewhere');
  await says('graphile-worker stopped');
  await watcher.query('alter table graphile_worker.elsewhere rename to _private_jobs');
  await says('at work again');
  await done(await submit(2));
});

test('one that cannot write a job back starts anew, and no job stays locked', async () => {
  await watch();
  await watcher.query(`create function work_ledger.refuse() returns trigger language plpgsql as $$ begin raise exception 'refused' using errcode = '53300'; end $$;
    create trigger refuse before delete on graphile_worker._private_jobs for each row execute function work_ledger.refuse()`);
  start();
  await says('worker started');
  const items = await submit(3);
  await says('graphile-worker stopped');
  await watcher.query('drop trigger refuse on graphile_worker._private_jobs');
  await done(items);
});

test('one that is started before its database waits for it and says so; one whose database goes away, too', async () => {
  await stopEmbedded(dataDir);
  start();
  await says('the database cannot be reached: waiting for it');
  await ensureEmbedded({ dataDir, isDurable: false });
  await says('worker started');
  await watch();
  const items = await submit(2);
  await until(() => model.requests.length > 0);
  await restart();
  await watch();
  await done(items);
});

test('every connection that is made has a listener for its errors, in the few files that make one', async () => {
  const runtime = fileURLToPath(new URL('../../runtime/', import.meta.url));
  const makers: Record<string, string[]> = {};
  for (const name of (await readdir(runtime, { recursive: true })).filter((each) => each.endsWith('.ts'))) {
    const text = await readFile(join(runtime, name), 'utf8');
    expect(text, name).not.toMatch(/^import (?!type |pg from ).*'pg';$/m); // under no other name
    const made = text.match(/\bnew (?:pg\.\w+|PinnedClient)\(|\bcreatePool\(/g) ?? [];
    if (made.length === 0) continue;
    makers[name] = made;
    const listening = (to: string): number => text.split(`${to}.on('error', `).length - 1;
    expect(listening('pool'), name).toBe(made.filter((one) => !one.endsWith('Client(')).length);
    // of a pool of pg's, those that are out on loan
    expect(listening('client'), name).toBe(made.filter((one) => one !== 'createPool(').length);
  }
  expect(makers).toEqual({
    'ledger/connection.ts': ['new PinnedClient('],
    'ledger/driver.ts': ['new PinnedClient('],
    'ledger/linked.ts': ['new PinnedClient('],
    'ledger/servers.ts': ['new pg.Client('],
    'ledger/pool.ts': ['createPool('], // slonik's, which listens to what it lends
    'worker/runner.ts': ['new pg.Pool('],
  });
});
