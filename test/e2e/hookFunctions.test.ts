// Hooks that are functions of the program which runs the worker: told and answering what commands are, with the same rows, limits and rules
// after a crash; and work of a faculty whose function is missing is not begun without it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { pino } from 'pino';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { z } from 'zod';

import { createModelClient, defineHook, defineTool, ok, run, startWorker } from '../../runtime/index.ts';
import type { Faculty, Hook, HookInput, RunItem } from '../../runtime/index.ts';
import { withConnection } from '../../runtime/ledger/connection.ts';
import { scriptedModel, testLedger } from '../../runtime/testing/index.ts';
import type { TestLedger, TestModel } from '../../runtime/testing/index.ts';
import { hooksByName } from '../../runtime/tools/hook.ts';
import { until } from '../workerProcess.ts';

let ledger: TestLedger;
let model: TestModel;
beforeAll(async () => {
  ledger = await testLedger({ databaseUrl: `${inject('serverUrl')}postgres` });
  model = await scriptedModel((request, { exchange }) => {
    const words = /^say (.*)$/m.exec(JSON.stringify(request.messages[0]).replaceAll(String.raw`\n`, '\n'))?.[1]?.replace(/".*/, '') ?? '';
    if (exchange === 0) return { calls: [{ name: 'shout', input: { words } }] };
    return { calls: [{ name: 'work_complete', input: { summary: resultIn(request) } }] };
  });
});
afterAll(async () => {
  await model?.close();
  await ledger?.drop();
});

/** The last result that a request shows. */
function resultIn(request: unknown): string {
  const results: string[] = [];
  JSON.stringify(request, (key, value: unknown) => {
    if (typeof value === 'object' && value !== null && (value as { type?: string }).type === 'tool_result')
      results.push(JSON.stringify((value as { content?: unknown }).content));
    return key === 'cache_control' ? undefined : value;
  });
  return results.at(-1) ?? '';
}
const said: string[] = [];
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
const work = (words: string, hooks: readonly Hook[], faculty: Partial<Faculty> = {}): Promise<RunItem<unknown>> =>
  run({
    ...ledger,
    task: `say ${words}`,
    tools: [shout],
    hooks,
    modelClient: model.client,
    faculty: { awareness: { enabled: false }, ...faculty },
  }).result;
type Row = { hook: string; command: string; status: string; output: string | null; error: string | null; exit_code: number | null };
const rows = (id: string): Promise<Row[]> =>
  withConnection({ connectionString: ledger.databaseUrl }, async (client) => {
    const { rows: found } = await client.query<Row>(
      `select hook, command, status, output, error, exit_code from ${ledger.schema}.hook_runs where work_item_id = $1 order by created_at, hook`,
      [id],
    );
    return found;
  });

test('at each point a function is told what a command is, and what it answers is used and stored alike', async () => {
  const told: { [Stage in HookInput['hook']]?: HookInput } = {};
  const note = <Told extends HookInput>(input: Told): Told => {
    told[input.hook] = input;
    return input;
  };
  const item = await work('well', [
    defineHook({ name: 'lookAround', stage: 'orient', run: (input) => `Attempt ${note(input).attempt} of ${input.work_item.work_type}.` }),
    defineHook({
      name: 'late',
      stage: 'before_model_call',
      run: async (input) => (note(input).iteration === 1 ? { say: 'It is late.' } : undefined),
    }),
    defineHook({ name: 'guard', stage: 'before_tool', run: (input) => ({ input: { words: `${note(input).tool} gently` } }) }),
    defineHook({
      name: 'redact',
      stage: 'after_tool',
      run: ({ result, ...input }) => ({ content: `${note({ ...input, result }).hook}: ${result.content}` }),
    }),
    defineHook({ name: 'tests', stage: 'check', run: (input) => `checked ${Object.keys(note(input).outcome).join()}` }),
    defineHook({ name: 'remember', stage: 'consolidate', run: (input) => ({ memories: note(input).ledger?.length ?? 0 }) }),
  ]);
  expect(item).toMatchObject({
    state: 'completed',
    outcome_data: { summary: expect.stringContaining('after_tool: SHOUT GENTLY'), consolidated: { memories: 0 } },
  });
  const ran = await rows(item.id);
  expect(ran.map(({ hook, command, status, exit_code }) => `${hook} ${command} ${status} ${exit_code}`)).toEqual([
    'orient function:lookAround completed 0',
    'before_model_call function:late completed 0',
    'before_tool function:guard completed 0',
    'after_tool function:redact completed 0',
    'before_model_call function:late completed 0',
    'check function:tests completed 0',
    'consolidate function:remember completed 0',
  ]);
  expect(ran[5]?.output).toBe('checked summary\n');
  expect(JSON.stringify(model.requests().at(-2))).toMatch(/Attempt 1 of task\..*It is late\./);
  expect(told.before_tool).toMatchObject({ hook: 'before_tool', work_item_id: item.id, input: { words: 'well' } });
  expect(told.orient).toMatchObject({ hook: 'orient', hook_run_id: expect.any(String), work_item: { id: item.id } });
});

test('refusals are refusals, and functions that do the work itself or look at earlier attempts are commands, too', async () => {
  const refused = await work('x', [defineHook({ name: 'sunday', stage: 'orient', run: () => ({ refuse: 'not on a Sunday' }) })]);
  expect(refused).toMatchObject({ state: 'failed', state_reason: 'the orient command refused: not on a Sunday' });
  let attempts = 0;
  const external = await work('x', [
    defineHook({
      name: 'byHand',
      stage: 'engage',
      run: ({ context, lease }) => {
        if (++attempts === 1) throw new Error('the well is dry');
        return { summary: `${context.includes('say x')} ${lease.length}`, entries: [{ entry_type: 'finding', content: 'By hand' }] };
      },
    }),
    defineHook({ name: 'again', stage: 'recover', run: ({ attempts: before }) => ({ context: before.map(({ error }) => error).join() }) }),
  ]);
  expect(external).toMatchObject({ state: 'completed', attempts: 2, outcome_data: { summary: 'true 36' } });
  expect(await rows(external.id)).toMatchObject([
    { hook: 'engage', status: 'failed', error: 'ended with exit code 1: the well is dry' },
    { hook: 'recover', status: 'completed', output: '{"context":"the engage command ended with exit code 1: the well is dry"}' },
    { hook: 'engage', status: 'completed' },
  ]);
  const whole = await work('x', [{ name: 'whole', stage: 'engage', run: () => (): string => 'done' }]);
  expect(whole.state_reason).toBe(
    'the engage command ended with exit code 1: a hook answers nothing, text or an object; this one answered a function',
  );
  const words = await work('x', [defineHook({ name: 'words', stage: 'engage', run: () => '{"fail": "not meant"}' })]);
  expect(words).toMatchObject({ state: 'completed', outcome_data: { summary: '{"fail": "not meant"}' } });
});

const misused = (name: string, answer: unknown): Hook => ({ name, stage: 'before_tool', run: () => answer });
test.each([
  [
    'throws',
    defineHook({ name: 'throws', stage: 'before_tool', run: () => Promise.reject(new Error('no')) }),
    'ended with exit code 1: no',
  ],
  ['hangs', defineHook({ name: 'hangs', stage: 'before_tool', run: () => new Promise<void>(() => {}) }), 'did not end within 1 second'],
  [
    'heeds its signal',
    defineHook({ name: 'heeds', stage: 'before_tool', run: (_, { signal }) => sleep(60_000, undefined, { signal }) }),
    'did not end within 1 second',
  ],
  ['says words', misused('words', 'perhaps'), 'printed something other than a JSON object: "perhaps"'],
  ['misspells its word', misused('misspells', { refused: 'no' }), 'returned "refused", which is not a key that it can return'],
  ['says what no JSON has', misused('big', { input: { n: 1n } }), /^ended with exit code 1: .*BigInt/],
  ['says too much', misused('long', { refuse: 'x'.repeat(1_000_001) }), 'printed more than 1,000,000 bytes'],
])('a guard that %s: the call is not executed, or with on_failure = "allow" it is', async (_, hook, error) => {
  const words = `of ${hook.name}`;
  const timeout = ['hangs', 'heeds'].includes(hook.name) ? 1 : 300;
  const refused = await work(`${words} refused`, [hook], { hooks: { timeout } });
  const allowed = await work(`${words} allowed`, [hook], { hooks: { timeout, on_failure: 'allow' } });
  expect(await rows(refused.id)).toMatchObject([
    { hook: 'before_tool', status: 'failed', error: typeof error === 'string' ? error : expect.stringMatching(error) },
  ]);
  expect(refused.outcome_data?.['summary']).toMatch(/Not executed: the before_tool hook /);
  expect(allowed.outcome_data?.['summary']).toContain(`${words} allowed`.toUpperCase());
  expect(said.filter((one) => one.startsWith(words))).toEqual([`${words} allowed`]);
});

test('of a secret at which a long error is cut, no half is kept', async () => {
  const key = ['sk', 'ant', 'api03', 'aB3_'.repeat(10)].join('-');
  const hook = defineHook({ name: 'tells', stage: 'before_tool', run: () => Promise.reject(new Error(`${'x'.repeat(270)} ${key}`)) });
  const item = await work('of tells', [hook]);
  expect(await rows(item.id)).toMatchObject([{ error: expect.stringMatching(/xxx \[redacted\]$/) }]);
});

const workerOn = (hooks: readonly Hook[]) =>
  startWorker({
    url: ledger.databaseUrl,
    schema: ledger.schema,
    tools: [shout],
    hooks,
    docker: null,
    leaseSeconds: 10,
    graceSeconds: 0,
    facultyModels: false,
    model: model.client,
    log: pino({ level: 'silent' }),
  });

test('work whose function a worker lacks, or has for another point, is not begun there: it pauses and says why', async () => {
  const guard = defineHook({ name: 'gate', stage: 'before_tool', run: () => ({ input: { words: 'guarded' } }) });
  await ledger.client.saveFaculty({
    name: 'gated',
    accepts: ['gated'],
    engage: { tools: ['shout'], workspace: 'none' },
    hooks: { before_tool: 'function:gate', on_failure: 'allow' },
  });
  const asked = model.requests().length;
  const { id } = await ledger.client.submit({ workType: 'gated', description: 'say it plain' });
  for (const hooks of [[], [defineHook({ name: 'gate', stage: 'after_tool', run: () => undefined })]]) {
    const worker = await workerOn(hooks);
    await until(async () => (await ledger.client.item(id)).state === 'paused');
    await worker.stop();
    expect((await ledger.client.item(id)).state_reason).toBe(
      'hook: this worker has no hook function "gate" for before_tool: start one that has it, then resume the work',
    );
    await ledger.client.resume(id);
  }
  expect(model.requests()).toHaveLength(asked);
  const worker = await workerOn([guard]);
  await until(async () => (await ledger.client.item(id)).resolved_at);
  await worker.stop();
  expect(said.filter((one) => one === 'it plain' || one === 'guarded')).toEqual(['guarded']);
});

test('a function that a kill broke off runs again with the same id; one that a worker stops is told so', async () => {
  await ledger.client.saveFaculty({
    name: 'slow',
    accepts: ['slow'],
    engage: { tools: ['shout'], workspace: 'none' },
    orient: { command: 'function:slow' },
  });
  const program = `import { createModelClient, defineHook, startWorker } from ${JSON.stringify(new URL('../../runtime/index.ts', import.meta.url).href)};
    const slow = defineHook({ name: 'slow', stage: 'orient', run: (input) => { console.log(input.hook_run_id); return new Promise(() => {}); } });
    const [url, schema, modelUrl] = process.argv.slice(1);
    await startWorker({ url, schema, tools: [], hooks: [slow], docker: null, leaseSeconds: 2, model: createModelClient({ apiKey: 'k', baseURL: modelUrl }) });`;
  const { id } = await ledger.client.submit({ workType: 'slow', description: 'say something' });
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, ledger.databaseUrl, ledger.schema, model.url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [first] = (await once(child.stdout, 'data')) as [Buffer];
  child.kill('SIGKILL');
  const ran: string[] = [];
  const stopped = Promise.withResolvers<unknown>();
  const hangs = defineHook({
    name: 'slow',
    stage: 'orient',
    run: async ({ hook_run_id: run_id }, { signal }) => {
      ran.push(run_id);
      await once(signal, 'abort');
      stopped.resolve(signal.reason);
    },
  });
  const second = await workerOn([hangs]);
  await until(() => ran.length === 1);
  await second.stop();
  expect(await stopped.promise).toBe('stopping');
  expect((await rows(id)).map(({ status }) => status)).toEqual(['pending']);
  const third = await workerOn([{ ...hangs, run: ({ hook_run_id: run_id }: HookInput<'orient'>) => void ran.push(run_id) }]);
  await until(async () => (await ledger.client.item(id)).resolved_at);
  await third.stop();
  expect(ran).toEqual([String(first).trim(), String(first).trim()]);
  expect(await ledger.client.item(id)).toMatchObject({ state: 'completed', attempts: 1 });
});

test.each([[false], [{ refuse: 'The tests fail' }], [0]])('a check that answers %j has failed', async (answer) => {
  const item = await work('x', [defineHook({ name: 'tests', stage: 'check', run: () => answer as never })]);
  expect(item).toMatchObject({ state: 'failed', state_reason: expect.stringContaining('fails by throwing') });
});

test('hooks that cannot be told apart are refused before anything begins', async () => {
  const one = (name: string): Hook => defineHook({ name, stage: 'orient', run: () => undefined });
  await expect(work('x', [one('a'), one('b')])).rejects.toThrow('the hooks "a" and "b" are both for orient');
  await expect(work('x', [one('a'), { ...one('a'), stage: 'check' }])).rejects.toThrow('there are two hooks with the name "a"');
  expect(() => hooksByName([one('no name')])).toThrow('"no name" cannot be the name of a hook');
  expect(() => hooksByName([{ ...one('a'), name: undefined as never }])).toThrow('"undefined" cannot be the name of a hook');
  expect(() => hooksByName([{ ...one('a'), run: undefined as never }])).toThrow('hook "a" has no function run');
  expect(() => hooksByName([{ ...one('a'), stage: 'later' as 'check' }])).toThrow('there is no stage "later", only recover, orient');
});

test('what the types say', () => {
  defineHook({ name: 'a', stage: 'recover', run: () => ({ context: 'x', mode: 'fresh' }) });
  defineHook({
    name: 'a',
    stage: 'recover',
    run: async ({ attempts }) => (attempts.length > 2 ? { give_up: 'x' } : { context: 'x', mode: 'resume' }),
  });
  // @ts-expect-error -- that is no mode
  defineHook({ name: 'a', stage: 'recover', run: () => ({ context: 'x', mode: 'later' }) });
  // @ts-expect-error -- a guard has no such answer
  defineHook({ name: 'a', stage: 'before_tool', run: () => ({ say: 'x' }) });
  // @ts-expect-error -- nor is it told of a result
  defineHook({ name: 'a', stage: 'before_tool', run: ({ result }) => void result });
  expect(createModelClient).toBeTypeOf('function');
});
