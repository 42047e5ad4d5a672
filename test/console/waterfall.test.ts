// The waterfall of an item: its rows and sums are those of work_waterfall(); the address says which time is shown; of many rows some are drawn.

import { afterAll, beforeAll, expect, test } from 'vitest';

import { drawWaterfall } from '../../runtime/commands/trace.ts';
import { startConsole } from '../../runtime/console/server.ts';
import type { Console } from '../../runtime/console/server.ts';
import { growth } from '../../runtime/console/pages/waterfall.ts';
import type { FallRow } from '../../runtime/ledger/answers.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import { money } from '../../runtime/money.ts';
import { playedDatabase } from '../playedDatabase.ts';

let played: Awaited<ReturnType<typeof playedDatabase>>;
let running: Console;
let item: string;

type Row = { n: number; span_id: string; name: string; kind: string; cost: number | null; critical: boolean; is_open: boolean };
const rowsOf = (more = ''): Promise<Row[]> =>
  played.query<Row>(`select n::int, span_id, name, kind, cost::float8, critical_from is not null as critical, ended_at is null as is_open
    from ledger.work_waterfall('${item}') f ${more} order by f.n`);

beforeAll(async () => {
  played = await playedDatabase();
  // Three hundred and fifty calls in one turn, a minute of model before them; another request is under way.
  item = await played.play(`select later('-1 hour'), model_price_save('claude-sonnet-5-5', 3, 15);
    select agent('{"model": "claude-sonnet-5-5", "tools": ["look"]}', '{"awareness": {"enabled": false}}'), submit('Find why it is slow'), later('30 seconds');
    select drive(), later('60 seconds');
    select answer((select jsonb_agg('["look"]'::jsonb) from generate_series(1, 350))), run(), later('9 seconds'), iteration_finish(item(), lease());
    select drive(), later('1 second');
    select item()`);
  running = await startConsole({ url: played.url, schema: 'ledger', port: 0 });
});
afterAll(async () => {
  await running?.close();
  await played?.drop();
});

const page = async (query = ''): Promise<string> => (await fetch(new URL(`/work/${item}/waterfall${query}`, running.address))).text();
const drawn = (html: string): string[] =>
  [...html.matchAll(/<li class="l[^>]*data-key="([^"]+)" data-row="span"/g)].map(([, key]) => key ?? '');

test('each row, its cost and the critical path are what the rows say; of many a page is drawn, the rest counted', async () => {
  const all = await rowsOf();
  expect(all.length).toBeGreaterThan(350);
  const first = await page();
  expect(drawn(first)).toEqual(all.slice(0, 200).map(({ span_id }) => span_id));
  expect(first).toContain(`200 of ${all.length} rows`);
  expect([...first.matchAll(/data-critical/g)]).toHaveLength(all.slice(0, 200).filter(({ critical }) => critical).length);
  expect(first).toContain(`<span class="n">${money(all[0]?.cost ?? 0)}</span>`);
  expect(first).toContain('class="b-whole open"');
  const rest = /href="([^"]+after=200)"/.exec(first)?.[1]?.replaceAll('&amp;', '&').split('?')[1] ?? '';
  expect(drawn(await page(`?${rest}`))).toEqual(all.slice(200).map(({ span_id }) => span_id));
});

test('a time of the address shows what lies in it, and leads closer, wider and back to all of it', async () => {
  const some = await page('?from=10&to=20');
  const inside = await rowsOf(`where started_at <= (select min(started_at) + interval '20 seconds' from ledger.work_waterfall('${item}'))
    and started_at + make_interval(secs => seconds) >= (select min(started_at) + interval '10 seconds' from ledger.work_waterfall('${item}'))`);
  expect(drawn(some)).toEqual(inside.map(({ span_id }) => span_id));
  expect(inside.map(({ kind }) => kind)).toEqual(['item', 'queue']);
  expect(some).toMatch(/data-zoom="in" href="[^"]*from=12.500&amp;to=17.500"/);
  expect(some).toMatch(/data-zoom="all" href="\/work\/[^"?]+"/);
  expect(drawn(await page('?from=nonsense&to=-3'))).toHaveLength(200);
});

test('in a terminal of 80 and of 200 columns no line is longer', () => {
  const row = (n: number, more: Partial<FallRow>): FallRow => ({
    n,
    depth: n - 1,
    span_id: String(n),
    parent_span_id: null,
    kind: 'item',
    name: `execute_tool ${'long'.repeat(20)}`,
    work_item_id: '',
    turn_id: null,
    call_id: null,
    attempt: 2,
    started_at: '2026-01-01T00:00:00Z',
    ended_at: null,
    seconds: 100,
    is_error: false,
    says: null,
    cost: 1.25,
    critical_from: null,
    critical_until: null,
    ...more,
  });
  const rows = [
    row(1, {}),
    row(2, { kind: 'person', seconds: 1, started_at: '2026-01-01T00:01:39Z', critical_from: '2026-01-01T00:01:39Z' }),
  ];
  for (const width of [80, 200]) {
    const lines = drawWaterfall({ rows, root: rows[0] ?? row(1, {}), found: 2, all: 2, kinds: [] }, width);
    expect(lines.slice(0, 2).map((line) => line.length)).toEqual([width, width]);
    expect(lines[1]).toMatch(/╱ +\*/);
  }
});

test('what grows is drawn again the more rarely the longer it has grown; what has ended is not', async () => {
  const redrawn = (from: number, to: number): number =>
    new Set(Array.from({ length: to - from }, (_, second) => growth(from + second))).size;
  expect(redrawn(0, 500)).toBe(50);
  expect(redrawn(36_000, 72_000)).toBeLessThan(40);
  expect(growth(36_000)).not.toBe(growth(36_000 * 1.03));
  expect(growth(null)).toBe('');
  const db = await openDb(played.url, 'ledger');
  try {
    expect(await db.waterfallGrows(item)).toBeGreaterThan(0);
    await played.query(`select ledger.work_cancel('${item}')`);
    expect(await db.waterfallGrows(item)).toBe(null);
    const [turn] = await played.query<{ id: string }>(
      `select id from ledger.turns where work_item_id = '${item}' and status = 'completed' limit 1`,
    );
    await played.query(`select ledger.work_fork('${turn?.id}', 'Another way')`);
    expect(await db.waterfallGrows(item)).toBeGreaterThan(0);
  } finally {
    await db.close();
  }
});
