// A tree of 1,000 turns with children is erased: no row of any table holds one of its words; what others did stays byte for byte.

import { afterAll, beforeAll, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { playedDatabase } from '../playedDatabase.ts';
import type { Played } from '../playedDatabase.ts';
import { Session } from '../session.ts';

/** In everything that the erased work was told, said, did and found. */
const canary = 'zanzibar';

let database: Played;
let db: Db;
beforeAll(async () => {
  database = await playedDatabase();
  db = await openDb(database.url, 'ledger');
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

/** The requests of all turns of some work, as they can be rebuilt now. */
const requests = (where: string): Promise<{ id: string; request: string }[]> =>
  database.query(
    `select t.id, context_at(t.id)::text as request from turns t where t.turn_type = 'normal' and t.work_item_id in (select id from work_items where ${where}) order by t.id`,
  );

test('of a tree of 1,000 turns with children no word is left in any table, and all other work stays byte for byte', async () => {
  await database.query(`
    select agent('{"tools": ["look", "edit_file"], "max_result_chars": 2000, "max_turns": 5000, "stall_limit": 0, "elide_budget": 500}', '{"awareness": {"refresh_every": 3}}')`);
  // Another item, which will be told of it; with a fork.
  const before = await database.play(
    `select submit('Earlier work'); select play('[[["look"], ["finding", "Found early"]], [["look"], ["step", "Step"]], ["done"]]'); select item()`,
  );
  const root = await database.play(`
    do $$
    declare
      v_root uuid := submit('Root ${canary}');
      v_child uuid;
    begin
      update work_items set params = '{"about": "${canary}"}' where id = v_root;
      perform play('[[["spawn_child_work", {"work_type": "analyze", "description": "Child ${canary}"}]]]');
      v_child := (select id from work_items where parent_id = v_root);
      perform take(v_child);
      perform play('[[["look", "${canary}"], ["finding", "Child found ${canary}"], "child says ${canary}"], [["work_complete", {"summary": "Child did ${canary}"}]]]');
      perform take(v_root);
    end
    $$;
    select item()`);
  for (let first = 1; first <= 250; first += 5) {
    await database.play(`
      do $$
      declare
        v_root uuid := take('${root}'::uuid);
      begin
        for n in ${first}..${first + 4} loop
          perform play(jsonb_build_array(
            jsonb_build_array(jsonb_build_array('look', jsonb_build_object('path', '${canary}/' || n), repeat('saw ${canary} ' || n || ' ', case when n % 10 = 0 then 500 else 20 end)), 'says ${canary} ' || n),
            jsonb_build_array(jsonb_build_array('edit_file', jsonb_build_object('path', '${canary}.ts', 'old_string', 'a', 'new_string', '${canary}')), jsonb_build_array('finding', 'finding ${canary} ' || n)),
            jsonb_build_array(jsonb_build_array('look', 'failed: ${canary}'), jsonb_build_array('error', 'error ${canary} ' || n)),
            jsonb_build_array(jsonb_build_array('step', 'step ${canary} ' || n))));
        end loop;
        if ${first} % 50 = 1 then
          perform work_message(v_root, 'Mind the ${canary}, ${first}');
          perform journal_log(v_root, 'user_feedback', '{"message": "${canary} is good"}');
          perform checkpoint_create(v_root), context_compact(v_root);
        end if;
      end
      $$;
      select item()`);
  }
  const told = await database.play(`select submit('Told work'); select play('[[["look"]], ["done"]]'); select item()`);
  await database.play(`select take('${root}'::uuid); select play('[[["work_complete", {"summary": "Did ${canary}"}]]]'); select item()`);
  const [turn] = await database.query<{ id: string }>(
    `select id from ledger.turns where work_item_id = '${before}' order by depth limit 1`,
  );
  const fork = (await db.workFork(turn?.id ?? '', 'Another way', null)).id;
  await database.play(`select take('${fork}'::uuid); select play('[[["look"]], ["done"]]'); select item()`);

  const [{ turns } = { turns: 0 }] = await database.query<{ turns: number }>(
    `select count(*)::int as turns from ledger.turns where work_item_id = '${root}'`,
  );
  expect(turns).toBeGreaterThan(1000);
  expect(await database.tablesWith(canary)).toEqual(
    expect.arrayContaining([
      'ledger.artifacts',
      'ledger.elisions',
      'ledger.inbox',
      'ledger.journal_entries',
      'ledger.messages',
      'ledger.search_entries',
      'ledger.tool_calls',
      'ledger.touches',
      'ledger.work_checkpoints',
      'ledger.work_items',
      'ledger.work_ledger',
    ]),
  );
  const others = await requests(`id in ('${before}', '${fork}')`);
  const toldBefore = await requests(`id = '${told}'`);
  expect(others.length).toBeGreaterThan(3);
  expect(toldBefore.some(({ request }) => request.includes(canary))).toBe(true);

  const dry = JSON.parse((await database.cli('erase', root, '--dry-run', '--json')).stdout) as { kind: string; name: string }[];
  expect(dry.filter(({ kind }) => kind === 'item')).toHaveLength(2);
  expect(dry.filter(({ kind }) => kind === 'quoted in').map(({ name }) => name)).toContain(told);
  await expect(database.cli('erase', root)).rejects.toThrow(/nothing was erased/);
  expect(await database.tablesWith(canary)).not.toEqual([]);
  expect((await database.cli('erase', root, '--yes', '--reason', 'asked for')).stderr).toContain('permanently erased 2 work items');

  expect(await database.tablesWith(canary)).toEqual([]);
  expect(await requests(`id in ('${before}', '${fork}')`)).toEqual(others);
  const toldAfter = await requests(`id = '${told}'`);
  expect(toldAfter.map(({ request }) => request.includes('Told work'))).toEqual(toldBefore.map(() => true));
  // It is still there that it was.
  expect((await database.cli('show', root)).stdout).toMatch(/state +completed[\s\S]*work +\[erased\][\s\S]*erased +\d{4}/);
  expect((await requests(`id = '${root}'`)).every(({ request }) => request.includes('[erased]'))).toBe(true);
  expect((await db.ledgerRead(root, null, 1))[0]?.content).toBe('[erased]');
});

test('a fork that was under way while its source was erased is refused, and leaves no item', async () => {
  await database.query(`select agent('{"tools": ["look"]}')`);
  const source = await database.play(`select submit('Source'); select play('[[["look"]], ["done"]]'); select item()`);
  const [eraser, forker] = await Promise.all([Session.open(database.url), Session.open(database.url)]);
  try {
    await eraser.run(`begin; select count(*) from work_erase('${source}')`);
    const forking = forker.begin(`select work_fork((select id from turns where work_item_id = '${source}' order by depth limit 1))`);
    expect(await forking.waitsFor(eraser)).toBe(true);
    await eraser.run('commit');
    expect(await forking.outcome).toBe('WL003');
    expect(
      await database.query(`select from work_items where fork_turn_id in (select id from turns where work_item_id = '${source}')`),
    ).toEqual([]);
  } finally {
    await Promise.all([eraser.close(), forker.close()]);
  }
});

/** An item that is over, with its first turn and a message of it. */
async function over(description: string): Promise<{ item: string; turn: string; message: string }> {
  await database.query(`select agent('{"tools": ["look"]}')`);
  const item = await database.play(
    `select submit('${description}'); select play('[[["look"], ["step", "Step ${canary}"]], ["done"]]'); select item()`,
  );
  const [row] = await database.query<{ turn: string; message: string }>(
    `select t.id as turn, m.id as message from turns t join messages m on m.turn_id = t.id where t.work_item_id = '${item}' order by m.id limit 1`,
  );
  return { item, turn: row!.turn, message: row!.message };
}

const late: { name: string; call: (of: { item: string; turn: string; message: string }) => string }[] = [
  { name: 'journal_log', call: ({ item }) => `journal_log('${item}', 'thinking', '{"reasoning": "Late ${canary}"}')` },
  { name: 'checkpoint_create', call: ({ item }) => `checkpoint_create('${item}')` },
  { name: 'turn_workspace_set', call: ({ turn }) => `turn_workspace_set('${turn}', 'branch-${canary}')` },
  { name: 'session_fork', call: ({ item, turn }) => `session_fork('${item}', '${turn}', 'fork of ${item}')` },
  { name: 'message_lints_save', call: ({ message }) => `message_lints_save('${message}', '[{"message": "Late ${canary}"}]')` },
];
test.each(late)(
  'what a transaction wrote by $name while its work was being erased goes with it, and none writes later',
  async ({ call }) => {
    const [eraser, writer] = await Promise.all([Session.open(database.url), Session.open(database.url)]);
    try {
      const first = await over(`Written to ${canary}`);
      await writer.run(`begin; select from ${call(first)}`);
      const erasing = eraser.begin(`select count(*) from work_erase('${first.item}')`);
      expect(await erasing.waitsFor(writer)).toBe(true);
      await writer.run('commit');
      expect(await erasing.outcome).toBe('done');
      expect(await database.tablesWith(canary)).toEqual([]);

      const second = await over(`Erased first ${canary}`);
      await eraser.run(`begin; select count(*) from work_erase('${second.item}')`);
      const writing = writer.begin(`select from ${call(second)}`);
      expect(await writing.waitsFor(eraser)).toBe(true);
      await eraser.run('commit');
      expect(await writing.outcome).toBe('WL003');
      expect(await database.tablesWith(canary)).toEqual([]);
    } finally {
      await Promise.all([eraser.close(), writer.close()]);
    }
  },
);

test('the transcript of a subagent that begins while its session is being erased goes with it', async () => {
  const append = (session: string, subpath: string): string =>
    `select appended from transcript_append('-home', '${session}', ${subpath}, '[{"type": "user", "text": "${canary}"}]', '{u1}')`;
  const [eraser, writer] = await Promise.all([Session.open(database.url), Session.open(database.url)]);
  try {
    for (const isRead of [true, false]) {
      const session = `session-${isRead}`;
      await database.query(append(session, 'null'));
      if (isRead)
        await database.query(`select session_import('{"format": "claude-code", "sessionId": "${session}", "prompt": "Go", "exchanges": [],
          "transcript": {"projectKey": "-home", "sessionId": "${session}"}}')`);
      await writer.run(`begin; ${append(session, `'agent-1'`)}`);
      const erasing = eraser.begin(`select transcript_delete('-home', '${session}')`);
      expect(await erasing.waitsFor(writer)).toBe(true);
      await writer.run('commit');
      expect(await erasing.outcome).toBe('done');
      expect(await database.tablesWith(canary)).toEqual([]);

      expect(await writer.begin(append(session, `'agent-2'`)).outcome).toBe('WL003');
    }
  } finally {
    await Promise.all([eraser.close(), writer.close()]);
  }
});

test('a digest that was told while what it quotes was being erased loses the words when its work is over', async () => {
  await database.query(`select agent('{"tools": ["look"]}')`);
  const told = await database.play(`select submit('Told'); select item()`);
  const { item } = await over('Quoted');
  const eraser = await Session.open(database.url);
  try {
    await eraser.run(`begin; select count(*) from work_erase('${item}')`);
    await database.play(`select take('${told}'::uuid); select play('[["done"]]')`);
    await eraser.run('commit');
    const said = async (): Promise<string> => (await requests(`id = '${told}'`)).map(({ request }) => request).join();
    expect(await said()).toContain('Quoted');
    await database.query(`select set_config('work_ledger.now', (now() + interval '61 minutes')::text, true), work_retention_run()`);
    expect(await said()).not.toContain('Quoted');
    expect(await said()).toContain('Told');
    expect(await database.query(`select from erasures where is_quoted and work_item_id = '${item}'`)).toEqual([]);
  } finally {
    await eraser.close();
  }
});
