// What looking at work costs: by the buffers that a query reads, in a small ledger and in one a hundred times as large.

import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';

let database: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client(database.url);
  await client.connect();
  await client.query(`set search_path = ledger; select from faculty_save('{"name": "worker", "accepts": ["analyze"]}')`);
});
afterAll(async () => {
  await client?.end();
  await database?.drop();
});

const filled = ['turns', 'messages', 'tool_calls', 'work_ledger', 'journal_entries', 'sessions'];

/** A work item under way with so many turns, a step in each fifth, an error in each seventh; a program's session with ten entries a turn that say its name. */
async function fill(turns: number): Promise<string> {
  const { rows: [made] } = await client.query<{ item: string }>(`select id as item from work_submit('analyze', 'Find why')`);
  const item = made?.item ?? '';
  await client.query(`
    select from focus_claim('${item}', 'w');
    insert into turn_configs (content_hash, config) values ('c', '{"model": "claude-opus-4-5", "system": [], "tools": []}') on conflict do nothing;
    ${filled.map((table) => `alter table ${table} disable trigger all;`).join(' ')}
    insert into turns (id, depth, parent_turn_id, status, work_item_id, focus_id, iteration, config_hash, started_at, completed_at)
    select md5('${item}' || n)::uuid, n, case when n > 0 then md5('${item}' || n - 1)::uuid end, 'completed', w.id, w.focus_id, n + 1, 'c', at, at
      from work_items w, generate_series(0, ${turns - 1}) n, lateral (select now() - (${turns} - n) * interval '10 seconds' as at) a where w.id = '${item}';
    insert into messages (turn_id, sequence, role, content, created_at) select id, 1000, 'assistant', '[{"type": "text", "text": "So"}]', completed_at from turns where work_item_id = '${item}';
    insert into tool_calls (id, turn_id, ordinal, work_item_id, provider_id, tool_name, input, effect, status, result, is_error, created_at, completed_at)
    select id, id, 0, work_item_id, 'a', 'look', '{}', 'pure', 'completed', '"done"', false, completed_at, completed_at from turns where work_item_id = '${item}';
    insert into work_ledger (work_item_id, seq, entry_type, content, turn_id, created_at)
    select work_item_id, iteration, case when iteration % 5 = 0 then 'step' when iteration % 7 = 0 then 'error' else 'note' end, 'Noted', id, completed_at from turns where work_item_id = '${item}';
    update sessions set head_turn_id = md5('${item}' || ${turns - 1})::uuid where label = '${item}';
    update work_items set ledger_count = ${turns} where id = '${item}';
    ${filled.map((table) => `alter table ${table} enable trigger all;`).join(' ')}
    select _turn_sizes_store(t) from (select * from turns where work_item_id = '${item}' order by depth) t;
    insert into journal_entries (work_item_id, entry_type, content) select '${item}', 'user_feedback', jsonb_build_object('message', 'Word' || n || ' of many') from generate_series(1, 10 * ${turns}) n;
    select from work_message('${item}', 'The needle in ${turns === 100 ? 'src/small.ts' : 'src/large.ts'}')`);
  await client.query('vacuum analyze');
  return item;
}

type Plan = { 'Actual Rows': number; 'Shared Hit Blocks': number; 'Shared Read Blocks': number };

/** Rows and buffers of a query, those of its functions with them. */
async function cost(query: string): Promise<{ rows: number; buffers: number }> {
  await client.query(query); // catalogs are read once for each connection
  const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(`explain (analyze, buffers, format json) ${query}`);
  const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
  if (!plan) throw new Error('there is no plan');
  return { rows: plan['Actual Rows'], buffers: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] };
}

/** A query over an item of so many turns, and how many times the buffers of the small one it may read in the large one. */
const looks: [string, (id: string, turns: number) => string, number][] = [
  ['work under way', (id) => `select * from v_now where work_item_id = '${id}'`, 1.25],
  ['workers', () => 'select * from v_workers', 1.25],
  ['the newest page of the journal', (id) => `select * from journal_page('${id}')`, 1.5],
  // It leaps to its first and its last row: as many steps as the depth has binary digits.
  ['a page of the timeline', (id, turns) => `select * from context_timeline('${id}', null, md5('${id}' || ${turns / 2})::uuid, 40)`, 2.5],
  // 500 turns around the newest instead of all 100.
  ['the tree of turns', (id) => `select * from turn_tree('${id}')`, 5],
  ['the findings of the doctor', () => 'select * from work_ledger_doctor()', 1.25],
];

test('looking costs the same, however large a ledger is', async () => {
  const small = await fill(100);
  const few = new Map<string, { rows: number; buffers: number }>();
  const searches: [string, string][] = [['a path', `select * from ledger_search('src/small.ts')`], ['what is not there', `select * from ledger_search('nowhere')`]];
  for (const [what, query] of looks) few.set(what, await cost(query(small, 100)));
  for (const [what, query] of searches) few.set(what, await cost(query));
  const large = await fill(10_000);
  for (const [what, query, most] of looks) {
    const before = few.get(what) ?? { rows: 0, buffers: 0 };
    const now = await cost(query(large, 10_000));
    expect(now.buffers, `${what}: ${before.buffers} buffers, ${now.buffers}`).toBeLessThan(most * before.buffers + 30);
  }
  for (const [what, query] of searches) {
    const before = few.get(what) ?? { rows: 0, buffers: 0 };
    const now = await cost(query);
    expect(now.rows, what).toBe(before.rows);
    expect(now.buffers, `${what}: ${before.buffers} buffers, ${now.buffers}`).toBeLessThan(2 * before.buffers + 30);
  }
});
