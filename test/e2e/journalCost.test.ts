// What looking at a journal costs: by the buffers that a query reads, over a short journal and over one a hundred times as long.

import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { costOf, vacuumAll } from '../cost.ts';
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
  await database?.drop({ unchecked: 'turns put in by hand' });
});

const filled = ['turns', 'messages', 'tool_calls', 'touches', 'work_ledger', 'journal_entries', 'work_checkpoints'];

/**
 * A work item with so many turns, one in ten seconds, each with a thought, a call that writes a file and an entry in the ledger, and a
 * session of another program with as many entries; checkpoints of 105 seconds ago.
 */
async function fill(turns: number): Promise<{ item: string; session: string; at: string }> {
  const {
    rows: [made],
  } = await client.query<{ item: string; session: string; at: string }>(`
    select now()::text as at, (select id from work_submit('analyze', 'Find why')) as item, (select id from journal_session_create('chat ${turns}', 'Find why')) as session`);
  if (!made) throw new Error('nothing was made');
  const { item, session, at } = made;
  await client.query(`
    select from focus_claim('${item}', 'w');
    ${filled.map((table) => `alter table ${table} disable trigger all;`).join(' ')}
    insert into turns (id, depth, parent_turn_id, status, work_item_id, focus_id, iteration, started_at, completed_at)
    select md5('${item}' || n)::uuid, n, case when n > 0 then md5('${item}' || n - 1)::uuid end, 'completed', w.id, w.focus_id, n, at, at
      from work_items w, generate_series(0, ${turns}) n, lateral (select timestamptz '${at}' - (${turns} - n) * interval '10 seconds' as at) a where w.id = '${item}';
    insert into messages (turn_id, sequence, role, content, created_at) select id, 1000, 'assistant', '[{"type": "text", "text": "So"}]', completed_at from turns where work_item_id = '${item}';
    insert into tool_calls (id, turn_id, ordinal, work_item_id, provider_id, tool_name, input, effect, status, result, is_error, created_at, completed_at)
    select id, id, 0, work_item_id, 'a', 'write_file', '{"path": "a.ts", "content": "x"}', 'pure', 'completed', '"done"', false, completed_at, completed_at from turns where work_item_id = '${item}';
    insert into touches (tool_call_id, ordinal, work_item_id, kind, target, action) select id, 0, work_item_id, 'path', 'a.ts', 'create' from tool_calls where work_item_id = '${item}';
    insert into work_ledger (work_item_id, seq, entry_type, content, created_at) select work_item_id, iteration + 1, 'note', 'Noted', completed_at from turns where work_item_id = '${item}';
    insert into journal_entries (work_item_id, entry_type, content, created_at) select '${session}', 'user_feedback', '{"message": "Go on"}', completed_at from turns where work_item_id = '${item}';
    insert into work_checkpoints (work_item_id, trigger, ledger_seq, entry_count, token_estimate, summary, completed_tasks, key_decisions, current_state, files_modified, pending_actions, created_at)
    select id, 'entries', ${turns} - 10, 1000, 5000, '', '[]', '[]', '', '[]', '[]', timestamptz '${at}' - interval '105 seconds' from unnest(array['${item}', '${session}']::uuid[]) id;
    update fences set ledger_count = ${turns} + 1 where work_item_id = '${item}';
    ${filled.map((table) => `alter table ${table} enable trigger all;`).join(' ')}`);
  await vacuumAll(client);
  return made;
}

const looks: [string, (id: string, at: string) => string][] = [
  ['what is new', (id, at) => `select * from journal_read('${id}', timestamptz '${at}' - interval '105 seconds')`],
  ['the first twenty', (id) => `select * from journal_read('${id}', '-infinity', 20)`],
  ['twenty from the middle', (id, at) => `select * from journal_read('${id}', timestamptz '${at}' - interval '505 seconds', 20)`],
  ['the newest page', (id) => `select * from journal_page('${id}')`],
  [
    'a page before the newest',
    (id) => `select * from journal_page('${id}', (select min(position) from journal_page('${id}', null, 30)), 30)`,
  ],
  ['a page of one type', (id) => `select * from journal_page('${id}', null, 30, '{user_feedback,file_written}')`],
  ['the session with its counters', (id) => `select * from work_sessions where id = '${id}'`],
  ['a checkpoint', (id) => `select from checkpoint_create('${id}')`],
  ['an entry', (id) => `select from journal_log('${id}', 'user_feedback', '{"message": "More"}')`],
];

test('looking costs the same, however long a journal is', async () => {
  const short = await fill(100);
  const long = await fill(10_000);
  for (const kind of ['item', 'session'] as const) {
    for (const [what, query] of looks) {
      const few = await costOf(client, query(short[kind], short.at));
      const many = await costOf(client, query(long[kind], long.at));
      expect(many.rows, what).toBe(few.rows);
      // A hundred times as many entries: the trees of the indexes are a level deeper (four instead of three), nothing else is read.
      expect(many.buffers, `${what} of the ${kind}: ${few.buffers} buffers, ${many.buffers}`).toBeLessThan(1.35 * few.buffers + 10);
    }
  }
});
