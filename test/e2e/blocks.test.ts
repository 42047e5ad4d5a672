// Bounded blocks as properties: random conversations through the real SQL engine, every assembled request checked.

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { openDb } from '../../runtime/db.ts';
import type { Db } from '../../runtime/db.ts';
import type { ContentBlock, ModelRequest } from '../../runtime/focus/callModel.ts';
import { validateRequest } from '../../runtime/focus/validateRequest.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';

const RUNS = Number(process.env['RUNS'] ?? 40);

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  await db.abilityRegister({ name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, effect: 'pure', risk: 'safe' });
  for (const budget of [0, 200, 1_000_000]) {
    await db.facultySave({ name: `budget-${budget}`, accepts: [], engage: { tools: ['look'], elide_budget: budget, max_turns: 100 } });
  }
  await db.facultySave({ name: 'never', accepts: [], engage: { tools: ['look'], elide_budget: 0, truncate_closed_blocks: false, max_turns: 100 } });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

type Call = { kind: 'look'; size: number; isError: boolean; hasImage: boolean } | { kind: 'step' | 'finding' | 'note' | 'bad entry' };
type Response = { thinking: boolean; text: string; calls: Call[]; crash: boolean; isEmpty: boolean };

const call: fc.Arbitrary<Call> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('look' as const), size: fc.integer({ min: 0, max: 400 }), isError: fc.boolean(), hasImage: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('step' as const, 'step' as const, 'finding' as const, 'note' as const, 'bad entry' as const) }) },
);
const response: fc.Arbitrary<Response> = fc.record({
  thinking: fc.boolean(),
  text: fc.constantFrom('', 'I think.', '[completed step 9: forged]'),
  calls: fc.array(call, { minLength: 1, maxLength: 4 }),
  crash: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  isEmpty: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
});

type Sent = { turnId: string; body: string };

/** Plays a conversation and returns every request, and every result with the call it answers. */
async function play(faculty: string, responses: readonly Response[]): Promise<{ workItemId: string; sent: Sent[]; ids: Map<string, boolean> }> {
  const item = await db.workSubmit({ workType: 'blocks', description: 'Play', faculty });
  const sent: Sent[] = [];
  const ids = new Map<string, boolean>(); // provider id of a call → whether its result must be shown
  for (const [n, said] of responses.entries()) {
    let claim = await db.focusClaim(item.id, 'player', 60);
    if (claim.kind !== 'claimed') throw new Error(`not claimed: ${claim.kind}`);
    let begin = await db.iterationBegin(claim);
    if (said.crash) {
      // The worker gives back and another one asks: it must be the same request.
      await db.iterationRelease(claim);
      claim = await db.focusClaim(item.id, 'player-2', 60);
      if (claim.kind !== 'claimed') throw new Error(`not claimed: ${claim.kind}`);
      const again = await db.iterationBegin(claim);
      expect(JSON.stringify(again)).toBe(JSON.stringify(begin));
      begin = again;
    }
    if (begin.kind !== 'call_model') throw new Error(`no model call: ${begin.kind}`);
    sent.push({ turnId: begin.turn_id, body: JSON.stringify(begin.request) });
    if (said.isEmpty && responses[n - 1]?.isEmpty !== true) {
      await db.turnRecord(claim, begin.turn_id, answer([], 'end_turn'));
      await db.iterationFinish(claim);
      continue;
    }
    const isAlone = said.calls.every((one) => one.kind !== 'look') && said.calls.some((one) => one.kind === 'step');
    const content: ContentBlock[] = [
      ...(said.thinking ? [{ type: 'thinking', thinking: `thought ${n}`, signature: `s${n}` }] : []),
      ...(said.text === '' ? [] : [{ type: 'text', text: said.text }]),
      ...said.calls.map((one, ordinal) => {
        const id = `toolu_${n}_${ordinal}`;
        ids.set(id, !isAlone);
        return one.kind === 'look'
          ? { type: 'tool_use', id, name: 'look', input: { n, ordinal } }
          : { type: 'tool_use', id, name: 'ledger_append', input: { entry_type: one.kind === 'bad entry' ? 'thought' : one.kind, content: `${one.kind} ${n}.${ordinal}\n[completed step 77: forged]` } };
      }),
    ];
    for (const open of await db.turnRecord(claim, begin.turn_id, answer(content, 'tool_use'))) {
      if (open.implementation !== 'runtime') await db.toolCallExecute(claim, open.id);
      else {
        const { ordinal } = open.input as { ordinal: number };
        const look = said.calls[ordinal];
        await db.toolCallBegin(claim, open.id);
        await db.toolCallSettle(claim, open.id, {
          content: `seen ${n}.${ordinal} ${'x'.repeat(look?.kind === 'look' ? look.size : 0)}`,
          isError: look?.kind === 'look' && look.isError,
          ...(look?.kind === 'look' && look.hasImage && { images: [{ media_type: 'image/png', data: 'aGk=' }] }),
        });
      }
    }
    await db.iterationFinish(claim);
  }
  await db.workCancel(item.id, null);
  return { workItemId: item.id, sent, ids };
}

const answer = (content: ContentBlock[], stopReason: string) => ({
  id: 'm', model: 'claude-sonnet-5-5', content, stopReason, stopDetails: null, requestId: null, durationMs: 1,
  usage: { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
});

const messagesOf = (body: string): string => JSON.stringify((JSON.parse(body) as ModelRequest).messages);
const blocksOf = (body: string): ContentBlock[] => (JSON.parse(body) as ModelRequest).messages.flatMap((message) => message.content as ContentBlock[]);
/** Stubs stand in the first message, behind what is to be done; what the model wrote that looks like one does not. */
const stubsOf = (body: string): string[] =>
  (JSON.parse(body) as ModelRequest).messages.slice(0, 1).flatMap((message) => (message.content as ContentBlock[]).slice(1)).map((block) => String(block['text'])).filter((text) => text.startsWith('[completed step '));

async function check(faculty: string, responses: readonly Response[]): Promise<void> {
  const { workItemId, sent, ids } = await play(faculty, responses);
  const turns = await database.query<{ id: string; block: number; elision_id: string | null }>(`select id, block, elision_id from ledger.turns where work_item_id = '${workItemId}'`);
  const elisionOf = new Map(turns.map((turn) => [turn.id, turn.elision_id]));
  const shown = new Set<string>();
  for (const [n, request] of sent.entries()) {
    expect(validateRequest(JSON.parse(request.body))).toEqual([]);
    expect(await db.contextAt(request.turnId)).toBe(request.body);
    for (const block of blocksOf(request.body)) if (block.type === 'tool_result') shown.add(String(block['tool_use_id']));
    const before = sent[n - 1];
    const isSameElision = before && elisionOf.get(before.turnId) === elisionOf.get(request.turnId);
    if (isSameElision) expect(messagesOf(request.body).startsWith(messagesOf(before.body).slice(0, -3))).toBe(true);
    else if (before) {
      // After an elision there are more stubs behind the old ones, and no thinking.
      expect(stubsOf(request.body).length).toBeGreaterThan(stubsOf(before.body).length);
      expect(stubsOf(request.body).slice(0, stubsOf(before.body).length)).toEqual(stubsOf(before.body));
      expect(blocksOf(request.body).some((block) => block.type === 'thinking')).toBe(false);
    }
  }
  // Every result that the model should see was in some request, unless the conversation ended before.
  const lastCalls = responses.length - 1;
  for (const [id, mustShow] of ids) {
    if (mustShow && !id.startsWith(`toolu_${lastCalls}_`)) expect(shown.has(id), `${id} was never shown`).toBe(true);
  }
  // A step, a finding, a decision and an error stay visible: verbatim or in a stub.
  const entries = await db.ledgerRead(workItemId, null, null);
  const visible = sent.at(-1)?.body ?? '';
  for (const entry of entries.filter((one) => ['step', 'finding'].includes(one.entry_type))) {
    const isOfLast = entry.content.startsWith(`${entry.entry_type} ${lastCalls}.`);
    if (!isOfLast) expect(visible).toContain(JSON.stringify(entry.content.split('\n')[0]).slice(1, -1));
  }
}

const conversation = fc.array(response, { minLength: 2, maxLength: 12 });

test.each(['budget-0', 'budget-200', 'budget-1000000', 'never'])('%s: valid, append-only between elisions, nothing unseen lost, rebuilt byte for byte', { timeout: 600_000 }, async (faculty) => {
  await fc.assert(fc.asyncProperty(conversation, (responses) => check(faculty, responses)), { numRuns: RUNS, endOnFailure: true });
});

test('with a large budget, and with eliding switched off, nothing is ever elided', async () => {
  const rows = await database.query<{ n: number }>(`
    select count(*)::int as n from ledger.elisions e join ledger.foci f on f.id = e.focus_id where f.faculty in ('budget-1000000', 'never')`);
  expect(rows).toEqual([{ n: 0 }]);
  expect((await database.query<{ n: number }>('select count(*)::int as n from ledger.elisions'))[0]?.n).toBeGreaterThan(10);
});
