// The programs of examples/, as somebody runs them, against a model that follows a script.

import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { importFile } from '../../runtime/import/importFile.ts';
import type { ModelRequest } from '../../runtime/model/message.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { scriptOf, withFaults } from '../../runtime/model/script.ts';
import type { Script, ScriptedReply } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { claudeSession } from '../importer.ts';
import { until } from '../workerProcess.ts';

const examples = fileURLToPath(new URL('../../examples/', import.meta.url));
const workLedger = fileURLToPath(new URL('../../runtime/main.ts', import.meta.url));
const asPackage = fileURLToPath(new URL('../asPackage.ts', import.meta.url));

let database: TestDatabase;
let db: Db;
let directory: string;
const started = new Set<ChildProcess>();
const models: ScriptedModel[] = [];
beforeEach(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  directory = await mkdtemp(join(tmpdir(), 'examples-'));
});
afterEach(async () => {
  for (const child of started) child.kill('SIGKILL');
  for (const model of models.splice(0)) await model.close();
  await db?.close();
  await database?.drop();
  await rm(directory, { recursive: true, force: true });
});

async function modelThatSays(script: Script): Promise<ScriptedModel> {
  const model = await startScriptedModel(script);
  models.push(model);
  return model;
}

const environment = (model?: ScriptedModel): NodeJS.ProcessEnv => ({
  PATH: `${join(directory, 'bin')}:${process.env['PATH']}`,
  HOME: directory,
  DATABASE_URL: database.url,
  WORK_LEDGER_SCHEMA: 'ledger',
  WORK_LEDGER_WORKSPACE_ROOTS: directory, // as root a worker serves none unasked
  ...(model && { ANTHROPIC_API_KEY: 'key-of-a-test', ANTHROPIC_BASE_URL: model.url }),
});

/** Starts an example; `said` has what it printed so far. */
function start(program: string, args: string[], env: NodeJS.ProcessEnv): { child: ChildProcess; said: () => string } {
  const child = spawn(program, args, { cwd: directory, env });
  started.add(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (said += data.toString()));
  return { child, said: () => said };
}

/** Runs one to its end. */
async function run(program: string, args: string[], env: NodeJS.ProcessEnv): Promise<{ code: unknown; said: string }> {
  const { child, said } = start(program, args, env);
  const [code] = await once(child, 'close');
  return { code, said: said() };
}

const main = (name: string): string[] => ['--import', asPackage, join(examples, name)];
const calls = (...content: ReturnType<typeof use>[]): ScriptedReply => ({ content, stopReason: 'tool_use' });

/** What a machine may lack. */
const lacks = (command: string, ...args: string[]): boolean => {
  const isMissing = spawnSync(command, args).status !== 0;
  if (isMissing) console.warn(`a test of examples.test.ts is skipped: "${[command, ...args].join(' ')}" fails here`);
  return isMissing;
};
const python = '/usr/bin/python3'; // Debian's, which has Debian's psycopg

const use = (name: string, input: object): { type: 'tool_use'; name: string; input: object } => ({ type: 'tool_use', name, input });

test.skipIf(lacks(python, '-c', 'import psycopg'))(
  'python-worker drives work from claim to end, with its own tool and those of the ledger, and after an error',
  async () => {
    const model = await modelThatSays(
      withFaults(
        scriptOf([
          calls(use('count_words', { path: 'text.txt' }), use('count_words', { path: 'none.txt' })),
          calls(use('ledger_append', { entry_type: 'finding', content: 'Three words' })),
          calls(use('work_complete', { summary: 'Counted' })),
        ]),
        { 1: [{ error: { status: 529, type: 'overloaded_error' } }] },
      ),
    );
    await writeFile(join(directory, 'text.txt'), 'one two three\n');
    const { child, said } = start(python, [join(examples, 'python-worker', 'worker.py')], environment(model));
    const { id } = await db.workSubmit({ workType: 'count', description: 'Count the words of text.txt' });
    await until(() => said().includes(`${id} completed`) || said().includes('Traceback'));
    child.kill();
    expect(said().split('\n')).toEqual([`${id} retry transport: HTTP Error 529: unknown`, `${id} completed `, '']);
    expect((await db.workItem(id))?.outcome_data?.['summary']).toBe('Counted');
    expect(
      await database.query(
        `select status, is_error, result::text like '%3 words%' as counted from ledger.tool_calls
        where work_item_id = '${id}' and tool_name = 'count_words' order by ordinal`,
      ),
    ).toEqual([
      { status: 'completed', is_error: false, counted: true },
      { status: 'failed', is_error: true, counted: false },
    ]);
  },
);

test.skipIf(lacks('psql', '--version'))('by-hand takes an item from its submission to its end in psql', async () => {
  const env = { ...environment(), PGOPTIONS: '-c search_path=ledger,public' };
  const { code, said } = await run('psql', ['-X', '-d', database.url, '-f', join(examples, 'by-hand', 'agent.sql')], env);
  expect({ code, said }).toEqual({ code: 0, said: expect.stringMatching(/completed \| The index on orders.*FINDINGS:.*never used/s) });
});

test('reviewer-team delegates the parts of a repository, and sums up what its reviewers found', async () => {
  const role = (request: ModelRequest): 'lead' | 'reviewer' =>
    JSON.stringify(request.system).includes('each part that matters') ? 'lead' : 'reviewer';
  const parts = ['src/a.ts', 'src/b.ts'].map((path) =>
    use('spawn_child_work', { work_type: 'review-part', description: `Review ${path}` }),
  );
  const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
  const spawned = (request: ModelRequest): string[] => JSON.stringify(request.messages.at(-1)).match(uuid) ?? [];
  const lead: Script = (request, position) =>
    scriptOf([
      calls(use('glob', { pattern: '**' }), ...parts),
      calls(use('await_child_work', { work_item_ids: [...new Set(spawned(request))] })),
      calls(use('work_complete', { summary: 'Two parts, one finding each' })),
    ])(request, position);
  const scripts = {
    lead,
    reviewer: scriptOf([
      calls(use('ledger_append', { entry_type: 'finding', content: 'Line 3 forgets to close the file' })),
      calls(use('work_complete', { summary: 'Reviewed' })),
    ]),
  };
  const model = await modelThatSays((request, position) => scripts[role(request)](request, position));
  const { code, said } = await run(process.execPath, main('reviewer-team/main.ts'), environment(model));
  expect({ code, said }).toEqual({ code: 0, said: expect.stringMatching(/completed Two parts, one finding each\n$/) });
  expect(await database.query(`select state from ledger.work_items where work_type = 'review-part'`)).toEqual([
    { state: 'completed' },
    { state: 'completed' },
  ]);
});

test('durable-job answers, streams and ends a job, once for each key, and outlives a kill', async () => {
  const held = Promise.withResolvers<void>();
  const model = await modelThatSays(
    scriptOf([
      calls(use('ledger_append', { entry_type: 'finding', content: 'It has one script' })),
      { ...calls(use('work_complete', { summary: 'A package' })), afterEvent: () => held.promise },
    ]),
  );
  const env = { ...environment(model), PORT: '0' };
  const serve = async (): Promise<{ child: ChildProcess; url: string }> => {
    const { child, said } = start(process.execPath, main('durable-job/server.ts'), env);
    return { child, url: await until(() => /http:\S+/.exec(said())?.[0]) };
  };
  const post = (url: string, body: string, headers: Record<string, string>): Promise<Response> =>
    fetch(`${url}/jobs`, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
  const first = await serve();
  const body = JSON.stringify({ task: 'What does package.json say?' });
  const made = await post(first.url, body, { 'idempotency-key': '1' });
  expect(made.status).toBe(202);
  const { id } = (await made.json()) as { id: string };
  expect(await (await post(first.url, body, { 'idempotency-key': '1' })).json()).toEqual({ id });
  for (const [wrong, headers] of [
    ['{', { 'idempotency-key': '2' }],
    ['{"task": " "}', { 'idempotency-key': '2' }],
    [body, {}],
  ] as const)
    expect((await post(first.url, wrong, headers)).status).toBe(400);
  expect((await fetch(`${first.url}/jobs/nope`)).status).toBe(404);
  await until(async () => (await database.query(`select from ledger.work_ledger where work_item_id = '${id}'`)).length);
  first.child.kill('SIGKILL');
  held.resolve();

  const second = await serve();
  const events = await (await fetch(`${second.url}/jobs/${id}/events`)).text();
  const [, position = ''] = /id: (.*)\nevent: entry\ndata: {"type":"finding","content":"It has one script"}\n\n/.exec(events) ?? [];
  expect(events).toMatch(/event: end\ndata: \{"state":"completed","result":"A package"\}\n\n$/);
  const after = (from: string): Promise<Response> => fetch(`${second.url}/jobs/${id}/events`, { headers: { 'last-event-id': from } });
  expect(events).toContain(`${position}\n`);
  expect((await (await after(position)).text()).replace(/^retry.*\n\n/, '')).toBe(
    events.split(`id: ${position}\n`)[1]?.replace(/^.*?\n\n/s, ''),
  );
  expect((await after('1')).status).toBe(400);
  expect(await (await fetch(`${second.url}/jobs/${id}`)).json()).toEqual({ state: 'completed', reason: null, result: 'A package' });
  second.child.kill();
});

test('evaluate-prompt goes on from the middle of recorded sessions with both prompts', async () => {
  for (const session of ['one', 'two']) {
    const file = join(directory, `${session}.jsonl`);
    await writeFile(file, `${claudeSession(4).join('\n').replaceAll('session-1', session)}\n`);
    await importFile(db, file);
  }
  for (const name of ['old', 'new']) await writeFile(join(directory, `${name}.md`), `You are the ${name} one.`);
  const model = await modelThatSays((request) =>
    JSON.stringify(request.system).includes('the new one')
      ? { content: [{ type: 'text', text: 'Done.' }] }
      : scriptOf(
          Array.from({ length: 9 }, (_, n) =>
            n < 6 ? calls(use('read_file', { path: 'none' })) : { content: [{ type: 'text', text: 'Done.' }] },
          ),
        )(request, { exchange: request.messages.filter(({ role }) => role === 'assistant').length, attempt: 0, conversation: '' }),
  );
  const args = ['old', 'new'].map((name) => join(directory, `${name}.md`));
  const { code, said } = await run(process.execPath, [...main('evaluate-prompt/main.ts'), ...args], environment(model));
  expect({ code, said: said.replaceAll(/\d+ tokens/g, 'T tokens') }).toEqual({
    code: 0,
    said: 'before: 2 of 2 done, 10 turns, T tokens, 8 failed calls\nafter: 2 of 2 done, 2 turns, T tokens, 0 failed calls\n',
  });
});

test.skipIf(lacks('jq', '--version'))('nightly-agent makes one item a night, however often it is started', async () => {
  await mkdir(join(directory, 'bin'));
  await writeFile(join(directory, 'bin', 'work-ledger'), `#!/bin/sh\nexec '${process.execPath}' '${workLedger}' "$@"\n`, { mode: 0o755 });
  await db.facultySave({ name: 'night', accepts: ['task'], engage: { model: 'claude-sonnet-5-5' } });
  const model = await modelThatSays(scriptOf([calls(use('work_complete', { summary: 'No new errors' }))]));
  const worker = start(process.execPath, [workLedger, 'work'], environment(model));
  const script = join(examples, 'nightly-agent', 'nightly.sh');
  const runs = await Promise.all([1, 2].map(() => run(script, ['Look through the logs'], environment())));
  worker.child.kill();
  for (const { code, said } of runs)
    expect({ code, said }).toEqual({ code: 0, said: expect.stringMatching(/completed: No new errors\n$/) });
  expect(await database.query(`select from ledger.work_items where description = 'Look through the logs'`)).toHaveLength(1);
});

test('docs/python.md shows the worker as it is', async () => {
  const [page, code] = await Promise.all(
    ['docs/python.md', 'examples/python-worker/worker.py'].map((path) => readFile(join(examples, '..', path), 'utf8')),
  );
  expect(page).toContain(`\n\`\`\`python\n${code}\`\`\`\n`);
});
