// Tools of one response run side by side, at most as many at once as the faculty allows, or one after another; what has to wait for what.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import type { ContentBlock } from '../../runtime/model/message.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { defineTool, ok } from '../../runtime/tools/tool.ts';
import type { Tool } from '../../runtime/tools/tool.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { until } from '../workerProcess.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

/** Runs ten calls in one response and says how many ran at once at most, in which order they ended, and what the model was told. */
async function runTen(atOnce: number, engage: Record<string, unknown>) {
  let running = 0;
  let started = 0;
  let most = 0;
  const ended: number[] = [];
  const wait = defineTool({
    name: 'wait',
    description: 'Waits.',
    input: z.strictObject({ n: z.int() }),
    effect: 'pure',
    risk: 'safe',
    async execute({ n }) {
      most = Math.max(most, ++running);
      // However slow the machine: the first of them wait for each other, and then so long that any other could begin.
      if (++started <= atOnce) {
        await until(() => started >= atOnce);
        for (let asked = 0; asked < 100; asked++) await database.query('select');
      }
      // And they end in the other order.
      if (n + 1 < atOnce) await until(() => ended.includes(n + 1));
      running--;
      ended.push(n);
      if (n === 3) throw new Error('three is broken');
      return ok(`waited ${n}`);
    },
  });
  const calls = Array.from({ length: 10 }, (_, n) => ({ type: 'tool_use', name: 'wait', input: { n } }));
  const results = await runCalls(calls, [wait], { engage: { tools: ['wait'], ...engage } });
  return { most, ended, results };
}

test('at most three of ten at once, results in the order of the calls, one failure alone', async () => {
  const { most, results } = await runTen(3, { max_parallel_tools: 3 });
  expect(most).toBe(3);
  expect(results.map((result) => result.content)).toEqual(
    Array.from({ length: 10 }, (_, n) => (n === 3 ? '[engine] The tool failed: three is broken' : `waited ${n}`)),
  );
  expect(results.filter((result) => result.is_error)).toHaveLength(1);
});

test('eight at once by default', async () => {
  expect((await runTen(8, {})).most).toBe(8);
});

test('one after another, in order, where the faculty switches parallel execution off', async () => {
  const { most, ended } = await runTen(1, { parallel_tool_execution: false });
  expect(most).toBe(1);
  expect(ended).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

type Result = { content: string; is_error?: boolean };

/** Runs these calls in one response of a worker's, and returns what the model was told of them. */
async function runCalls(
  content: ContentBlock[],
  tools: Tool[],
  faculty: { engage: object; hooks?: object },
  leaseSeconds = 30,
): Promise<Result[]> {
  const model = await startScriptedModel(scriptOf([{ content }, { content: [{ type: 'text', text: 'Done.' }] }]));
  const worker = await startWorker({
    url: database.url,
    schema: 'ledger',
    tools,
    log: pino({ level: 'silent' }),
    leaseSeconds,
    model: createModelClient({ apiKey: 'k', baseURL: model.url }),
  });
  await db.facultySave({ name: 'caller', accepts: ['calls'], ...faculty });
  const item = await db.workSubmit({ workType: 'calls', description: 'x' });
  await until(async () => (await db.workItem(item.id))?.state === 'completed');
  await worker.stop();
  await model.close();
  return (JSON.parse(model.requests.at(-1)?.body ?? '') as { messages: { content: Result[] }[] }).messages.at(-1)?.content ?? [];
}

test("SQL tools keep the model's order, and nothing else waits for them", async () => {
  const directory = await mkdtemp(join(tmpdir(), 'parallel-test-'));
  await database.query(`
    create table public.said (n serial, word text);
    create function public.say_word(input jsonb) returns text language sql as $$ insert into public.said (word) values (input ->> 'word') returning word $$;
    select ledger.ability_register('say_word', 'Says it.', '{"type": "object"}', 'idempotent', 'safe', 'public.say_word(jsonb)')`);
  const mark = defineTool({
    name: 'mark',
    description: 'Marks.',
    input: z.strictObject({}),
    effect: 'pure',
    risk: 'safe',
    execute: async () => {
      await writeFile(join(directory, 'marked'), '');
      return ok('marked');
    },
  });
  // The first of the SQL tools is held until a tool that was called behind the second has been through its hook and has run.
  const hook = `read -r call; case "$call" in *first*) until [ -e marked ]; do sleep 0.05; done;; esac`;
  const say = (word: string): ContentBlock => ({ type: 'tool_use', name: 'say_word', input: { word } });
  await runCalls([say('first'), say('second'), { type: 'tool_use', name: 'mark', input: {} }, say('third')], [mark], {
    engage: { tools: ['say_word', 'mark'], workspace: 'host', workspace_dir: directory },
    hooks: { before_tool: hook },
  });
  expect((await database.query<{ word: string }>('select word from public.said order by n')).map(({ word }) => word)).toEqual([
    'first',
    'second',
    'third',
  ]);
  await rm(directory, { recursive: true });
});

test('a call that a hook leads to what another one is changing waits for it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'parallel-test-'));
  const changing = new Map<string, number>();
  const order: string[] = [];
  let most = 0;
  const change = defineTool({
    name: 'change',
    description: 'Changes a record.',
    input: z.strictObject({ record: z.string() }),
    effect: 'unsafe',
    risk: 'safe',
    touches: [{ key: 'record', kind: 'record', action: 'modify' }],
    async execute({ record }) {
      changing.set(record, (changing.get(record) ?? 0) + 1);
      most = Math.max(most, changing.get(record) ?? 0);
      // The first waits until the second is through with its hook, and then for one that goes through its own after that.
      if (order.push(record) === 1) {
        await until(async () => (await database.query(`select from ledger.tool_calls where rewritten_input is not null`)).length === 1);
        await writeFile(join(directory, 'rewritten'), '');
        await until(() => order.includes('late'));
      }
      changing.set(record, (changing.get(record) ?? 0) - 1);
      return ok('changed');
    },
  });
  const hook = `read -r call; case "$call" in *other*) echo '{"input": {"record": "one"}}';; *late*) until [ -e rewritten ]; do sleep 0.05; done;; esac`;
  await runCalls(
    ['one', 'other', 'late'].map((record) => ({ type: 'tool_use', name: 'change', input: { record } })),
    [change],
    {
      engage: { tools: ['change'], workspace: 'host', workspace_dir: directory },
      hooks: { before_tool: hook },
    },
  );
  expect(order).toEqual(['one', 'late', 'one']);
  expect(most).toBe(1);
  await rm(directory, { recursive: true });
});

test.each([
  ['', {}],
  [', asked when a hook has seen it', { before_tool: 'true' }],
])('what touches the same as a call that waits for a person keeps its place behind it%s', async (_, hooks) => {
  const order: string[] = [];
  const touching = (name: string, risk: 'safe' | 'dangerous', action: 'modify' | 'read'): Tool =>
    defineTool({
      name,
      description: 'Touches a record.',
      input: z.strictObject({ record: z.string(), n: z.int() }),
      effect: 'unsafe',
      risk,
      touches: [{ key: 'record', kind: 'record', action }],
      execute: async ({ n }) => {
        order.push(`${name} ${n}`);
        return ok('done');
      },
    });
  const use = (name: string, n: number, record = 'one'): ContentBlock => ({ type: 'tool_use', name, input: { record, n } });
  const model = await startScriptedModel(
    scriptOf([
      { content: [use('change', 1), use('change', 2), use('look', 3), use('look', 4, 'other')] },
      { content: [{ type: 'text', text: 'Done.' }] },
    ]),
  );
  const worker = await startWorker({
    url: database.url,
    schema: 'ledger',
    tools: [touching('change', 'dangerous', 'modify'), touching('look', 'safe', 'read')],
    log: pino({ level: 'silent' }),
    model: createModelClient({ apiKey: 'k', baseURL: model.url }),
  });
  await db.facultySave({
    name: 'careful',
    accepts: ['careful'],
    engage: { tools: ['change', 'look'], require_approval: 'dangerous', workspace: 'host', workspace_dir: tmpdir() },
    hooks,
  });
  const item = await db.workSubmit({ workType: 'careful', description: 'x' });
  const waits = () => until(async () => (await db.workItem(item.id))?.state === 'waiting');
  await waits();
  expect(order).toEqual(['look 4']);
  const asked = async (): Promise<{ id: string; n: number }[]> =>
    (await db.approvals())
      .filter((row) => row.work_item_id === item.id)
      .map((row) => ({ id: row.tool_call_id, n: (row.input as { n: number }).n }));
  expect((await asked()).map(({ n }) => n)).toEqual([1, 2]);
  // The second first: nothing runs for it.
  for (const n of [2, 1]) await db.toolCallApprove((await asked()).find((one) => one.n === n)?.id ?? '');
  await until(async () => (await db.workItem(item.id))?.state === 'completed');
  expect(order).toEqual(['look 4', 'change 1', 'change 2', 'look 3']);
  await worker.stop();
  await model.close();
});

test('calls that wait for a place do not begin after a result could not be stored', async () => {
  const ran: number[] = [];
  const count = defineTool({
    name: 'count',
    description: 'Counts.',
    input: z.strictObject({ n: z.int() }),
    effect: 'pure',
    risk: 'safe',
    async execute({ n }) {
      ran.push(n);
      await database.query(`insert into public.ran values (${n})`);
      return ok(`counted ${n}`);
    },
  });
  // The first result cannot be stored, however often it is tried, until its tool has run again.
  await database.query(`
    create table public.ran (n integer);
    create function public.refuse_zero() returns trigger language plpgsql as $$ begin
      if new.tool_name = 'count' and (select count(*) from public.ran where n = 0) < 2 then raise exception 'index is corrupt' using errcode = 'index_corrupted'; end if;
      return new;
    end $$;
    create trigger refuse_zero before update on ledger.tool_calls for each row when (old.completed_at is null and new.completed_at is not null) execute function public.refuse_zero()`);
  const calls = [0, 1, 2].map((n) => ({ type: 'tool_use', name: 'count', input: { n } }));
  await runCalls(calls, [count], { engage: { tools: ['count'], max_parallel_tools: 1 } }, 3);
  await database.query('drop trigger refuse_zero on ledger.tool_calls');
  expect(ran).toEqual([0, 0, 1, 2]);
});

test('the last result is stored even after another could not be', async () => {
  const refused = async (): Promise<boolean> => {
    const [row] = await database.query<{ is_called: boolean }>('select is_called from public.refusals');
    return row?.is_called === true;
  };
  const count = defineTool({
    name: 'count_both',
    description: 'Counts.',
    input: z.strictObject({ n: z.int() }),
    effect: 'unsafe',
    risk: 'safe',
    async execute({ n }) {
      if (n === 1) {
        await until(refused);
        for (let asked = 0; asked < 100; asked++) await database.query('select'); // the worker hears of it in the meantime
      }
      return ok(`counted ${n}`);
    },
  });
  await database.query(`
    create sequence public.refusals;
    create function public.refuse_first() returns trigger language plpgsql as $$ begin
      perform nextval('public.refusals');
      raise exception 'index is corrupt' using errcode = 'index_corrupted';
    end $$;
    create trigger refuse_first before update on ledger.tool_calls for each row
      when (new.tool_name = 'count_both' and new.input ->> 'n' = '0' and new.status = 'completed') execute function public.refuse_first()`);
  const calls = [0, 1].map((n) => ({ type: 'tool_use', name: 'count_both', input: { n } }));
  const results = await runCalls(calls, [count], { engage: { tools: ['count_both'] } }, 3);
  await database.query('drop trigger refuse_first on ledger.tool_calls');
  expect(results.map(({ content }) => content)).toEqual([expect.stringContaining('is unknown'), 'counted 1']);
});
