// Workers at two Docker daemons, as on two machines: the files of a work item are at one of them, and so is its work. The second daemon
// is started here.

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import Docker from 'dockerode';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { builtinTools } from '../../runtime/tools/builtinTools.ts';
import type { Tool } from '../../runtime/tools/tool.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import type { Worker } from '../../runtime/worker/worker.ts';
import { listVolumes, removeVolume } from '../../sandbox/containerWorkspace.ts';
import { daemonId } from '../../sandbox/daemonId.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { docker, image, noDocker } from '../docker.ts';
import { call, calls, done, startTeam } from '../team.ts';
import { until } from '../workerProcess.ts';

const lack = noDocker ?? (process.getuid?.() === 0 ? null : 'only root starts a Docker daemon');
if (lack !== null && process.env['CI'] === undefined) process.stderr.write(`skipped: two Docker daemons: ${lack}\n`);

describe.skipIf(lack !== null && process.env['CI'] === undefined)('workers at two Docker daemons', () => {
  let directory: string;
  let process2: ChildProcess;
  let docker2: Docker;
  let database: TestDatabase;
  let db: Db;
  let model: ScriptedModel;
  const workers: Worker[] = [];
  const items: string[] = [];
  let released = Promise.withResolvers<void>();

  /** Ends when the test says so, or its worker stops; another worker calls it again. */
  const hold: Tool = {
    name: 'hold',
    description: 'Holds.',
    input: z.strictObject({}),
    effect: 'pure',
    risk: 'safe',
    async execute(_, { signal }) {
      await Promise.race([released.promise, once(signal, 'abort')]);
      return { content: 'held', isError: false };
    },
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'work-ledger-daemon-'));
    await chmod(directory, 0o711);
    const socketPath = join(directory, 'docker.sock');
    process2 = spawn(
      'dockerd',
      [
        '--host',
        `unix://${socketPath}`,
        '--data-root',
        join(directory, 'data'),
        '--exec-root',
        join(directory, 'exec'),
        '--pidfile',
        join(directory, 'pid'),
        '--bridge',
        'none',
        '--iptables=false',
      ],
      { stdio: 'ignore' },
    );
    docker2 = new Docker({ socketPath });
    await until(() =>
      docker2.ping().then(
        () => true,
        () => false,
      ),
    );
    await new Promise<void>((resolve, reject) => {
      void docker
        .getImage(image)
        .get()
        .then((saved) => docker2.loadImage(saved))
        .then((progress) => docker2.modem.followProgress(progress, (error) => (error ? reject(error) : resolve())), reject);
    });

    database = await createDatabase();
    db = await openDb(database.url, 'ledger');
    model = await startTeam({
      item: ({ exchange, results }) =>
        [calls(call('bash', { command: 'echo first >> kept' })), calls(call('hold', {})), calls(call('bash', { command: 'cat kept' }))][
          exchange
        ] ?? done(results.join('|')),
    });
    await db.facultySave({
      name: 'worker',
      accepts: ['files'],
      awareness: { enabled: false },
      engage: { tools: ['bash', 'hold'], ledger_nudge_interval: 0 },
    });
  });
  afterEach(async () => {
    released.resolve();
    for (const worker of workers.splice(0)) await worker.stop();
  });
  afterAll(async () => {
    for (const id of items) for (const daemon of [docker, docker2]) await removeVolume(daemon, id);
    await model?.close();
    await db?.close();
    await database?.drop();
    if (process2?.exitCode === null && process2.kill('SIGTERM')) await once(process2, 'exit');
    if (directory) await rm(directory, { recursive: true, force: true });
  });

  async function start(host: string, daemon: Docker): Promise<Worker> {
    const worker = await startWorker({
      url: database.url,
      schema: 'ledger',
      host,
      docker: daemon,
      tools: [...builtinTools, hold],
      log: pino({ level: 'silent' }),
      graceSeconds: 0,
      leaseSeconds: 6,
      model: createModelClient({ apiKey: 'k', baseURL: model.url }),
    });
    workers.push(worker);
    return worker;
  }
  /** An item that has made files and is in the middle of its work. */
  async function begun(description: string): Promise<string> {
    released = Promise.withResolvers();
    const { id } = await db.workSubmit({ workType: 'files', description });
    items.push(id);
    await until(async () => (await db.toolCalls(id)).some((one) => one.tool_name === 'hold' && one.status === 'running'));
    return id;
  }
  const reason = async (id: string): Promise<string | null | undefined> => (await db.workItem(id))?.state_reason;
  async function summary(id: string): Promise<string> {
    released.resolve();
    await until(async () => (await db.workItem(id))?.resolved_at);
    return String((await db.workItem(id))?.outcome_data?.['summary']);
  }

  test('a daemon says who it is, always the same, whoever asks', async () => {
    const [first, ...others] = await Promise.all([docker, docker, docker2, docker2].map(daemonId));
    expect(others).toEqual([first, others[1], others[1]]);
    expect(others[1]).not.toBe(first);
  });

  test('an item waits for a worker at the daemon of its files, says so, and goes on there; a host may have got another name', async () => {
    const left = await start('left', docker);
    const id = await begun('item one');
    await left.stop();
    await start('right', docker2);
    await until(async () => (await reason(id)) === 'waits for a worker at the Docker daemon of host "left", where its files are');
    expect(await listVolumes(docker2)).not.toContain(id);
    await start('left after a restart', docker);
    expect(await summary(id)).toBe('first');
    expect(await listVolumes(docker2)).not.toContain(id);
  });

  test('where both are, its jobs go to the one with its files', async () => {
    const left = await start('left', docker);
    const id = await begun('item two');
    await start('right', docker2);
    await start('left', docker);
    await left.stop(); // in the middle of its work: somebody else goes on
    expect(await summary(id)).toBe('first');
    expect(await listVolumes(docker2)).not.toContain(id);
  });

  test('files that are given up: the work goes on at the other daemon, and the model is told', async () => {
    const left = await start('left', docker);
    const id = await begun('item three');
    await left.stop();
    await start('right', docker2);
    await until(async () => (await reason(id)) === 'waits for a worker at the Docker daemon of host "left", where its files are');
    expect((await db.workspaceAbandon(id)).state).toBe('queued');
    expect(await summary(id)).toContain('kept: No such file');
    const [told] = await database.query<{ said: string }>(
      `select content #>> '{0,text}' as said from ledger.messages m join ledger.turns t on t.id = m.turn_id where t.work_item_id = '${id}' and m.role = 'user' and m.content::text like '%are lost%'`,
    );
    expect(told?.said).toContain('The files of your workspace are lost: they were on host "left"');
    expect(await listVolumes(docker2)).toContain(id);
  });
});
