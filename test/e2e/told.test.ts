// What was said is never lost: words of people, and what an agent did, through compactions, forks and later attempts.

import { afterAll, beforeAll, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { Player, response } from '../player.ts';
import type { PlayedCall } from '../player.ts';

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

async function submit(engage: Record<string, unknown> = {}): Promise<Player> {
  const name = `faculty ${JSON.stringify(engage).slice(0, 50)}`;
  await db.facultySave({
    name,
    accepts: [],
    awareness: { enabled: false },
    engage: { tools: ['look'], max_turns: 2000, ledger_nudge_interval: 0, ...engage },
  });
  return new Player(db, (await db.workSubmit({ workType: 'told', description: 'Do the work', faculty: name })).id);
}
async function fork(played: Player): Promise<Player> {
  const [turn] = await database.query<{ id: string }>(
    `select id from ledger.turns where work_item_id = '${played.workItemId}' and turn_type = 'normal' and status = 'completed' order by depth desc limit 1`,
  );
  const [item] = await database.query<{ id: string }>(`select id from ledger.work_fork('${turn?.id}', 'Try otherwise')`);
  return new Player(db, item?.id ?? '');
}
const tell = (played: Player, words: string): Promise<unknown> =>
  database.query(`select ledger.work_message('${played.workItemId}', $m$${words}$m$)`);
const compact = (played: Player): Promise<unknown> => database.query(`select ledger.context_compact('${played.workItemId}')`);
const look = (result = 'x'.repeat(3000)): PlayedCall => ({ kind: 'look', result });
const step = (content: string): PlayedCall => ({ kind: 'step', content });
/** Plays and returns the request that comes next. */
async function next(played: Player, ...all: PlayedCall[][]): Promise<string> {
  for (const calls of all) expect(await played.say({ calls })).toBe('continued');
  expect((await played.begin()).kind).toBe('call_model');
  await db.iterationRelease(played.claim);
  const { turnId, body } = played.sent.at(-1) ?? { turnId: '', body: '' };
  expect(await db.contextAt(turnId)).toBe(body);
  return body;
}
const recall = async (played: Player, block: number, query: string): Promise<string> =>
  (await database.query<{ text: string }>(`select ledger.recall_block('${played.workItemId}', ${block}, '${query}') as text`))[0]?.text ??
  '';

test('words of people outlive the compaction of a fork, and of a fork of the fork', async () => {
  const first = await submit({ elide_budget: 1_000_000 });
  await next(first, [look()]);
  await tell(first, 'NEVER TOUCH PRODUCTION');
  await next(first, [look()], [look()]);
  let branch = await fork(first);
  for (let generation = 0; generation < 2; generation++) {
    await next(branch, [look(), step('One')], [look()], [look(), step('Two')], [look()], [look()], [look()]);
    await compact(branch);
    const request = await next(branch, [look()]);
    expect(request).toContain('The conversation before this point was left out because someone asked for it.');
    expect(request.match(/NEVER TOUCH PRODUCTION/g)).toHaveLength(1);
    branch = await fork(branch);
  }
});

test('what came with the task is said once, before and behind a cut and a compaction', async () => {
  const played = await submit({ elide_budget: 0 });
  await tell(played, 'BEFORE IT BEGAN');
  for (const request of [await next(played, [look('x')]), await next(played, [look('x'), step('One')], [look('x')])])
    expect(request.match(/BEFORE IT BEGAN/g)).toHaveLength(1);
  await next(played, ...Array.from({ length: 7 }, () => [look()]));
  await compact(played);
  const request = await next(played, [look()]);
  expect(request).toContain('The conversation before this point was left out');
  expect(request.match(/BEFORE IT BEGAN/g)).toHaveLength(1);
});

test('a long message stands whole after a compaction', async () => {
  const played = await submit();
  await next(played, [look()]);
  const words = `BEGIN ${'word '.repeat(3000)}MIDDLE-RULE ${'word '.repeat(3000)}END`;
  await tell(played, words);
  await next(played, ...Array.from({ length: 7 }, () => [look(), step('Looked')]));
  await compact(played);
  expect(await next(played, [look()])).toContain(words);
});

test('messages for which there is no room stand each by head, tail and a handle that brings all of it back', async () => {
  const played = await submit({ context_window: 20_000, elide_budget: 1_000_000 });
  await next(played, [look()]);
  const words = Array.from({ length: 4 }, (_, n) => `HEAD-${n} ${'word '.repeat(700)}MIDDLE-${n} ${'word '.repeat(700)}TAIL-${n}`);
  for (const one of words) await tell(played, one);
  await tell(played, 'A SHORT ONE');
  await next(played, ...Array.from({ length: 7 }, (_, n) => [look(), step(`Looked ${n}`)]));
  await compact(played);
  const request = await next(played, [look()]);
  expect(request).toContain('WHAT YOU WERE TOLD ON THE WAY');
  expect(request).toContain('A SHORT ONE');
  for (const n of words.keys()) {
    expect(request).toMatch(new RegExp(`HEAD-${n} .*TAIL-${n}`));
    expect(request).not.toContain(`MIDDLE-${n}`);
  }
  const handles = [...request.matchAll(/artifact_read\(\\"([0-9a-f]{16})\\"\)/g)].map((match) => match[1]);
  expect(handles).toHaveLength(4);
  for (const [n, handle] of handles.entries())
    expect((await database.query<{ text: string }>(`select ledger.artifact_read('${handle}') as text`))[0]?.text).toContain(words[n]);
});

test('of more messages than can have a place the newest stand, and a handle to all', async () => {
  const played = await submit({ context_window: 10_000, elide_budget: 1_000_000 });
  await next(played, [look('a')]);
  for (let n = 0; n < 60; n++) await tell(played, `RULE-${n}. ${'word '.repeat(25)}`);
  await next(played, ...Array.from({ length: 7 }, (_, n) => [look('x'.repeat(300)), step(`Looked ${n}`)]));
  await compact(played);
  const request = await next(played, [look('a')]);
  expect(request).toContain('RULE-59.');
  expect(request).not.toContain('RULE-0.');
  const handle = /\((\d+) more: artifact_read\(\\"([0-9a-f]{16})\\"\) has all of it\)/.exec(request);
  expect(
    (await database.query<{ text: string }>(`select content as text from ledger.artifacts where content_hash like '${handle?.[2]}%'`))[0]
      ?.text,
  ).toContain('RULE-0.');
});

test('a later attempt is told what people said to those before it', async () => {
  const played = await submit();
  await tell(played, 'BEFORE IT BEGAN');
  await next(played, [look()]);
  await tell(played, 'NEVER TOUCH PRODUCTION');
  await next(played, [look(), step('Found the secret')], [look('SECRET-ONE is 42')]);
  for (let attempt = 2; attempt <= 3; attempt++) {
    await database.query(`select ledger._focus_end(w, 'failed', 'retry', 'tried', null) from ledger.work_items w where id = '${played.workItemId}';
      update ledger.work_items set run_at = now() where id = '${played.workItemId}'`);
    const request = await next(played, [look()]);
    expect(request).toContain('What you were told in them');
    expect(request.match(/NEVER TOUCH PRODUCTION/g)).toHaveLength(1);
    expect(request.match(/BEFORE IT BEGAN/g)).toHaveLength(1);
    expect(request).toContain('- [1] Found the secret');
  }
  expect(await recall(played, 2, 'SECRET')).toContain('SECRET-ONE is 42');
});

test('why a person rejected a call outlives its block, a compaction and an attempt', async () => {
  await db.abilityRegister({
    name: 'publish',
    description: 'Publishes.',
    inputSchema: { type: 'object' },
    effect: 'unsafe',
    risk: 'dangerous',
  });
  const played = await submit({ elide_budget: 0, require_approval: 'dangerous', tools: ['look', 'publish'] });
  const begin = await played.begin();
  if (begin.kind !== 'call_model') throw new Error(begin.kind);
  const asking = response([{ type: 'tool_use', id: 'p', name: 'publish', input: { path: 'dist' } }], 'tool_use', 100);
  const driven = { iteration: 1, seconds: null };
  await db.iterationStep(played.claim, driven, { answer: { turnId: begin.turn_id, response: asking } });
  expect((await db.iterationStep(played.claim, driven)).kind).toBe('parked');
  await database.query(
    `select ledger.tool_call_reject(id, 'NOT BEFORE MONDAY') from ledger.tool_calls where work_item_id = '${played.workItemId}'`,
  );
  const claim = await db.focusClaim(played.workItemId, 'player', 60);
  if (claim.kind !== 'claimed') throw new Error(claim.kind);
  await db.iterationBegin(claim);
  await db.iterationStep(claim, driven);
  const told = '[a person rejected your call: publish] NOT BEFORE MONDAY';
  expect(await next(played, [look('x'), step('Looked')], [look('x')])).toContain(told);
  await next(played, ...Array.from({ length: 7 }, (_, n) => [look(), step(`More ${n}`)]));
  await compact(played);
  expect(await next(played, [look()])).toContain(told);
  await database.query(`select ledger._focus_end(w, 'failed', 'retry', 'tried', null) from ledger.work_items w where id = '${played.workItemId}';
    update ledger.work_items set run_at = now() where id = '${played.workItemId}'`);
  expect(await next(played, [look()])).toContain(told);
});

test('recall_block reaches what a fork began with, and what a compaction left out, by the same numbers', async () => {
  const first = await submit({ elide_budget: 1_000_000 });
  await next(first, [look('SECRET-ONE is 42')], [look('of block two'), step('Read one')], [look('of block three'), step('Read two')]);
  const branch = await fork(first);
  expect(await recall(branch, 1, 'SECRET')).toContain('SECRET-ONE is 42'); // before it has run at all
  await next(
    branch,
    [look('mine')],
    [look('of block four'), step('Read mine')],
    ...Array.from({ length: 6 }, (_, n) => [look(), step(`More ${n}`)]),
  );
  expect(await recall(branch, 1, 'SECRET')).toContain('SECRET-ONE is 42');
  expect(await recall(branch, 3, 'mine')).toContain('mine');
  await compact(branch);
  const request = await next(branch, [look()]);
  expect(request).toContain(String.raw`STEPS COMPLETED:\n- [1] Read one\n- [2] Read two\n- [3] Read mine`);
  expect(request).toContain('recall_block(n, query)');
  expect(await recall(branch, 1, 'SECRET')).toContain('SECRET-ONE is 42');
  await expect(recall(branch, 99, 'x')).rejects.toThrow('there is no block 99');
});
