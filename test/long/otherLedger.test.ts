// A command that meets a ledger of other sources, or no database, says what is there, what it wants and what to do, and ends.
// What one has opened, it closes: a process that something keeps open would never end.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { installLedger } from '../../runtime/install/installLedger.ts';
import { cli as typed } from '../cli.ts';
import type { Ended } from '../cli.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { noDocker } from '../docker.ts';
import { until } from '../workerProcess.ts';

let database: TestDatabase;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'other-ledger-'));
  database = await createDatabase({ from: null });
  await installLedger(database.url, 'work_ledger');
  await database.query('drop table work_ledger.awareness_shown cascade; drop function work_ledger.work_ledger_build()');
});
afterAll(async () => {
  await database?.drop({ unchecked: 'a table is missing' });
  await rm(directory, { recursive: true, force: true });
});

/** What would keep this process from ending. */
const open = (): number => process.getActiveResourcesInfo().filter((name) => name !== 'Immediate').length;

async function cli(args: string[], environment: Record<string, string> = {}): Promise<Ended> {
  const before = open();
  const ended = await typed(args, {
    cwd: directory,
    env: {
      PATH: process.env['PATH'],
      HOME: directory,
      DOCKER_HOST: process.env['DOCKER_HOST'],
      DATABASE_URL: database.url,
      ...environment,
    },
  });
  await until(() => open() <= before);
  return ended;
}

const id = '00000000-0000-7000-8000-000000000000';
/** What asks for a container before it looks for its ledger. */
const needsDocker = noDocker === null ? ['code'] : [];
const recorded = fileURLToPath(new URL('../fixtures/claudeCode.jsonl', import.meta.url));

test('every command ends over an older ledger, with what to do', async () => {
  const faculty = join(directory, 'a.toml');
  await writeFile(faculty, '[faculty]\nname = "a"\n');
  const commands = [
    ['up'],
    ['install'],
    ['move', '--to', database.url.replace(/[^/]*$/, 'postgres')],
    ['show'],
    ['submit', 'x', '--type', 'a'],
    ['ledger', id],
    ['logs', id, '--follow'],
    ['digest'],
    ['cancel', id],
    ['approve'],
    ['list'],
    ['sessions'],
    ['follow', directory],
    ['claims'],
    ['memory', 'list'],
    ['memory', 'suggest'],
    ['logs', id],
    ['sql'],
    ['ledger', 'complete', id, 'x'],
    ['ledger', 'append', id, 'note', 'x'],
    ['cost'],
    ['trace', id],
    ['top'],
    ['approve', id],
    ['reject', id],
    ['message', id, 'x'],
    ['pause', id],
    ['resume', id],
    ['resume', id, '--in', 'codex'],
    ['workspace', 'abandon', id],
    ['budget', id],
    ['fork', id],
    ['continue', id, 'x'],
    ['retry', id],
    ['faculty', faculty],
    ['import', recorded],
    ['install', '--javascript'],
    ['work'],
    ['run', 'x', '--workspace', '.'],
    ['console', '--port', '0'],
    ['ledger', 'retract', id, '1', 'x'],
    ['erase', id],
    ['retention'],
    ['person', 'list'],
    ['export', id],
    ['verify'],
    ['verify', '--heads'],
  ];
  // Those that need no ledger or make their own, and those that never stop their client, which the tests of MCP look at.
  const others = ['help', 'down', 'mcp', 'plugin', 'doctor', 'init', 'demo'];
  const named = [...(await cli(['--help'])).stdout.matchAll(/^ {2}([a-z][a-z-]*)[ |]/gm)].map(([, name]) => name ?? '');
  expect(named.filter((name) => !others.includes(name)).toSorted()).toEqual([...new Set(commands.map(([name = '']) => name))].toSorted());
  for (const args of commands) {
    const ended = await cli(args, ['work', 'run'].includes(args[0] ?? '') ? { ANTHROPIC_API_KEY: 'k' } : {});
    expect(ended, args.join(' ')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /the ledger in schema "work_ledger" is version ([\d.]+) \(build unknown\), this program wants \1 \(build [^)]+\)\..*work-ledger install --schema work_ledger_2\n/,
      ),
    });
  }
  expect(await cli(['doctor'])).toMatchObject({ code: 1, stdout: expect.stringMatching(/^look {2}ledger .*build unknown/) });
});

test('the demo runs next to an older ledger, in one of its own', async () => {
  const schemas = 'select nspname from pg_namespace order by 1';
  const before = await database.query(schemas);
  const shown = await cli(['demo', '--install'], { WORK_LEDGER_SCHEMA: 'work_ledger' });
  expect(shown, shown.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('Done: the work item is completed') });
  expect([await database.query(schemas), await database.query(`select to_regclass('work_ledger.awareness_shown') as old`)]).toEqual([
    before,
    [{ old: null }],
  ]);
});

test('an error in the middle of a scene leaves nothing open', async () => {
  // What a demo has installed is broken at once.
  await database.query(`create function break_it() returns event_trigger language plpgsql as $break$ declare v_name text; begin
    select object_identity into v_name from pg_event_trigger_ddl_commands() where object_identity ~ '^work_ledger_demo_\\w+[.]faculty_save[(]';
    if found then execute format($$ create or replace function %s returns %s language plpgsql as 'begin raise exception ''broken on purpose''; end' $$, replace(v_name, '(', '(p_config '), split_part(v_name, '.', 1) || '.faculties'); end if;
  end $break$;
  create event trigger break_it on ddl_command_end when tag in ('COMMENT') execute function break_it()`);
  for (const scene of ['one', 'team', 'context', ...needsDocker]) {
    expect(await cli(['demo', '--install', '--scene', scene])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('broken on purpose'),
    });
  }
  await database.query('drop event trigger break_it');
  await installLedger(database.url, 'broken');
  await database.query('drop function broken.work_submit cascade');
  expect(await cli(['submit', 'x', '--type', 'a', '--schema', 'broken'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('work-ledger doctor'),
  });
});

test('a server that is not there, and a database that is not, end every command but a worker', async () => {
  const nowhere = { DATABASE_URL: `postgresql://postgres@${encodeURIComponent(directory)}/x`, WORK_LEDGER_SCHEMA: 'work_ledger' };
  for (const args of [['show'], ['demo', '--install'], ['doctor'], ['run', 'x']]) {
    expect(await cli(args, { ...nowhere, ANTHROPIC_API_KEY: 'k' })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/there is no socket .*\.s\.PGSQL\S+ \(ENOENT\)/),
    });
  }
  const missing = { DATABASE_URL: database.url.replace(/[^/]*$/, 'no_such_database'), ANTHROPIC_API_KEY: 'k' };
  for (const args of [['show'], ['work']])
    expect(await cli(args, missing)).toMatchObject({ code: 1, stderr: expect.stringContaining('"no_such_database" does not exist') });
});
