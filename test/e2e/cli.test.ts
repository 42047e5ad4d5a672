// The command line as a user types it: what it prints where, and how it exits.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { scriptOf } from '../../runtime/model/script.ts';
import type { ScriptedReply } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { cli as typed } from '../cli.ts';
import type { Ended } from '../cli.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { noDocker } from '../docker.ts';
import { servesTests, until } from '../workerProcess.ts';

const main = fileURLToPath(new URL('../../runtime/start.ts', import.meta.url));
let database: TestDatabase;
let model: ScriptedModel | undefined;
let directory: string;

beforeAll(async () => {
  database = await createDatabase();
  directory = await mkdtemp(join(tmpdir(), 'cli-test-'));
});
afterAll(async () => {
  await database?.drop();
  await rm(directory, { recursive: true, force: true });
});

const environment = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: directory,
  DOCKER_HOST: process.env['DOCKER_HOST'],
  DATABASE_URL: database.url,
  ...servesTests,
  ...(model && { ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: model.url }),
});

const cli = (...args: string[]): Promise<Ended> => typed(args, { env: environment(), cwd: directory });

test('submit prints the id; show, ledger and digest tell of it; --json is one document', async () => {
  const submitted = await cli(
    'submit',
    'Find why the import is slow',
    '--type',
    'analyze',
    '--priority',
    '3',
    '--params',
    '{"table":"orders"}',
  );
  expect(submitted).toMatchObject({ code: 0, stderr: expect.stringContaining('no faculty accepts work type "analyze"') });
  const id = submitted.stdout.trim();
  const untouched = (await cli('show', id)).stdout;
  expect(untouched).not.toContain('WHERE YOU STAND'); // nothing has happened in it
  expect(untouched).toContain('state      queued (no faculty accepts work type "analyze")');
  await database.query(`select ledger.ledger_append('${id}', 'finding', E'The index\\nis \\x1b[31mnever used')`);

  const shown = JSON.parse((await cli('show', id, '--json')).stdout);
  expect(shown).toMatchObject({ id, state: 'queued', priority: 3, ledger_count: 1, tool_calls: [] });
  expect((await cli('show')).stdout).toContain('Find why the import is slow (no faculty accepts work type "analyze")');
  expect((await cli('ledger', id)).stdout).toBe('[1] finding: The index\n    is ␛[31mnever used\n');
  expect(JSON.parse((await cli('ledger', id, '--json')).stdout)[0]).toMatchObject({ seq: 1, entry_type: 'finding' });
  expect((await cli('ledger', id, '--formatted')).stdout).toContain('FINDINGS:');
  expect((await cli('digest')).stdout).toContain('== AWARENESS ==');

  expect((await cli('budget', id, 'tokens=5000', 'money=1.5')).stdout).toBe('money     0 of 1.5\ntokens    0 of 5000\n');
  expect((await cli('budget', '--project', 'day/shop', 'tokens=5000', 'money=1.5')).stdout).toBe(
    'money     0 of 1.5 a day\ntokens    0 of 5000 a day\n',
  );
  expect((await cli('budget', '--project', 'day/shop', 'money=none')).stdout).toBe('tokens    0 of 5000 a day\n');
  expect((await cli('budget')).stdout).toBe('tokens    0 of 5000 a day  project day/shop\n');
  expect(JSON.parse((await cli('budget', '--json')).stdout)).toMatchObject([{ scope: 'project', name: 'day/shop', amount: '5000' }]);
  expect((await cli('budget', '--project', 'day/shop', 'tokens=none')).stdout).toBe('no budget by day\n');
  const shop = (await cli('submit', 'Mend it', '--type', 'analyze', '--project', 'day/shop')).stdout.trim();
  expect((await cli('budget', shop)).stdout).toBe('no budget of its own\n');
  expect((await cli('show', shop)).stdout).not.toContain('budget');
  await cli('budget', '--project', 'day/shop', 'calls=5');
  expect((await cli('budget', shop)).stdout).toBe('no budget of its own\ncalls     0 of 5 a day  project day/shop\n');
  await cli('budget', shop, 'tokens=700');
  expect((await cli('show', shop)).stdout).toContain(
    '  budget     tokens 0 of 700, 700 left\n  budget     calls 0 of 5 a day, 5 left  project day/shop\n',
  );
  await cli('budget', '--project', 'day/shop', 'calls=none');
  await cli('cancel', shop);
  expect(await cli('budget', '--faculty', 'nobody', 'tokens=1')).toMatchObject({ code: 1, stderr: expect.stringContaining('no faculty') });
  expect(await cli('budget', '--project', 'a', '--faculty', 'b')).toMatchObject({ code: 2 });
  expect(await cli('budget', id, 'tokens=lots')).toMatchObject({ code: 2, stderr: expect.stringContaining('tokens=200000') });
  expect(await cli('submit', 'x', '--type', 'a', '--budget', 'patience=1')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('One of: tokens'),
  });

  expect(await cli('cancel', id, '--reason', 'not needed')).toMatchObject({ code: 0 });
  expect(JSON.parse((await cli('show', id, '--json')).stdout)).toMatchObject({ state: 'cancelled', state_reason: 'not needed' });
  expect((await cli('cancel', id)).stdout).toContain('nothing to cancel');
});

test('claims shows what work is at, and takes a claim away', async () => {
  expect((await cli('claims')).stdout).toBe('nothing is claimed\n');
  const [session] = await database.query<{ id: string }>(
    `select id, ledger.claim_check(id, array['a\x1b.js']) from ledger.journal_session_open('cli', E'Round at\nthe edge', '/shop')`,
  );
  const shown = `${session!.id}  file:a␛.js  Another session, exclusive, until `;
  expect((await cli('claims')).stdout).toMatch(/: Round at\n$/);
  expect((await cli('claims')).stdout.slice(0, shown.length)).toBe(shown);
  expect(JSON.parse((await cli('claims', '--json')).stdout)).toMatchObject([{ key: 'file:a\x1b.js', is_binding: true }]);
  expect(await cli('claims', session!.id)).toMatchObject({ code: 2, stderr: expect.stringContaining('name one of its claims') });
  expect(await cli('claims', session!.id, 'file:a\x1b.js', '--reason', 'urgent')).toEqual({ code: 0, stderr: '', stdout: 'revoked\n' });
  expect(await cli('claims', session!.id, 'file:a\x1b.js')).toMatchObject({ code: 1, stdout: 'it has no such claim\n' });
  expect(await database.query(`select content from ledger.inbox where work_item_id = '${session!.id}'`)).toMatchObject([
    { content: expect.stringContaining('broken by a person: urgent') },
  ]);
});

test('wrong usage exits with 2 and says what is right', async () => {
  expect(await cli('submitt', 'x')).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean submit') });
  expect(await cli('submit')).toMatchObject({ code: 2, stderr: expect.stringContaining('description') });
  expect(await cli('submit', 'x', '--type', 'a', '--params', '[1]')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('JSON object'),
  });
  expect(await cli('submit', 'x', '--type', 'a', '--priority', 'high')).toMatchObject({ code: 2 });
  expect(await cli('show', 'not-an-id')).toMatchObject({ code: 2, stderr: expect.stringContaining('not the id of a work item') });
});

test('what the ledger refuses exits with 1, its code and a hint', async () => {
  expect(await cli('cancel', '00000000-0000-7000-8000-000000000000')).toMatchObject({ code: 1, stderr: expect.stringContaining('WL001') });
  const item = (await cli('submit', 'x', '--type', 'a')).stdout.trim();
  expect(await cli('ledger', item, '--last', '-1')).toMatchObject({ code: 1, stderr: expect.stringContaining('last_n must be 1 or more') });
});

test('a faculty file with a mistake exits with 2 and its line and column', async () => {
  const file = join(directory, 'bad.toml');
  await writeFile(file, '[faculty]\nname = "a"\n\n[faculty.engage]\nmax_trns = 5\n');
  expect(await cli('faculty', file)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/bad\.toml:5:1: unknown key engage\.max_trns; did you mean engage\.max_turns/),
  });
  await writeFile(file, '[faculty\nname = "a"');
  expect(await cli('faculty', file)).toMatchObject({ code: 2, stderr: expect.stringMatching(/bad\.toml:\d+:\d+/) });
});

test('help exits with 0; without a key a worker does not start', async () => {
  expect(await cli('--help')).toMatchObject({ code: 0, stdout: expect.stringContaining('Exit codes') });
  expect(await cli('work')).toMatchObject({ code: 2, stderr: expect.stringContaining('ANTHROPIC_API_KEY') });
  expect(await cli('run', 'x')).toMatchObject({ code: 2, stderr: expect.stringContaining('ANTHROPIC_API_KEY') });
});

test('doctor names what is wrong', async () => {
  await database.query(
    `select ledger.work_submit('nobody', 'x'); select graphile_worker.add_job('ledger/engage', max_attempts => 1); update graphile_worker._private_jobs set attempts = 1 where max_attempts = 1`,
  );
  const { code, stdout } = await cli('doctor', '--json');
  expect(code).toBe(1);
  const checks = JSON.parse(stdout) as { check: string; severity: string; detail: string }[];
  const of = (check: string) => checks.find((one) => one.check === check);
  expect(checks).toContainEqual(
    expect.objectContaining({
      check: 'routing',
      severity: 'error',
      detail: 'no faculty accepts work type "nobody"',
      remedy: expect.stringContaining('faculty'),
    }),
  );
  expect(of('durability')?.severity).toBe('error'); // the test cluster is not
  expect(of('jobs')).toMatchObject({ severity: 'warning', detail: '1 job has no attempts left' });
  expect(of('connections')?.severity).toBe('fine');
  expect(of('writable')?.severity).toBe('fine');
});

const call = (name: string, input: Record<string, unknown>) => ({ type: 'tool_use', name, input });
const replies: ScriptedReply[] = [
  { content: [call('ledger_append', { entry_type: 'plan', content: 'Say hello' }), call('bash', { command: 'echo hello > greeting' })] },
  { content: [{ type: 'text', text: 'Said hello.' }] },
];

test('demo --scene team: a lead that waits is seen, a decision heard at once, an edit refused, a message answered, the ledger searched', async () => {
  const shown = await cli('demo', '--install', '--scene', 'team', '--json');
  expect(shown).toMatchObject({ code: 0, stderr: expect.stringMatching(/\n {4}fix [0-9a-f]{4} +\[1\] decision: Round in toCents/) });
  type Told = { work_type: string; title: string; iteration: number; lines: string[] };
  const { items, told } = JSON.parse(shown.stdout) as { items: Record<string, unknown>[]; told: Told[] };
  expect(items.map((item) => [item['work_type'], item['parent_id'] === null, item['state']])).toEqual([
    ['demo-lead', true, 'completed'],
    ['demo-fix', false, 'completed'],
    ['demo-check', false, 'completed'],
    ['demo-review', true, 'completed'],
  ]);
  const said = told.map(({ work_type, title, lines }) => [work_type, title, lines.join(' ')]);
  const words = (text: RegExp): unknown => expect.stringMatching(text);
  expect(said).toEqual([
    ['demo-review', 'A lead that waits is seen by others', words(/^- \[Demo Lead\/demo-lead\] .* \(waits for [12] of its children\)$/)],
    // At the boundary it is recorded while the next request is being made, and told with the one after.
    [
      'demo-check',
      words(/^A decision of a sibling, told (with the next request|after 1 other request)/),
      words(/^- Decision: Round in toCents\(\)/),
    ],
    ['demo-review', 'A search', words(/^What was found, .*- decision of Demo Fixer\/demo-fix [0-9a-f]{6}, .*: Round in toCents\(\)/)],
    [
      'demo-review',
      'A refused edit',
      words(/^\[claim\] Not executed: Demo Fixer\/demo-fix holds src\/money\.js since .*"Fix src\/money\.js/),
    ],
    [
      'demo-fix',
      'A message of another agent',
      words(/ from another agent, Demo Reviewer\/demo-review [0-9a-f]{6}\].* Which way does a half go\?$/),
    ],
    [
      'demo-review',
      'A message of another agent',
      words(/ from another agent, Demo Fixer\/demo-fix [0-9a-f]{6}\].* Up, with Math\.round\./),
    ],
  ]);
  expect(items[3]).toMatchObject({ outcome_data: { summary: 'The comment says that toCents() rounds halves up.' } });
});

test.skipIf(noDocker !== null)('demo --scene code: long output that the code alone sees becomes a line', async () => {
  const shown = await cli('demo', '--install', '--scene', 'code', '--json');
  expect(shown).toMatchObject({ code: 0, stderr: expect.stringContaining('Done: exit code 1: ') });
  const { calls } = JSON.parse(shown.stdout) as { calls: { tool_name: string; chars: number; result: string }[] };
  expect(calls).toMatchObject([{ tool_name: 'execute_code' }, { tool_name: 'bash' }, { tool_name: 'ledger_append' }]);
  expect(calls[1]?.chars).toBeGreaterThan(180_000);
  expect(calls[0]?.result.length).toBeLessThan(500);
  expect(shown.stderr).toMatch(/What entered the context, \d{3} characters/);
});

test('run works in the directory that it is given, prints entries on stderr and the item on stdout', async () => {
  model = await startScriptedModel(scriptOf(replies));
  const ran = await cli('run', 'Say hello', '--workspace', '.');
  expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining('[1] plan: Say hello') });
  expect(ran.stdout).toContain('outcome    Said hello.');
  expect((await cli('run', 'Say hello', '--type', 'nobody')).stderr).toContain('no faculty accepts work type "nobody"');
  await model.close();
});

test('run exits with 3 when the work item fails', async () => {
  model = await startScriptedModel(scriptOf([{ content: [], stopReason: 'refusal' }]));
  const ran = await cli('run', 'Do harm', '--workspace', '.');
  expect(ran).toMatchObject({ code: 3, stdout: expect.stringContaining('the model refused') });
  await model.close();
});

test('Ctrl-C leaves the work for later, and tail shows it to its end', async () => {
  model = await startScriptedModel((_request, position) =>
    position.exchange === 0 ? (replies[0] ?? { stall: true }) : position.attempt === 0 ? { stall: true } : (replies[1] ?? { stall: true }),
  );
  const child = spawn(process.execPath, [main, 'run', 'Say hello', '--workspace', '.', '--grace-seconds', '0'], {
    env: environment(),
    cwd: directory,
  });
  let errors = '';
  child.stderr.on('data', (chunk) => (errors += chunk));
  await until(() => model?.requests.length === 2);
  child.kill('SIGINT');
  const [code] = (await once(child, 'exit')) as [number];
  expect(code, errors).toBe(130);
  const id = /run --resume ([0-9a-f-]{36})/.exec(errors)?.[1] ?? '';
  expect(JSON.parse((await cli('show', id, '--json')).stdout)).toMatchObject({ state: 'running' });

  const tail = cli('logs', id, '--follow');
  const worker = spawn(process.execPath, [main, 'work'], { env: environment(), cwd: directory });
  const tailed = await tail;
  expect(tailed.stdout).toContain('[1] plan: Say hello');
  expect(tailed.stdout).toContain('Said hello.');
  worker.kill('SIGTERM');
  await once(worker, 'exit');
  await model.close();
});

test("a tool of the user's own, as the README shows it", async () => {
  const file = join(directory, 'wordCount.ts');
  await writeFile(
    file,
    `
    import { z } from '${import.meta.resolve('zod')}';
    import { defineTool, ok } from '${new URL('../../runtime/index.ts', import.meta.url).href}';
    export default defineTool({
      name: 'word_count',
      description: 'Count the words of a text.',
      input: z.strictObject({ text: z.string() }),
      effect: 'pure',
      risk: 'safe',
      execute: async (input) => ok(String(input.text.split(/\\s+/).length)),
    });`,
  );
  const faculty = join(directory, 'counter.toml');
  await writeFile(faculty, '[faculty]\nname = "counter"\naccepts = ["count"]\n\n[faculty.engage]\ntools = ["word_count"]\n');
  model = await startScriptedModel(
    scriptOf([{ content: [call('word_count', { text: 'one two three' })] }, { content: [{ type: 'text', text: 'Three.' }] }]),
  );
  const ran = await cli('run', 'Count', '--type', 'count', '--faculty', faculty, '--tools', file);
  expect(ran.code, ran.stderr).toBe(0);
  expect(model.requests[1]?.body).toContain('"content":"3"');
  await model.close();
});
