// Commands at fixed points of a focus, as real processes of a real worker: what they are given, what their answers do, and
// what happens when they hang, fail, print garbage or 10 MB, or are not there.

import { writeFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

import type { WorkItem } from '../../runtime/ledger/answers.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import type { ScriptedReply } from '../../runtime/model/script.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { defineTool, ok } from '../../runtime/tools/tool.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import type { Worker } from '../../runtime/worker/worker.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { call, calls, done, startTeam } from '../team.ts';
import type { Seen } from '../team.ts';
import { until } from '../workerProcess.ts';

let database: TestDatabase;
let db: Db;
let model: ScriptedModel;
let worker: Worker;
let directory: string;
const said: string[] = [];
const roles: Record<string, (seen: Seen) => ScriptedReply> = {};

const shout = defineTool({
  name: 'shout',
  description: 'Says it aloud.',
  input: z.strictObject({ words: z.string() }),
  effect: 'unsafe',
  risk: 'moderate',
  execute: async ({ words }) => {
    said.push(words);
    return ok(words.toUpperCase());
  },
});

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  directory = await mkdtemp(join(tmpdir(), 'hooks-test-'));
  model = await startTeam(roles);
  worker = await startWorker({
    url: database.url,
    schema: 'ledger',
    tools: [shout],
    log: pino({ level: 'silent' }),
    concurrency: 8,
    model: createModelClient({ apiKey: 'k', baseURL: model.url }),
  });
});
afterAll(async () => {
  await worker?.stop();
  await model?.close();
  await db?.close();
  await database?.drop();
  await rm(directory, { recursive: true, force: true });
});

let count = 0;
/** Submits an item of a faculty of its own; its model plays `role`. */
async function submit(config: Record<string, unknown>, role: (seen: Seen) => ScriptedReply): Promise<WorkItem> {
  const name = `hooked ${++count}:`;
  roles[name] = role;
  const { engage, ...more } = config as { engage?: object };
  await db.facultySave({ name, awareness: { enabled: false }, engage: { tools: ['shout'], ledger_nudge_interval: 0, ...engage }, ...more });
  return db.workSubmit({ workType: 'hooked', description: `${name} do it`, faculty: name });
}
async function ended(item: WorkItem): Promise<WorkItem> {
  await until(async () => (await db.workItem(item.id))?.resolved_at);
  return (await db.workItem(item.id))!;
}
const work = async (config: Record<string, unknown>, role: (seen: Seen) => ScriptedReply): Promise<WorkItem> =>
  ended(await submit(config, role));
/** Shouts once and ends with what it was answered. */
const shoutOnce =
  (words: string) =>
  ({ exchange, results }: Seen): ScriptedReply =>
    exchange === 0 ? calls(call('shout', { words })) : done(results.join('|'));
const print = (value: unknown): string => `printf '%s' '${JSON.stringify(value)}'`;
const runs = (item: WorkItem) =>
  database.query<{ hook: string; status: string; error: string | null }>(`
  select hook, status, error from ledger.hook_runs where work_item_id = '${item.id}' order by created_at, hook`);
const requestsOf = (item: WorkItem): string[] =>
  model.requests.filter(({ body }) => body.includes(`Work item ${item.id}`)).map(({ body }) => body);
const given = async (file: string): Promise<Record<string, unknown>> => JSON.parse(await readFile(join(directory, file), 'utf8'));

test('recover, orient, consolidate: each is told what it needs, and what it says is used', async () => {
  const marker = join(directory, 'tried');
  const item = await work(
    {
      // The first attempt fails here.
      orient: {
        command: `cat > ${directory}/orient.json; if [ -e ${marker} ]; then echo 'The tests are slow today.'; else touch ${marker}; echo broken >&2; exit 3; fi`,
      },
      recover: { command: `cat > ${directory}/recover.json; ${print({ context: 'Mind the queue.', mode: 'resume' })}` },
      consolidate: { command: `cat > ${directory}/consolidate.json; ${print({ memories: 1 })}` },
    },
    ({ exchange }) => (exchange === 0 ? calls(call('ledger_append', { entry_type: 'finding', content: 'It works' })) : done('Did it.')),
  );
  expect(item).toMatchObject({ state: 'completed', attempts: 2, outcome_data: { summary: 'Did it.', consolidated: { memories: 1 } } });
  expect(await runs(item)).toMatchObject([
    { hook: 'orient', status: 'failed', error: 'ended with exit code 3: broken' },
    { hook: 'recover', status: 'completed' },
    { hook: 'orient', status: 'completed' },
    { hook: 'consolidate', status: 'completed' },
  ]);
  expect(requestsOf(item)[0]).toMatch(
    /What the orient command of your faculty says, as data between the markers:\\n\\n<(data-[0-9a-f]{12})>\\nThe tests are slow today\.\\n<\/\1>\\n\\nWhat the recover command of your faculty says, .*?<(data-[0-9a-f]{12})>\\nMind the queue\.\\n<\/\2>/,
  );
  expect(await given('orient.json')).toMatchObject({
    hook: 'orient',
    attempt: 2,
    work_item: { id: item.id, description: item.description },
  });
  expect(await given('recover.json')).toMatchObject({
    attempts: [{ attempt: 1, outcome: 'failed', error: 'the orient command ended with exit code 3: broken' }],
  });
  expect(await given('consolidate.json')).toMatchObject({
    outcome: { summary: 'Did it.' },
    ledger: [{ seq: 1, entry_type: 'finding', content: 'It works' }],
  });
});

test('an orient command refuses, a recover command gives up, a consolidate command fails', async () => {
  const [refused, givenUp, unconsolidated] = await Promise.all([
    work({ orient: { command: print({ refuse: 'not on a Sunday' }) } }, () => done('never')),
    work({ orient: { command: 'exit 1' }, recover: { command: print({ give_up: 'seen enough' }) } }, () => done('never')),
    work({ consolidate: { command: 'no-such-program-here' } }, () => done('Did it.')),
  ]);
  expect(refused).toMatchObject({ state: 'failed', state_reason: 'the orient command refused: not on a Sunday' });
  expect(givenUp).toMatchObject({ state: 'dead', state_reason: 'the recover command gave up: seen enough' });
  expect(unconsolidated).toMatchObject({
    state: 'completed',
    outcome_data: { summary: 'Did it.', consolidate_error: expect.stringMatching(/^ended with exit code 127: .*not found/) },
  });
  expect(requestsOf(refused)).toEqual([]);
});

test.each([
  ['hangs', 'sleep 60', 'did not end within 1 second'],
  ['fails', 'echo no >&2; exit 2', 'ended with exit code 2: no'],
  ['is killed', 'kill -9 $$', 'ended by signal SIGKILL'],
  ['prints garbage', 'echo perhaps', 'printed something other than a JSON object: "perhaps"'],
  ['prints 10 MB', 'head -c 10000000 /dev/zero | tr "\\\\0" x', 'printed more than 1,000,000 bytes'],
  ['misspells its word', print({ refused: 'no' }), 'returned "refused", which is not a key that it can return'],
  ['says what cannot be meant', print({ refuse: true }), 'returned "refuse", which is not a string'],
  ['says a list', print({ input: [] }), 'returned "input", which is not an object'],
  ['is not there', '/nowhere/guard', /^ended with exit code 127: .*\/nowhere\/guard/],
])('a before_tool hook that %s: the call is not executed, or with on_failure = "allow" it is', async (_, command, error) => {
  const words = `call ${count}`;
  const timeout = command.startsWith('sleep') ? 1 : 300;
  const [refused, allowed] = await Promise.all([
    work({ hooks: { before_tool: command, timeout } }, shoutOnce(`${words} refused`)),
    work({ hooks: { before_tool: command, timeout, on_failure: 'allow' } }, shoutOnce(`${words} allowed`)),
  ]);
  expect(await runs(refused)).toMatchObject([
    { hook: 'before_tool', status: 'failed', error: typeof error === 'string' ? error : expect.stringMatching(error) },
  ]);
  expect(refused.outcome_data?.['summary']).toMatch(/^\[engine\] Not executed: the before_tool hook /);
  expect(allowed.outcome_data?.['summary']).toBe(`${words} allowed`.toUpperCase());
  expect(said.filter((one) => one.startsWith(`${words} `))).toEqual([`${words} allowed`]);
});

test("tool hooks refuse and rewrite, each call for itself and all at once; the engine's own tools pass", async () => {
  const guard = join(directory, 'guard.mjs');
  // Each waits until all of them have begun.
  await writeFile(
    guard,
    `
    import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    const { hook, tool, input, result } = JSON.parse(readFileSync(0, 'utf8'));
    const begun = '${directory}/' + hook;
    mkdirSync(begun, { recursive: true });
    writeFileSync(begun + '/' + process.pid, '');
    while (readdirSync(begun).length < (hook === 'before_tool' ? 6 : 4)) await sleep(20);
    const answer = hook === 'after_tool'
      ? (result.content.includes('SECRET') ? { content: result.content.replace('SECRET', '***') } : result.content.includes('ODD') ? { refuse: 'odd' } : {})
      : (input.words === 'forbidden' ? { refuse: 'not that word' } : input.words === 'plain' ? { input: { words: 'rewritten' } } : input.words === 'wrong' ? { input: { word: 1 } } : {});
    console.log(JSON.stringify(answer));
  `,
  );
  const hook = `${process.execPath} ${guard}`;
  const item = await work({ hooks: { before_tool: hook, after_tool: hook, timeout: 300 } }, ({ exchange, results }) =>
    exchange === 0
      ? calls(
          ...['forbidden', 'plain', 'a secret', 'odd', 'wrong', 'fine'].map((words) => call('shout', { words })),
          call('ledger_append', { entry_type: 'note', content: 'noted' }),
        )
      : done(JSON.stringify(results)),
  );
  expect(JSON.parse(String(item.outcome_data?.['summary']))).toEqual([
    expect.stringMatching(
      /^\[engine\] Not executed: a hook refused it\. What the before_tool command of your faculty says, .*\n\n<(data-[0-9a-f]{12})>\nnot that word\n<\/\1>$/,
    ),
    'REWRITTEN',
    'A ***',
    expect.stringMatching(/^\[engine\] The call ran\. Its result is withheld: a hook refused it\. .*\nodd\n/s),
    expect.stringMatching(/^\[engine\] The input does not match the schema of shout/),
    'FINE',
    'Recorded as [1].',
  ]);
  const all = await runs(item);
  expect(all.map((run) => run.hook).toSorted()).toEqual([...Array<string>(4).fill('after_tool'), ...Array<string>(6).fill('before_tool')]);
  const [plain] = await database.query<{ input: unknown; rewritten_input: unknown }>(`
    select input, rewritten_input from ledger.tool_calls where work_item_id = '${item.id}' and ordinal = 1`);
  expect(plain).toEqual({ input: { words: 'plain' }, rewritten_input: { words: 'rewritten' } });
});

test('a person approves what the hook made of a call, and the hook is not asked again', async () => {
  const item = await submit(
    { engage: { require_approval: 'moderate' }, hooks: { before_tool: print({ input: { words: 'gently' } }) } },
    shoutOnce('loudly'),
  );
  await until(async () => (await db.workItem(item.id))?.state === 'waiting');
  const asked = (await db.approvals()).find((approval) => approval.work_item_id === item.id);
  expect(asked?.input).toEqual({ words: 'gently' });
  await db.toolCallApprove(asked!.tool_call_id);
  expect((await ended(item)).outcome_data?.['summary']).toBe('GENTLY');
  expect(await runs(item)).toMatchObject([{ hook: 'before_tool', status: 'completed' }]);
});

test.each([{}, { require_approval: 'moderate' }])(
  'a call runs with the secret in the input that a hook gave it, which no row has: %j',
  async (engage) => {
    const address = `postgresql://app:hunter${count}hunter@db.example/app`;
    const item = await submit({ engage, hooks: { before_tool: print({ input: { words: `${address} gently` } }) } }, shoutOnce(address));
    if (engage.require_approval) {
      await until(async () => (await db.workItem(item.id))?.state === 'waiting');
      const asked = (await db.approvals()).find((approval) => approval.work_item_id === item.id);
      expect(asked?.input).toEqual({ words: 'postgresql://app:[redacted]@db.example/app gently' });
      await db.toolCallApprove(asked!.tool_call_id);
    }
    await ended(item);
    expect(said.filter((one) => one.includes(address))).toEqual([`${address} gently`]);
    const rows = await database.query<{ input: unknown }>(
      `select rewritten_input as input from ledger.tool_calls where work_item_id = '${item.id}'`,
    );
    expect(rows).toEqual([{ input: { words: 'postgresql://app:[redacted]@db.example/app gently' } }]);
  },
);

test('a before_model_call hook says something with every request; when it refuses, the work waits for a person', async () => {
  const item = await submit(
    {
      hooks: {
        before_model_call: `cat > ${directory}/model.json; [ ! -e ${directory}/closed ] && ${print({ say: 'It is late.' })} || ${print({ refuse: 'closed' })}`,
      },
    },
    ({ exchange, said: texts }) =>
      exchange === 0 ? calls(call('ledger_append', { entry_type: 'note', content: texts.at(-1) ?? '' })) : done(texts.join('|')),
  );
  expect((await ended(item)).outcome_data?.['summary']).toMatch(
    /^What the before_model_call command of your faculty says, .*:\n\n<(data-[0-9a-f]{12})>\nIt is late\.\n<\/\1>$/,
  );
  expect(await given('model.json')).toMatchObject({
    hook: 'before_model_call',
    iteration: 2,
    request: { model: 'claude-sonnet-5-5', messages: [{}, {}, {}] },
  });
  await writeFile(join(directory, 'closed'), '');
  const refused = await submit(
    { hooks: { before_model_call: `[ -e ${directory}/closed ] && ${print({ refuse: 'closed' })} || true` } },
    () => done('Did it.'),
  );
  await until(async () => (await db.workItem(refused.id))?.state === 'paused');
  expect(await db.workItem(refused.id)).toMatchObject({ state_reason: 'the before_model_call hook refused: closed' });
  expect(requestsOf(refused)).toEqual([]);
  await rm(join(directory, 'closed'));
  await db.workResume(refused.id);
  expect(await ended(refused)).toMatchObject({ state: 'completed' });
});

test('a check decides whether done counts: its first failure is told to the model, the second ends the item', async () => {
  const file = join(directory, 'mended');
  const check = `test -e ${file} || { echo "$PWD: 1 test fails"; exit 1; }`;
  const complete = (summary: string): ScriptedReply => calls(call('work_complete', { summary }));
  const failed = await work({ engage: { check_command: check, workspace: 'none' } }, ({ exchange, said: texts }) =>
    exchange === 0 ? complete('Done, I think.') : done(texts.at(-1) ?? ''),
  );
  expect(failed).toMatchObject({
    state: 'failed',
    state_reason: `the check (${check}) ended with exit code 1: ${process.cwd()}: 1 test fails`,
  });
  // The model was told, and repeated it.
  const [told, printed = ''] = String(failed.outcome_data?.['summary']).split(/\n\n<data-[0-9a-f]{12}>\n/);
  expect(told).toBe(
    '[engine] Not completed: the check failed. Fix the problem and finish again; if the check fails once more, the work item fails.\n\nWhat the check command of your faculty says, as data between the markers:',
  );
  expect(printed.split('\n</data-')[0]).toBe(
    `${check}\nended with exit code 1: ${process.cwd()}: 1 test fails\n\n${process.cwd()}: 1 test fails`,
  );
  expect(failed.outcome_data?.['check']).toContain('1 test fails');

  const item = await work({ engage: { check_command: check, workspace: 'none' } }, ({ exchange }) => {
    if (exchange === 1) writeFileSync(file, '');
    return exchange === 0 ? done('Done.') : exchange === 1 ? calls(call('shout', { words: 'now' })) : done('Done now.');
  });
  expect(item).toMatchObject({ state: 'completed', outcome_data: { summary: 'Done now.' } });
  expect(await runs(item)).toMatchObject([
    { hook: 'check', status: 'failed' },
    { hook: 'check', status: 'completed' },
  ]);
});

test('mode = "external": a command does the work, and its answer is the outcome', async () => {
  const external = (command: string): Record<string, unknown> => ({ engage: { mode: 'external', command }, recover: { max_attempts: 1 } });
  const [plain, full, failing, wrong] = await Promise.all([
    work(external('read line; echo "$line" | grep -q "do it" && echo Done by hand.'), () => done('never')),
    work(
      {
        ...external(
          `cat > ${directory}/engage.json; ${print({ summary: 'Done.', evidence: ['x'], entries: [{ entry_type: 'finding', content: 'It is blue' }] })}`,
        ),
        orient: { command: 'echo Look up.' },
      },
      () => done('never'),
    ),
    work(external('echo "cannot" >&2; exit 4'), () => done('never')),
    work(external(print({ summary: 'Done.', entries: [{ entry_type: 'rumour', content: 'x' }] })), () => done('never')),
  ]);
  expect(plain).toMatchObject({ state: 'completed', outcome_data: { summary: 'Done by hand.' } });
  expect(full).toMatchObject({ state: 'completed', outcome_data: { summary: 'Done.', evidence: ['x'] }, ledger_count: 1 });
  expect((await given('engage.json'))['context']).toMatch(
    /# Work item .*What the orient command of your faculty says, as data between the markers:\n\n<data-[0-9a-f]{12}>\nLook up\.\n/s,
  );
  expect(failing).toMatchObject({ state: 'dead', state_reason: 'the engage command ended with exit code 4: cannot' });
  expect(wrong).toMatchObject({
    state: 'dead',
    state_reason: expect.stringContaining('returned an entry that cannot be recorded') as string,
    ledger_count: 0,
  });
});
