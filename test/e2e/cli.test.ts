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
  await database.query(`select ledger.ledger_append('${id}', 'finding', E'The index\\nis \\x1b[31mnever used')`);

  const shown = JSON.parse((await cli('show', id, '--json')).stdout);
  expect(shown).toMatchObject({ id, state: 'queued', priority: 3, ledger_count: 1, tool_calls: [] });
  expect((await cli('show')).stdout).toContain('Find why the import is slow (no faculty accepts work type "analyze")');
  expect((await cli('ledger', id)).stdout).toBe('[1] finding: The index\n    is ␛[31mnever used\n');
  expect(JSON.parse((await cli('ledger', id, '--json')).stdout)[0]).toMatchObject({ seq: 1, entry_type: 'finding' });
  expect((await cli('ledger', id, '--formatted')).stdout).toContain('FINDINGS:');
  expect((await cli('digest')).stdout).toContain('== AWARENESS ==');

  expect((await cli('budget', id, 'tokens=5000', 'money=1.5')).stdout).toBe('money     0 of 1.5\ntokens    0 of 5000\n');
  expect(await cli('budget', id, 'tokens=lots')).toMatchObject({ code: 2, stderr: expect.stringContaining('tokens=200000') });
  expect(await cli('submit', 'x', '--type', 'a', '--budget', 'patience=1')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('One of: tokens'),
  });

  expect(await cli('cancel', id, '--reason', 'not needed')).toMatchObject({ code: 0 });
  expect(JSON.parse((await cli('show', id, '--json')).stdout)).toMatchObject({ state: 'cancelled', state_reason: 'not needed' });
  expect((await cli('cancel', id)).stdout).toContain('nothing to cancel');
});

test('wrong usage exits with 2 and says what is right', async () => {
  expect(await cli('submitt', 'x')).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean submit') });
  expect(await cli('submit', 'x')).toMatchObject({ code: 2, stderr: expect.stringContaining('--type') });
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
  expect(of('jobs')).toMatchObject({ severity: 'warning', detail: '1 jobs have no attempts left' });
  expect(of('connections')?.severity).toBe('fine');
  expect(of('writable')?.severity).toBe('fine');
});

const call = (name: string, input: Record<string, unknown>) => ({ type: 'tool_use', name, input });
const replies: ScriptedReply[] = [
  { content: [call('ledger_append', { entry_type: 'plan', content: 'Say hello' }), call('bash', { command: 'echo hello > greeting' })] },
  { content: [{ type: 'text', text: 'Said hello.' }] },
];

test('demo --scene team: three faculties, a tree with two children, and a reviewer who is told what one of them found', async () => {
  const shown = await cli('demo', '--install', '--scene', 'team', '--json');
  expect(shown).toMatchObject({ code: 0, stderr: expect.stringMatching(/\n {4}read [0-9a-f]{4} +\[1\] finding: toCents/) });
  const { items, told } = JSON.parse(shown.stdout);
  expect(items.map((item: Record<string, unknown>) => [item['work_type'], item['parent_id'] === null, item['state']])).toEqual([
    ['demo-lead', true, 'completed'],
    ['demo-read', false, 'completed'],
    ['demo-read', false, 'completed'],
    ['demo-review', true, 'completed'],
  ]);
  expect(told).toContainEqual(
    expect.objectContaining({ kind: 'finding', content: expect.stringContaining('truncates instead of rounding') }),
  );
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
