// The commands that people type to look at work, to begin, and to write by hand; what they are told when something is wrong;
// and where settings come from.

import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chown, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';

import { withConnection } from '../../runtime/ledger/connection.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { version } from '../../sql/extensionSource.ts';
import { cli as typed } from '../cli.ts';
import type { Ended } from '../cli.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { patient } from '../limits.ts';
import { run as start } from '../shell.ts';
import type { Ran } from '../shell.ts';
import { servesTests, startWorkerProcess, until } from '../workerProcess.ts';

const main = fileURLToPath(new URL('../../runtime/start.ts', import.meta.url));
let database: TestDatabase;
/** The home of the user who types, and a directory of it. */
let home: string;
let directory: string;

beforeAll(async () => {
  database = await createDatabase();
  home = await realpath(await mkdtemp(join(tmpdir(), 'commands-test-')));
});
beforeEach(async () => {
  directory = join(home, `in-${Math.random().toString(36).slice(2)}`);
  await mkdir(directory);
});
afterAll(async () => {
  await database?.drop();
  await rm(home, { recursive: true, force: true });
});

const environment = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: home,
  DATABASE_URL: database.url,
  DOCKER_HOST: 'unix:///nowhere.sock',
  ...servesTests,
  ...more,
});

const cliWith = (env: NodeJS.ProcessEnv, ...args: string[]): Promise<Ended> =>
  typed(args, { env: environment(env), cwd: directory, stdin: '{"from": "stdin"}\n' });
const cli = (...args: string[]) => cliWith({}, ...args);
const submit = async (description: string, ...args: string[]): Promise<string> => (await cli('submit', description, ...args)).stdout.trim();
const script = async (replies: unknown): Promise<string> => {
  await writeFile(join(directory, 'script.json'), JSON.stringify(replies));
  return 'script.json';
};
const bash = (command: string) => ({ calls: [{ name: 'bash', input: { command } }] });

test('list has a header, children below their parents, filters and a limit; ps is the same', async () => {
  await database.query(`select ledger.faculty_save('{"name": "lister", "accepts": ["listed"]}')`);
  const [old, parent] = [await submit('An old one', '--type', 'listed'), await submit('The parent', '--type', 'listed')];
  const child = await submit('The child', '--type', 'listed', '--parent', parent);
  await cli('cancel', old);
  const { stdout } = await cli('list', '--limit', '3');
  expect(stdout.split('\n').map((line) => line.replace(/ +/g, ' ').replace(/ \d+s /, ' 0s '))).toEqual([
    'ID AGE STATE FACULTY WORK',
    `${parent} 0s queued lister The parent`,
    `${child} 0s queued lister └ The child`,
    `${old} 0s cancelled lister An old one (cancelled)`,
    '',
  ]);
  expect(stdout).toMatch(/^ID +AGE {2}STATE {6}FACULTY {2}WORK\n/);
  expect(JSON.parse((await cli('ps', '--state', 'cancelled', '--json')).stdout)).toMatchObject([{ id: old, faculty: 'lister', depth: 0 }]);
  expect(JSON.parse((await cli('ps', '--state', 'queued,running', '--limit', '1', '--json')).stdout)).toMatchObject([
    { id: child, parent_id: parent },
  ]);
  expect((await cli('list', '--project', '', '--state', 'dead')).stdout).toBe('no work items without a project in this state\n');
  const states = await database.query<{ state: string }>('select state from ledger._work_states()');
  expect(await cli('list', '--state', 'ready')).toMatchObject({
    code: 2,
    stderr: `error: there is no state "ready": one of ${states.map(({ state }) => state).join(', ')}\n`,
  });
});

test('an item is also named by the end of its id, or as the last one of the project', async () => {
  const [first, second] = [await submit('Named first'), await submit('Named second')];
  const shown = async (...args: string[]): Promise<string> => JSON.parse((await cli('show', ...args, '--json')).stdout).id;
  expect(await shown('last')).toBe(second);
  expect(await shown('last:2')).toBe(first);
  expect(await shown(first.slice(-6))).toBe(first);
  expect((await cli('cancel', second.slice(-6).toUpperCase())).stdout).toContain(`${second}  cancelled`);
  expect((await cli('export', second.slice(-6))).stdout).toContain('Named second');
  expect((await cli('erase', second.slice(-6), '--dry-run')).stdout).toContain(`goes       ${second}`);
  await mkdir(join(directory, 'elsewhere'));
  await writeFile(join(directory, 'elsewhere', 'work-ledger.toml'), 'project = "elsewhere"\n');
  const { stdout } = await typed(['submit', 'Named elsewhere'], { env: environment(), cwd: join(directory, 'elsewhere') });
  expect(await shown('last')).toBe(second);
  expect(await shown(stdout.trim().slice(-6))).toBe(stdout.trim());
  expect((await cli('show', 'last', '--json')).code).toBe(0);
  expect((await cliWith({ WORK_LEDGER_PROJECT: 'elsewhere' }, 'show', 'last')).stdout).toContain('Named elsewhere');
  expect(await cli('show', first.slice(0, 4))).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^error: "[0-9a-f]{4}" occurs in the id of more than one work item\. .*Named second.*\n$/),
  });
  expect(await cli('show', 'lastly')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^error: "lastly" is not the id of a work item\. /),
  });
  expect(await cli('show', 'ffffffffffff')).toMatchObject({ code: 1, stderr: expect.stringContaining('"work-ledger list" shows') });
});

test('without a command a project shows its newest work and what waits; elsewhere there is the help', async () => {
  expect(await cli()).toMatchObject({ code: 2, stderr: expect.stringMatching(/^Usage: work-ledger /) });
  await writeFile(join(directory, 'work-ledger.toml'), 'project = "alone"\n');
  const id = await submit('Wait for somebody');
  await database.query(`select ledger.work_pause('${id}')`);
  const { code, stdout, stderr } = await cli();
  expect({ code, lines: stdout.split('\n').length }).toEqual({ code: 0, lines: 3 });
  expect(stdout).toContain(`${id} `);
  expect(stderr).toContain('work-ledger --help');
  expect(stderr).toContain('1 under way: 1 paused\n');
});

test('list --watch shows what changes, until a signal', async () => {
  const child = spawn(process.execPath, [main, 'list', '--watch', '--all', '--limit', '1'], { env: environment(), cwd: directory });
  let shown = '';
  child.stdout.on('data', (chunk) => (shown += chunk));
  await until(() => shown.startsWith('ID'));
  const id = await submit('Watched', '--type', 'listed');
  await until(() => shown.includes(id));
  child.kill('SIGINT');
  expect((await once(child, 'exit'))[0]).toBe(0);
});

test('an agent without a worker is served by ledger append and complete; logs tells what happened', async () => {
  const id = await submit('By hand', '--type', 'hand');
  expect(await cli('ledger', 'append', id, 'finding', 'The index is missing')).toMatchObject({
    code: 0,
    stdout: '[1] finding: The index is missing\n',
  });
  expect(JSON.parse((await cli('ledger', 'append', id, 'note', '-', '--json')).stdout)).toMatchObject({
    seq: 2,
    content: '{"from": "stdin"}',
  });
  expect(await cli('ledger', 'append', id, 'rumour', 'x')).toMatchObject({ code: 1, stderr: expect.stringMatching(/^error: .*One of: /) });
  expect(await cli('ledger', 'complete', id, 'It is there now', '--evidence', 'explain analyze')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('completed'),
  });
  const shown = (await cli('show', id)).stdout;
  expect(shown).toContain('outcome    It is there now');
  expect(shown).toContain('=== WHERE YOU STAND ===');
  expect((await cli('logs', id)).stdout).toMatch(
    /^\d\d:\d\d:\d\d {2}finding: The index is missing\n\d\d:\d\d:\d\d {2}note: \{"from": "stdin"\}\n\d\d:\d\d:\d\d {2}completed: It is there now\n$/,
  );
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * 86_400_000 });
  const later = (await cli('logs', id)).stdout;
  vi.useRealTimers();
  expect(later).toMatch(/^\d{4}-\d\d-\d\d\n\d\d:\d\d:\d\d {2}finding: The index is missing\n\d\d:/); // another day than today
  expect(JSON.parse((await cli('logs', id, '--limit', '1', '--json')).stdout)).toMatchObject([
    { kind: 'end', status: 'completed', text: 'It is there now' },
  ]);
});

test('continue goes on with completed work, retry with what was cancelled; logs and show name both, tail follows on', async () => {
  const id = await submit('Write the letter', '--type', 'hand');
  expect(await cli('continue', id, 'More')).toMatchObject({ code: 1, stderr: expect.stringContaining('work_message() sends its agent') });
  await cli('ledger', 'append', id, 'finding', 'It is due on Monday');
  await cli('ledger', 'complete', id, 'Written');
  expect(await cli('message', id, 'And sign it')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('work_continue() continues it'),
  });
  const next = (await cli('continue', id.slice(-6), 'And sign it', '--idempotency-key', 'sign')).stdout.trim();
  expect((await cli('continue', id, 'And sign it', '--idempotency-key', 'sign')).stdout.trim()).toBe(next);
  expect(await cli('retry', id)).toMatchObject({ code: 1, stderr: expect.stringContaining('work_continue()') });
  await cli('cancel', next, '--reason', 'no ink');
  const last = (await cli('retry', next, 'There is ink')).stdout.trim();
  await cli('ledger', 'complete', last, 'Signed');
  expect((await cli('show', next)).stdout).toMatch(new RegExp(`goes on {4}from the end of ${id}\n  went on {4}as ${last}\n`));
  const lines = [
    'finding: It is due on Monday',
    'completed: Written',
    'continued by \\w+: And sign it',
    'cancelled: no ink',
    'retried by \\w+: There is ink',
    'completed: Signed',
  ];
  expect((await cli('logs', last)).stdout).toMatch(new RegExp(`^${lines.map((line) => `\\d\\d:\\d\\d:\\d\\d {2}${line}\n`).join('')}$`));
  expect((await cli('logs', next)).stdout).toMatch(
    new RegExp(`cancelled: no ink\n.*retried by \\w+ as ${last}: work-ledger logs ${last}\n$`),
  );
  const followed = await cli('logs', id, '--follow');
  expect(followed.stdout).toContain('It is due on Monday');
  expect(followed.stdout).toContain(`${last}\n  state      completed`);
});

test('submit says what a result must look like, ledger complete brings it, show --json has it', async () => {
  await writeFile(join(directory, 'schema.json'), '{"type": "object", "required": ["total"]}');
  const id = await submit('Count', '--type', 'hand', '--result-schema', '@schema.json');
  expect(await cli('ledger', 'complete', id, 'Counted', '--result', '{"sum": 3}')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('result needs "total"'),
  });
  expect(await cli('ledger', 'complete', id, 'Counted', '--result', '{')).toMatchObject({
    code: 2,
    stderr: 'error: --result must be JSON\n',
  });
  expect(await cli('ledger', 'complete', id, 'Counted', '--result', '{"total": 3}')).toMatchObject({ code: 0 });
  expect(JSON.parse((await cli('show', id, '--json')).stdout)).toMatchObject({ outcome_data: { result: { total: 3 } } });
  expect(await cli('submit', 'x', '--result-schema', '{"format": "date"}')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('keyword "format", which is not supported'),
  });
});

test('submit warns when nothing will take the item, faculty when nobody has a tool', async () => {
  expect((await cli('submit', 'x', '--type', 'unheard-of')).stderr).toBe(
    'warning: nothing will take it: no faculty accepts work type "unheard-of". Save one that does: work-ledger faculty FILE\n',
  );
  expect((await cli('submit', 'x', '--type', 'listed', '--faculty', 'nobody')).stderr).toContain('there is no faculty "nobody"');
  expect((await cli('submit', 'x', '--type', 'listed')).stderr).toBe('');
  await writeFile(join(directory, 'f.toml'), '[faculty]\nname = "tooled"\n[faculty.engage]\ntools = ["bash", "telescope"]\n');
  expect((await cli('faculty', 'f.toml')).stderr).toBe(
    'warning: faculty "tooled" uses the tool telescope, which is not registered: a worker must provide it with --tools\n',
  );
});

test('what goes wrong is said in one line, with what to do', async () => {
  const nowhere = 'postgresql://me:geheim@127.0.0.1:1/app';
  const nothing = '00000000-0000-7000-8000-000000000000';
  const cases: [NodeJS.ProcessEnv, string[], RegExp][] = [
    [
      { DATABASE_URL: nowhere },
      ['list'],
      /^error: the database postgresql:\/\/me:\*\*\*@127\.0\.0\.1:1\/app cannot be reached: .*ECONNREFUSED.*\. Start it, or correct DATABASE_URL; .*embedded.*\n$/,
    ],
    [{}, ['list', '--database-url', nowhere], /^error: .*correct --database-url; .*\n$/],
    [
      { DATABASE_URL: `${database.url}_gone` },
      ['list'],
      /^error: the database .* refuses: database ".*_gone" does not exist\. Correct DATABASE_URL.*\n$/,
    ],
    [
      { DATABASE_URL: 'postgresql://me:pw-1@h:port/app' },
      ['list'],
      /^error: the database postgresql:\/\/me:\*\*\*@h:port\/app cannot be reached: it is not an address of the form .*\. Correct DATABASE_URL.*\n$/,
    ],
    [{ DATABASE_URL: 'localhost' }, ['list'], /^error: "localhost" is not the address of a database, such as postgresql:.*\n$/],
    [
      {},
      ['list', '--schema', 'empty'],
      /^error: there is no ledger in schema "empty"\. Install one: work-ledger install --schema empty\n$/,
    ],
    [{}, ['logs', '12', '--follow'], /^error: "12" is not the id of a work item.*\n$/],
    [{}, ['trace', '12'], /^error: "12" is not the id of a work item.*\n$/],
    [{}, ['trace', nothing, '--because', '12'], /^error: "12" is not the id of a turn.*\n$/],
    [{}, ['ledger', 'retract', nothing, 'first', 'x'], /^error: .*'first' is invalid for argument 'seq'\. Not a whole number\. .*\n$/],
    [{}, ['export', 'nowhere'], /^error: there is no session "nowhere", and "nowhere" is not the id of a work item\. Pass its id, .*\n$/],
    [{}, ['erase', '1212'], /^error: there is no session "1212", and there is no work item 1212\n$/],
    [{}, ['fork', '12'], /^error: "12" is not the id of a turn.*\n$/],
    [{}, ['logs', '00000000-0000-7000-8000-000000000000'], /^error: there is no work item 00000000-.*"work-ledger list".*\n$/],
    [{}, ['pause', '00000000-0000-7000-8000-000000000000'], /^error: .*\(WL001\).*\n$/],
    [{}, ['submit', 'x', '--type', 'a', '--run-at', 'tomorrowish'], /^error: --run-at "tomorrowish" is not a time; one is .*\n$/],
    [{}, ['submit', 'x', '--type', 'a', '--parent', '12'], /^error: "12" is not the id of a work item\. Pass its id, .*\n$/],
    [{}, ['retention', 'foo bar'], /^error: "foo bar" is not an age; one is "30 days", .*\n$/],
    [{}, ['retention', '90'], /^error: "90" has no unit: did you mean "90 days"\? .*\n$/],
    [{}, ['retention', '9 days', '--export', 'archive'], /^error: there is no function archive: name one that takes .*\n$/],
    [{}, ['retention', '9 days', '--export', 'nowhere(uuid)'], /^error: there is no function nowhere\(uuid\): .*\n$/],
    [{}, ['retention', '9 days', '--export', 'no.where(uuid)'], /^error: there is no function no\.where\(uuid\): .*\n$/],
    [{}, ['install', '--schema', 'pg_agents'], /^error: no ledger can be in schema "pg_agents": that name is PostgreSQL's own\. .*\n$/],
    [{}, ['install', '--schema', 'graphile_worker'], /^error: no ledger can be in schema "graphile_worker": that schema is .*\n$/],
    [
      {},
      ['install', '--print', '--schema', 'é'.repeat(32)],
      /^error: no ledger can be in schema "é+": a name has at most 63 bytes, this .*\n$/,
    ],
    [{}, ['retention', '2000 years'], /^error: p_age must be between 0 and 1,000 years, not 2000 years \(WL002\)\n$/],
    [{}, ['completion', 'bash'], /^error: unknown command 'completion' \(Did you mean --completion\?\) \(work-ledger --help\)\n$/],
    [{}, ['move', '--to', 'nope'], /^error: "nope" is not the address of a database, such as postgresql:.*\n$/],
    [{}, ['mcp', '--work-item', 'nope'], /^error: "nope" is not the id of a work item\. Pass its id, .*\n$/],
    [{}, ['workspace', 'pull', 'nope', 'there'], /^error: "nope" is not the id of a work item\. Pass its id, .*\n$/],
    [{}, ['workspace', 'push', 'nope', '.'], /^error: "nope" is not the id of a work item\. Pass its id, .*\n$/],
    [{}, ['help', 'lst'], /^error: unknown command 'lst' \(Did you mean list\?\) \(work-ledger --help\)\n$/],
    [{}, ['zz', '--help'], /^error: unknown command 'zz' \(work-ledger --help\)\n$/],
    [{}, ['lst'], /^error: unknown command 'lst' \(Did you mean list\?\) \(work-ledger --help\)\n$/],
    [{}, ['work', '--lease-seconds', '0'], /^error: .*It must be 1 to 86400\. \(work-ledger work --help\)\n$/],
    [{}, ['submit', 'x', '--priority', '2147483648'], /^error: .*It must be -2147483648 to 2147483647\. \(work-ledger submit --help\)\n$/],
    [{}, ['run', 'x', '--concurrency', '0'], /^error: .*It must be 1 to 10000\. \(work-ledger run --help\)\n$/],
    [{}, ['console', '--port', '70000'], /^error: .*It must be 0 to 65535\. \(work-ledger console --help\)\n$/],
    [{}, ['console', '--port', '0', '--host', '192.0.2.1'], /^error: this machine has no address 192\.0\.2\.1: .*\n$/],
    [{}, ['person', 'add', ''], /^error: "" cannot be the name of a person \(WL002\)\. Use at most 100 characters .*\n$/],
    [{}, ['digest', nothing], /^error: there is no work item .* \(WL001\)\. "work-ledger list" shows .*\n$/],
    [{}, ['budget', nothing], /^error: there is no work item .*"work-ledger list".*\n$/],
    [{}, ['approve', '12'], /^error: "12" is not the id of a tool call; "work-ledger approve" shows .*\n$/],
    [{}, ['approve', nothing], /^error: there is no tool call .*"work-ledger approve" shows .*\n$/],
    [{}, ['fork', nothing], /^error: there is no turn .*select id, depth from turns.*\n$/],
    [{}, ['run', 'x', '--scripted', '.'], /^error: \. is a directory, not a file of replies\n$/],
    [{}, ['run', 'x', '--workspace', 'nowhere'], /^error: --workspace nowhere is not a directory\n$/],
    [{}, ['faculty', 'nowhere.toml'], /^error: .*nowhere\.toml:1:1: there is no such file\n$/],
    [{}, ['workspace', 'pull', nothing, 'there'], /^error: no Docker daemon answers \(ENOENT\): start one, or set DOCKER_HOST\n$/],
    [{}, ['workspace', 'image'], /^error: no Docker daemon answers .*\n$/],
    [{ ANTHROPIC_API_KEY: '' }, ['run', 'x', '--workspace', '.'], /^error: ANTHROPIC_API_KEY is not set: .*work-ledger demo, .*\n$/],
    [{}, ['run'], /^error: give a task, or --resume ID.*\n$/],
    [{}, ['work', '--tools', 'nowhere.ts'], /^error: there is no .*nowhere\.ts\n$/],
  ];
  for (const [env, args, says] of cases) {
    const { code, stderr, stdout } = await cliWith({ ANTHROPIC_API_KEY: 'k', ...env }, ...args);
    expect(stderr, args.join(' ')).toMatch(says);
    expect(stderr.split('\n'), args.join(' ')).toHaveLength(2);
    expect(stdout + stderr).not.toContain('geheim');
    expect([1, 2]).toContain(code);
  }
});

test('settings come from flags, then the environment, the project, the person', async () => {
  const own = join(directory, 'home');
  const person = join(own, '.config', 'work-ledger', 'work-ledger.toml');
  const project = join(directory, 'work-ledger.toml');
  await mkdir(join(person, '..'), { recursive: true });
  await mkdir(join(directory, 'src'));
  await writeFile(
    join(directory, 'src', 'f.toml'),
    '[faculty]\nname = "of the file"\naccepts = ["filed"]\nhosts = ["there"]\n[faculty.engage]\nworkspace = "none"\n',
  );
  const asPerson = (env: NodeJS.ProcessEnv, ...args: string[]) => cliWith({ HOME: own, DATABASE_URL: '', ...env }, ...args);
  // Which schema was looked for tells what counted.
  const wanted = async (env: NodeJS.ProcessEnv, ...args: string[]): Promise<string> => {
    const { stderr } = await asPerson(env, 'list', ...args);
    return /in schema "(\w+)"/.exec(stderr)?.[1] ?? stderr;
  };
  await writeFile(person, `database_url = "${database.url}"\nschema = "of_person"\n`);
  expect(await wanted({})).toBe('of_person');
  await writeFile(project, 'schema = "of_project"\n');
  expect(await wanted({})).toBe('of_project');
  expect(await wanted({ WORK_LEDGER_SCHEMA: 'of_environment' })).toBe('of_environment');
  expect(await wanted({ WORK_LEDGER_SCHEMA: 'of_environment' }, '--schema', 'of_flag')).toBe('of_flag');
  // A client starts these in directories of anybody's making.
  expect(
    (await start(directory, environment({ HOME: own, DATABASE_URL: '' }), process.execPath, main, 'hook', 'session-start')).stderr,
  ).toContain('"of_person"');

  await writeFile(person, 'database_url = "postgresql://127.0.0.1:1/x"\n');
  expect(await wanted({})).toContain(`correct database_url in ${person}`);
  await rm(person);

  const inProject = (...args: string[]) => cliWith({ HOME: own }, ...args);
  await writeFile(project, 'faculties = "src/f.toml"\nhost = "there"\n');
  const ran = await inProject('run', 'x', '--type', 'filed', '--scripted', await script([{ say: 'Filed.' }]));
  expect(ran.stderr + ran.stdout).toContain('outcome    Filed.');
  await writeFile(project, 'schema = "a"\ndatabase = "b"\n');
  expect(await inProject('list')).toMatchObject({
    code: 2,
    stderr: `error: ${project}:2:1: unknown key database; there are database_url, listen_url, read_url, schema, project, host, faculties, tools, workspace_roots, secrets\n`,
  });
  await writeFile(project, 'tools = 3\n');
  expect(await inProject('list')).toMatchObject({ code: 2, stderr: `error: ${project}:1:1: tools must be a list of paths\n` });
});

test('install says how psql finds the ledger, for now, for a role and for a database', async () => {
  const empty = await createDatabase({ from: null });
  const role = `reader_${randomBytes(6).toString('hex')}`;
  const urlOfRole = empty.url.replace('postgres@', `${role}@`);
  const shown = (connectionString: string) =>
    withConnection(
      { connectionString },
      async (client) => (await client.query<{ search_path: string }>('show search_path')).rows[0]?.search_path,
    );
  try {
    await empty.query(`create role ${role} login`);
    const { stderr } = await cliWith({ DATABASE_URL: empty.url }, 'install', '--schema', 'Kept "A"');
    const [, set, ofRole, ofDatabase] =
      /^For psql: (set .*); to keep it, with one of these before it: (alter role .*), (alter database) NAME$/m.exec(stderr) ?? [];
    await withConnection({ connectionString: urlOfRole }, (client) => client.query(`${ofRole} ${set}`));
    expect(await shown(urlOfRole)).toBe('"Kept ""A""", public');
    expect(await shown(empty.url)).not.toContain('Kept');
    await empty.query(`${ofDatabase} ${new URL(empty.url).pathname.slice(1)} ${set}`);
    expect(await shown(empty.url)).toBe('"Kept ""A""", public');
  } finally {
    await empty.query(`drop role if exists ${role}`);
    await empty.drop();
  }
});

test("the file of a directory above counts, unless it is somebody else's", async () => {
  await writeFile(join(directory, 'work-ledger.toml'), 'schema = "above"\n');
  const above = directory;
  directory = join(directory, 'below');
  await mkdir(directory);
  expect((await cli('list')).stderr).toContain('schema "above"');
  expect(await cli('init')).toMatchObject({ code: 0, stdout: 'wrote engineer.toml\nwrote engineer.md\n' });
  expect((await cli('list')).stderr).toContain('schema "above"');
  if (process.getuid?.() !== 0) return; // only root gives files away
  await chown(join(above, 'work-ledger.toml'), 12345, 12345);
  expect(await cli('list')).toMatchObject({ code: 2, stderr: expect.stringContaining('belongs to another user') });
});

test('a directory that is gone is said as such', async () => {
  const gone = join(directory, 'gone');
  await mkdir(gone);
  expect((await start(gone, environment(), '/bin/sh', '-c', `rmdir ../gone; exec "$@"`, 'sh', process.execPath, main, 'list')).stderr).toBe(
    'error: the directory that this program was started in no longer exists: change to another one\n',
  );
});

test('init writes a faculty that works as it is, and overwrites nothing', async () => {
  expect(await cli('init')).toMatchObject({
    code: 0,
    stdout: 'wrote engineer.toml\nwrote engineer.md\nwrote work-ledger.toml\n',
    stderr: expect.stringContaining("work-ledger submit '"),
  });
  await writeFile(join(directory, 'engineer.md'), 'Mine.');
  expect(await cli('init')).toMatchObject({ code: 2, stderr: expect.stringContaining('engineer.toml already exists') });
  expect(await readFile(join(directory, 'engineer.md'), 'utf8')).toBe('Mine.');
  expect((await cli('submit', 'x', '--type', 'nobodys')).stderr).toContain(
    'work-ledger faculty FILE (those of work-ledger.toml are saved when a worker starts: work-ledger work)\n',
  );
  expect(await cli('init', 'reviewer', '--dir', 'faculties')).toMatchObject({
    code: 0,
    stdout: 'wrote faculties/reviewer.toml\nwrote faculties/reviewer.md\n',
  });
  expect(await cli('init', '../x')).toMatchObject({ code: 2 });
  const ran = await cli('run', 'Look', '--type', 'task', '--scripted', await script([bash('pwd > seen'), { say: 'Seen.' }]));
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  expect(await readFile(join(directory, 'seen'), 'utf8')).toBe(`${directory}\n`);
  await database.query(`update ledger.faculties set is_current = false where name = 'engineer'`);
});

test('run --scripted plays replies through real tools, and says what it did and used; show counts what failed', async () => {
  const ran = await cli(
    'run',
    'Try',
    '--workspace',
    '.',
    '--scripted',
    await script([
      { say: 'I look.', ...bash('echo one; exit 3') },
      bash('true'),
      { calls: [{ name: 'work_complete', input: { summary: 'Tried.' } }] },
    ]),
  );
  expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('outcome    Tried.') });
  expect(ran.stderr).toMatch(/^I look\.$/m);
  expect(ran.stderr).toMatch(/^bash echo one; exit 3 → failed/m);
  expect(ran.stderr).toMatch(/^bash true → done/m);
  expect(ran.stderr).toMatch(/^\d+s, 3 requests, [\d.]+k tokens in \(\d+ % from the cache\), \d+ out$/m);
  const id = ran.stdout.slice(0, 36);
  expect((await cli('show', id)).stdout).toMatch(/calls {6}3: bash, work_complete; 1 failed\n +1 × bash: one \[exit code 3\]\n/);
  expect((await cli('logs', id)).stdout).toMatch(
    /turn 1 says: I look\.\n\d\d:\d\d:\d\d {2}bash echo one; exit 3 → failed.*: one \[exit code 3\]\n/,
  );
  for (const [replies, says] of [
    [[{ says: 'x' }], 'reply 1: '],
    [[], 'script.json: '],
    [[{ calls: [{ input: {} }] }], 'reply 1, calls.0.name: '],
  ] as const) {
    expect(await cli('run', 'x', '--scripted', await script(replies))).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(new RegExp(`^error: script\\.json: ?.*${says.replace('script.json: ', '')}`)),
    });
  }
});

test('after Ctrl-C, what is printed goes on with the work', async () => {
  const args = ['--scripted', await script([bash('echo once >> begun'), { delay: 60_000, say: 'late' }, { say: 'never' }])];
  const child = spawn(process.execPath, [main, 'run', 'Go on', '--workspace', '.', '--grace-seconds', '0', ...args], {
    env: environment(),
    cwd: directory,
  });
  let errors = '';
  child.stderr.on('data', (chunk) => (errors += chunk));
  await until(() => errors.includes('→ done'));
  child.kill('SIGINT');
  expect((await once(child, 'exit'))[0]).toBe(130);
  const [, again = '', id = ''] = /Continue with: work-ledger (run --resume (\S+).*)\n/.exec(errors) ?? [];
  const resumed = await cliWith(
    { WORK_LEDGER_WORKSPACE_ROOTS: '', WORK_LEDGER_COMMANDS_AS: '' },
    ...again.split(' '),
    '--scripted',
    await script([{ say: 'not asked' }, { say: 'Went on.' }]),
  );
  expect(resumed, resumed.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('outcome    Went on.') });
  expect(await readFile(join(directory, 'begun'), 'utf8')).toBe('once\n');
  expect(await cli('run', '--resume', id, '--scripted', 'script.json')).toMatchObject({
    code: 2,
    stderr: `error: ${id} is completed: there is nothing to go on with\n`,
  });
});

/** Nothing but what is submitted from now on as "driven" is there for a worker. */
async function clear(): Promise<void> {
  await database.query(`select ledger.work_cancel(id) from ledger.work_items where resolved_at is null`);
  await database.query(`select ledger.faculty_save('{"name": "driven", "accepts": ["driven"], "engage": {"workspace": "none"}}')`);
}

test('run --resume leaves alone what a worker drives', async () => {
  await clear();
  const model = await startScriptedModel(() => ({ stall: true }));
  const worker = await startWorkerProcess({ url: database.url, modelUrl: model.url, dockerHost: 'unix:///nowhere.sock' });
  const id = await submit('Driven', '--type', 'driven');
  await until(() => model.requests.length > 0);
  expect(await cli('run', '--resume', id, '--scripted', await script([{ say: 'x' }]))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`(process ${worker.pid}) drives it: work-ledger logs ${id} --follow`),
  });
  await cli('cancel', id);
  await worker.end('SIGTERM');
  await model.close();
});

test('a worker logs each item that begins and ends, and each new reason to wait once', async () => {
  await clear();
  let isDown = true;
  const model = await startScriptedModel(() =>
    isDown ? { error: { status: 500, type: 'api_error', message: 'down' } } : { content: [{ type: 'text', text: 'Up.' }] },
  );
  const worker = await startWorkerProcess({ url: database.url, modelUrl: model.url, dockerHost: 'unix:///nowhere.sock' });
  const id = await submit('Logged', '--type', 'driven');
  await until(() => model.requests.length >= 3);
  isDown = false;
  await until(() => worker.log().includes('item completed'));
  const lines = worker
    .log()
    .split('\n')
    .filter((line) => line.includes(id))
    .map((line) => JSON.parse(line) as { msg: string; reason?: string });
  expect(lines.map(({ msg }) => msg)).toEqual(['item begun', 'item waits', 'item completed']);
  expect(lines[1]?.reason).toContain('down');
  await worker.end('SIGTERM');
  await model.close();
});

/** A command whose lines are read while it works, without a terminal. */
function watched(env: NodeJS.ProcessEnv, ...args: string[]): { stdout(): string; waits(): string[]; ended: Promise<unknown[]> } {
  const child = spawn(process.execPath, [main, ...args], { env: environment(env), cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  return { stdout: () => stdout, waits: () => stderr.split('\n').filter((line) => line.startsWith('waits:')), ended: once(child, 'close') };
}

test('run, and tail beside it, say each new reason to wait once, also without a terminal', async () => {
  await clear();
  let trouble: string | null = 'down';
  const model = await startScriptedModel(() =>
    trouble === null ? { content: [{ type: 'text', text: 'Up.' }] } : { error: { status: 500, type: 'api_error', message: trouble } },
  );
  const run = watched({ ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: model.url }, 'run', 'Retried', '--type', 'driven');
  const [item] = await until(async () => {
    const found = await database.query<{ id: string }>(`select id from ledger.work_items where description = 'Retried'`);
    return found.length > 0 ? found : null;
  });
  const tail = watched({}, 'logs', item?.id ?? '', '--follow');
  for (const next of ['broken', null]) {
    const [asked, said] = [model.requests.length, trouble ?? ''];
    await until(() => model.requests.length >= asked + 2 && [run, tail].every((one) => one.waits().some((line) => line.includes(said))));
    trouble = next;
  }
  await Promise.all([run.ended, tail.ended]);
  for (const one of [run, tail]) {
    // tail may have seen it wait for the run itself, before
    expect(one.waits().flatMap((line) => /down|broken/.exec(line)?.[0] ?? [])).toEqual(['down', 'broken']);
    expect(one.stdout()).toMatch(/^ {2}outcome {4}Up\.$/m);
  }
  await model.close();
});

test('a reason to wait is not said again when the retry is due and waits for a worker, nor when only its numbers change', async () => {
  await clear();
  const id = await submit('Waits', '--type', 'driven');
  const set = (reason: string, runAt: string) =>
    database.query(`update ledger.work_items set state_reason = '${reason}', run_at = ${runAt} where id = '${id}'`);
  await set('no answer, try 1', `now() + interval '1 hour'`);
  const tail = watched({}, 'logs', id, '--follow');
  /** Entries are shown before reasons are looked for: once the second is here, reasons have been looked for after the first. */
  const looked = async (): Promise<void> => {
    for (const entry of [crypto.randomUUID(), crypto.randomUUID()]) {
      await database.query(`select ledger.ledger_append('${id}', 'note', '${entry}')`);
      await until(() => tail.stdout().includes(entry));
    }
  };
  await looked();
  await set('no answer, try 2', `now() + interval '1 hour'`);
  await looked();
  await set('no answer, try 2', 'now()');
  await looked();
  await set('another reason', 'now()');
  await looked();
  await cli('cancel', id);
  await tail.ended;
  expect(tail.waits()).toEqual(['waits: no answer, try 1', 'waits: another reason']);
});

test('that Docker is missing is told before work starts, by run, work and doctor', async () => {
  await writeFile(
    join(directory, 'f.toml'),
    '[faculty]\nname = "contained"\naccepts = ["contained"]\n[faculty.engage]\ntools = ["bash"]\n',
  );
  const says = 'the files and commands of faculty "contained" need Docker, and none answers: start it, or workspace = "host"';
  const model = await startScriptedModel(scriptOf([]));
  const ran = await cliWith(
    { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: model.url },
    'run',
    'x',
    '--type',
    'contained',
    '--faculty',
    'f.toml',
  );
  expect(ran).toMatchObject({ code: 2, stderr: `error: ${says}\n` });
  expect(model.requests).toEqual([]);
  const worker = await startWorkerProcess({ url: database.url, modelUrl: model.url, dockerHost: 'unix:///nowhere.sock' });
  expect(worker.log()).toContain('\\"contained\\"');
  await worker.end('SIGTERM');
  const checks = JSON.parse((await cli('doctor', '--json')).stdout) as { check: string; severity: string; detail: string }[];
  expect(checks.find(({ check }) => check === 'Docker')).toMatchObject({
    severity: 'error',
    detail: expect.stringContaining('"contained"'),
  });
  await database.query(`update ledger.faculties set is_current = false where name in ('contained', 'tooled')`);
  expect((JSON.parse((await cli('doctor', '--json')).stdout) as typeof checks).find(({ check }) => check === 'Docker')).toMatchObject({
    severity: 'fine',
  });
  await model.close();
});

test('that an image is missing is told before work starts, with the command that builds ours', async () => {
  // A daemon that has no image at all.
  const daemon = createServer(
    (incoming, outgoing) =>
      void outgoing
        .writeHead(incoming.url?.endsWith('/_ping') ? 200 : 404, { 'content-type': 'application/json' })
        .end('{"message": "no such image"}'),
  );
  await new Promise<void>((resolve) => daemon.listen(0, '127.0.0.1', resolve));
  const withDaemon = { ANTHROPIC_API_KEY: 'k', DOCKER_HOST: `tcp://127.0.0.1:${(daemon.address() as AddressInfo).port}` };
  for (const [image, remedy] of [
    ['work-ledger-sandbox', 'work-ledger workspace image builds it'],
    ['nowhere/nothing:1', 'build or pull it'],
  ]) {
    await writeFile(
      join(directory, 'image.toml'),
      `[faculty]\nname = "imaged"\naccepts = ["imaged"]\n[faculty.engage]\ntools = ["bash"]\nworkspace_image = "${image}"\n`,
    );
    expect(await cliWith(withDaemon, 'run', 'x', '--type', 'imaged', '--faculty', 'image.toml')).toMatchObject({
      code: 2,
      stderr: `error: the files and commands of faculty "imaged" need the image ${image}, and Docker does not have it: ${remedy}, or workspace = "host"\n`,
    });
  }
  await database.query(`update ledger.faculties set is_current = false where name = 'imaged'`);
  await new Promise((resolve) => daemon.close(resolve));
});

test("a faculty has its own server and key; the worker's key does not go there", async () => {
  const seen: (string | undefined)[] = [];
  const model = await startScriptedModel(scriptOf([{ content: [{ type: 'text', text: 'From the gateway.' }] }]));
  const gateway = createServer((incoming, outgoing) => {
    seen.push(JSON.stringify(incoming.headers).includes('of-the-worker') ? 'the key of the worker' : incoming.headers.authorization);
    void fetch(`${model.url}${incoming.url}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'x', 'anthropic-version': '2023-06-01' },
      body: incoming as unknown as ReadableStream,
      duplex: 'half',
    }).then(async (answer) =>
      outgoing
        .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
        .end(Buffer.from(await answer.arrayBuffer())),
    );
  });
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  const own = (key: string): string =>
    `[faculty]\nname = "own"\naccepts = ["own"]\n[faculty.engage]\nworkspace = "none"\nbase_url = "${url}"\n${key}`;
  await writeFile(join(directory, 'own.toml'), own('api_key_env = "GATEWAY_KEY"\n'));
  const run = (env: NodeJS.ProcessEnv) =>
    cliWith(
      { ANTHROPIC_AUTH_TOKEN: 'of-the-worker', ANTHROPIC_CUSTOM_HEADERS: 'x-worker: of-the-worker', ...env },
      'run',
      'x',
      '--type',
      'own',
      '--faculty',
      'own.toml',
    );
  expect(await run({ GATEWAY_KEY: 'of-the-gateway', ANTHROPIC_API_KEY: 'of-the-worker' })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('From the gateway.'),
  });
  expect(await run({ GATEWAY_KEY: 'of-the-gateway' })).toMatchObject({ code: 0 });
  const without = await run({ ANTHROPIC_API_KEY: 'of-the-worker' });
  expect(without).toMatchObject({ code: 3, stderr: expect.stringContaining('GATEWAY_KEY is not set for this worker') });
  await writeFile(join(directory, 'own.toml'), own(''));
  expect(await run({ ANTHROPIC_API_KEY: 'of-the-worker' })).toMatchObject({ code: 0 });
  expect(new Set(seen)).toEqual(new Set(['Bearer of-the-gateway', 'Bearer none']));
  for (const bad of ['base_url = "https://me:pass@gate/"', 'api_key_env = "sk-ant-secret"', 'base_url = "gate"']) {
    await writeFile(join(directory, 'own.toml'), `[faculty]\nname = "own"\n[faculty.engage]\n${bad}\n`);
    const refused = await cli('faculty', 'own.toml');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/own\.toml:4:\d+: engage\.(base_url|api_key_env) must be /) });
    expect(refused.stderr).not.toMatch(/pass@|secret/);
  }
  gateway.close();
  await model.close();
});

const hasPsql = await new Promise<boolean>((resolve) => execFile('psql', ['--version'], (error) => resolve(!error)));
if (!hasPsql) console.log('The test of "sql" is skipped: psql is not on PATH');
test.skipIf(!hasPsql)("sql finds the ledger's functions", async () => {
  /** psql prints where this process does. */
  const sql = (query: string): Promise<Ran> => start(directory, environment(), process.execPath, main, 'sql', query);
  expect(await sql('select count(*) > 0 as some from work_items where ledger_count(id) >= 0 or true')).toMatchObject({ code: 1 });
  expect(await sql('select work_ledger_version()')).toMatchObject({ code: 0, stdout: expect.stringContaining(version()) });
  const refused = await sql(`select work_submit('', 'x')`);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('a work item needs a work type') });
  expect(refused.stderr).not.toContain('CONTEXT');
  expect(await cliWith({ PATH: '' }, 'sql')).toMatchObject({ code: 2, stderr: expect.stringContaining('psql is not on PATH') });
});

const inShell = (shell: string, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(shell, ['-c', text], { env: { PATH: process.env['PATH'] } }, (error, stdout) => (error ? reject(error) : resolve(stdout)));
  });
test('bash completes commands, options and the words that they take', async () => {
  const { stdout } = await cli('--completion', 'bash');
  await writeFile(join(directory, 'completion'), stdout);
  const complete = (words: string): Promise<string> =>
    inShell(
      'bash',
      `source ${directory}/completion; COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _work_ledger; echo "\${COMPREPLY[@]}"`,
    );
  expect(await complete('work-ledger li')).toBe('list\n');
  expect(await complete('work-ledger list --wa')).toBe('--watch\n');
  expect(await complete('work-ledger ps --st')).toBe('--state\n');
  expect(await complete('work-ledger demo --scene te')).toBe('team\n');
  expect((await cli('--completion', 'zsh')).stdout).toMatch(/^#compdef work-ledger\n/);
  expect((await cli('--completion', 'fish')).stdout).toContain("complete -c work-ledger -n __fish_use_subcommand -a list -d '");
  expect(await cli('--completion', 'tcsh')).toMatchObject({ code: 2 });
});

/** A shell in which work-ledger is this program, on the ledger of these tests. */
async function inShellWithLedger(shell: string, text: string, more: NodeJS.ProcessEnv = {}): Promise<string[]> {
  const bin = join(directory, 'bin');
  await mkdir(bin, { recursive: true });
  const program = `'${process.execPath}' --import '${patient(1000)}' '${main}'`; // completes, however long it takes
  await writeFile(join(bin, 'work-ledger'), `#!/bin/sh\nexec ${program} "$@"\n`, { mode: 0o755 });
  const env = environment({ PATH: `${bin}:${process.env['PATH']}`, ...more });
  const { code, stdout, stderr } = await start(directory, env, shell, '-c', text);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.split('\n').filter((line) => line !== '');
}

test('ids of work items and names of faculties are completed from the ledger, and never run', async () => {
  const id = await submit('Complete\tme', '--type', 'completed');
  const odd = `odd $(touch ${join(directory, 'ran')})`;
  for (const name of ['oddly', odd])
    await database.query(`select from ledger.faculty_save(jsonb_build_object('name', '${name}', 'accepts', jsonb_build_array('nothing')))`);
  const completed = (...words: string[]): Promise<Ran> =>
    start(directory, environment(), process.execPath, '--import', patient(1000), main, '--complete', ...words);
  expect((await completed('items', id.slice(-6))).stdout).toBe(`${id.slice(-6)}\tqueued: Complete␉me\n`);
  expect((await completed('items', id)).stdout).toMatch(new RegExp(`^${id}\t`));
  expect((await completed('faculties', 'odd')).stdout).toBe(`${odd}\tof all projects\noddly\tof all projects\n`);
  expect(await cli('--complete', 'anything', '')).toMatchObject({ code: 0, stdout: '', stderr: '' });
  await writeFile(join(directory, 'completion'), (await cli('--completion', 'bash')).stdout);
  const complete = (...words: string[]): Promise<string[]> =>
    inShellWithLedger(
      'bash',
      `source completion; COMP_WORDS=(work-ledger ${words.join(' ')}); COMP_CWORD=${words.length}; _work_ledger; printf '%s\\n' "\${COMPREPLY[@]}"`,
    );
  expect(await complete('show', id.slice(-6, -1))).toContain(id.slice(-6));
  expect(await complete('ledger', 'append', id)).toEqual([id]);
  expect(await complete('submit', 'x', '--parent', id)).toEqual([id]);
  expect(await complete('submit', 'x', '--faculty', 'odd')).toEqual([odd, 'oddly']);
  expect(await complete('show', 'complet')).toEqual(['completion']); // no id begins so: a file
  await expect(readFile(join(directory, 'ran'))).rejects.toThrow('ENOENT');
});

test('where the ledger does not answer nothing is completed, nothing said and nothing started', async () => {
  const silent = createTcpServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const complete = (env: NodeJS.ProcessEnv): Promise<Ran> =>
    start(directory, environment(env), process.execPath, main, '--complete', 'items', '');
  const nothing = { code: 0, stdout: '', stderr: '' };
  try {
    expect(await complete({ DATABASE_URL: `postgresql://127.0.0.1:${port}/x` })).toMatchObject(nothing);
  } finally {
    silent.close();
  }
  expect(await complete({ DATABASE_URL: 'postgresql://127.0.0.1:1/x' })).toMatchObject(nothing);
  const data = join(directory, 'no-data');
  expect(await complete({ DATABASE_URL: '', WORK_LEDGER_DATA_DIR: data })).toMatchObject(nothing);
  await expect(realpath(data)).rejects.toThrow('ENOENT');
});

for (const [shell, name] of [
  ['zsh', '_work-ledger'],
  ['fish', 'work-ledger.fish'],
] as const) {
  const isThere = await inShell(shell, 'true').then(
    () => true,
    () => false,
  );
  if (!isThere) console.log(`What ${shell} completes is not read by it: ${shell} is not on PATH`);
  test.skipIf(!isThere)(`${shell} reads its completion`, async () => {
    await writeFile(join(directory, name), (await cli('--completion', shell)).stdout);
    await inShell(shell, `${shell === 'zsh' ? 'zsh -n' : 'fish --no-execute'} ${join(directory, name)}`);
    if (shell !== 'fish') return;
    const id = await submit('Complete me in a fish', '--type', 'completed');
    const asked = `source ${name}; complete -C 'work-ledger show ${id.slice(-6)}'`;
    expect(await inShellWithLedger('fish', asked)).toEqual([`${id.slice(-6)}\tqueued: Complete me in a fish`]);
  });
}

// util-linux's `script` gives a command a terminal.
const hasTerminal = await inShell('bash', 'script -qec true /dev/null').then(
  () => true,
  () => false,
);
if (!hasTerminal) console.log('Tests of a terminal are skipped: there is no "script" of util-linux');
test.skipIf(!hasTerminal)('on a terminal a run is coloured and says what it does now; NO_COLOR is heeded; work logs lines', async () => {
  let shown = '';
  const model = await startScriptedModel(
    scriptOf([
      { content: [{ type: 'tool_use', name: 'bash', input: { command: 'echo seen' } }] },
      // The model says nothing more until it is shown that it is asked.
      {
        content: [{ type: 'text', text: 'Seen.' }],
        afterEvent: async () => void (await until(() => shown.includes('turn 2 · asks the model'))),
      },
    ]),
  );
  const onTerminal = (args: string, env: NodeJS.ProcessEnv): Promise<string> =>
    new Promise((resolve) => {
      shown = '';
      const child = execFile(
        'script',
        ['-qec', `stty cols 100; exec ${process.execPath} ${main} ${args}`, '/dev/null'],
        { env: environment({ TERM: 'xterm', ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: model.url, ...env }), cwd: directory },
        (_error, stdout) => resolve(stdout),
      );
      child.stdout?.on('data', (chunk: string) => (shown += chunk));
    });
  const colored = await onTerminal(`run Look --workspace .`, {});
  expect(colored).toContain('\u001b[32mcompleted\u001b[39m');
  expect(colored).toContain('\r\u001b[2Kturn 2 · asks the model');
  const plain = await onTerminal(`run Look --workspace .`, { NO_COLOR: '1' });
  expect(plain).toContain('bash echo seen → done');
  // oxlint-disable-next-line no-control-regex
  expect(plain).not.toMatch(/\u001b\[\d+m/);
  const worker = spawn('script', ['-qec', `exec ${process.execPath} ${main} work`, '/dev/null'], {
    env: environment({ TERM: 'xterm', NO_COLOR: '1', ANTHROPIC_API_KEY: 'k' }),
    cwd: directory,
  });
  let log = '';
  worker.stdout.on('data', (chunk) => (log += chunk));
  await until(() => log.includes('worker started'));
  worker.kill('SIGTERM');
  await once(worker, 'exit');
  await model.close();
  expect(log).toMatch(/^\d\d:\d\d:\d\d worker started {2}workerId=/m);
});

test('every command says how it is used', async () => {
  expect((await cli('list', '--help')).stdout).toContain(
    'Examples:\n  work-ledger list --state running waiting\n  work-ledger list --watch',
  );
  expect((await cli('--help')).stdout).toContain('work-ledger init');
  for (const of of [['help'], ['help', 'help'], ['help', '--help']])
    expect(await cli(...of), of.join(' ')).toMatchObject({ code: 0, stdout: expect.stringContaining('work-ledger init') });
  expect((await cli('help', 'ps')).stdout).toContain('work-ledger list --watch');
  expect(await cli('help', 'zz')).toMatchObject({ code: 2, stdout: '' });
});
