// What a digest costs: the queries of the function itself, as the server plans them, over a small ledger and over one with
// a million entries.

import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';

let database: TestDatabase;
let client: pg.Client;
let notices: string[] = [];
beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client(database.url);
  await client.connect();
  client.on('notice', (notice) => notices.push(notice.message ?? ''));
  await client.query(`
    set search_path = ledger;
    load 'auto_explain';
    set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on; set auto_explain.log_level = notice;
    set auto_explain.log_analyze = on; set auto_explain.log_buffers = on; set auto_explain.log_format = json; set client_min_messages = notice`);
});
afterAll(async () => {
  await client?.end();
  await database?.drop({ unchecked: 'work put in by hand' });
});

/**
 * Ten entries for each work item, one of them a finding, one an error; a third of the items are children, half of them run, a tenth is
 * queued.
 */
async function fill(from: number, to: number): Promise<void> {
  await client.query(`
    set auto_explain.log_min_duration = -1;
    alter table work_items disable trigger all; alter table work_ledger disable trigger all;
    insert into work_items (id, root_id, parent_id, depth, work_type, description, state, created_at, started_at, resolved_at, project)
    select i.id, case when n % 3 < 2 then i.id else i.root end, case when n % 3 = 2 then i.root end, (n % 3 = 2)::integer, 'a', 'Item ' || n,
           case when n % 10 = 4 then 'queued' when n % 2 = 1 then 'running' else 'completed' end, now() - n * interval '1 second', now() - n * interval '1 second',
           case when n % 2 = 0 and n % 10 <> 4 then now() - n * interval '1 second' end, case when n % 2 = 0 then 'p' end
      from generate_series(${from / 10}, ${to / 10} - 1) n, lateral (select md5('item ' || n)::uuid as id, md5('item ' || n - n % 3)::uuid as root) i;
    insert into fences (work_item_id, ledger_count, is_child, is_journal, is_over)
    select md5('item ' || n)::uuid, 10, n % 3 = 2, false, n % 2 = 0 and n % 10 <> 4 from generate_series(${from / 10}, ${to / 10} - 1) n;
    insert into work_ledger (work_item_id, seq, entry_type, content, is_child_work, created_at, project)
    select md5('item ' || n)::uuid, seq, case seq when 5 then 'finding' when 7 then 'error' when 1 then 'plan' else 'note' end, 'Entry ' || seq || ' of ' || n, n % 3 = 2, now() - n * interval '1 second', case when n % 2 = 0 then 'p' end
      from generate_series(${from / 10}, ${to / 10} - 1) n, generate_series(1, 10) seq;
    alter table work_items enable trigger all; alter table work_ledger enable trigger all;
    analyze work_items, work_ledger;
    set auto_explain.log_min_duration = 0`);
}

type Plan = {
  'Node Type': string;
  'Index Name'?: string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  'Actual Rows': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
};
const nodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)];

type Explained = { plans: { query: string; nodes: Plan[]; buffers: number }[]; buffers: number; text: string };

/**
 * The plans of the queries inside one digest, and the buffers that the whole of it read. Catalogs are read once for each connection, and again
 * whenever other databases of the server have changed so much that it forgets what it knows: the least of three counts is the digest's.
 */
async function digest(item: string | null): Promise<Explained> {
  await client.query('select awareness_digest($1)', [item]);
  const all: Explained[] = [];
  for (let n = 0; n < 3; n++) all.push(await explainedDigest(item));
  return all.toSorted((a, b) => a.buffers - b.buffers)[0]!;
}

async function explainedDigest(item: string | null): Promise<Explained> {
  notices = [];
  const { rows } = await client.query<{ text: string }>('select awareness_digest($1) as text', [item]);
  const explained = notices.map((notice) => JSON.parse(notice.slice(notice.indexOf('{'))) as { 'Query Text': string; Plan: Plan });
  const buffersOf = (plan: Plan): number => plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  const plans = explained
    .filter(
      (one) => /\b(work_items|work_ledger|_items_of|_entries_of)\b/.test(one['Query Text']) && one['Query Text'].includes('row_number'),
    )
    .map((one) => ({ query: one['Query Text'], nodes: nodes(one.Plan), buffers: buffersOf(one.Plan) }));
  return { plans, buffers: Math.max(...explained.map((one) => buffersOf(one.Plan))), text: rows[0]?.text ?? '' };
}

/** The buffers that the read of what is due around a request took, for an item that is driven; whether anything is new is part of it. */
async function flags(item: string): Promise<number> {
  const read = `select _iteration_flags(w, f, c.config) from work_items w join foci f on f.id = w.focus_id join faculties c on c.content_hash = f.faculty_hash where w.id = $1`;
  await client.query(read, [item]);
  notices = [];
  await client.query(read, [item]);
  const explained = notices.map((notice) => JSON.parse(notice.slice(notice.indexOf('{'))) as { 'Query Text': string; Plan: Plan });
  const [plan] = explained.filter((one) => one['Query Text'].includes('awareness_digests'));
  const news = nodes(plan!.Plan).filter((node) => ['work_ledger_news', 'work_items_changed'].includes(node['Index Name'] ?? ''));
  expect(news).toHaveLength(2);
  return news.reduce((sum, node) => sum + node['Shared Hit Blocks'] + node['Shared Read Blocks'], 0);
}

test('a digest reads as many buffers from a million ledger entries as from a thousand, through its indexes', async () => {
  await fill(0, 1000); // enough to fill every section to its cap
  await client.query(`select from faculty_save('{"name": "reader", "accepts": ["read"], "awareness": {"include_queued": true}}')`);
  const {
    rows: [reader],
  } = await client.query<{ id: string }>(`select id from work_submit('read', 'Read it', p_project => 'p')`);
  const small = await digest(reader?.id ?? null);
  await fill(1000, 1_000_000);
  await client.query('vacuum (analyze) work_items, work_ledger');
  const large = await digest(reader?.id ?? null);
  await client.query(`select focus_claim($1, 'worker')`, [reader?.id]);
  await client.query(`update foci set created_at = now() + interval '1 hour'`); // nothing is new since
  const news = await flags(reader!.id);

  expect(large.text).toMatch(
    /^== AWARENESS ==\n\nCurrently active:\n(.*\n)+\nQueued:\n(.*\n)+\nRecently completed:\n(.*\n)+\nRecent findings:\n(.*\n)+\nRecent errors:\n/,
  );
  expect(large.text.match(/^- Entry 5/gm)).toHaveLength(20);
  expect(large.text.match(/^- Entry 7/gm)).toHaveLength(10);
  expect(large.buffers).toBeGreaterThan(0);
  // A thousand times as many entries: the trees of the indexes are a level or two deeper (873 buffers for 642), nothing else is read.
  expect(large.buffers).toBeLessThan(1.45 * small.buffers);
  // Whether anything is new: a way of at most four pages down each of two indexes, for each of two projects.
  expect(news).toBeGreaterThan(0);
  expect(news).toBeLessThanOrEqual(16);
  const used = large.plans.map((plan) => plan.nodes.flatMap((node) => node['Index Name'] ?? []));
  expect(used[0]).toBeDefined();
  expect(used.flat()).toEqual(expect.arrayContaining(['work_items_told', 'work_ledger_told']));
  for (const plan of large.plans) {
    expect(plan.nodes.map((node) => node['Node Type'])).not.toContain('Seq Scan');
    // Nearly nothing is read to be thrown away, in either of two projects.
    expect(plan.nodes.reduce((sum, node) => sum + (node['Rows Removed by Filter'] ?? 0), 0)).toBeLessThanOrEqual(40);
  }
});
