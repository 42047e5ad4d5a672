// What an iteration costs beside other work: none of its statements reads a table, or an index, from end to end, in a ledger where nothing
// is rare.

import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { wideLedger } from '../wideLedger.ts';

const ITEMS = 5000;

let database: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client(database.url);
  await client.connect();
  await client.query(`
    set search_path = ledger, work_test, public;
    select tool('look'), tool('change', 'unsafe', 'dangerous');
    select from faculty_save('{"name": "worker", "accepts": ["analyze"], "engage": {
      "tools": ["look", "change", "ledger_append", "spawn_child_work", "await_child_work", "work_complete"], "context_window": 30000, "require_approval": "dangerous"}}');
    select tool('read_file');
    select from faculty_save('{"name": "editor", "accepts": ["edit"], "engage": {"tools": ["read_file", "ledger_append"], "workspace": "host", "workspace_dir": "/srv/src"}}')`);
  await wideLedger(client, ITEMS);
  await client.query(`insert into sweep_walks (walk, run_at) values ('hours', now())`);
});
afterAll(async () => {
  await client?.end();
  await database?.drop({ unchecked: 'turns put in by hand' });
});

/** What is done with the item in hand, statement by statement, each after the ones before it. */
const scenes: [what: string, ...statements: string[]][] = [
  ['counting begins', 'select from work_metrics_take()'],
  [
    'a submission',
    `select submit('Do it')`,
    `select from budget_set(item(), 'tokens', 1000000)`,
    `select from work_submit('analyze', 'Only once', p_dedup_key => 'once')`,
    `select from work_submit('analyze', 'Only once', p_dedup_key => 'once')`,
  ],
  [
    'calls and entries',
    `select play('[[["look", "seen"]], [["finding", "It is slow"], ["look", "failed: no such file"]], [["step", "Looked"]]]')`,
  ],
  [
    'blocks that are closed',
    `select play(jsonb_agg(case when n % 3 = 0 then '[["step", "Done so far"]]' else jsonb_build_array(jsonb_build_array('look', repeat('x', 4000))) end)) from generate_series(1, 18) n`,
  ],
  ['a message', `select from work_message(item(), 'Hurry up', true)`, `select play('[[["look", "seen"]]]')`],
  [
    'an interruption',
    'select drive()',
    `select answer('[["look", "seen"], ["look", "seen"]]')`,
    `select from work_message(item(), 'Stop', true)`,
    'select drive()',
    'select from iteration_finish(item(), lease())',
  ],
  [
    'a call that waits for approval',
    `select play('[[{"type": "tool_use", "id": "asks", "name": "change", "input": {}}]]')`,
    `select from tool_call_approve(call('asks'))`,
    'select drive()',
    `select from tool_call_begin(item(), lease(), call('asks'))`,
    `select from tool_call_settle(item(), lease(), call('asks'), 'changed')`,
    'select from iteration_finish(item(), lease())',
  ],
  [
    'looks at it',
    'select from context_window((select focus()))',
    'select from context_cost(item())',
    'select from cost_cuts(item())',
    `select from context_replay((select session_label from foci where id = (select focus())), '{"compact_threshold": 0.3}')`,
    'select from v_sessions where label = (select session_label from foci where id = (select focus()))',
    'select from explain_turn((select turn()))',
  ],
  [
    'child work',
    `select play('[[["spawn_child_work", {"work_type": "analyze", "description": "A part"}]]]')`,
    `select play(jsonb_build_array(jsonb_build_array(jsonb_build_array('await_child_work', jsonb_build_object('work_item_ids', array(select id from work_items where parent_id = item()))))))`,
    `select from work_cancel((select id from work_items where parent_id = item()))`,
    `select drive()`,
  ],
  ['an attempt that fails', 'select from give_up()', `select later('1 hour')`, `select play('[[["look", "seen"]]]')`],
  [
    'a fork',
    `select take(work_fork((select t.id from turns t where t.focus_id = (select focus()) and t.status = 'completed' order by t.depth desc limit 1)))`,
    `select play('[[["look", "seen"]]]')`,
  ],
  ['a completion', `select play('[[["work_complete", {"summary": "Done"}]]]')`],
  [
    'files of others',
    `select submit('Edit it', 'edit')`,
    ...Array.from({ length: 3 }, () => `select play('[[["read_file", {"path": "a.ts"}, "seen"]]]')`),
    'select from work_cancel(item())',
  ],
  ['what is counted', 'select from work_metrics_take()'],
  [
    'budgets by day',
    `insert into daily_budgets (scope, name, resource, amount) select 'project', 'p' || n, 'tokens', 5 from generate_series(1, ${ITEMS}) n`,
    `insert into daily_spending (scope, name, resource, day) select 'project', 'p' || n, 'tokens', '2026-01-01' from generate_series(1, ${ITEMS}) n`,
    `select from daily_budget_set('calls', 1000, p_faculty => 'worker')`,
    `select from daily_budget_set('tokens', 1000000000, p_faculty => 'worker')`,
    `select from daily_budget_set('seconds', 100000, p_project => 'shop')`,
    `select take(work_submit('analyze', 'Do it today', p_project => 'shop'))`,
    `select play('[[["look", "seen"]], [["finding", "It is slow"]]]')`,
    'select from work_cancel(item())',
    `select from daily_budget_set('calls', null, p_faculty => 'worker')`,
  ],
  ['looks at what it did', 'select from work_trace(item())', `select from cost_by('total', item())`],
  [
    'a session that goes on with it',
    `select take(journal_resume(item(), 'again'))`,
    'select from export_for_resumption(item())',
    `select ability_invoke('notify_me', jsonb_build_object('work_item_id', params ->> 'resumedFrom'), id) from work_items where id = item()`,
    `select take((params ->> 'resumedFrom')::uuid) from work_items where id = item()`,
  ],
  ['an erasure', `select from work_erase(item(), p_is_dry_run => true)`, `select from work_erase(item())`],
  ['what is added up', `select later('5 minutes')`, 'select from work_hours_sum()'],
  [
    'a recorded run',
    `select session_import('{"format": "codex", "sessionId": "s", "prompt": "Look", "exchanges": [{"text": "I look", "calls": [{"id": "a", "name": "look", "input": {}, "result": "seen"}]}, {"text": "Refused", "lints": [{"message": "x", "severity": "bad"}]}, {"text": "Done"}]}')`,
  ],
];

test('no statement of an iteration reads a table from end to end', async () => {
  await client.query('begin');
  const read = await scanned();
  const ends: string[] = [];
  for (const [what, ...statements] of scenes) {
    for (const statement of statements) {
      await client.query(statement);
      for (const [table, rows] of await scanned()) {
        if (rows - (read.get(table) ?? 0) > ITEMS / 2)
          ends.push(`${what}: ${rows - (read.get(table) ?? 0)} rows of ${table}: ${statement}`);
        read.set(table, rows);
      }
    }
  }
  await client.query('rollback');
  expect(ends).toEqual([]);
});

/** Rows that this transaction has read of tables that hold one of each item, at least: one by one, or all of an index. */
async function scanned(): Promise<Map<string, number>> {
  const { rows } = await client.query<{ table: string; rows: number }>(`
    select s.relname as table, (s.seq_tup_read + coalesce(s.idx_tup_fetch, 0))::float8 as rows
      from pg_stat_xact_user_tables s join pg_class c on c.oid = s.relid
     where s.schemaname = 'ledger' and c.reltuples >= ${ITEMS}`);
  return new Map(rows.map(({ table, rows: read }) => [table, read]));
}
