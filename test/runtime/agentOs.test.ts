// Random sequences of ldg:* calls against a simple model in memory, and the plans of the document's six query patterns.

import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

type Entity = Record<string, string | number | undefined>;
const isEnd = (status: unknown): boolean => status === 'completed' || status === 'failed';

/** The document in thirty lines, with what differs: final is final, and parents stay. */
class Model {
  readonly tasks = new Map<string, Entity>();
  readonly calls = new Map<string, Entity>();
  readonly messages = new Map<string, Entity>();

  /** The SQLSTATE of a refusal, else the answer. */
  invoke(name: string, input: Record<string, unknown>): unknown {
    switch (name) {
      case 'ldg:task:save':
        return this.saveTask(input['task'] as Entity);
      case 'ldg:task:get':
        return { task: this.tasks.get(String(input['taskId'])) ?? null };
      case 'ldg:msg:save':
        return this.saveMessage(input['message'] as Entity);
      case 'ldg:call:save':
        return this.saveCall(input['call'] as Entity);
      case 'ldg:msg:list': {
        const of = [...this.messages.values()]
          .filter((one) => one['taskId'] === input['taskId'])
          .toSorted((a, b) => Number(a['timestamp']) - Number(b['timestamp']));
        const offset = Number(input['offset'] ?? 0);
        return { messages: of.slice(offset, offset + Number(input['limit'] ?? 100)), total: of.length };
      }
      case 'ldg:call:list':
        return {
          calls: [...this.calls.values()]
            .filter((one) => one['taskId'] === input['taskId'])
            .toSorted((a, b) => Number(a['createdAt']) - Number(b['createdAt'])),
        };
      case 'ldg:task:query': {
        const { completionStatus: status, parentTaskId, fromTime, toTime, limit, offset } = input as Record<string, string | number>;
        const found = [...this.tasks.values()].filter(
          (task) =>
            (status === undefined || (status === 'null' ? task['completionStatus'] === undefined : task['completionStatus'] === status)) &&
            (parentTaskId === undefined || task['parentTaskId'] === parentTaskId) &&
            (fromTime === undefined || Number(task['createdAt']) >= Number(fromTime)) &&
            (toTime === undefined || Number(task['createdAt']) <= Number(toTime)),
        );
        const sorted = found.toReversed().toSorted((a, b) => Number(b['createdAt']) - Number(a['createdAt']));
        return { tasks: sorted.slice(Number(offset ?? 0), Number(offset ?? 0) + Number(limit ?? 100)), total: found.length };
      }
      default:
        throw new Error(name);
    }
  }

  saveTask(task: Entity): unknown {
    const parent = task['parentTaskId'] === undefined ? undefined : this.tasks.get(String(task['parentTaskId']));
    if (task['parentTaskId'] !== undefined && !parent) return 'WL001';
    const old = this.tasks.get(String(task['id']));
    if (old && old['parentTaskId'] !== task['parentTaskId']) return 'WL002';
    if (!old && this.depth(task) > 5) return '23514';
    if (old?.['completionStatus'] !== undefined) {
      if (old['completionStatus'] !== task['completionStatus']) return 'WL003';
      old['systemPrompt'] = task['systemPrompt'];
    } else this.tasks.set(String(task['id']), { ...task, createdAt: old?.['createdAt'] ?? task['createdAt'] });
    return { success: true };
  }

  depth(task: Entity): number {
    const parent = this.tasks.get(String(task['parentTaskId']));
    return parent ? this.depth(parent) + 1 : 0;
  }

  saveMessage(message: Entity): unknown {
    if (!this.tasks.has(String(message['taskId']))) return 'WL001';
    if (this.messages.has(String(message['id']))) return 'WL007';
    this.messages.set(String(message['id']), message);
    return { success: true, messageId: message['id'] };
  }

  saveCall(call: Entity): unknown {
    if (!this.tasks.has(String(call['taskId']))) return 'WL001';
    for (const key of ['startMessageId', 'endMessageId'])
      if (call[key] !== undefined && !this.messages.has(String(call[key]))) return 'WL001';
    const old = this.calls.get(String(call['id']));
    if (old && (old['taskId'] !== call['taskId'] || old['abilityName'] !== call['abilityName'])) return 'WL002';
    if (old && isEnd(old['status']))
      return old['status'] === call['status'] && old['details'] === call['details'] ? { success: true } : 'WL007';
    this.calls.set(String(call['id']), {
      ...call,
      createdAt: old?.['createdAt'] ?? call['createdAt'],
      startMessageId: old?.['startMessageId'] ?? call['startMessageId'],
    });
    return { success: true };
  }
}

const id = (prefix: string) => fc.integer({ min: 0, max: 4 }).map((n) => `${prefix}${n}`);
const time = fc.integer({ min: 1_600_000_000_000, max: 1_600_000_000_020 });
const text = fc.string({ unit: fc.constantFrom('a', 'é', '😀', '"', '\\', '\n', ' '), maxLength: 6 });
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const invocation = fc.oneof(
  fc
    .record({
      id: id('t'),
      parentTaskId: optional(id('t')),
      completionStatus: optional(fc.constantFrom('success', 'failed', 'cancelled', 'error', 'odd')),
      systemPrompt: text,
      createdAt: time,
      updatedAt: time,
    })
    .map((task) => ['ldg:task:save', { task }] as const),
  fc
    .record({ id: id('m'), taskId: id('t'), role: fc.constantFrom('system', 'user', 'assistant'), content: text, timestamp: time })
    .map((message) => ['ldg:msg:save', { message }] as const),
  fc
    .record({
      id: id('c'),
      taskId: id('t'),
      abilityName: fc.constantFrom('a:b', 'a:b', 'c:d'),
      parameters: fc.json({ maxDepth: 1 }),
      status: fc.constantFrom('pending', 'in_progress', 'completed', 'failed'),
      details: fc.json({ maxDepth: 1 }),
      createdAt: time,
      updatedAt: time,
      startMessageId: id('m'),
      endMessageId: optional(id('m')),
    })
    .map((call) => ['ldg:call:save', { call }] as const),
  id('t').map((taskId) => ['ldg:task:get', { taskId }] as const),
  id('t').map((taskId) => ['ldg:call:list', { taskId }] as const),
  fc
    .record({ taskId: id('t'), limit: optional(fc.integer({ min: 0, max: 3 })), offset: optional(fc.integer({ min: 0, max: 3 })) })
    .map((input) => ['ldg:msg:list', input] as const),
  fc
    .record({
      completionStatus: optional(fc.constantFrom('null', 'success', 'failed', 'error', 'odd', 'none')),
      parentTaskId: optional(id('t')),
      fromTime: optional(time),
      toTime: optional(time),
      limit: optional(fc.integer({ min: 0, max: 3 })),
      offset: optional(fc.integer({ min: 0, max: 3 })),
    })
    .map((input) => ['ldg:task:query', input] as const),
);

async function invoke(name: string, input: object): Promise<unknown> {
  await client.query('savepoint s');
  try {
    const { rows } = await client.query<{ r: unknown }>('select ledger.ability_invoke($1, $2) as r', [name, JSON.stringify(input)]);
    return rows[0]?.r;
  } catch (error) {
    await client.query('rollback to s');
    return (error as { code: string }).code;
  }
}

const RUNS = Number(process.env['RUNS'] ?? 150);
test(`${RUNS} random sequences agree with the model`, { timeout: 3_600_000 }, async () => {
  let seen = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(invocation, { minLength: 1, maxLength: 40, size: 'max' }), async (sequence) => {
      const model = new Model();
      await client.query('begin');
      try {
        for (const [name, input] of sequence) {
          const said = await invoke(name, input);
          const wanted = model.invoke(name, structuredClone(input));
          expect(said, `${name} ${JSON.stringify(input)}`).toEqual(JSON.parse(JSON.stringify(wanted)));
          seen++;
        }
      } finally {
        await client.query('rollback');
      }
    }),
    { numRuns: RUNS, ...(process.env['SEED'] ? { seed: Number(process.env['SEED']) } : {}) },
  );
  expect(seen).toBeGreaterThan(RUNS);
});

test('the six query patterns of the document use an index each', async () => {
  await client.query('begin');
  await client.query(`
    set local search_path = ledger;
    insert into work_items (root_id, id, work_type, description, external_id, state, resolved_at, created_at)
    select id, id, 'ldg:task', 'x', 'task ' || n, case when n % 50 = 0 then 'created' else 'completed' end, case when n % 50 <> 0 then now() end, now() - make_interval(secs => n) from (select n, gen_random_uuid() as id from generate_series(1, 5000) n) s;
    insert into turns (work_item_id, status, completed_at) select id, 'completed', now() from work_items;
    insert into messages (turn_id, sequence, role, content, created_at) select t.id, n, 'user', '[]', now() - make_interval(secs => n) from turns t, generate_series(1, 5) n;
    insert into tool_calls (turn_id, ordinal, work_item_id, provider_id, tool_name, input, effect, status)
    select t.id, n, t.work_item_id, 'x', 'x', '{}', 'pure', case n when 1 then 'running' else 'pending' end from turns t, generate_series(1, 3) n;
    analyze work_items; analyze turns; analyze messages; analyze tool_calls`);
  const item = `(select id from work_items where external_id = 'task 77')`;
  const patterns: [string, RegExp][] = [
    [
      `select m.* from messages m where turn_id = (select id from turns where work_item_id = ${item}) order by m.created_at`,
      /messages_are_ordered/,
    ],
    [`select * from tool_calls where work_item_id = ${item}`, /tool_calls_(work_item|created|completed)/],
    [
      `select * from work_items where created_at between now() - interval '100 seconds' and now() - interval '50 seconds' order by created_at desc, id desc limit 100`,
      /work_items_created/,
    ],
    [`select * from work_items where resolved_at is null order by created_at desc, id desc limit 10`, /work_items_open/],
    [`select * from work_items where parent_id = ${item}`, /work_items_parent/],
    [`select * from tool_calls where status = 'running' and work_item_id = ${item}`, /tool_calls_(work_item|created|completed)/],
  ];
  for (const [sql, index] of patterns) {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${sql}`);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan, sql).toMatch(index);
    expect(plan, sql).not.toMatch(/Seq Scan/);
  }
  await client.query('rollback');
});
