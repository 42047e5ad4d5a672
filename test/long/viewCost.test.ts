// What a view costs that is asked about one item, turn, message or session, by the buffers read, in a ledger where nothing is rare.

import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { blocksOf, costOf, vacuumAll } from '../cost.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { longItem } from '../longItem.ts';
import { wideLedger } from '../wideLedger.ts';

/** Of one row, and of each of many: a row of work under way has a dozen sub-queries, and planning looks at the ends of indexes. */
const MOST = 350;
const EACH = 120;

let database: TestDatabase;
let client: pg.Client;
let wide: Awaited<ReturnType<typeof wideLedger>>;
beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client(database.url);
  await client.connect();
  await client.query(`set search_path = ledger; select from faculty_save('{"name": "worker", "accepts": ["analyze"]}')`);
  wide = await wideLedger(client, 25_000);
});
afterAll(async () => {
  await client?.end();
  await database?.drop({ unchecked: 'turns put in by hand' });
});

/** Keys that are no way into a view. */
const others = new Map([
  ['_journal_done.source_id', 'of any table'],
  ['_journal_logged.source_id', 'of any table'],
  ['v_evidence.tool_call_id', 'named in the data of entries'],
  ['v_fork_points.turn_id', 'ranked within an item'],
  ['v_ledger.turn_id', 'entries are found by their item'],
  ['v_now.turn_id', 'the newest of an item'],
  ['v_under_way.turn_id', 'the newest of an item'],
  ['v_work_run.source_id', 'of any table'],
  ['v_work_run.turn_id', 'blocks are found by their item'],
  ['work_journal.id', 'made of type and source'],
  ['work_journal.source_id', 'of any table'],
]);

test('a view reads what belongs to its key, and nothing else', async () => {
  const { item, root, turn, message, call } = wide;
  const values = new Map([
    ['work_item_id', item],
    ['reader_id', item],
    ['source_id', item],
    ['id', item],
    ['label', item],
    ['parent_id', root],
    ['root_id', root],
    ['turn_id', turn],
    ['message_id', message],
    ['tool_call_id', call],
  ]);
  const { rows: looks } = await client.query<{ view: string; key: string; type: string }>(
    `
    select c.relname as view, a.attname as key, format_type(a.atttypid, null) as type
      from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relkind = 'v' and c.relnamespace = 'ledger'::regnamespace and a.attname = any ($1) and a.atttypid in ('uuid'::regtype, 'text'::regtype)
     order by 1, 2`,
    [[...values.keys()]],
  );
  const dear: string[] = [];
  for (const { view, key, type } of looks.filter((look) => !others.has(`${look.view}.${look.key}`))) {
    const { rows, buffers } = await costOf(client, `select * from ${view} where ${key} = '${values.get(key)}'::${type}`);
    if (buffers > Math.max(MOST, EACH * rows)) dear.push(`${view}.${key}: ${buffers} buffers for ${rows} rows`);
  }
  expect(dear).toEqual([]);
  expect(looks.length).toBeGreaterThan(40);
});

const filter = { project: null, state: null, type: null, faculty: null, origin: null, words: null, order: 'newest', before: null } as const;

test('what the console shows of an item, or of the newest, adds up nothing of other work', async () => {
  const looks: [string, (db: Db) => Promise<unknown>][] = [
    ['the top of its page', (db) => db.console.item(wide.item)],
    ['the cost of its tree', (db) => db.console.treeCost(wide.root)],
    ['what ended lately', (db) => db.console.lately(null, 12)],
    ['the newest work', (db) => db.console.workPage(filter, 20)],
    ['the newest open work', (db) => db.console.workPage({ ...filter, state: 'open' }, 20)],
  ];
  const read: Record<string, number> = {};
  for (const [what, look] of looks)
    read[what] = await blocksOf(client, async () => {
      const db = await openDb(database.url, 'ledger', { maximumPoolSize: 1 });
      await look(db);
      await db.close();
    });
  expect(Object.entries(read).filter(([, blocks]) => blocks > 800)).toEqual([]);
});

test('the turns of one item are joined with the foci of that item', async () => {
  const item = await longItem(client, 100);
  await vacuumAll(client);
  const { rows, buffers } = await costOf(client, `select * from threads where work_item_id = '${item}'`);
  expect(rows).toBe(100);
  expect(buffers).toBeLessThan(350); // of which each turn takes three: whether another one continues it
});
