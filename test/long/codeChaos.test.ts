// Code runs while workers and the Docker daemon itself are killed again and again: every call is answered, no unsafe call
// happens twice, and after the deadline nothing is left. EXECUTIONS=500 for a long run; needs root, for a daemon of its own.

import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import Docker from 'dockerode';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { LABEL, reap } from '../../sandbox/sandboxContainer.ts';
import { clearSockets } from '../../sandbox/toolSocket.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { docker as given, image, noDocker } from '../docker.ts';
import { seed, seededRandom } from '../random.ts';
import { call, calls, done, startTeam } from '../team.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';
import type { WorkerProcess } from '../workerProcess.ts';

const EXECUTIONS = Number(process.env['EXECUTIONS'] ?? 40);
const PER_ITEM = 4;
const isRoot = process.getuid?.() === 0;
if (!isRoot) console.log('codeChaos.test.ts is skipped: only root can start a Docker daemon to be killed');

let database: TestDatabase;
let db: Db;
let directory: string;
let workspace: string;
let daemon: ChildProcess | undefined;
let docker: Docker;

/** A daemon of the test's own. */
async function startDaemon(): Promise<void> {
  // What a killed one left: its own number, and that of its containerd, which died with it.
  for (const left of ['pid', 'exec/containerd/containerd.pid']) await rm(join(directory, left), { force: true });
  daemon = spawn(
    'dockerd',
    [
      '--host',
      `unix://${directory}/docker.sock`,
      '--data-root',
      `${directory}/data`,
      '--exec-root',
      `${directory}/exec`,
      '--pidfile',
      `${directory}/pid`,
      '--bridge',
      'none',
      '--iptables=false',
    ],
    { stdio: 'ignore' },
  );
  await until(() =>
    docker.ping().then(
      () => true,
      () => false,
    ),
  );
}

async function endDaemon(signal: NodeJS.Signals): Promise<void> {
  if (!daemon || daemon.exitCode !== null || daemon.signalCode !== null) return;
  const ended = once(daemon, 'exit');
  daemon.kill(signal);
  await ended;
}

beforeAll(async () => {
  if (noDocker !== null || !isRoot) return;
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  workspace = await mkdtemp(join(tmpdir(), 'chaos-work-'));
  directory = await mkdtemp(join(tmpdir(), 'chaos-docker-'));
  docker = new Docker({ socketPath: `${directory}/docker.sock` });
  await startDaemon();
  await pipeline(await given.getImage(image).get(), async (tar) => {
    const loading = await docker.loadImage(tar as unknown as NodeJS.ReadableStream);
    await pipeline(loading, async (lines) => {
      for await (const _ of lines) void _;
    });
  });
});

afterAll(async () => {
  await endDaemon('SIGTERM');
  await db?.close();
  await database?.drop();
  if (directory) spawnSync('pkill', ['-9', '-f', `containerd-shim.*${directory}/`]); // the killed daemons' own
  if (directory) spawnSync('sh', ['-c', `grep ' ${directory}/' /proc/mounts | cut -d' ' -f2 | xargs -r umount -l`]);
  for (const left of [workspace, directory]) if (left) await rm(left, { recursive: true, force: true });
});

test.skipIf(noDocker !== null || !isRoot)(
  `${EXECUTIONS} executions while workers and the daemon are killed (SEED=${seed})`,
  { timeout: 900_000 + EXECUTIONS * 10_000 },
  async () => {
    const random = seededRandom();
    const killed: number[] = [];
    let daemonKills = 0;
    const code = (item: string, n: number): string => `
import time
for k in range(3):
    bash(f"echo ${item}-${n}-{k} >> effects")
    time.sleep(0.2)
return "${item}-${n}"`;
    const model = await startTeam({
      item: ({ description, exchange }) =>
        exchange < PER_ITEM ? calls(call('execute_code', { code: code(description.slice(5), exchange) })) : done('Done.'),
    });
    await db.facultySave({
      name: 'coder',
      accepts: ['code'],
      recover: { max_attempts: 100 },
      awareness: { enabled: false },
      engage: {
        code_execution: true,
        code_execution_memory: '64m',
        workspace: 'host',
        workspace_dir: workspace,
        tools: ['bash'],
        ledger_nudge_interval: 0,
      },
    });
    const start = (): Promise<WorkerProcess> =>
      startWorkerProcess({ url: database.url, modelUrl: model.url, leaseSeconds: 3, dockerHost: `unix://${directory}/docker.sock` });
    const workers = [await start(), await start()];
    const items = await Promise.all(
      Array.from({ length: EXECUTIONS / PER_ITEM }, (_, n) => db.workSubmit({ workType: 'code', description: `item ${n}` })),
    );
    const open = async (): Promise<number> =>
      (await Promise.all(items.map(async (item) => (await db.workItem(item.id))?.resolved_at ?? null))).filter((at) => at === null).length;

    // What runs at the daemon, whatever its books say.
    const running = (): string =>
      spawnSync('sh', ['-c', `for shim in $(pgrep -f 'containerd-shim.*${directory}/'); do pgrep -P $shim -f '^python3'; done`], {
        encoding: 'utf8',
      }).stdout;
    // Before anybody dies, one has come to its end, and one was seen to run: on a slow machine none might, between two kills.
    let seenRunning = false;
    await until(async () => {
      seenRunning ||= running() !== '';
      return (
        seenRunning &&
        (await database.query(`select from ledger.tool_calls where tool_name = 'execute_code' and status = 'completed'`)).length > 0
      );
    });
    for (let kill = 0; (await open()) > 0; kill++) {
      await sleep(1500 + random() * 2500);
      if (kill % 4 === 3) {
        daemonKills++;
        await endDaemon('SIGKILL');
        await startDaemon();
      } else {
        killed.push(workers[kill % 2]?.pid ?? 0);
        await workers[kill % 2]?.end('SIGKILL');
        workers[kill % 2] = await start();
      }
    }
    for (const item of items) expect(await db.workItem(item.id)).toMatchObject({ state: 'completed' });
    // Every call has its answer, and no unsafe one was made twice.
    expect(await database.query(`select from ledger.tool_calls where completed_at is null`)).toEqual([]);
    const effects = (await readFile(join(workspace, 'effects'), 'utf8')).trim().split('\n');
    expect(new Set(effects).size).toBe(effects.length);
    const [answers] = await database.query<{ code: number; ok: number }>(`
    select count(*)::int as code, (count(*) filter (where status = 'completed'))::int as ok from ledger.tool_calls where tool_name = 'execute_code'`);
    expect(answers?.code).toBe(EXECUTIONS);
    expect(answers?.ok).toBeGreaterThan(0);
    console.log(
      `${answers?.ok} of ${EXECUTIONS} executions came to their end, the others were answered as interrupted; ${killed.length} workers and ${daemonKills} daemons killed; ${effects.length} effects, none twice`,
    );

    // Workers that stop leave nothing; what the killed ones left ends by itself, and the reaper takes it. A daemon that was
    // killed may keep a container in its books that is over, and forget one that runs: so both are looked at.
    await Promise.all(workers.map((worker) => worker.end('SIGTERM')));
    await model.close();
    await until(async () => {
      await reap(docker);
      return (await docker.listContainers({ all: true, filters: { label: [LABEL] } })).length === 0;
    });
    await until(() => Promise.resolve(running() === ''));
    await clearSockets();
    const pids = workers.map((worker) => worker.pid).concat(killed);
    expect((await readdir(tmpdir())).filter((name) => pids.some((pid) => name.startsWith(`work-ledger-sandbox-${pid}-`)))).toEqual([]);
  },
);
