// The demo has a ledger of its own: it never works in that of a user, whatever names it, and nothing
// of it is left when it has ended, nor, once another begins, when it was killed.

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';

import { ownMark } from '../../runtime/install/processMark.ts';
import { dropLeft, makeScratch } from '../../runtime/install/scratchLedger.ts';
import { withConnection } from '../../runtime/ledger/connection.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { noDocker } from '../docker.ts';
import { rowsOf } from '../everyTable.ts';
import { until } from '../workerProcess.ts';

const main = fileURLToPath(new URL('../../runtime/start.ts', import.meta.url));
let database: TestDatabase;
let directory: string;
let temporary: string;
const begun: ChildProcess[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'scratch-test-'));
  temporary = join(directory, 'tmp');
  await mkdir(join(directory, 'src'));
  await mkdir(temporary);
  for (const path of [directory, temporary]) await chmod(path, 0o755); // commands of root's agents run as another user
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/**
 * A user's ledger with work in it, for which a faculty and a worker of the demo's would do; a project whose files the demo's agent would
 * edit.
 */
beforeEach(async () => {
  database = await createDatabase();
  await database.query(`
    select faculty_save(jsonb_build_object('name', 'engineer', 'accepts', '["task"]'::jsonb, 'engage', jsonb_build_object('workspace', 'host', 'workspace_dir', '${directory}', 'tools', '["bash", "edit_file"]'::jsonb)));
    select work_submit('task', 'Pay the March invoices')`);
  await writeFile(join(directory, 'src', 'money.js'), 'export const x = Math.trunc(amount * 100);\n');
  await writeFile(join(directory, 'work-ledger.toml'), 'schema = "ledger"\n');
});
afterEach(async () => {
  for (const child of begun.splice(0)) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  await database.drop();
});

type Running = { child: ChildProcess; said: () => string; ended: Promise<{ code: number | null; stdout: string; stderr: string }> };

/** As a person without a key types it in the project's directory. */
function begin(args: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
  const child = spawn(process.execPath, [main, ...args], {
    cwd: directory,
    env: {
      PATH: process.env['PATH'],
      HOME: directory,
      TMPDIR: temporary,
      DOCKER_HOST: process.env['DOCKER_HOST'],
      DATABASE_URL: database.url,
      WORK_LEDGER_SCHEMA: 'ledger',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  begun.push(child);
  const heard = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) child[name]?.on('data', (chunk) => (heard[name] += chunk));
  return {
    child,
    said: () => heard.stdout + heard.stderr,
    ended: once(child, 'close').then(([code]) => ({ code: code as number | null, ...heard })),
  };
}
const cli = (...args: string[]): Running['ended'] => begin(args).ended;

/** A model that begins to answer and says nothing more. */
async function silent(): Promise<AsyncDisposable & { env: NodeJS.ProcessEnv }> {
  const model = await startScriptedModel(() => ({ stall: true }));
  return { env: { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: model.url }, [Symbol.asyncDispose]: () => model.close() };
}

/** All that is the user's: rows, jobs, schemas, files. */
const everything = async (): Promise<unknown> => ({
  rows: [...(await rowsOf(database, 'ledger'))],
  jobs: await database.query('select id, task_id, key, payload, attempts, run_at from graphile_worker._private_jobs order by id'),
  tasks: await database.query('select id, identifier from graphile_worker._private_tasks order by id'),
  schemas: await schemas(),
  file: await readFile(join(directory, 'src', 'money.js'), 'utf8'),
  folders: await folders(),
});
const schemas = async (): Promise<string[]> =>
  (
    await database.query<{ name: string }>(`select nspname as name from pg_namespace where nspname !~ '^pg_(temp|toast_temp)' order by 1`)
  ).map(({ name }) => name);
const folders = async (): Promise<string[]> => (await readdir(temporary)).filter((name) => name.startsWith('work-ledger-demo'));
const ofDemos = async (): Promise<string[]> => (await schemas()).filter((name) => name.startsWith('work_ledger_demo_'));

test.each(['one', 'team', 'context', ...(noDocker === null ? ['code'] : [])])(
  "the scene %s leaves a user's queue, faculties, models and files as they were, and nothing of its own",
  async (scene) => {
    const before = await everything();
    const shown = await cli('demo', '--install', '--scene', scene);
    expect(shown, shown.stderr).toMatchObject({ code: 0, stdout: expect.stringMatching(/\nDone: /) });
    expect(shown.stdout).toContain('with --keep its ledger stays');
    expect(await everything()).toEqual(before);
  },
);

test('a schema that is named for it is refused', async () => {
  const before = await everything();
  expect(await cli('demo', '--install', '--schema', 'ledger')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('works in a schema of its own, whatever others are there'),
  });
  expect(await everything()).toEqual(before);
});

test('in a database that somebody names it makes nothing unless it is let', async () => {
  const before = await everything();
  expect(await cli('demo')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(
      /makes a ledger of its own in postgresql:.*, in a schema that is gone when it ends: --install lets it; without an address it uses the embedded database\n$/,
    ),
  });
  expect(await everything()).toEqual(before);
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s in the middle is one line, and nothing is left', async (signal) => {
  const before = await everything();
  await using model = await silent(); // it is in the middle until it is told to stop
  const demo = begin(['demo', '--install', '--scene', 'team'], model.env);
  await until(() => /lead [0-9a-f]{4} +running/.test(demo.said()) || demo.child.exitCode !== null);
  expect(await ofDemos()).toHaveLength(1);
  demo.child.kill(signal);
  expect(await demo.ended).toMatchObject({ code: 130, stderr: 'stopped; the demo left nothing behind\n' });
  expect(await everything()).toEqual(before);
});

test('what a killed one left goes when the next begins; what runs is left to it', async () => {
  const before = await everything();
  await using model = await silent();
  const killed = begin(['demo', '--install', '--scene', 'team'], model.env);
  await until(() => /lead [0-9a-f]{4} +running/.test(killed.said()) || killed.child.exitCode !== null);
  killed.child.kill('SIGKILL');
  await killed.ended;
  const left = await ofDemos();
  expect([left.length, (await folders()).length]).toEqual([1, 1]);

  const living = begin(['demo', '--install', '--scene', 'team'], { CONSOLE: '1' });
  await until(() => living.said().includes('The console stays open') || living.child.exitCode !== null);
  const own = await ofDemos();
  expect(own).toHaveLength(1);
  expect(own).not.toEqual(left);
  expect(await cli('demo', '--install')).toMatchObject({ code: 0 });
  expect([await ofDemos(), (await folders()).length]).toEqual([own, 1]);
  living.child.kill('SIGINT');
  expect(await living.ended).toMatchObject({ code: 0 });
  expect(await everything()).toEqual(before);
});

test('what is kept stays, with nothing in it that a worker would do', async () => {
  const kept = await cli('demo', '--install', '--keep', '--scene', 'context');
  expect(kept, kept.stderr).toMatchObject({ code: 0 });
  const [schema = ''] = await ofDemos();
  expect(kept.stdout).toContain(`work-ledger console --schema ${schema}\n`);
  expect(await cli('demo', '--install')).toMatchObject({ code: 0 });
  expect(await ofDemos()).toEqual([schema]);
  expect(await database.query(`select distinct state from ${schema}.work_items`)).toEqual([{ state: 'completed' }]);
  const [folder = ''] = await folders();
  expect(await readFile(join(temporary, folder, 'invoices', 'src', 'money.js'), 'utf8')).toContain('Math.round');
  expect(await cli('list', '--schema', schema)).toMatchObject({ code: 0, stdout: expect.stringContaining('demo-context') });
  await rm(join(temporary, folder), { recursive: true });
});

test('only a schema that says that a program made it which is gone is dropped', async () => {
  const gone = { work_ledger: 'scratch', kept: false, at: '2026-01-01T00:00:00+00:00', ...ownMark(), started: 1 };
  const elsewhere = { ...gone, machine: '0123456789abcdef' };
  const recently = (await database.query<{ at: string }>(`select to_json(now())#>>'{}' as at`))[0]?.at;
  const make = async (
    n: number,
    comment: object | string | null,
    name = `work_ledger_demo_${String(n).padStart(16, '0')}`,
  ): Promise<string> => {
    await database.query(
      `create schema ${name}; create table ${name}.rows (); ${comment === null ? '' : `comment on schema ${name} is '${typeof comment === 'string' ? comment : JSON.stringify({ schema: name, ...comment })}'`}`,
    );
    return name;
  };
  const stay = [
    await make(1, null),
    await make(2, 'Mine'),
    await make(3, '{"work_ledger": "scratch"}'),
    await make(4, { ...gone, ...ownMark() }),
    await make(5, { ...gone, kept: true }),
    await make(6, { ...gone, schema: 'work_ledger_demo_0000000000000007' }),
    await make(8, gone, 'work_ledger_demo_mine'),
    await make(9, gone, 'mine'),
    await make(10, { ...elsewhere, at: recently }),
    await make(11, '{'),
  ];
  const go = [await make(20, gone), await make(21, elsewhere), await make(22, { ...gone, machine: null })];
  await database.query(
    `create role stranger_${process.pid}; create schema work_ledger_demo_00000000000000aa authorization stranger_${process.pid}`,
  );
  try {
    const before = await schemas();
    await withConnection({ connectionString: database.url }, dropLeft);
    expect(await schemas()).toEqual(before.filter((name) => !go.includes(name)));
    expect(await schemas()).toEqual(expect.arrayContaining(stay));
  } finally {
    await database.query(`drop schema work_ledger_demo_00000000000000aa; drop role stranger_${process.pid}`);
  }
});

test('one that cannot be installed leaves nothing', async () => {
  const before = await schemas();
  await database.query(`create function refuse() returns event_trigger language plpgsql as $$ begin if exists (select from pg_class where relname = 'work_items' and relnamespace::regnamespace::text like 'work_ledger_demo%') then raise 'no more tables'; end if; end $$;
    create event trigger refuse on ddl_command_end execute function refuse()`);
  await expect(makeScratch(database.url)).rejects.toThrow('no more tables');
  await database.query('drop event trigger refuse');
  expect(await schemas()).toEqual(before);
});
