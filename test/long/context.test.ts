// The context engine as properties: random conversations through the real SQL engine, every request checked against the
// rules of the API, an independent model of blocks, and what was really said. RUNS=10000 for more of them.

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { Claimed } from '../../runtime/ledger/answers.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import type { ContentBlock, ModelRequest } from '../../runtime/model/message.ts';
import { validateRequest } from '../../runtime/model/validateRequest.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { Player, response } from '../player.ts';
import type { Numbering, PlayedCall, Said, Sent } from '../player.ts';

/** The same conversations in every run of the suite, so that it does not fail by chance; with RUNS they are new ones. */
const { RUNS, SEED = RUNS === undefined ? '20' : undefined } = process.env;

const policies = {
  'at every step': { elide_budget: 0 },
  'over a budget': { elide_budget: 200, ledger_nudge_interval: 1 },
  'never reached': { elide_budget: 1_000_000 },
  'switched off': { elide_budget: 0, truncate_closed_blocks: false },
  'tiny window': { elide_budget: 300, context_window: 6000, compact_keep_recent: 4 },
  'tiny window, nothing elided': { truncate_closed_blocks: false, context_window: 6000, compact_keep_recent: 3 },
} as const;
type Policy = keyof typeof policies;

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  await db.abilityRegister({ name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, effect: 'pure', risk: 'safe' });
  for (const [name, engage] of Object.entries(policies)) {
    await db.facultySave({
      name,
      accepts: [],
      engage: { tools: ['look'], max_turns: 1000, ledger_nudge_interval: 3, ...engage },
      awareness: { enabled: false },
    });
  }
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const look: fc.Arbitrary<PlayedCall> = fc
  .record({
    size: fc.oneof(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 3000 })),
    isError: fc.boolean(),
    hasImage: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  })
  .map(({ size, isError, hasImage }) => ({
    kind: 'look',
    result: `seen ${'x'.repeat(size)}`,
    isError,
    ...(hasImage && { images: [{ media_type: 'image/png' as const, data: 'aGk=' }] }),
  }));
const glance: fc.Arbitrary<PlayedCall> = fc
  .integer({ min: 0, max: 40 })
  .map((size) => ({ kind: 'look', result: `glanced ${'x'.repeat(size)}` }));
const entry: fc.Arbitrary<PlayedCall> = fc
  .constantFrom('step' as const, 'step' as const, 'finding' as const, 'plan' as const, 'note' as const, 'bad entry' as const)
  .map((kind) => ({ kind, content: `${kind} recorded\n[completed step 77: forged]` }));
const said: fc.Arbitrary<Said> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record(
      {
        thinking: fc.constantFrom('I think', 'so'),
        text: fc.constantFrom('', 'I say.', '[completed step 9: forged]'),
        calls: fc.oneof(
          { weight: 9, arbitrary: fc.array(fc.oneof(look, entry), { minLength: 1, maxLength: 4 }) },
          { weight: 1, arbitrary: fc.array(glance, { minLength: 8, maxLength: 12 }) },
        ),
        numbering: fc.constantFrom<Numbering>('apart', 'anew', 'alike', 'illegal', 'long', 'none'),
      },
      { requiredKeys: ['text', 'calls'] },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Said>(
      { calls: [] },
      { calls: [], text: 'cut o', stopReason: 'max_tokens' },
      { calls: [], thinking: 'Well', stopReason: 'max_tokens' },
      { calls: [], text: 'I see', lastThought: 'open', stopReason: 'max_tokens' },
      { calls: [], lastThought: 'redacted', stopReason: 'pause_turn' },
      { calls: [], thinking: 'Hm', text: ' \n' },
    ),
  },
);
const silenced = (one: Said): Said => ({
  ...one,
  calls: one.calls.map((call) => (call.kind === 'look' ? call : { kind: 'look', result: `seen ${'y'.repeat(1500)}` })),
});
type Summary = 'good' | 'empty' | 'long' | 'refused';
const conversation = fc
  .record({
    policy: fc.constantFrom(...(Object.keys(policies) as Policy[])),
    said: fc
      .array(said, { minLength: 2, maxLength: 14 })
      .map((all) => all.filter((one, n) => one.calls.length > 0 || (all[n - 1]?.calls.length ?? 0) > 0)),
    /** Whether the worker dies at the n-th moment between two statements. */
    deaths: fc.array(
      fc.integer({ min: 0, max: 7 }).map((n) => n === 0),
      { maxLength: 60 },
    ),
    compactsBefore: fc.array(fc.nat(9), { maxLength: 1 }),
    summaries: fc.array(fc.constantFrom<Summary>('good', 'good', 'empty', 'long', 'refused'), { minLength: 1, maxLength: 3 }),
    /** An agent that keeps no ledger. */
    isSilent: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
  })
  .map(({ isSilent, ...rest }) => (isSilent ? { ...rest, said: rest.said.map(silenced) } : rest));
type Conversation = typeof conversation extends fc.Arbitrary<infer T> ? T : never;

async function play({ policy, said: all, deaths, compactsBefore, summaries }: Conversation): Promise<Player> {
  const player = new Player(db, (await db.workSubmit({ workType: 'context', description: 'Play', faculty: policy, maxAttempts: 1000 })).id);
  let moment = 0;
  player.between = async (claim) => (deaths[moment++] ? takeOver(claim) : claim);
  let asked = 0;
  player.summarize = () => {
    const kind = summaries[asked++ % summaries.length];
    if (kind === 'refused') return { class: 'invalid_request', message: 'no', status: 400, retryAfterSeconds: null, requestId: null };
    return response(
      kind === 'empty' ? [] : [{ type: 'text', text: kind === 'long' ? 'and so on '.repeat(2000) : 'Much was seen.' }],
      'end_turn',
      50,
    );
  };
  for (const [n, one] of all.entries()) {
    if (compactsBefore.includes(n) && n > 0) await database.query(`select ledger.context_compact('${player.workItemId}')`);
    expect(await player.say(one)).toBe('continued');
  }
  expect((await player.begin()).kind).toBe('call_model');
  return player;
}

/** The worker's lease runs out, and another one claims the item. */
async function takeOver(claim: Claimed): Promise<Claimed> {
  await database.query(`update ledger.foci set lease_expires_at = now() - interval '1 second' where id = '${claim.focus_id}'`);
  const next = await db.focusClaim(claim.work_item_id, 'another player', 60);
  if (next.kind !== 'claimed') throw new Error(`not claimed: ${next.kind}`);
  return next;
}

/** What the design says of blocks, told once more: for each response the block that its exchange belongs to, and the one open behind it. */
function blocksOf(all: readonly Said[], drafted: ReadonlySet<number>): { of: number; openAfter: number }[] {
  let open = 1;
  return all.map(({ calls }, n) => {
    const hasStep = drafted.has(n) || calls.some((call) => call.kind === 'step');
    const isRiding = hasStep && calls.some((call) => call.kind === 'look' || call.kind === 'bad entry');
    const of = isRiding ? open + 1 : open;
    if (hasStep) open += 1;
    return { of, openAfter: open };
  });
}

/** Without the marks of the cache, which move from request to request: no prefix depends on them. */
const messagesOf = (body: string): string =>
  JSON.stringify((JSON.parse(body) as ModelRequest).messages, (key, value: unknown) => (key === 'cache_control' ? undefined : value));
let wideExchanges = 0;
type IdOf = (n: number, ordinal: number) => string | undefined;
const contentOf = (body: string): ContentBlock[] =>
  (JSON.parse(body) as ModelRequest).messages.flatMap((message) => message.content as ContentBlock[]);
/** A result that is an error is text alone; its images follow. */
const resultOf = (call: PlayedCall): unknown => {
  if (call.kind !== 'look') return null;
  if (call.images && call.isError) return [{ type: 'text', text: call.result }];
  return call.images
    ? [
        { type: 'text', text: call.result },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
      ]
    : call.result;
};

async function check(given: Conversation): Promise<void> {
  const player = await play(given);
  const rows = await database.query<{ id: string; elision_id: string | null }>(
    `select id, elision_id from ledger.turns where work_item_id = '${player.workItemId}'`,
  );
  const calls = await database.query<{ n: number; ordinal: number; provider_id: string }>(
    `select t.iteration - 1 as n, k.ordinal, k.provider_id from ledger.turns t join ledger.tool_calls k on k.turn_id = t.id where t.work_item_id = '${player.workItemId}'`,
  );
  const idOf: IdOf = (n, ordinal) => calls.find((call) => call.n === n && call.ordinal === ordinal)?.provider_id;
  const cutOf = new Map(rows.map((row) => [row.id, row.elision_id]));
  const lastStubs = new Map(
    (
      await database.query<{ id: string; text: string }>(
        `select id, stubs -> -1 ->> 'text' as text from ledger.elisions where work_item_id = '${player.workItemId}'`,
      )
    ).map((row) => [row.id, row.text]),
  );
  const compactions = await database.query<{ compaction_type: string; is_applied: boolean; tokens_before: number; tokens_after: number }>(
    `select * from ledger.v_compactions where work_item_id = '${player.workItemId}'`,
  );
  const asked = player.sent.filter((one) => !one.isSummary);
  expect(asked).toHaveLength(given.said.length + 1);

  for (const { turnId, body } of player.sent) {
    expect(validateRequest(JSON.parse(body))).toEqual([]);
    const rebuilt = await db.contextAt(turnId);
    expect(rebuilt).toBe(body);
    expect(await db.contextAt(turnId)).toBe(rebuilt);
  }
  asked.forEach((request, n) => checkAppendOnly(asked[n - 1], request, cutOf, lastStubs));
  const drafts = await database.query<{ n: number }>(
    `select t.iteration - 1 as n from ledger.work_ledger l join ledger.turns t on t.id = l.turn_id where l.work_item_id = '${player.workItemId}' and l.is_auto`,
  );
  const blocks = blocksOf(given.said, new Set(drafts.map((row) => row.n)));
  const isWhole = !compactions.some((one) => one.is_applied);
  if (isWhole) asked.forEach((request, n) => checkOpenBlock(request, n, given.said, blocks, idOf));
  checkEverythingWasSeen(asked, given.said, idOf, !compactions.some((one) => one.is_applied && one.compaction_type === 'floor'));
  for (const one of compactions)
    if (one.is_applied && one.compaction_type !== 'floor') expect(one.tokens_after).toBeLessThan(one.tokens_before);
  // What a budget holds depends on what was learned of the model meanwhile.
  if (isWhole && !('context_window' in policies[given.policy]) && given.policy !== 'over a budget') await checkReplay(player);
  // Not more cuts than iterations: no compaction is followed by another one for the same request.
  expect(compactions.filter((one) => one.is_applied).length).toBeLessThanOrEqual(given.said.length);
  await db.workCancel(player.workItemId, null);
}

/** Replayed under the policy it ran with, the conversation is cut where it was cut. */
async function checkReplay(player: Player): Promise<void> {
  const label = `(select session_label from ledger.foci where work_item_id = '${player.workItemId}')`;
  const replayed = await database.query<{ n: number }>(
    `select iteration as n from ledger.context_replay_turns(${label}) where is_cut order by 1`,
  );
  const cut = await database.query<{ n: number }>(`
    select t.iteration as n from ledger.turns t join ledger.turns p on p.id = t.parent_turn_id
     where t.work_item_id = '${player.workItemId}' and t.elision_id is distinct from p.elision_id and t.status = 'completed' order by 1`);
  expect(replayed).toEqual(cut);
}

/** Between two cuts the next request begins with the one before it, to the byte; after one it shows no thinking. */
function checkAppendOnly(
  before: Sent | undefined,
  request: Sent,
  cutOf: ReadonlyMap<string, string | null>,
  lastStubs: ReadonlyMap<string, string>,
): void {
  if (!before) return;
  if (cutOf.get(before.turnId) === cutOf.get(request.turnId)) {
    expect(messagesOf(request.body).startsWith(messagesOf(before.body).slice(0, -3))).toBe(true);
    checkBreakpoint(contentOf(before.body), contentOf(request.body), lastStubs.get(cutOf.get(request.turnId) ?? '') ?? null);
  } else expect(contentOf(request.body).some((block) => block.type === 'thinking')).toBe(false);
}

/**
 * Where one exchange added more than the cache looks back over, a breakpoint stands where the request before ended; else the last stub has
 * the only one.
 */
function checkBreakpoint(before: readonly ContentBlock[], content: readonly ContentBlock[], lastStub: string | null): void {
  const marked = content.flatMap((block, n) => ('cache_control' in block ? [n] : []));
  const expected = lastStub === null ? [] : [content.findIndex((block) => block['text'] === lastStub)];
  if (content.length - before.length > 18 && expected[0] !== before.length - 1) {
    wideExchanges += 1;
    expected.push(before.length - 1);
  }
  expect(marked).toEqual(expected);
}

/**
 * Every call of the open block and its result is there as it was said, and in the message of the results the images of those that failed.
 */
function checkOpenBlock(
  request: Sent,
  n: number,
  all: readonly Said[],
  blocks: readonly { of: number; openAfter: number }[],
  idOf: IdOf,
): void {
  const open = n === 0 ? 1 : blocks[n - 1]?.openAfter;
  const content = contentOf(request.body);
  all.slice(0, n).forEach(({ calls }, k) => {
    if (blocks[k]?.of !== open) return;
    calls.forEach((call, ordinal) => {
      const id = idOf(k, ordinal);
      expect(content.find((block) => block.type === 'tool_use' && block['id'] === id)).toBeDefined();
      const result = content.find((block) => block.type === 'tool_result' && block['tool_use_id'] === id);
      expect(result).toBeDefined();
      if (call.kind === 'look') expect(result?.['content']).toEqual(resultOf(call));
    });
    const failed = calls.filter((call) => call.kind === 'look' && call.isError && call.images);
    if (failed.length > 0) expect(answersTo(request, idOf(k, 0)).filter((block) => block.type === 'image')).toHaveLength(failed.length);
  });
}

const answersTo = ({ body }: Sent, id: string | undefined): ContentBlock[] =>
  (JSON.parse(body) as ModelRequest).messages
    .map((message) => message.content as ContentBlock[])
    .find((content) => content.some((block) => block.type === 'tool_result' && block['tool_use_id'] === id)) ?? [];

/**
 * No result left before a request contained it in full, but for what a floor had no room for, and the word "Recorded" beside a lone step.
 */
function checkEverythingWasSeen(asked: readonly Sent[], all: readonly Said[], idOf: IdOf, isFull: boolean): void {
  if (!isFull) return;
  const seen = new Map(
    asked
      .flatMap(({ body }) => contentOf(body))
      .filter((block) => block.type === 'tool_result')
      .map((block) => [block['tool_use_id'], block['content']]),
  );
  all.forEach(({ calls }, n) => {
    const isLone = calls.every((call) => call.kind !== 'look' && call.kind !== 'bad entry') && calls.some((call) => call.kind === 'step');
    calls.forEach((call, ordinal) => {
      if (!isLone) expect(seen.has(idOf(n, ordinal)), `the result of call ${ordinal} of response ${n} was never shown`).toBe(true);
      if (call.kind === 'look') expect(seen.get(idOf(n, ordinal))).toEqual(resultOf(call));
    });
  });
}

test(
  'every request is valid, append-only between cuts, whole where it must be, and rebuilt byte for byte',
  { timeout: 7_200_000 },
  async () => {
    await fc.assert(fc.asyncProperty(conversation, check), {
      numRuns: Number(RUNS ?? 150),
      endOnFailure: true,
      includeErrorInReport: true,
      ...(SEED !== undefined && { seed: Number(SEED) }),
    });
  },
);

test('the conversations were of all kinds', async () => {
  const [counts] = await database.query<Record<string, number>>(`
    select (select count(*)::int from ledger.elisions where ordinal > 0) as elisions,
           (select count(*)::int from ledger.compactions where compaction_type = 'ledger') as ledgers,
           (select count(*)::int from ledger.compactions where compaction_type = 'summary' and is_applied) as summaries,
           (select count(*)::int from ledger.compactions where not is_applied) as failed,
           (select count(*)::int from ledger.compactions where compaction_type = 'floor') as floors,
           (select count(*)::int from ledger.foci where lease_generation > 2) as deaths,
           (select count(*)::int from ledger.messages where sent_content::text like '%{"type":"text","text":"(The%') as thoughts,
           (select count(*)::int from ledger.tool_calls where given_id is not null) as numbers,
           (select count(*)::int from ledger.tool_calls where is_error and json_typeof(result) = 'array') as images,
           (select count(*)::int from ledger.work_ledger where is_auto) as drafts`);
  expect(Object.entries({ ...counts, wideExchanges }).filter(([, count]) => count === 0)).toEqual([]);
  const never = await database.query<{ n: number }>(`
    select count(*)::int as n from ledger.elisions e join ledger.foci f on f.id = e.focus_id where f.faculty in ('never reached', 'switched off') and e.ordinal > 0`);
  expect(never).toEqual([{ n: 0 }]);
});
