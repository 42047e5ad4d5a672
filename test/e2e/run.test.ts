// run(): an agent from a program in one call. The model is scripted and speaks HTTP, all else is real.

import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

import { builtinTools, createModelClient, defineTool, LedgerError, NoConnection, ok, run } from '../../runtime/index.ts';
import type { ModelClient, RunOptions, WorkEvent } from '../../runtime/index.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import type { ScriptedReply } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { weigh } from '../weigh.ts';

let database: TestDatabase;
let db: Db;
let directory: string;
const models: ScriptedModel[] = [];
beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  directory = await mkdtemp(join(tmpdir(), 'run-test-'));
});
afterAll(async () => {
  for (const model of models) await model.close();
  await db?.close();
  await rm(directory, { recursive: true, force: true });
  await database?.drop();
});

const here = (): { databaseUrl: string; schema: string } => ({ databaseUrl: database.url, schema: 'ledger' });
async function scripted(...replies: ScriptedReply[]): Promise<ModelClient> {
  const model = await startScriptedModel(scriptOf(replies));
  models.push(model);
  return createModelClient({ apiKey: 'key', baseURL: model.url });
}
const calls = (...used: [name: string, input: object][]): ScriptedReply => ({
  content: used.map(([name, input]) => ({ type: 'tool_use', name, input })),
});
test('a task with a tool of the program is done, and each loop hears all of it, also one that begins when it is over', async () => {
  const work = run({
    ...here(),
    task: 'How heavy is the parcel?',
    tools: [weigh],
    modelClient: await scripted(
      {
        content: [
          { type: 'text', text: 'I weigh it.' },
          { type: 'tool_use', name: 'weigh', input: { thing: 'parcel' } },
        ],
      },
      calls(['ledger_append', { entry_type: 'finding', content: 'It weighs 3 kg.' }]),
      calls(['work_complete', { summary: '3 kg' }]),
    ),
  });
  const told = async (): Promise<string[]> => {
    const lines: string[] = [];
    for await (const event of work) lines.push(lineOf(event));
    return [...new Set(lines)].toSorted();
  };
  const first = await told();
  const item = await work.result;
  expect(item).toMatchObject({ id: await work.id, state: 'completed', outcome_data: { summary: '3 kg' } });
  expect(first).toEqual(
    expect.arrayContaining(['said I weigh it.', 'call weigh completed', 'entry finding It weighs 3 kg.', 'call work_complete completed']),
  );
  expect((await told()).filter((line) => !line.endsWith(' running'))).toEqual(first.filter((line) => !line.endsWith(' running')));
});

test('a directory is where its tools work, and nowhere else', async () => {
  await writeFile(join(directory, 'notes.txt'), 'Buy milk\n');
  const item = await run({
    ...here(),
    task: 'Add bread',
    tools: builtinTools,
    workspace: directory,
    modelClient: await scripted(
      calls(['read_file', { path: 'notes.txt' }]),
      calls(['write_file', { path: 'notes.txt', content: 'Buy milk\nBuy bread\n' }]),
      calls(['work_complete', { summary: 'Added' }]),
    ),
  }).result;
  expect(item.state).toBe('completed');
  expect(await readFile(join(directory, 'notes.txt'), 'utf8')).toBe('Buy milk\nBuy bread\n');
});

test('work is given back when the signal fires, and another run goes on with it', async () => {
  const stop = new AbortController();
  const slow = defineTool({ ...weigh, name: 'slow', execute: async () => (stop.abort(), ok('weighed')) });
  const stalls = await scripted(calls(['slow', { thing: 'parcel' }]), { stall: true });
  const given = await run({ ...here(), task: 'Weigh it slowly', tools: [slow], modelClient: stalls, signal: stop.signal, graceSeconds: 0 })
    .result;
  expect(given.state).not.toBe('completed');
  expect(await db.driverOf(given.id)).toBeNull();
  const modelClient = await scripted(calls(['slow', { thing: 'parcel' }]), calls(['work_complete', { summary: '3 kg' }]));
  const item = await run({ ...here(), resume: given.id, tools: [slow], modelClient }).result;
  expect(item).toMatchObject({ id: given.id, state: 'completed', outcome_data: { summary: '3 kg' } });
  await expect(run({ ...here(), resume: given.id, modelClient }).result).rejects.toThrow('nothing to go on with');
});

test('a signal that fires while a run begins costs no request: before there is an item the run rejects, later it gives it back', async () => {
  const asked: unknown[] = [];
  const modelClient: ModelClient = {
    call: async (request) => {
      asked.push(request);
      return { kind: 'aborted' };
    },
  };
  const early = new AbortController();
  const reason = new Error('changed my mind');
  const refused = run({ ...here(), task: 'Weigh too early', modelClient, signal: early.signal });
  early.abort(reason);
  await expect(refused.result).rejects.toBe(reason);
  expect(await database.query(`select from ledger.work_items where description = 'Weigh too early'`)).toEqual([]);

  const late = new AbortController();
  const work = run({ ...here(), task: 'Weigh too late', modelClient, signal: late.signal, graceSeconds: 0 });
  const id = await work.id;
  late.abort(reason);
  expect(await work.result).toMatchObject({ id, state: 'queued' });
  expect(await database.query(`select from ledger.workers where tree_id = '${id}'`)).toEqual([]); // any worker may go on with it
  expect(asked).toEqual([]);
  const item = await run({ ...here(), resume: id, modelClient: await scripted(calls(['work_complete', { summary: '3 kg' }])) }).result;
  expect(item).toMatchObject({ id, state: 'completed' });
});

test('two runs at once with other tools keep theirs', async () => {
  const modelOf = async (tool: string): Promise<ModelClient> =>
    scripted(calls([tool, { thing: tool }]), calls(['work_complete', { summary: tool }]));
  const named = (name: string) => defineTool({ ...weigh, name, description: `Weighs as ${name}.` });
  const items = await Promise.all(
    ['first', 'second'].map(
      async (name) => run({ ...here(), task: `Weigh by ${name}`, tools: [named(name)], modelClient: await modelOf(name) }).result,
    ),
  );
  expect(items.map((item) => [item.state, (item.outcome_data as { summary: string }).summary])).toEqual([
    ['completed', 'first'],
    ['completed', 'second'],
  ]);
});

test('leaving the loop leaves the work going', async () => {
  const work = run({
    ...here(),
    task: 'Weigh two things',
    tools: [weigh],
    faculty: { name: 'weigher', awareness: { enabled: false } },
    modelClient: await scripted(
      calls(['weigh', { thing: 'a' }]),
      calls(['weigh', { thing: 'b' }]),
      calls(['work_complete', { summary: 'Both' }]),
    ),
  });
  for await (const _ of work) break;
  const item = await work.result;
  expect(item).toMatchObject({ state: 'completed' });
  expect(await db.facultyOf(item.id)).toBe('weigher');
});

test('a loop that waits for the model can be left, and the work goes on', async () => {
  const asked = Promise.withResolvers<void>();
  const answers = Promise.withResolvers<void>();
  const model = await scripted(calls(['work_complete', { summary: 'Weighed' }]));
  const modelClient: ModelClient = {
    call: async (request, how) => {
      asked.resolve();
      await answers.promise;
      return model.call(request, how);
    },
  };
  const work = run({ ...here(), task: 'Weigh nothing', modelClient });
  const events = work[Symbol.asyncIterator]();
  const next = events.next();
  await asked.promise;
  expect((await events.return?.())?.done).toBe(true);
  expect((await next).done).toBe(true);
  answers.resolve();
  expect(await work.result).toMatchObject({ state: 'completed' });
});

test('what a tool returns that is no outcome is a failure that the model is told of', async () => {
  const odd = ['text', undefined, null, {}, { content: { weight: 3 }, isError: false }, { content: '3 kg', isError: 'no' }];
  const item = await run({
    ...here(),
    task: 'Weigh them all',
    tools: odd.map((value, n) => defineTool({ ...weigh, name: `odd_${n}`, execute: async () => value as never })),
    modelClient: await scripted(
      calls(...odd.map((_, n): [string, object] => [`odd_${n}`, { thing: 'parcel' }])),
      calls(['work_complete', { summary: 'None' }]),
    ),
  }).result;
  expect(item).toMatchObject({ state: 'completed', attempts: 1 });
  expect(
    await database.query(
      `select status, result::text as result from ledger.tool_calls where work_item_id = '${item.id}' and tool_name like 'odd%'`,
    ),
  ).toEqual(odd.map(() => ({ status: 'failed', result: expect.stringContaining('returned no outcome') })));
});

test('a result that does not say whether it is an error is none', async () => {
  const items = ['parcel', 'letter'].map((thing) => ({ thing }));
  const item = await run({
    ...here(),
    task: 'Weigh both',
    tools: [defineTool({ ...weigh, effect: 'unsafe', execute: async () => ({ content: '3 kg' }) as never })],
    modelClient: await scripted(
      calls(...items.map((input): [string, object] => ['weigh', input])),
      calls(['work_complete', { summary: 'Both' }]),
    ),
  }).result;
  expect(item).toMatchObject({ state: 'completed', attempts: 1 });
  expect(
    await database.query(
      `select status, result #>> '{}' as result from ledger.tool_calls where work_item_id = '${item.id}' and tool_name = 'weigh'`,
    ),
  ).toEqual(items.map(() => ({ status: 'completed', result: '3 kg' })));
});

test('whatever a tool throws is a failure that the model is told of, and not one of the work', async () => {
  const thrown: [unknown, string][] = [
    [undefined, 'undefined'],
    [Symbol('scales'), 'Symbol(scales)'],
    [Object.create(null), 'an object without a message'],
    [{ toString: () => ({}) }, 'an object without a message'],
    [Object.assign(Object.create(null), { message: 'no scales' }), 'no scales'],
    [Object.assign(new Error('x'), { message: Symbol('scales') }), 'Symbol(scales)'],
    [
      Object.defineProperty(new Error('x'), 'message', {
        get: () => {
          throw new Error('none');
        },
      }),
      'an object without a message',
    ],
  ];
  const throws = (n: number) => async () => {
    throw thrown[n]?.[0];
  };
  const item = await run({
    ...here(),
    task: 'Weigh them on broken scales',
    tools: thrown.map((_, n) => defineTool({ ...weigh, name: `throws_${n}`, execute: throws(n) })),
    modelClient: await scripted(
      calls(...thrown.map((_, n): [string, object] => [`throws_${n}`, { thing: 'parcel' }])),
      calls(['work_complete', { summary: 'None' }]),
    ),
  }).result;
  expect(item).toMatchObject({ state: 'completed', attempts: 1 });
  expect(
    await database.query(
      `select status, result #>> '{}' as result from ledger.tool_calls where work_item_id = '${item.id}' and tool_name like 'throws%' order by tool_name`,
    ),
  ).toEqual(thrown.map(([, said]) => ({ status: 'failed', result: expect.stringContaining(`The tool failed: ${said}`) })));
});

test('images and values that cannot be stored, and checks of input that wait or throw, are results for the model too', async () => {
  const png = { media_type: 'image/png', data: 'iVBORw0KGgo=' };
  const answers: [object, RegExp | null][] = [
    [{ images: [{ ...png, data: 'a'.repeat(5 * 1024 * 1024 + 1) }] }, /returned images that cannot be used/],
    [{ images: [{ ...png, data: 'data:image/png;base64,iVBORw0KGgo=' }] }, /returned images/],
    [{ images: [{ type: 'image/png', data: png.data }] }, /returned images/],
    [{ images: 'iVBORw0KGgo=' }, /returned images/],
    [{ images: [png] }, null],
    [{ value: 10n }, /returned a value that is not JSON/],
    [{ value: { weight: 3 } }, null],
  ];
  const checks: [z.ZodType<{ thing: string }>, RegExp | null][] = [
    [z.object({ thing: z.string().refine(async (thing) => thing === 'parcel') }), null],
    [
      z.object({ thing: z.string().refine(async (thing) => thing !== 'parcel', 'no parcels') }),
      /does not match the schema of check_1[^]*no parcels/,
    ],
    [
      z.object({ thing: z.string().refine(() => Promise.reject(new Error('the scales are away'))) }),
      /could not be checked: the scales are away/,
    ],
    [
      z.object({
        thing: z.string().refine(() => {
          throw new Error('no scales');
        }),
      }),
      /could not be checked: no scales/,
    ],
  ];
  /** As another minor version of zod types it, which a program may have. */
  const other = z.object({ thing: z.string() }) as unknown as {
    _zod: { output: { thing: string }; version: { major: 4; minor: 1; patch: number } };
    parse(input: unknown, params?: object): { thing: string };
  };
  const tools = [
    ...answers.map(([more], n) =>
      defineTool({ ...weigh, name: `answer_${n}`, effect: 'unsafe', execute: async () => ({ ...ok('3 kg'), ...more }) }),
    ),
    ...checks.map(([input], n) => defineTool({ ...weigh, name: `check_${n}`, input, execute: async ({ thing }) => ok(`${thing} 3 kg`) })),
    defineTool({ ...weigh, name: 'other', input: other, execute: async ({ thing }) => ok(`${thing} 3 kg`) }),
  ];
  const item = await run({
    ...here(),
    task: 'Weigh them in odd ways',
    tools,
    modelClient: await scripted(
      ...tools.map(({ name }) => calls([name, { thing: 'parcel' }])),
      calls(['work_complete', { summary: 'Weighed' }]),
    ),
  }).result;
  expect(item).toMatchObject({ state: 'completed', attempts: 1 });
  const ended = await database.query<{ status: string; result: string }>(`
    select status, result::text as result from ledger.tool_calls
     where work_item_id = '${item.id}' and tool_name <> 'work_complete' order by tool_name`);
  expect(ended).toEqual(
    [...answers.map(([, says]) => says), ...checks.map(([, says]) => says), null].map((says) =>
      says === null
        ? { status: 'completed', result: expect.stringContaining('3 kg') }
        : { status: 'failed', result: expect.stringMatching(says) },
    ),
  );
});

test('a tool with the name of one of the engine is refused', async () => {
  const modelClient = await scripted(calls(['work_complete', { summary: 'x' }]));
  for (const name of ['execute_code', 'work_complete'])
    await expect(run({ ...here(), task: 'Weigh', tools: [{ ...weigh, name }], modelClient }).result).rejects.toMatchObject({
      code: 'WL002',
      message: expect.stringContaining(`"${name}" belongs to Work Ledger`),
    });
});

test('a tool whose input a model cannot be shown is refused by name', async () => {
  const modelClient = await scripted(calls(['work_complete', { summary: 'x' }]));
  const refused = (input: unknown) =>
    run({ ...here(), task: 'Weigh', tools: [{ ...weigh, input: input as never }], modelClient }).result.catch((error: unknown) => error);
  expect(await refused({ type: 'object', properties: {} })).toMatchObject({
    code: 'WL002',
    message: 'the input of the tool "weigh" must be a schema of zod 4',
  });
  expect(await refused(z.object({ on: z.date() }))).toMatchObject({
    code: 'WL002',
    message: expect.stringMatching(/^the input of the tool "weigh" has no JSON Schema that a model could be shown: Date cannot/),
  });
});

test('tools and models that do not heed the signal are left: the work is given back, and what an unsafe tool did is not known', async () => {
  const never = (): Promise<never> => new Promise(() => {});
  const [stop, other] = [new AbortController(), new AbortController()];
  const stuck = defineTool({ ...weigh, name: 'stuck', effect: 'unsafe', execute: async () => (stop.abort(), never()) });
  const deaf: ModelClient = { call: async () => (other.abort(), never()) };
  const asked = await scripted(calls(['stuck', { thing: 'parcel' }]));
  const [tool, model] = await Promise.all([
    run({ ...here(), task: 'Weigh it', tools: [stuck], modelClient: asked, signal: stop.signal, graceSeconds: 0 }).result,
    run({ ...here(), task: 'Weigh it', modelClient: deaf, signal: other.signal, graceSeconds: 0 }).result,
  ]);
  expect([tool.resolved_at, model.resolved_at]).toEqual([null, null]);
  const modelClient = await scripted(calls(['work_complete', { summary: 'Weighed' }]));
  expect((await run({ ...here(), resume: tool.id, tools: [stuck], modelClient }).result).state).toBe('completed');
  expect(await database.query(`select status from ledger.tool_calls where work_item_id = '${tool.id}' and tool_name = 'stuck'`)).toEqual([
    { status: 'uncertain' },
  ]);
}, 60_000);

test('what cannot begin says why, to whoever asks, and rejects nothing that nobody awaits', async () => {
  const rejected: unknown[] = [];
  const onRejection = (reason: unknown): void => void rejected.push(reason);
  process.on('unhandledRejection', onRejection);
  try {
    const modelClient = await scripted();
    await expect(run({ ...here(), modelClient }).result).rejects.toThrow('task, or resume');
    await expect(run({ ...here(), task: 'x', resume: 'y', modelClient }).result).rejects.toThrow('task, or resume');
    await expect(run({ ...here(), resume: '00000000-0000-0000-0000-000000000000', modelClient }).id).rejects.toThrow(
      'there is no work item',
    );
    await expect(run({ ...here(), task: 'x', modelClient, faculty: 'nobody' }).result).rejects.toThrow(/nothing will take it: .*nobody/);
    await expect(run({ ...here(), task: 'x', modelClient, faculty: { engage: { max_turns: 'many' } } as object }).result).rejects.toThrow(
      'max_turns',
    );
    await expect(run({ ...here(), task: 'x', modelClient, workspace: join(directory, 'nowhere') }).result).rejects.toThrow('ENOENT');
    await writeFile(join(directory, 'file'), '');
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    const codes: [code: string, options: Partial<RunOptions>][] = [
      ['WL002', {}],
      ['WL002', { task: 'x', faculty: 'nobody' }],
      ['WL002', { task: 'x', workspace: join(directory, 'nowhere') }],
      ['WL002', { task: 'x', workspace: join(directory, 'file') }],
      ['WL002', { task: 'x', tools: [weigh, weigh] }],
      ['WL002', { task: 'x', tools: [null] as never }],
      ['WL002', { task: 'x', tools: null as never }],
      ['WL002', { task: 'x', tools: [{ ...weigh, execute: undefined as never }] }],
      ['WL002', { task: 'Never begun', tools: [{ ...weigh, name: 'w'.repeat(65) }] }],
      ['WL002', { task: 'Never begun', tools: [{ ...weigh, name: 7 as never }] }],
      ['WL002', { task: 'Never begun', schema: 7 as never }],
      ['WL002', { task: 'Never begun', databaseUrl: 7 as never }],
      ['WL002', { task: 'Never begun', signal: 'soon' as never }],
      ['WL002', { task: 'Never begun', log: 7 as never }],
      ['WL002', { task: 'x', hooks: null as never }],
      ['WL002', { task: 'x', faculty: null as never }],
      ['WL002', { task: 'x', faculty: { result_schema: cyclic } }],
      ['WL002', { task: 'Never begun', resultSchema: cyclic }],
      ['WL002', { task: 'Never begun', budget: { tokens: 5n as never } }],
      ['WL001', { resume: randomUUID() }],
      ['WL001', { continues: randomUUID(), task: 'x' }],
      ['22P02', { resume: 'nope' }],
      ['WL002', { task: 'x', databaseUrl: 'nowhere' }],
      ['WL002', { task: 'Never begun', graceSeconds: -1 }],
      ['WL002', { task: 'Never begun', modelClient: {} as ModelClient }],
    ];
    for (const [code, options] of codes) {
      const said: unknown = await run({ ...here(), modelClient, ...options }).result.catch((error: unknown) => error);
      expect([options, said]).toEqual([options, expect.any(LedgerError)]);
      expect(said).toMatchObject({ code, hint: expect.stringMatching(/\w/) });
    }
    expect(await database.query(`select from ledger.work_items where description = 'Never begun'`)).toEqual([]);
    await expect(run({ task: 'x', modelClient, databaseUrl: 'postgresql://127.0.0.1:1/x' }).id).rejects.toBeInstanceOf(NoConnection);
    await expect(run({ ...here(), task: 'x', modelClient, signal: AbortSignal.abort(new Error('too late')) }).result).rejects.toThrow(
      'too late',
    );
    const loop = async (): Promise<void> => {
      for await (const _ of run({ ...here(), task: '', modelClient }));
    };
    await expect(loop()).rejects.toThrow('description');
    run({ ...here(), modelClient });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(rejected).toEqual([]);
  } finally {
    process.off('unhandledRejection', onRejection);
  }
});

function lineOf(event: WorkEvent): string {
  if (event.kind === 'entry') return `entry ${event.entry.entry_type} ${event.entry.content}`;
  if (event.kind === 'call') return `call ${event.name} ${event.status}`;
  if (event.kind === 'answered') return `answered, ${event.output_tokens} tokens out`;
  if (event.kind === 'told') return `told ${event.text}`;
  return event.kind === 'broken_off' ? 'broken off' : `${event.kind} ${event.text}`;
}

test('a conversation goes on: what is said next is a run of its own, in the session of the one before', async () => {
  const first = run({
    ...here(),
    task: 'How heavy is the parcel?',
    tools: [weigh],
    modelClient: await scripted(
      calls(['weigh', { thing: 'parcel' }]),
      { content: [{ type: 'text', text: '3 kg' }] },
      calls(['weigh', { thing: 'box' }]),
      { content: [{ type: 'text', text: '6 kg' }] },
    ),
  });
  const next = first.continue('And with the box?');
  const lines: string[] = [];
  for await (const event of next) lines.push(lineOf(event));
  const [before, after] = await Promise.all([first.result, next.result]);
  expect(before).toMatchObject({ state: 'completed', outcome_data: { summary: '3 kg' } });
  expect(after).toMatchObject({ state: 'completed', outcome_data: { summary: '6 kg' }, continues_id: before.id });
  expect(lines).toContain('said 6 kg');
  expect(lines).not.toContain('said 3 kg');
  await expect(first.continue('Once more', { modelClient: await scripted() }).result).rejects.toThrow('has already been continued');
});

test('work that failed goes on where it ended', async () => {
  const failing = run({
    ...here(),
    task: 'Weigh it once',
    tools: [weigh],
    faculty: { engage: { max_turns: 1 } },
    modelClient: await scripted(calls(['weigh', { thing: 'parcel' }])),
  });
  expect(await failing.result).toMatchObject({ state: 'failed', state_reason: expect.stringContaining('max_turns') });
  const retried = await run({
    ...here(),
    continues: await failing.id,
    tools: [weigh],
    modelClient: await scripted(calls(), { content: [{ type: 'text', text: '3 kg' }] }),
  }).result;
  expect(retried).toMatchObject({ state: 'completed', continues_id: await failing.id, outcome_data: { summary: '3 kg' } });
  await expect(run({ ...here(), continues: randomUUID(), modelClient: await scripted() }).result).rejects.toThrow('there is no work item');
  await expect(run({ ...here(), continues: 'x', resume: 'x' }).result).rejects.toThrow('takes a task');
});

test('an answer with a shape: what does not fit goes back with all that is wrong, and what fits is typed', async () => {
  const asked = run<{ kilos: number }>({
    ...here(),
    task: 'How heavy is the parcel?',
    tools: [weigh],
    resultSchema: {
      type: 'object',
      properties: { kilos: { type: 'number', minimum: 0 } },
      required: ['kilos'],
      additionalProperties: false,
    },
    modelClient: await scripted(
      calls(['work_complete', { summary: '3 kg', result: { kilos: -3, unit: 'kg' } }]),
      { content: [{ type: 'text', text: 'It weighs 3 kg.' }] },
      calls(['work_complete', { summary: '3 kg', result: { kilos: 3 } }]),
    ),
  });
  const item = await asked.result;
  expect(item.state).toBe('completed');
  const kilos: number | undefined = item.outcome_data?.result?.kilos;
  expect(kilos).toBe(3);
  const [refused] = await db.failedCalls(item.id);
  expect(refused?.says).toMatch(/result has no key "unit".*result.kilos must be at least 0/);
  await expect(run({ ...here(), task: 'x', resultSchema: { format: 'date' }, modelClient: await scripted() }).result).rejects.toThrow(
    'result_schema has keyword "format", which is not supported',
  );
});
