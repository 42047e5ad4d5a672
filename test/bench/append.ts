// What an append costs, by pgbench with prepared statements: against a plain INSERT of the same words, on items of the clients'
// own and on one that they share, without a chain of hashes, ten at once, and with somebody listening.

import type pg from 'pg';

import { linesOf, takeTurns } from './harness/question.ts';
import type { Line, Options, Question, Sample } from './harness/question.ts';
import { findPgbench, withServer } from './harness/server.ts';
import type { Server } from './harness/server.ts';

const content = 'The index on orders(created_at) is never used by the nightly import.';
const insert = (table: string): string => `insert into ${table} (work_item_id, entry_type, content) values (:item, 'note', '${content}')`;
export const appendOne = `select (ledger_append(:item, 'note', '${content}')).seq`;
const ten = `select count(*) from ledger_append_batch(:item, '${JSON.stringify(Array.from({ length: 10 }, () => ({ entry_type: 'note', content })))}')`;

export type Variant = {
  statement: string;
  rows?: number;
  isShared?: boolean;
  isWatched?: boolean;
  isUnchained?: boolean;
  isUnredacted?: boolean;
  of?: string | string[];
};
/** A ledger: its owner, who sets it up, and who submits what is appended to and appends. */
export type Place = { owner: pg.Client; writer: pg.Client; url: string };
const essential: Record<string, Variant> = {
  'plain INSERT': { statement: insert('bench_plain') },
  ledger_append: { statement: appendOne, of: 'plain INSERT' },
  'ledger_append, no chain': { statement: appendOne, isUnchained: true, of: 'ledger_append' },
  'ledger_append_batch of 10': { statement: ten, rows: 10, of: 'ledger_append' },
};
const own: Record<string, Variant> = {
  ...essential,
  'plain INSERT with a foreign key': { statement: insert('bench_keyed'), of: 'plain INSERT' },
};
const together: Record<string, Variant> = {
  ...own,
  'ledger_append, watched, one listener': { statement: appendOne, isWatched: true, of: 'ledger_append' },
  'plain INSERT, the same item': { statement: insert('bench_plain'), isShared: true },
  'ledger_append, the same item': { statement: appendOne, isShared: true, of: 'plain INSERT, the same item' },
  'ledger_append_batch of 10, the same item': { statement: ten, rows: 10, isShared: true, of: 'ledger_append, the same item' },
};

export const append: Question = {
  asks: 'What does an append cost?',
  axis: 'clients',
  async measure(options) {
    if ((await findPgbench()) !== null) return measure(options);
    options.say('append: left out, there is no pgbench here (Debian: apt-get install postgresql-15)');
    return [];
  },
};

/** The items that clients of pgbench append to. */
export const bench_items = 'create table bench_items (n integer primary key, id uuid not null)';

const measure = ({ quick, say }: Options): Promise<Line[]> =>
  withServer(
    async (server) => {
      const place = { owner: server.admin, writer: server.admin, url: server.url };
      await server.admin.query(`
    ${bench_items};
    create table bench_plain (work_item_id uuid not null, seq bigint generated always as identity, entry_type text not null, content text not null,
      data jsonb, created_at timestamptz not null default now(), primary key (work_item_id, seq));
    create table bench_keyed (like bench_plain including all);
    alter table bench_keyed add foreign key (work_item_id) references work_items (id)`);
      const [rounds, seconds] = quick ? [5, 1] : [9, 4];
      const lines: Line[] = [];
      for (const [clients, variants] of quick ? [[16, essential] as const] : [[1, own] as const, [16, together] as const]) {
        say(`append: ${clients} clients`);
        const samples = await takeTurns(
          rounds,
          Object.fromEntries(
            Object.entries(variants).map(([name, variant]) => [name, () => rate(server, place, variant, clients, seconds)]),
          ),
        );
        lines.push(
          ...linesOf(samples, {
            unit: 'entries/s',
            of: Object.fromEntries(Object.entries(variants).flatMap(([name, { of }]) => (of ? [[name, of]] : []))),
            at: clients,
          }),
        );
      }
      return lines;
    },
    { autovacuum: 'off' },
  );

/** A ledger holds 10,000 entries: who has written its part goes on to the next item. */
export async function rate(
  server: Server,
  { owner, writer, url }: Place,
  variant: Variant,
  clients: number,
  seconds: number,
): Promise<Sample> {
  const { statement, rows = 1, isShared = false, isWatched = false, isUnchained = false, isUnredacted = false } = variant;
  await owner.query('select ledger_chain_save($1)', [!isUnchained]);
  const looks = isUnredacted ? await blind(owner) : null;
  const {
    rows: [first],
  } = await writer.query<{ n: number }>(`
    with made as (select i, (work_submit('bench', 'x')).id from generate_series(0, 95) i)
    insert into bench_items select (select coalesce(max(n) + 1, 0) from bench_items) + i, id from made returning n`);
  const offset = first?.n ?? 0;
  await owner.query('vacuum analyze');
  const listener = isWatched ? await listenTo(server, offset) : null;
  const turns = Math.floor(8000 / rows / (isShared ? clients : 1));
  const which = isShared ? `${offset} + :count / ${turns}` : `${offset} + :client_id + ${clients} * (:count / ${turns})`;
  const sample = await server.pgbench(
    `\\if :count % ${turns} = 0
\\set which ${which}
select id as item from bench_items where n = :which \\gset
\\endif
\\set count :count + 1
${statement};
`,
    { clients, seconds, url },
  );
  await listener?.end();
  if (looks !== null) await owner.query(looks);
  return { value: sample.value * rows, cpu: sample.cpu == null ? null : sample.cpu / rows };
}

/** Entries are not looked at for secrets any more; what is run to do so again. */
async function blind(owner: pg.Client): Promise<string> {
  const {
    rows: [looks],
  } = await owner.query<{ definition: string }>(`select pg_get_functiondef('_hints_at_secret(text)'::regprocedure) as definition`);
  await owner.query(
    'create or replace function _hints_at_secret(p_text text) returns boolean language sql immutable parallel safe return false',
  );
  return looks?.definition ?? '';
}

async function listenTo({ connect, admin }: Server, offset: number): Promise<pg.Client> {
  await admin.query('select ledger_watch(id, 3600) from bench_items where n >= $1', [offset]);
  const listener = await connect();
  await listener.query('listen work_ledger');
  return listener;
}
