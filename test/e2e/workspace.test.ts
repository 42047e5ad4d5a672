// A faculty that says nothing of its workspace has one in a container: the model, its code and the check meet the same files
// there, workers come and go, and the files go some time after the work is over.

import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import Docker from 'dockerode';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { WorkItem } from '../../runtime/ledger/answers.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import type { ScriptedReply } from '../../runtime/model/script.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { builtinTools } from '../../runtime/tools/builtinTools.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import type { Worker } from '../../runtime/worker/worker.ts';
import { listVolumes, removeVolume, VOLUME_LABEL, volumeOf } from '../../sandbox/containerWorkspace.ts';
import { LEDGER_LABEL } from '../../sandbox/sandboxContainer.ts';
import { cli } from '../cli.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { docker, noDocker } from '../docker.ts';
import { call, calls, done, startTeam } from '../team.ts';
import type { Seen } from '../team.ts';
import { until } from '../workerProcess.ts';

let database: TestDatabase;
let db: Db;
let model: ScriptedModel;
let directory: string;
let worker: Worker | undefined;
let number = 0;
const items: string[] = [];
const roles: Record<string, (seen: Seen) => ScriptedReply> = {};

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  directory = await mkdtemp(join(tmpdir(), 'workspace-e2e-'));
  model = await startTeam(roles);
});
afterAll(async () => {
  await worker?.stop();
  for (const id of items) await removeVolume(docker, id);
  await model?.close();
  await db?.close();
  await database?.drop();
  await rm(directory, { recursive: true, force: true });
});

async function start(daemon: Docker | null = docker): Promise<void> {
  await worker?.stop();
  worker = await startWorker({
    url: database.url,
    schema: 'ledger',
    tools: builtinTools,
    log: pino({ level: 'silent' }),
    concurrency: 4,
    graceSeconds: 0,
    docker: daemon,
    model: createModelClient({ apiKey: 'k', baseURL: model.url }),
  });
}

/** A work item whose model makes one call after the other, and reports what it was shown. */
async function submit(steps: ReturnType<typeof call>[], engage: object = {}): Promise<WorkItem> {
  const name = `worker ${++number}:`;
  const seen: string[] = [];
  roles[name] = ({ exchange, results }) => {
    seen.push(...results);
    const step = steps[exchange];
    return step ? calls(step) : done(seen.join('|'));
  };
  await db.facultySave({
    name,
    awareness: { enabled: false },
    engage: {
      tools: ['read_file', 'write_file', 'edit_file', 'bash', 'grep', 'glob'],
      code_execution: true,
      ledger_nudge_interval: 0,
      code_execution_pool: 0,
      ...engage,
    },
  });
  const item = await db.workSubmit({ workType: 'files', description: `${name} work`, faculty: name });
  items.push(item.id);
  return item;
}
async function answered(item: WorkItem): Promise<string> {
  await until(async () => (await db.workItem(item.id))?.resolved_at);
  return String((await db.workItem(item.id))?.outcome_data?.['summary']);
}

/** Edits of one file and of others in one response: every one of them happens, in the model's order. */
async function edits(engage: object): Promise<string> {
  const name = `editor ${++number}:`;
  roles[name] = ({ exchange, results }) =>
    [
      calls(
        ...Array.from({ length: 4 }, (_, n) =>
          call('edit_file', { path: n % 2 ? './f.txt' : 'f.txt', old_string: `line ${n}`, new_string: `edited ${n}` }),
        ),
        call('write_file', { path: 'g.txt', content: 'first' }),
        call('edit_file', { path: './/g.txt', old_string: 'first', new_string: 'second' }),
        call('read_file', { path: 'g.txt' }),
      ),
      calls(call('grep', { pattern: '^(edited|line) [0-3]$', path: 'f.txt' })),
    ][exchange] ?? done(results.join('|'));
  const tools = ['read_file', 'write_file', 'edit_file', 'grep'];
  await db.facultySave({ name, awareness: { enabled: false }, engage: { tools, ledger_nudge_interval: 0, ...engage } });
  const item = await db.workSubmit({ workType: 'files', description: `${name} work`, faculty: name });
  items.push(item.id);
  const summary = await answered(item);
  const settled = await database.query<{ said: string }>(
    `select result #>> '{}' as said from ledger.tool_calls where work_item_id = '${item.id}' and tool_name = 'edit_file' and status = 'completed'`,
  );
  expect(settled).toHaveLength(5);
  const read = await database.query<{ said: string }>(
    `select result #>> '{}' as said from ledger.tool_calls where work_item_id = '${item.id}' and tool_name = 'read_file'`,
  );
  expect(read.map(({ said }) => said)).toEqual(['second']);
  return summary;
}
const lines = Array.from({ length: 4 }, (_, n) => `line ${n}\n`).join('');
const edited = Array.from({ length: 4 }, (_, n) => `f.txt:${n + 1}:edited ${n}`).join('\n');

test("edits of one file in one response all happen, in the model's order, on the host", async () => {
  await start(null);
  await writeFile(join(directory, 'f.txt'), lines + 'x'.repeat(4_000_000));
  expect(await edits({ workspace: 'host', workspace_dir: directory })).toBe(edited);
});

describe.skipIf(noDocker !== null)('a workspace in a container', () => {
  test("edits of one file in one response all happen, in the model's order", async () => {
    await start();
    await writeFile(join(directory, 'f.txt'), lines);
    expect(await edits({ workspace_dir: directory })).toBe(edited);
  });

  test('is the default: tools, code and check meet the same files, and none of the host', async () => {
    await start();
    const seed = join(directory, 'seed');
    await mkdir(seed);
    await writeFile(join(seed, 'given.txt'), 'given\n');
    const item = await submit(
      [
        call('bash', { command: `cat given.txt; pwd; ls ${directory}; ls /work 2>&1; echo made > made.txt` }),
        call('execute_code', {
          code: 'edit_file("made.txt", "made", "mended")\nreturn [read_file("made.txt"), glob("*.txt"), bash("cat made.txt").stdout, grep("mend")[0].line]',
        }),
        call('read_file', { path: 'made.txt' }),
      ],
      { workspace_dir: seed, check_command: 'grep -q mended made.txt && echo checked-inside && pwd' },
    );
    const said = await answered(item);
    expect(said).toMatch(/^given\n\/home\/agent\n.*No such file/s);
    expect(said).toContain('["mended\\n", ["made.txt", "given.txt"], "mended\\n", 1]');
    expect(said).toContain('mended');
    const [check] = await database.query<{ output: string }>(
      `select output from ledger.hook_runs where work_item_id = '${item.id}' and hook = 'check'`,
    );
    expect(check?.output.trimEnd()).toBe('checked-inside\n/home/agent');
    expect(await readFile(join(seed, 'given.txt'), 'utf8')).toBe('given\n');
    const pulled = join(directory, 'pulled');
    expect((await cli(['workspace', 'pull', item.id, pulled], { env: process.env })).stdout).toBe('2 files\n');
    expect(await readFile(join(pulled, 'made.txt'), 'utf8')).toBe('mended\n');
    const byEnd = ['workspace', 'pull', item.id.slice(-6), join(directory, 'again'), '--database-url', database.url];
    expect((await cli(byEnd, { env: process.env })).stdout).toBe('2 files\n');
  });

  test('another worker goes on with the files', async () => {
    await start();
    const item = await submit([
      call('bash', { command: 'echo first > kept' }),
      call('bash', { command: 'echo begun >> kept; sleep 600; echo second >> kept' }),
      call('bash', { command: 'cat kept' }),
    ]);
    await until(async () => {
      const [container] = await docker.listContainers({ filters: { label: [`${VOLUME_LABEL}=${item.id}`] } });
      if (!container) return false;
      const archive = await docker
        .getContainer(container.Id)
        .getArchive({ path: '/home/agent/kept' })
        .catch(() => null);
      return archive !== null && (await text(archive)).includes('begun');
    });
    await start(); // the old one stops in the middle of the second command, which is not repeated
    expect(await answered(item)).toMatch(/\|first\nbegun$/);
  });

  test('is gone when the work has been over for as long as the faculty keeps it', async () => {
    await start();
    const [gone, kept] = [
      await submit([call('bash', { command: 'echo x > x' })], { workspace_keep_hours: 0 }),
      await submit([call('bash', { command: 'echo x > x' })]),
    ];
    await answered(gone);
    await answered(kept);
    // Their containers end with the work, and do not wait for a sweep.
    for (const { id } of [gone, kept])
      await until(async () => (await docker.listContainers({ all: true, filters: { label: [`${VOLUME_LABEL}=${id}`] } })).length === 0);
    expect(await listVolumes(docker)).toEqual(expect.arrayContaining([gone.id, kept.id]));
    await start(); // sweeps at once
    await until(async () => !(await listVolumes(docker)).includes(gone.id));
    expect(await listVolumes(docker)).toContain(kept.id);
  });

  test('whose ledger is gone is named by the doctor, and stays: it may have been moved', async () => {
    await start();
    const ledger = await db.ledgerId();
    // The container goes with the end of the work: it is looked for meanwhile.
    const item = await submit([call('bash', { command: 'sleep 3; echo x > x' })]);
    await until(async () => (await docker.listContainers({ filters: { label: [`${LEDGER_LABEL}=${ledger}`] } })).length > 0);
    await answered(item);
    expect((await docker.getVolume(volumeOf(item.id)).inspect()).Labels[LEDGER_LABEL]).toBe(ledger);
    // Of many volumes the doctor names the first: these would be among them.
    const [foreign, lost, others] = [1, 2, 3].map((n) => `0000000${n}${randomUUID().slice(8)}`) as [string, string, string];
    await docker.createVolume({ Name: volumeOf(foreign), Labels: { [VOLUME_LABEL]: foreign } });
    await docker.createVolume({ Name: volumeOf(lost), Labels: { [VOLUME_LABEL]: lost, [LEDGER_LABEL]: ledger } });
    await docker.createVolume({ Name: volumeOf(others), Labels: { [VOLUME_LABEL]: others, [LEDGER_LABEL]: 'another' } });
    try {
      const { stdout } = await cli(['doctor', '--json'], { env: { ...process.env, DATABASE_URL: database.url } });
      const found = (JSON.parse(stdout) as { check: string; severity: string; detail: string; remedy: string }[]).filter(
        ({ check }) => check === 'workspaces',
      );
      const [own, unlabelled] = found;
      expect(own).toMatchObject({
        severity: 'warning',
        detail: `1 volume of items that this ledger had and does not know any more: ${volumeOf(lost)}`,
        remedy: 'docker volume rm NAME',
      });
      expect(unlabelled).toMatchObject({
        severity: 'warning',
        detail: expect.stringMatching(/^\d+ volumes? without the label of a ledger/),
        remedy: expect.stringContaining('look whether another ledger'),
      });
      for (const id of [item.id, others]) expect(JSON.stringify(found)).not.toContain(id);
      await start(); // sweeps at once
      expect(await listVolumes(docker)).toEqual(expect.arrayContaining([foreign, lost, others]));
    } finally {
      for (const id of [foreign, lost, others]) await removeVolume(docker, id);
    }
  });

  test('code of one focus shares a container where the faculty wants a session', async () => {
    await start();
    const steps = [
      call('execute_code', { code: 'open("/tmp/set", "w").write("large")\nbash("true")\nreturn "put"' }),
      call('execute_code', { code: 'return [os.path.exists("/tmp/set"), bash("echo called").stdout]' }),
    ];
    expect(await answered(await submit(steps, { code_execution_session: true }))).toMatch(/^put\n\n\[code.*\|\[true, "called\\n"\]/s);
    expect(await answered(await submit(steps))).toMatch(/^put\n\n\[code.*\|\[false, "called\\n"\]/s);
  });
});

test('without Docker the tools say so, and the work goes on', async () => {
  await start(null);
  const item = await submit([call('bash', { command: 'true' }), call('read_file', { path: 'x' })]);
  const told = /\[engine\] This work has no workspace: .*This is an environment problem/;
  expect((await answered(item)).split('|')).toEqual([expect.stringMatching(told), expect.stringMatching(told)]);
  await start(new Docker({ socketPath: '/nowhere.sock' }));
  expect(await answered(await submit([call('bash', { command: 'true' })]))).toMatch(
    /^\[engine\] The workspace cannot be used now: .*ENOENT.*This is an environment problem/,
  );
});
