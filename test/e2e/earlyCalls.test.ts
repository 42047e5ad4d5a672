// Calls that leave nothing behind run before their response is stored: what is there in a moment is stored with it, in one transaction
// with the next request; what takes longer is stored when it comes.

import type * as Timers from 'node:timers/promises';

import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';

import { PATIENCE_MS } from '../../runtime/focus/earlyCalls.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { defineTool, ok } from '../../runtime/tools/tool.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import type { Worker } from '../../runtime/worker/worker.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { until } from '../workerProcess.ts';

/** A response waits for its calls as long as a test says, however slow the machine is. */
const moment = vi.hoisted(() => ({ ms: 0, isOver: false }));
vi.mock('node:timers/promises', async (original) => {
  const real = await original<typeof Timers>();
  const sleep: typeof real.setTimeout = (ms, ...how) => real.setTimeout(ms === moment.ms ? (moment.isOver ? 0 : 2 ** 31 - 1) : ms, ...how);
  return { ...real, setTimeout: sleep };
});
moment.ms = PATIENCE_MS;

let database: TestDatabase;
let db: Db;
let model: ScriptedModel;
let worker: Worker;
/** What the tool does, given the id of its call. */
let look: (callId: string) => Promise<string>;

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});
afterEach(async () => {
  moment.isOver = false;
  await worker?.stop();
  await model?.close();
});

async function play(...names: string[]): Promise<string> {
  return playInputs(...names.map((name): [string, object] => [name, {}]));
}

async function playInputs(...made: [name: string, input: object][]): Promise<string> {
  const use = { content: made.map(([name, input]) => ({ type: 'tool_use', name, input })) };
  model = await startScriptedModel(scriptOf([use, { content: [{ type: 'text', text: 'Done.' }] }]));
  const tools = (['pure', 'idempotent'] as const).map((effect) =>
    defineTool({
      name: effect === 'pure' ? 'look' : 'change',
      description: 'Looks.',
      input: z.strictObject({}),
      effect,
      risk: 'safe',
      execute: async (_, { toolCallId }) => ok(await look(toolCallId)),
    }),
  );
  const log = pino({ level: 'silent' });
  const client = createModelClient({ apiKey: 'k', baseURL: model.url });
  worker = await startWorker({ url: database.url, schema: 'ledger', tools, log, model: client, docker: null });
  await db.facultySave({ name: 'worker', accepts: ['part'], engage: { tools: ['look', 'change'] } });
  const { id } = await db.workSubmit({ workType: 'part', description: 'Look' });
  await until(async () => ((await db.workItem(id))?.resolved_at ? true : null));
  return id;
}

const answered = async (): Promise<number> =>
  (
    await database.query(`select from ledger.turns t join ledger.work_items w on w.id = t.work_item_id
    where t.status = 'completed' and w.resolved_at is null and w.work_type = 'part'`)
  ).length;
const calls = (id: string) =>
  database.query<{ id: string; status: string; attempts: number; isWithResponse: boolean; isWithNext: boolean; isOne: boolean }>(`
    select k.id, k.status, k.attempts, k.xmin = m.xmin as "isWithResponse", k.xmin = s.xmin as "isWithNext", m.xmin = s.xmin as "isOne"
      from ledger.tool_calls k join ledger.messages m on m.id = k.message_id
      join ledger.turns n on n.parent_turn_id = k.turn_id join ledger.turn_sizes s on s.turn_id = n.id
     where k.work_item_id = '${id}' order by k.ordinal`);

test('calls that are over in a moment are stored with their response and the next request', async () => {
  const ran: string[] = [];
  look = async (id) => {
    ran.push(id);
    return `seen, of ${await answered()} answers`;
  };
  const id = await play('look', 'look');
  expect(await calls(id)).toEqual(
    ran.map((call) => ({ id: call, status: 'completed', attempts: 1, isWithResponse: true, isWithNext: true, isOne: true })),
  );
  expect(model.requests[1]?.body).toContain('seen, of 0 answers');
});

test('a call that takes longer goes on while its response is stored, and runs once', async () => {
  const ran: string[] = [];
  moment.isOver = true;
  look = async (id) => {
    ran.push(id);
    await until(async () => ((await answered()) > 0 ? true : null));
    return 'seen at last';
  };
  const id = await play('look');
  expect(await calls(id)).toMatchObject(ran.map((call) => ({ id: call, status: 'completed', attempts: 1 })));
  expect(ran).toHaveLength(1);
  expect(model.requests[1]?.body).toContain('seen at last');
});

test('next to a call that leaves something behind none runs before the response is stored', async () => {
  look = async () => `seen, of ${await answered()} answers`;
  const id = await play('look', 'change');
  expect(await calls(id)).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
  expect(model.requests[1]?.body).not.toContain('of 0 answers');
});

test('an entry of the ledger is stored with its response, and so is a call next to it', async () => {
  look = async () => `seen, of ${await answered()} answers`;
  const id = await playInputs(['look', {}], ['ledger_append', { entry_type: 'finding', content: 'It is there' }]);
  expect(await calls(id)).toMatchObject([
    { status: 'completed', isWithResponse: true, isOne: true },
    { status: 'completed', isOne: true },
  ]);
  expect(model.requests[1]?.body).toContain('seen, of 0 answers');
  expect(model.requests[1]?.body).toContain('Recorded as [1].');
});

test('an entry next to a call that leaves something behind is stored with the response, and that call runs after it', async () => {
  await database.query(`
    create table made (what text, transaction xid8 default pg_current_xact_id());
    create function made() returns trigger language plpgsql as $$ begin insert into made values (tg_table_name); return null; end $$;
    create trigger made after insert on ledger.messages for each row when (new.role = 'assistant') execute function made();
    create trigger made after insert on ledger.work_ledger for each row when (new.content = 'Changed') execute function made()`);
  look = async () => `seen, of ${await answered()} answers`;
  await playInputs(['change', {}], ['ledger_append', { entry_type: 'step', content: 'Changed' }]);
  const made = await database.query<{ what: string; transaction: string }>('select * from made order by transaction, what limit 2');
  expect(made.map(({ what }) => what)).toEqual(['messages', 'work_ledger']);
  expect(made[0]?.transaction).toBe(made[1]?.transaction);
  expect(model.requests[1]?.body).toContain('seen, of 1 answers');
  expect(model.requests[1]?.body).toContain('Recorded as [1].');
});

test('an entry alone is stored with its response', async () => {
  const id = await playInputs(
    ['ledger_append', { entry_type: 'note', content: 'First' }],
    ['ledger_append', { entry_type: 'step', content: 'Second' }],
  );
  expect(await calls(id)).toMatchObject([{ isOne: true }, { isOne: true }]);
  expect((await db.workItem(id))?.state).toBe('completed');
});

test('an entry whose input does not fit comes back, and its model is told why', async () => {
  look = async () => `seen, of ${await answered()} answers`;
  const id = await play('look', 'ledger_append');
  expect(await calls(id)).toMatchObject([
    { status: 'completed', isWithResponse: true },
    { status: 'failed', isOne: false },
  ]);
  expect(model.requests[1]?.body).toContain('The input does not match the schema of ledger_append');
});
