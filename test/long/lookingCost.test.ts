// What looking at work costs: by the buffers that a query reads, in a small ledger and in one a hundred times as large.

import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { blocksOf, costOf, vacuumAll } from '../cost.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { longItem } from '../longItem.ts';
import { projectOf } from '../wideLedger.ts';

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

/** Where a turn of it stands in its run. */
const placeOf = (id: string, n: number): string =>
  `select (extract(epoch from completed_at) * 1000000)::bigint || '/0/0/0/' from turns where id = md5('${id}' || ${n})::uuid`;

/** A query over an item of so many turns, and how many times the buffers of the small one it may read in the large one. */
const looks: [string, (id: string, turns: number) => string, number][] = [
  ['work under way', (id) => `select * from v_now where work_item_id = '${id}'`, 1.25],
  ['workers', () => 'select * from v_workers', 1.25],
  ['the newest work', () => 'select * from v_work_list order by created_at desc, work_item_id desc limit 1', 1.25],
  ['what changed in the ledger', () => 'select * from ledger_changes()', 1.25],
  ['what changed in an item', (id) => `select * from work_changes('${id}')`, 1.25],
  ['a page of turns', (id) => `select * from v_turns where work_item_id = '${id}' order by turn_id desc limit 50`, 2],
  ['one call', () => `select * from v_calls where tool_call_id = (select id from tool_calls limit 1)`, 1.25],
  ['the beginning of a run', (id) => `select * from work_run('${id}')`, 2],
  ['a window of a run', (id, turns) => `select * from work_run('${id}', p_after => (${placeOf(id, turns / 2)}))`, 2],
  ['the window before it', (id, turns) => `select * from work_run('${id}', p_before => (${placeOf(id, turns / 2)}))`, 2],
  // Its entries are all of one moment: each is looked up in the index, 200 are read.
  ['the end of a run', (id) => `select * from work_run('${id}', p_before => 'end')`, 8],
  ['the next errors', (id, turns) => `select * from work_run('${id}', (${placeOf(id, turns / 2)}), p_limit => 5, p_marks => '{error}')`, 3],
  ['the newest page of the journal', (id) => `select * from journal_page('${id}')`, 1.5],
  // It leaps to its first and its last row: as many steps as the depth has binary digits.
  ['a page of the timeline', (id, turns) => `select * from context_timeline('${id}', null, md5('${id}' || ${turns / 2})::uuid, 40)`, 2.5],
  ['the beginning of the request', (id, turns) => `select * from context_parts(md5('${id}' || ${turns - 1})::uuid, null, 20)`, 3],
  // It leaps there five times.
  ['a page from its middle', (id, turns) => `select * from context_parts(md5('${id}' || ${turns - 1})::uuid, ${turns / 2}, 20)`, 4],
  // 500 turns around the newest instead of all 100.
  ['the tree of turns', (id) => `select * from turn_tree('${id}')`, 5],
  ['an awareness digest', () => 'select awareness_digest()', 1.25],
  // It asks two dozen small questions, each of an index that is a level deeper.
  ['the findings of the doctor', () => 'select * from work_ledger_doctor()', 1.5],
];

test('looking costs the same, however large a ledger is', async () => {
  const small = await longItem(client, 100);
  await vacuumAll(client);
  const few = new Map<string, { rows: number; buffers: number }>();
  const searches: [string, string][] = [
    ['a path', `select * from ledger_search('src/small.ts')`],
    ['what is not there', `select * from ledger_search('nowhere')`],
  ];
  for (const [what, query] of looks) few.set(what, await costOf(client, query(small, 100)));
  for (const [what, query] of searches) few.set(what, await costOf(client, query));
  const large = await longItem(client, 10_000);
  await vacuumAll(client);
  for (const [what, query, most] of looks) {
    const before = few.get(what) ?? { rows: 0, buffers: 0 };
    const now = await costOf(client, query(large, 10_000));
    expect.soft(now.buffers, `${what}: ${before.buffers} buffers, ${now.buffers}`).toBeLessThan(most * before.buffers + 30);
  }
  for (const [what, query] of searches) {
    const before = few.get(what) ?? { rows: 0, buffers: 0 };
    const now = await costOf(client, query);
    expect(now.rows, what).toBe(before.rows);
    expect(now.buffers, `${what}: ${before.buffers} buffers, ${now.buffers}`).toBeLessThan(2 * before.buffers + 50);
  }
});

const page = { trees: 30, skipped: 0, items: 20 };
const filter = { state: null, type: null, faculty: null, origin: null, words: null, order: 'newest' as const, before: null };
/** What is looked at of one project. */
const projectLooks: Record<string, (db: Db, project: string) => Promise<unknown>> = {
  'work-ledger list': (db, project) => db.workList(null, project, 20),
  'its queue, listed': (db, project) => db.workList(['queued'], project, 20),
  'the counts of every page': ({ console }, project) => console.shell(project),
  'what is under way': ({ console }, project) => console.underWay({ ...page, project }),
  'what is under way, summed': ({ console }, project) => console.underWaySums(project),
  'the queue': ({ console }, project) => console.queue(project, 50),
  approvals: ({ console }, project) => console.approvals(null, { project }),
  'what ended lately': ({ console }, project) => console.lately(project, 20),
  'a page of work': ({ console }, project) => console.workPage({ ...filter, project }, 20),
  'what failed': ({ console }, project) => console.workPage({ ...filter, project, state: 'failed' }, 20),
  'work of a type': ({ console }, project) => console.workPage({ ...filter, project, type: 'none' }, 20),
  'words in work': ({ console }, project) => console.workPage({ ...filter, project, words: 'nowhere' }, 20),
  'the dearest work': ({ console }, project) => console.workPage({ ...filter, project, order: 'dearest' }, 20),
  sessions: ({ console }, project) => console.sessions(project, 20),
  'what was imported': ({ console }, project) => console.imported(project, null, 20),
  readers: ({ console }, project) => console.readers(project, 20),
  'findings that were told': ({ console }, project) => console.toldOfFindings(project, 20),
  findings: ({ console }, project) => console.findings('finding', null, 20, { project, faculty: null, since: null }),
  'findings of a faculty': ({ console }, project) => console.findings('finding', null, 20, { project, faculty: 'nobody', since: null }),
};

test('looking at a project costs what it has, however much others have', async () => {
  const own = await createDatabase();
  const looker = new pg.Client(own.url);
  await looker.connect();
  try {
    await looker.query(`set search_path = ledger; select from faculty_save('{"name": "worker", "accepts": ["analyze"]}')`);
    const costs = async (): Promise<Map<string, number>> => {
      await vacuumAll(looker);
      const found = new Map<string, number>();
      for (const [what, look] of Object.entries(projectLooks)) {
        const buffers = await blocksOf(looker, async () => {
          const db = await openDb(own.url, 'ledger', { maximumPoolSize: 1 });
          await look(db, 'shop');
          await db.close();
        });
        found.set(what, buffers);
      }
      return found;
    };
    await projectOf(looker, 'shop', 20);
    await projectOf(looker, 'bank', 200);
    const few = await costs();
    await projectOf(looker, 'bank', 20_000, 'other');
    for (const [what, buffers] of await costs()) {
      const before = few.get(what) ?? 0;
      expect.soft(buffers, `${what}: ${before} buffers, ${buffers}`).toBeLessThan(1.25 * before + 60);
    }
  } finally {
    await looker.end();
    await own.drop({ unchecked: 'items put in by hand' });
  }
});
