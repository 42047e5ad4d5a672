// A context that is full: every extreme ends in a valid request under the limit, with the compaction visible in rows.

import { afterAll, beforeAll, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import type { ModelError } from '../../runtime/model/message.ts';
import { validateRequest } from '../../runtime/model/validateRequest.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { Player, response } from '../player.ts';
import type { PlayedCall, Said } from '../player.ts';

const window = 20_000;
let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  await db.abilityRegister({ name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, effect: 'pure', risk: 'safe' });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

type Compaction = {
  compaction_type: string;
  trigger: string;
  is_applied: boolean;
  tokens_before: number;
  tokens_after: number | null;
  model: string | null;
  error: string | null;
  shown_instead: string | null;
  summarization_input_tokens: number | null;
  iteration: number;
  metadata: Record<string, unknown>;
};

async function player(engage: Record<string, unknown> = {}): Promise<Player> {
  const name = `faculty ${JSON.stringify(engage).slice(0, 50)}`;
  // Without the digest: the other tests of this file would be in it, and change the sizes.
  await db.facultySave({
    name,
    accepts: [],
    awareness: { enabled: false },
    engage: { tools: ['look'], context_window: window, max_turns: 2000, ledger_nudge_interval: 0, ...engage },
  });
  return new Player(db, (await db.workSubmit({ workType: 'compact', description: 'Do the long work', faculty: name })).id);
}
const compactions = (played: Player): Promise<Compaction[]> =>
  database.query<Compaction>(
    `select * from ledger.v_compactions where work_item_id = '${played.workItemId}' order by created_at, is_applied`,
  );
const look = (chars: number, word = 'x'): PlayedCall => ({
  kind: 'look',
  result: word.repeat(Math.ceil(chars / word.length)).slice(0, chars),
});
const tokensOf = (body: string): number => Math.ceil(body.length * 0.4);
const lastBody = (played: Player): string => played.sent.findLast((one) => !one.isSummary)?.body ?? '';

/** Says all of it; every request must be valid, under the window and rebuilt to the byte. */
async function sayAll(played: Player, said: readonly Said[]): Promise<void> {
  for (const one of said) expect(await played.say(one)).toBe('continued');
  expect((await played.begin()).kind).toBe('call_model');
  await db.iterationRelease(played.claim);
  for (const { turnId, body } of played.sent) {
    expect(validateRequest(JSON.parse(body))).toEqual([]);
    expect(tokensOf(body)).toBeLessThanOrEqual(window);
    expect(await db.contextAt(turnId)).toBe(body);
  }
}
const times = <T>(n: number, of: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => of(i));

test('an agent that keeps its ledger: the ledger stands for old turns, the newest exchanges stay', async () => {
  const played = await player({ compact_keep_recent: 5 });
  await sayAll(
    played,
    times(12, (i) => ({ thinking: `thought ${i}`, calls: [look(3000, `row ${i} `), { kind: 'finding', content: `Found number ${i}` }] })),
  );
  const rows = await compactions(played);
  expect(rows[0]).toMatchObject({ compaction_type: 'ledger', trigger: 'context_limit', is_applied: true, model: null });
  expect(rows[0]?.shown_instead).toMatch(
    /^\[engine\] The conversation before this point was left out because the context was nearly full\..*\n\n=== WORK LEDGER \(your durable working memory\) ===\n\nFINDINGS:\n- Found number 0\n/,
  );
  for (const row of rows) expect(row.tokens_after).toBeLessThanOrEqual(0.9 * row.tokens_before);
  expect(lastBody(played)).toContain('Do the long work');
  const first = played.sent.find(({ body }) => body.includes('=== WORK LEDGER'))?.body ?? '';
  expect(first).not.toContain('thought'); // no thinking survives a change before it
  expect(first.match(/"type":"tool_use","id":"toolu_\d+_0"/g)).toHaveLength(3); // five messages, rounded to whole exchanges
  const turns = await database.query<{ n: number }>(
    `select count(*)::int as n from ledger.turns where work_item_id = '${played.workItemId}' and turn_type = 'compaction'`,
  );
  expect(turns[0]?.n).toBe(rows.length);
});

test('a model that never writes to its ledger: a summary stands for old turns, and the next compaction carries it on', async () => {
  const played = await player({ compact_model: 'claude-haiku-5-5' });
  let n = 0;
  played.summarize = (request) => {
    expect(request.model).toBe('claude-haiku-5-5');
    const asked = JSON.stringify(request.messages);
    expect(asked).toContain(
      'Summarize the progress of this work execution. Preserve: plan, key findings, decisions, completed steps, errors.',
    );
    expect(asked).toContain('Do the long work');
    if (n > 0) expect(asked).toContain(`Summary ${n - 1}`);
    return response([{ type: 'text', text: `Summary ${n++}: rows were looked at.` }], 'end_turn', 5000);
  };
  await sayAll(
    played,
    times(20, (i) => ({ text: `I look at row ${i}.`, calls: [look(3000, `row ${i} `)] })),
  );
  const rows = await compactions(played);
  expect(rows.length).toBeGreaterThan(1);
  expect(rows.every((row) => row.compaction_type === 'summary' && row.is_applied && row.summarization_input_tokens === 5000)).toBe(true);
  expect(lastBody(played)).toContain('[engine] A summary of your work up to here');
  expect(lastBody(played)).not.toContain('I look at row 1.');
  // Then the agent takes to its ledger: what was summarized is still there.
  await played.say({ calls: [look(10)] });
  for (const i of times(12, (k) => k)) await played.say({ calls: [look(4000), { kind: 'note', content: `noted ${i}` }] });
  expect((await compactions(played)).at(-1)).toMatchObject({ compaction_type: 'ledger', is_applied: true });
  expect(lastBody(played)).toContain(`Summary ${n - 1}`);
});

test('a sliding window: the oldest turns leave, nothing but what people said stands for them, and recall_block has them', async () => {
  const played = await player({ compact_strategy: 'sliding_window', compact_keep_recent: 4, truncate_closed_blocks: false });
  await played.say({ calls: [look(100)] });
  await db.workMessage(played.workItemId, 'Only rows of March, please', false);
  await sayAll(
    played,
    times(26, (i) => ({
      text: `I look at row ${i}.`,
      calls: [look(3000, `row ${i} `), { kind: i % 3 === 0 ? 'step' : 'finding', content: `Saw ${i}` }],
    })),
  );
  const rows = await compactions(played);
  expect(rows.length).toBeGreaterThan(1);
  for (const row of rows)
    expect(row).toMatchObject({
      compaction_type: 'sliding_window',
      trigger: 'context_limit',
      is_applied: true,
      model: null,
      metadata: { keep_recent: 4 },
    });
  expect(rows[0]?.shown_instead).toContain('ledger_read returns your ledger');
  expect(rows[0]?.shown_instead).toContain('Only rows of March, please');
  expect(rows[0]?.shown_instead).not.toContain('Saw');
  expect(lastBody(played)).toContain('Only rows of March, please');
  expect(lastBody(played)).not.toContain('I look at row 0.');
  expect(
    (await database.query<{ text: string }>(`select ledger.recall_block('${played.workItemId}', 2, 'row 0') as text`))[0]?.text,
  ).toContain('I look at row 0.');
});

test('a selective compaction: results of pure calls are shortened first, and where that is not enough the ladder goes on', async () => {
  const played = await player({ compact_strategy: 'selective', compact_keep_recent: 4, elide_budget: 100_000 });
  await sayAll(
    played,
    times(40, (i) => ({
      thinking: `thought ${i}`,
      text: `I look at row ${i}. ${'And think about it. '.repeat(30)}`,
      calls: [look(2500, `row ${i} `), { kind: i % 4 === 3 ? 'step' : 'finding', content: `Saw ${i}` }],
    })),
  );
  const rows = await compactions(played);
  expect(rows[0]).toMatchObject({
    compaction_type: 'selective',
    trigger: 'context_limit',
    is_applied: true,
    metadata: { keep_recent: 4, effect: 'pure', max_result_chars: 300 },
  });
  expect(rows[0]?.metadata['results']).toBeGreaterThan(3);
  expect(rows.filter((row) => row.compaction_type === 'selective').length).toBeGreaterThan(1);
  expect(rows.some((row) => row.compaction_type === 'ledger')).toBe(true);
  const first = played.sent.find(({ body }) => body.includes('artifact_read(\\"'))?.body ?? '';
  expect(first).toContain('I look at row 0.'); // its words stay
  expect(first).not.toContain('thought'); // no thinking survives a change before it
  const handle = /artifact_read\(\\"([0-9a-f]{16})\\"\)/.exec(first)?.[1];
  expect((await database.query<{ text: string }>(`select ledger.artifact_read('${handle}') as text`))[0]?.text).toHaveLength(2500);
  expect(
    (await database.query<{ text: string }>(`select ledger.recall_block('${played.workItemId}', 1, 'row 0 row 0') as text`))[0]?.text,
  ).toMatch(/row 0/);
});

test('a periodic compaction comes every so many iterations, whatever the size', async () => {
  const played = await player({
    compact_strategy: 'sliding_window',
    compact_every: 5,
    compact_keep_recent: 4,
    truncate_closed_blocks: false,
    context_window: 1_000_000,
  });
  await sayAll(
    played,
    times(17, (i) => ({ text: `I look at row ${i}.`, calls: [look(500, `row ${i} `)] })),
  );
  const rows = await compactions(played);
  expect(rows.map((row) => row.iteration)).toEqual([6, 11, 16]);
  for (const row of rows)
    expect(row).toMatchObject({ compaction_type: 'sliding_window', trigger: 'periodic', metadata: { keep_recent: 4, every: 5 } });
});

const failure = (kind: ModelError['class']): ModelError => ({
  class: kind,
  message: kind,
  status: null,
  retryAfterSeconds: 0,
  requestId: null,
});
test.each([
  ['fails for good', () => failure('invalid_request'), 'invalid_request'],
  ['is refused again and again', () => failure('overloaded'), 'overloaded'],
  ['returns nothing', () => response([], 'end_turn', 5000), 'the summary is empty'],
  [
    'is longer than its input',
    () => response([{ type: 'text', text: 'and then '.repeat(20_000) }], 'end_turn', 5000),
    /^the summary frees less than a tenth/,
  ],
] as const)('a summary that %s: the floor holds', async (_name, summarize, says) => {
  const played = await player();
  played.summarize = summarize;
  await sayAll(
    played,
    times(8, (i) => ({ calls: [look(4000, `row ${i} `)] })),
  );
  const rows = await compactions(played);
  expect(rows[0]).toMatchObject({ compaction_type: 'summary', is_applied: false });
  expect(rows[0]?.error).toEqual(typeof says === 'string' ? says : expect.stringMatching(says));
  expect(rows[1]).toMatchObject({ compaction_type: 'floor', is_applied: true });
  expect(rows.filter((row) => row.compaction_type === 'summary').length).toBeLessThanOrEqual(
    rows.filter((row) => row.compaction_type === 'floor').length,
  );
});

test('a result of 480,000 characters, and eight of 49,000 at once', async () => {
  const played = await player();
  await sayAll(played, [
    { calls: [look(480_000)] },
    { calls: [look(100)] },
    { calls: times(8, (i) => look(49_000, `line ${i} `)) },
    { calls: [look(100)] },
  ]);
  expect((await compactions(played)).at(-1)).toMatchObject({ compaction_type: 'floor', is_applied: true });
  const body = played.sent.find((one) => one.body.includes('line 7'))?.body ?? '';
  const handles = [...body.matchAll(/artifact_read\(\\"([0-9a-f]{16})\\"\)/g)].map((match) => match[1]);
  expect(handles).toHaveLength(8);
  for (const handle of handles) {
    const [row] = await database.query<{ text: string }>(`select ledger.artifact_read('${handle}', 'c48990-49000') as text`);
    expect(row?.text).toHaveLength(11);
  }
});

test('an open block larger than the window', async () => {
  const played = await player();
  await sayAll(played, [
    { calls: [{ kind: 'plan', content: 'Look at everything' }, look(1000)] },
    ...times(30, (i) => ({ calls: [look(4000, `row ${i} `), { kind: 'note' as const, content: `note ${i}` }] })),
  ]);
  expect((await compactions(played)).length).toBeGreaterThan(3);
  expect(lastBody(played)).toContain('Look at everything');
});

test('a ledger larger than the window', async () => {
  const played = await player({ elide_budget: 0 });
  for (const i of times(40, (n) => n))
    await db.ledgerAppend(played.workItemId, i === 0 ? 'plan' : 'finding', `Entry ${i}: ${'f'.repeat(15_000)}`);
  await sayAll(
    played,
    times(12, (i) => ({ calls: [{ kind: 'finding', content: `Finding ${i} ${'y'.repeat(6000)}` }, look(1000)] })),
  );
  expect((await compactions(played)).every((row) => row.is_applied)).toBe(true);
  expect(lastBody(played)).toMatch(/FINDINGS:\\n- \(\d+ older, in ledger_read\)/);
});

test('what the model refuses for its size is cut and asked again, three times at most', async () => {
  const played = await player({ context_window: 200_000 });
  for (const i of times(10, (n) => n)) await played.say({ calls: [look(4000, `row ${i} `), { kind: 'note', content: `note ${i}` }] });
  const sizes: number[] = [];
  for (const attempt of times(3, (n) => n)) {
    const begin = await played.begin();
    if (begin.kind !== 'call_model') throw new Error(begin.kind);
    sizes.push(JSON.stringify(begin.request).length);
    expect((await db.iterationFail(played.claim, failure('context_overflow'))).kind, `attempt ${attempt}`).toBe('retry');
  }
  expect(sizes[1]).toBeLessThan(0.75 * (sizes[0] ?? 0));
  expect(sizes[2]).toBeLessThan(sizes[1] ?? 0);
  await played.begin();
  expect((await db.iterationFail(played.claim, failure('context_overflow'))).kind).toBe('failed');
  expect((await compactions(played)).every((row) => row.trigger === 'context_overflow')).toBe(true);
});

test('what the model refuses for its size is cut, too, where its provider counts next to nothing', async () => {
  const played = await player({ context_window: 200_000, elide_budget: 0 });
  for (const i of times(9, (n) => n)) await played.say({ tokens: 1, calls: [look(8000, `row ${i} `)] });
  await played.say({ tokens: 1, calls: [look(30_000), { kind: 'step', content: 'Seen' }] });
  await played.begin(); // what left was estimated at more than all that was counted
  expect((await db.iterationFail(played.claim, failure('context_overflow'))).kind).toBe('retry');
  await played.begin();
  const [before, after] = played.sent.slice(-2).map(({ body }) => body);
  expect(after?.length).toBeLessThan(0.75 * (before?.length ?? 0));
  expect(await compactions(played)).toMatchObject([{ trigger: 'context_overflow', is_applied: true }]);
});

test('a count that no text of this length has fails no work', async () => {
  const played = await player();
  await sayAll(
    played,
    times(3, (i) => ({ tokens: 90_000_000, calls: [look(300, `row ${i} `)] })),
  );
  expect(await compactions(played)).toEqual([]);
});

test('a response that ended because the window was full: the next request is smaller, and says so', async () => {
  const played = await player({ context_window: 200_000 });
  for (const i of times(10, (n) => n)) await played.say({ calls: [look(4000, `row ${i} `), { kind: 'note', content: `note ${i}` }] });
  expect(await played.say({ calls: [], text: 'I was about to', stopReason: 'model_context_window_exceeded' })).toBe('continued');
  await played.begin();
  const [before, after] = played.sent.slice(-2).map(({ body }) => body);
  expect(after?.length).toBeLessThan(0.75 * (before?.length ?? 0));
  expect(after).toContain('[engine] Your response was cut off because the context window was full.');
  expect(await compactions(played)).toMatchObject([{ compaction_type: 'ledger', trigger: 'context_overflow' }]);
});

test('a task larger than the window fails and says so', async () => {
  await db.facultySave({ name: 'tiny', accepts: [], engage: { tools: ['look'], context_window: 3000 } });
  const played = new Player(db, (await db.workSubmit({ workType: 'compact', description: 'long '.repeat(5000), faculty: 'tiny' })).id);
  expect(await played.say({ calls: [look(4000)] })).toBe('continued');
  expect((await played.begin()).kind).toBe('failed');
  expect((await db.workItem(played.workItemId))?.state_reason).toMatch(/no longer fits the model's context window/);
});

test('by hand: at the next request, with a word on what matters', async () => {
  const played = await player();
  const compact = (focus: string | null) =>
    database.query(`select ledger.context_compact('${played.workItemId}', ${focus === null ? 'null' : `'${focus}'`})`);
  await expect(compact(null)).rejects.toThrow(/no running attempt/);
  for (const i of times(8, (n) => n)) await played.say({ calls: [look(500, `row ${i} `), { kind: 'note', content: `note ${i}` }] });
  await compact(null);
  await played.say({ calls: [look(500)] });
  expect(await compactions(played)).toMatchObject([{ compaction_type: 'ledger', trigger: 'manual', is_applied: true }]);
  for (const i of times(8, (n) => n)) await played.say({ calls: [look(1500, `row ${i} `)] });
  await compact('the rows of March');
  played.summarize = (request) => {
    expect(JSON.stringify(request.messages)).toContain('Above all: the rows of March');
    return response([{ type: 'text', text: 'March was fine.' }], 'end_turn', 900);
  };
  await sayAll(played, [{ calls: [look(500)] }, { calls: [look(500)] }]);
  expect(await compactions(played)).toMatchObject([
    { trigger: 'manual' },
    { compaction_type: 'summary', trigger: 'manual', is_applied: true },
  ]);
  expect(lastBody(played)).toContain('March was fine.');
});

test('a compaction keeps the whole chain: recall_block reaches behind it, and a request from before does not see it', async () => {
  const played = await player({ elide_budget: 1_000_000 });
  const steps = times(14, (i): Said => ({
    calls: [...(i > 0 && i % 3 === 0 ? [{ kind: 'step' as const, content: `Step ${i / 3}` }] : []), look(3000, `row ${i} `)],
  }));
  await sayAll(played, steps);
  expect((await compactions(played)).length).toBeGreaterThan(0);
  const [recalled] = await database.query<{ text: string }>(`select ledger.recall_block('${played.workItemId}', 1, 'row 2') as text`);
  expect(recalled?.text).toContain('row 2');
  const why = await database.query<{ shown: string }>(`select shown from ledger.explain_turn('${played.sent.at(-1)?.turnId}')`);
  expect(new Set(why.map((row) => row.shown))).toContain('verbatim');
  expect(why.some((row) => row.shown !== 'verbatim')).toBe(true);
});
