// Every ability that a ledger brings, called with what nobody should give it: by name from SQL, as MCP and programs do, and as a
// call of an agent whose input nobody checked. It succeeds or says why in a code of ours, which is what a model can act on.

import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { oddValues, variants } from '../badJson.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';

/** A call that hangs ends by it. */
const FUSE_SECONDS = 600;
/** Stands for a text of 10 MB, which the server puts in its place. */
const LONG = '@10 MB@';
const STRANGER = '00000000-0000-4000-8000-000000000000';

type World = { item: string; lease: string; turn: string; over: string; children: string[]; handle: string };

let database: TestDatabase;
let client: pg.Client;
let world: World;
const counts = { calls: 0, succeeded: 0, wrong: 0 };

beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(`set statement_timeout = '${FUSE_SECONDS}s'; set client_min_messages = error`);
  world = await ledgerAtWork();
});
afterAll(async () => {
  if (process.env['SHOW'] !== undefined)
    console.log(`${counts.calls} calls, ${counts.succeeded} succeeded, ${counts.wrong} with a code that is not ours`);
  await client?.end();
  await database?.drop();
});

const one = async (sql: string, values: unknown[] = []): Promise<string> =>
  String(Object.values((await client.query<Record<string, unknown>>(sql, values)).rows[0] ?? {})[0]);

/** An item that an agent drives, with a closed block, a running child and one that is over; tasks of Agent OS beside it. */
async function ledgerAtWork(): Promise<World> {
  await client.query(
    `select model_save('claude-opus-4-5', 200000); select faculty_save('{"name": "worker", "accepts": ["work"], "engage": {"tools": []}}')`,
  );
  const item = await one(`select id from work_submit('work', 'Do it', p_priority => 5)`);
  let lease = await one(`select focus_claim('${item}', 'w', 3600) ->> 'lease'`);
  const respond = async (content: object[]): Promise<string> => {
    const turn = await one(`select iteration_begin('${item}', '${lease}') ->> 'turn_id'`);
    const usage = { input_tokens: 10, output_tokens: 3, cached_input_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 };
    await client.query('select turn_record($1, $2, $3, $4)', [
      item,
      lease,
      turn,
      JSON.stringify({
        id: 'm1',
        provider: 'anthropic',
        model: 'claude-opus-4-5',
        content,
        stop_reason: 'tool_use',
        stop_details: null,
        request_id: 'r1',
        duration_ms: 5,
        usage,
      }),
    ]);
    return turn;
  };
  const step = await respond([
    { type: 'tool_use', id: 't0', name: 'ledger_append', input: { entry_type: 'plan', content: '1. Look 2. See' } },
    { type: 'tool_use', id: 't1', name: 'ledger_append', input: { entry_type: 'step', content: 'Looked' } },
  ]);
  await client.query(
    `select tool_call_execute('${item}', '${lease}', id) from tool_calls where turn_id = '${step}' order by ordinal; select iteration_finish('${item}', '${lease}')`,
  );
  lease = await one(`select focus_claim('${item}', 'w', 3600) ->> 'lease'`);
  const turn = await respond([{ type: 'tool_use', id: 't2', name: 'ledger_read', input: {} }]);
  const children = [
    await one(`select id from spawn_child_work('${item}', 'part', 'A part', p_lease => '${lease}')`),
    await one(`select id from spawn_child_work('${item}', 'part', 'Another', p_lease => '${lease}')`),
  ];
  await client.query(`
    insert into inbox (id, work_item_id, kind, source_work_item_id, content, consumed_at, turn_id)
    values ('00000000-0000-4000-8000-00000000000f', '${item}', 'agent_message', '${children[0]}', 'Is it d?', now(), '${turn}');
    select work_cancel('${children[1]}', 'Not needed')`);
  const over = await one(`select id from work_submit('part', 'Done')`);
  await client.query(`select work_cancel('${over}', 'Not needed')`);
  const handle = await one(`select left(_artifact_store(null, repeat('line of text ', 1000)), 16)`);
  for (const entity of [
    { task: task('task-1') },
    { task: { ...task('task-2'), parentTaskId: 'task-1' } },
    { message: { ...message, id: 'message-1' } },
  ]) {
    await client.query(`select ability_invoke('ldg:batch:save', $1)`, [JSON.stringify({ entities: [entity] })]);
  }
  return { item, lease, turn, over, children, handle };
}

const task = (id: string): object => ({ id, systemPrompt: 'Do it', createdAt: 1_700_000_000_000, updatedAt: 1_700_000_000_001 });
const message = { id: 'message-2', taskId: 'task-1', role: 'user', content: 'Hello', timestamp: 1_700_000_000_002 };
const call = {
  id: 'call-1',
  taskId: 'task-1',
  abilityName: 'write_file',
  parameters: '{"path":"a.ts"}',
  status: 'completed',
  details: '{"ok":true}',
  createdAt: 1_700_000_000_003,
  updatedAt: 1_700_000_000_004,
  startMessageId: 'message-1',
  endMessageId: 'message-1',
};

/** An input of each ability in which every key of its schema is given. */
const plausible = ({ children, handle }: Pick<World, 'children' | 'handle'>): Record<string, object> => ({
  ledger_append: { entry_type: 'step', content: 'A sentence', keep: ['src/a.ts'], items: [], done: [1], doing: 2 },
  ledger_read: { entry_type: 'step', last_n: 3 },
  recall_block: { n: 1, query: 'Looked' },
  artifact_read: { handle, range: '1-20', pattern: 'line' },
  spawn_child_work: { work_type: 'part', description: 'A third', params: { a: 1 }, priority: 2 },
  await_child_work: { work_item_ids: children, timeout_seconds: 60 },
  claim: { key: 'file:a.ts', mode: 'shared', ttl_minutes: 5, why: 'Editing' },
  claim_release: { key: 'file:a.ts' },
  notify_me: { path: 'src/a.ts', always: true },
  wait_for: { work_item_ids: children, claim: 'record:free', until: '2030-01-31T09:00:00Z', timeout_seconds: 60 },
  check_child_work: { work_item_ids: children },
  work_complete: { summary: 'Did it', evidence: [handle] },
  awareness_digest: {},
  checkpoint_create: {},
  resumption_context: { target_tokens: 1000 },
  tell_agent: { to: children[0], text: 'Look at d, too' },
  reply: { text: 'Yes', message: '00000f' },
  ledger_search: { query: 'Looked', before: '1 2 00000000-0000-0000-0000-000000000000 ledger' },
  ask_about: { path: 'src/a.ts' },
  memory: {
    command: 'create',
    path: '/memories/a.md',
    view_range: [1, 2],
    file_text: 'A note',
    old_str: 'a',
    new_str: 'b',
    insert_line: 0,
    insert_text: 'c',
    old_path: '/memories/a.md',
    new_path: '/memories/b.md',
  },
  'ldg:task:save': { task: { ...task('task-3'), parentTaskId: 'task-1', completionStatus: 'success' } },
  'ldg:task:get': { taskId: 'task-1' },
  'ldg:task:query': {
    completionStatus: 'null',
    parentTaskId: 'task-1',
    fromTime: 0,
    toTime: 1_800_000_000_000,
    limit: 10,
    offset: 0,
    before: 'task-2',
  },
  'ldg:call:save': { call },
  'ldg:call:list': { taskId: 'task-1' },
  'ldg:msg:save': { message },
  'ldg:msg:list': { taskId: 'task-1', limit: 10, offset: 0 },
  'ldg:batch:save': { entities: [{ task: task('task-4') }] },
});

const text = (value: unknown): string => JSON.stringify(value);
const odd: readonly string[] = [
  ...oddValues,
  '-2147483649',
  '2147483648',
  '-1e12',
  '"NaN"',
  text(LONG),
  text(STRANGER),
  text([STRANGER]),
  text(['x', 1, null, [], {}]),
  text(Array.from({ length: 5000 }, () => 'x')),
  '['.repeat(1000) + ']'.repeat(1000),
  String.raw`"{\"a\":\"\\u0000\\ud800\"}"`,
  text('['.repeat(100_000)),
];

/** Not a code of ours, nor documented: only a running agent can wait. */
const isForeign = (code: string, ability: string): boolean =>
  !/^WL00\d$/.test(code) && !(code === '0A000' && ability === 'await_child_work');

type Answer = { code: string | null; words: string };

/** What a transaction that is rolled back says: the error that it raises, or that its last statement returns. */
const said = (sql: string): Promise<Answer> =>
  client.query(`rollback; begin; ${sql}`).then(
    (results) => {
      const words = (results as unknown as pg.QueryResult<{ error: string | null }>[]).at(-1)?.rows[0]?.error ?? null;
      // The memory tool answers a code of ours as models know its errors, without the code.
      const code = words === null ? null : words.startsWith('Error: ') ? 'WL002' : (/\((\w{5})\)$/m.exec(words)?.[1] ?? 'none');
      return { code, words: words ?? '' };
    },
    (error: pg.DatabaseError) => ({ code: error.code ?? 'none', words: error.message }),
  );

/** Made of long pieces: repeat() copies a single letter at a time. */
const long = `repeat(repeat('x', 10240), 1024)`;
const json = (input: string): string =>
  `${input.includes(LONG) ? `replace(${pg.escapeLiteral(input)}, '${LONG}', ${long})` : pg.escapeLiteral(input)}::jsonb`;

function byName(ability: string, input: string, { item, lease }: { item: string | null; lease: string | null } = world): Promise<Answer> {
  const ids = [item, lease].map((id) => (id === null ? 'null' : pg.escapeLiteral(id)));
  return said(`select null as error from ability_invoke('${ability}', ${json(input)}, ${ids.join(', ')})`);
}

const byAgent = (ability: string, input: string): Promise<Answer> =>
  said(`
  insert into tool_calls (id, turn_id, ordinal, work_item_id, provider_id, tool_name, input, effect)
  select '${STRANGER}', '${world.turn}', 9, '${world.item}', 't9', tool_name, ${json(input)}::json, effect from abilities where name = '${ability}';
  select tool_call_execute('${world.item}', '${world.lease}', '${STRANGER}');
  select case when is_error then _result_text(result) end as error from tool_calls where id = '${STRANGER}'`);

const names = Object.keys(plausible({ children: [], handle: '' }));

/** Keys that stand in for one that an input has. */
const alternatives: Record<string, readonly string[]> = { notify_me: ['work_item_id', 'text'] };

test('every ability has an input here, with every key of its schema', async () => {
  const { rows } = await client.query<{ name: string; keys: string[] }>(
    `select name, array(select json_object_keys(input_schema -> 'properties')) as keys from ledger.abilities where is_builtin order by position`,
  );
  expect(
    Object.fromEntries(rows.map(({ name, keys }) => [name, keys.toSorted()])),
    'plausible() in this file has an input for each',
  ).toEqual(
    Object.fromEntries(
      Object.entries(plausible(world)).map(([name, input]) => [name, [...Object.keys(input), ...(alternatives[name] ?? [])].toSorted()]),
    ),
  );
});

test.each(names)('%s: success or a code of ours, whatever it is given', async (name) => {
  const wrong = new Set<string>();
  const note = ({ code, words }: Answer, input: string, how: string): void => {
    counts.calls++;
    if (code === null) counts.succeeded++;
    else if (isForeign(code, name))
      wrong.add(`${input.length > 90 ? `${input.slice(0, 90)}…` : input} ${how}: ${code} ${words.slice(0, 100)}`);
  };
  const input = plausible(world)[name] ?? {};
  const whole = JSON.stringify(input);
  expect(await byAgent(name, whole)).toEqual({ code: null, words: '' });
  const { item, lease, over } = world;
  for (const at of [
    world,
    { item: null, lease },
    { item: STRANGER, lease },
    { item, lease: null },
    { item, lease: STRANGER },
    { item: over, lease: null },
    { item: over, lease },
  ])
    note(await byName(name, whole, at), whole, `by name, for ${at.item} with ${at.lease}`);
  for (const raw of [...odd, ...variants(input, odd)]) {
    note(await byName(name, raw), raw, 'by name');
    if (!raw.includes(LONG)) note(await byAgent(name, raw), raw, 'by an agent'); // storing the call is all that would differ
  }
  counts.wrong += wrong.size;
  await client.query('rollback');
  expect([...wrong]).toEqual([]);
});
