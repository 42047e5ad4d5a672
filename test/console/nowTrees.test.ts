// The page Now where more goes on than one page shows: its figures are of everything, its trees come in pages, and so do the items of one.

import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { startConsole } from '../../runtime/console/server.ts';
import type { Console } from '../../runtime/console/server.ts';
import { costOf } from '../cost.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { wideLedger } from '../wideLedger.ts';
import { until } from '../workerProcess.ts';

let database: TestDatabase;
let client: pg.Client;
let running: Console;
let cookie: string;
beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client(database.url);
  await client.connect();
  await client.query(`set search_path = ledger; select from faculty_save('{"name": "worker", "accepts": ["analyze"]}')`);
  await wideLedger(client, 399); // trees of ten
  running = await startConsole({ url: database.url, schema: 'ledger', port: 0 });
  const entered = await fetch(`${running.address}?token=${running.token}`, { redirect: 'manual' });
  cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
});
afterAll(async () => {
  await running?.close();
  await client?.end();
  await database?.drop({ unchecked: 'turns put in by hand' });
});

const part = async (path: string): Promise<string> => (await fetch(new URL(path, running.address), { headers: { cookie } })).text();
const itemsIn = (text: string): string[] => [...text.matchAll(/<li class="work [^"]*" data-key="([^"]+)"/g)].map(([, id = '']) => id);
const value = async <T>(query: string): Promise<T> => (await client.query<{ value: T }>(`select ${query} as value`)).rows[0]?.value as T;

test('the trees come in pages, each once, and every page says which they are and leads on', async () => {
  const trees = await value<string[]>('(select array_agg(root_id::text order by approvals > 0 desc, began_at, root_id) from v_now_trees)');
  expect(trees.length).toBeGreaterThan(20);
  const [first, second] = [await part('/part/underWay'), await part('/part/underWay?after=20')];
  expect(first).toContain(`trees 1 to 20 of ${trees.length}`);
  expect(first).toContain('<a href="/?after=20">later trees</a>');
  expect(first).not.toContain('earlier trees');
  expect(second).toContain(`trees 21 to 40 of ${trees.length}`);
  expect(second).toContain('<a href="/">earlier trees</a>');
  expect(second).not.toContain('later trees');
  const roots = new Map(
    (await client.query<{ id: string; root: string }>('select work_item_id as id, root_id as root from v_now')).rows.map(({ id, root }) => [
      id,
      root,
    ]),
  );
  const shown = [...new Set([...itemsIn(first), ...itemsIn(second)].map((id) => roots.get(id)))];
  expect(shown).toEqual(trees);
});

test('of a tree its first items are shown, and how many more there are', async () => {
  const text = await part('/part/underWay');
  expect(itemsIn(text).length).toBe(20 * 8);
  const root = await value<string>('(select root_id from v_now_trees order by approvals > 0 desc, began_at, root_id limit 1)');
  expect(text).toContain(`<a class="cut" href="/work/${root}">2 more of this tree</a>`);
});

test('the figures are those of all trees, whichever page is shown', async () => {
  const [asked, waits] = [await value<number>('(select model from v_now_sums)'), await value<number>('(select waits from v_now_sums)')];
  expect(asked + waits).toBeGreaterThan(20 * 8);
  for (const path of ['/part/figures', '/part/figures?after=20']) {
    const text = await part(path);
    expect(text).toContain(`<b>${asked}</b> model calls under way`);
    expect(text).toContain(`<b>${waits}</b> wait`);
  }
});

test('an address that leads nowhere shows no tree, and leads back', async () => {
  const text = await part('/part/underWay?after=9000');
  expect(itemsIn(text)).toEqual([]);
  expect(text).toContain('earlier trees');
  expect(itemsIn(await part('/part/underWay?after=-x'))).toEqual(itemsIn(await part('/part/underWay')));
});

test('the order of the trees is read without looking up turns or calls item by item', async () => {
  const items = await value<number>('(select under_way from v_now_sums)');
  const { rows, buffers } = await costOf(client, 'select root_id, under_way, approvals, began_at from v_now_trees');
  expect(rows).toBe(await value<number>('(select trees from v_now_sums)'));
  expect(buffers).toBeLessThan(items);
});

test('projects are named without their items being read', async () => {
  await client.query('set session_replication_role = replica');
  await client.query(`update work_items set project = 'project ' || ('x' || left(md5(root_id::text), 2))::bit(8)::integer % 8`);
  await client.query('reset session_replication_role; analyze work_items');
  const [named, counted] = [
    await costOf(client, 'select project, earlier_names from v_projects'),
    await costOf(client, 'select * from v_projects'),
  ];
  expect([named.rows, counted.rows]).toEqual([8, 8]);
  expect(named.buffers).toBeLessThan(counted.buffers / 2);
});

test('the newest of a list are read without all the others', async () => {
  const newest = (limit: number): string => `select * from v_work_list order by created_at desc, work_item_id desc limit ${limit}`;
  const [few, all] = [await costOf(client, newest(20)), await costOf(client, newest(1000))];
  expect([few.rows, all.rows]).toEqual([20, 399]);
  expect(few.buffers).toBeLessThan(all.buffers / 8);
});

test('a part that takes long is told again later, and what changed meanwhile then arrives', async () => {
  const gone = new AbortController();
  const told: Record<string, string>[] = [];
  for (let n = 0; n < 5; n++) await part('/part/underWay'); // what it costs is known then
  const stream = await fetch(new URL('/events?page=/', running.address), { headers: { cookie }, signal: gone.signal });
  const reading = (async () => {
    for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>)
      for (const [, json = ''] of new TextDecoder().decode(chunk).matchAll(/"versions":({.*?})/g))
        told.push(JSON.parse(json) as Record<string, string>);
  })().catch(() => {});
  const items = await value<string[]>(`(select array_agg(work_item_id::text order by work_item_id) from v_now where state = 'waiting')`);
  await until(() => told.length > 0);
  expect(told[0]).toHaveProperty('underWay'); // a page that begins is told of everything
  // It is a part of 160 rows: after a page was told of a change, the look after the next change finds it resting.
  let [cancelled, last]: [string, Record<string, string>] = ['', {}];
  do {
    const before = told.at(-1)!;
    cancelled = items.pop() ?? '';
    await client.query('select from work_cancel($1, $2)', [cancelled, 'Not needed']);
    await until(() => told.at(-1)?.['lately'] !== before['lately']);
    last = told.at(-1)!;
  } while ('underWay' in last && items.length > 1);
  expect(last).not.toHaveProperty('underWay');
  await until(() => 'underWay' in told.at(-1)!);
  expect(itemsIn(await part('/part/underWay'))).not.toContain(cancelled);
  gone.abort();
  await reading;
});
