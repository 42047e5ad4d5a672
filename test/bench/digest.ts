// What a digest costs as the ledger grows, against the plainest thing that it is asked for, an entry by its key: of any item, so that
// it may have to be read. Both are sent by Node's driver and planned anew each time; what the server alone does is its CPU.

import type pg from 'pg';

import { against, linesOf, median, takeTurns, timed } from './harness/question.ts';
import type { Line, Question, Sample } from './harness/question.ts';
import { withServer } from './harness/server.ts';
import type { Server } from './harness/server.ts';

const KEY = 'an entry by its key';
const queries = {
  [KEY]: 'select content from work_ledger where work_item_id = $1 and seq = 50',
  awareness_digest: 'select awareness_digest($1)',
  'ledger_read, the last 10': 'select * from ledger_read($1, p_last_n => 10)',
  ledger_append: `select (ledger_append($1, 'note', 'One more')).seq`,
};

export const digest: Question = {
  asks: 'What does a digest cost, and does it grow with the ledger?',
  axis: 'entries',
  measure: ({ quick, say }) =>
    withServer(
      async (server) => {
        await prepare(server.admin);
        const asking = await server.connect();
        const lines: Line[] = [];
        for (const entries of quick ? [10_000, 100_000] : [100_000, 1_000_000, 10_000_000, 50_000_000]) {
          say(`digest: ${entries} entries`);
          await fill(server.admin, entries);
          const samples = await takeTurns(
            quick ? 5 : 15,
            Object.fromEntries(Object.entries(queries).map(([name, query]) => [name, () => msOf(server, asking, query)])),
          );
          lines.push(
            ...linesOf(samples, { unit: 'ms', of: KEY, at: entries }).map((line) => {
              const first = lines.find(({ name }) => name === line.name);
              return first ? against(line, { ...first, name: `that at ${first.at}` }) : line;
            }),
          );
        }
        return lines;
      },
      { autovacuum: 'off' },
    ),
};

/** The median of twenty items at random that nobody drives. */
async function msOf({ cpu }: Server, asking: pg.Client, query: string): Promise<Sample> {
  const times: number[] = [];
  const { rows } = await asking.query<{ id: string }>('select id from bench_items where n >= 10 order by random() limit 20');
  const before = await cpu();
  for (const { id } of rows) times.push(await timed(() => asking.query(query, [id])));
  const after = await cpu();
  return { value: median(times), cpu: before === null || after === null ? null : (after - before) / 20 };
}

async function prepare(admin: pg.Client): Promise<void> {
  await admin.query(`
    create table bench_items (n integer primary key, id uuid not null);
    select faculty_save('{"name": "bench", "accepts": ["bench"], "engage": {"tools": []}}')`);
}

/**
 * Until there are so many entries, a hundred an item, as old as a month; ten items are under way. Neither has triggers at work, else
 * ten million take an hour, and items after the first thousand are copies of the first.
 */
async function fill(admin: pg.Client, entries: number): Promise<void> {
  const {
    rows: [first],
  } = await admin.query<{ n: number }>('select count(*)::integer as n from bench_items');
  const from = first?.n ?? 0;
  if (from === 0) {
    await admin.query(`
      with made as (select i, (work_submit('bench', 'Find out why number ' || i || ' is slow')).id from generate_series(0, 999) i)
      insert into bench_items select i, id from made`);
    await admin.query('select focus_claim(id, $1, 3600) from bench_items where n < 10', ['bench']);
  }
  for (const table of ['work_items', 'fences', 'work_ledger']) await admin.query(`alter table ${table} disable trigger all`);
  await admin.query(
    `
    insert into bench_items select i, _uuidv7() from generate_series(greatest($1::integer, 1000), $2::integer - 1) i`,
    [from, entries / 100],
  );
  await admin.query(
    `
    insert into work_items select (jsonb_populate_record(w, jsonb_build_object('id', b.id, 'root_id', b.id, 'description', 'Find out why number ' || b.n || ' is slow'))).*
      from bench_items b, work_items w
     where b.n >= greatest($1, 1000) and w.id = (select id from bench_items where n = 999)`,
    [from],
  );
  await admin.query(
    `
    insert into fences select (jsonb_populate_record(f, jsonb_build_object('work_item_id', b.id))).*
      from bench_items b, fences f
     where b.n >= greatest($1, 1000) and f.work_item_id = (select id from bench_items where n = 999)`,
    [from],
  );
  await admin.query(
    `
    insert into work_ledger (work_item_id, seq, entry_type, content, created_at)
    select id, s, (case when s % 10 = 3 then 'finding' when s % 20 = 5 then 'error' when s % 5 = 0 then 'step' else 'note' end)::ledger_entry_type,
           'Entry ' || s || ': ' || md5(n || ' ' || s), now() - random() * interval '30 days'
      from bench_items, generate_series(1, 100) s where n >= $1`,
    [from],
  );
  await admin.query('update fences set ledger_count = 100 where work_item_id in (select id from bench_items where n >= $1)', [from]);
  for (const table of ['work_items', 'fences', 'work_ledger']) await admin.query(`alter table ${table} enable trigger all`);
  await admin.query('vacuum analyze');
}
