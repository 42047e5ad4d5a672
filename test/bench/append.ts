// What an append costs, against a bare prepared INSERT of the same row into the same table, and what notifications add.
// Rounds of the variants take turns, so that a slow minute of the machine hits all of them alike; printed are ratios.
//   npm run bench -- append [clients] [seconds per round] [rounds]

import { mkdtemp, rm, chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import pg from 'pg';

import { ensureEmbedded, stopEmbedded } from '../../runtime/install/embedded.ts';
import { installLedger } from '../../runtime/install/installLedger.ts';

const [clients = 8, seconds = 3, rounds = 5] = process.argv.slice(2).map(Number);
const dataDir = await mkdtemp(join(tmpdir(), 'wl-bench-'));
await chmod(dataDir, 0o755);
const { url } = await ensureEmbedded({ dataDir });
await installLedger(url, 'work_ledger');
const admin = new pg.Client({ connectionString: url });
await admin.connect();

const bare = `insert into work_ledger (work_item_id, seq, entry_type, content) values ($1, nextval('bench_seq')::integer, 'note', $2)`;
const append = `select ledger_append($1, 'note', $2)`;
const variants: { name: string; sql: string; before: string; listens?: boolean }[] = [
  { name: 'bare INSERT', sql: bare, before: `update fences set watch_ends_at = null; alter table work_ledger disable trigger refuse_number, disable trigger search_ledger` },
  { name: 'ledger_append', sql: append, before: `update fences set watch_ends_at = null` },
  { name: 'ledger_append, notify trigger dropped', sql: append, before: `update fences set watch_ends_at = null; alter table work_ledger disable trigger notify_ledger` },
  { name: 'ledger_append, not searchable', sql: append, before: `update fences set watch_ends_at = null; alter table work_ledger disable trigger search_ledger` },
  { name: 'ledger_append, watched and listened to', sql: append, before: `update fences set watch_ends_at = now() + interval '1 hour'`, listens: true },
];

async function rate(variant: (typeof variants)[number], items: readonly string[]): Promise<number> {
  await admin.query(`alter table work_ledger enable trigger notify_ledger, enable trigger refuse_number, enable trigger search_ledger; ${variant.before}`);
  const listener = new pg.Client({ connectionString: url });
  await listener.connect();
  if (variant.listens) await listener.query('listen work_ledger');
  let count = 0;
  const deadline = performance.now() + seconds * 1000;
  await Promise.all(items.map(async (item) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    while (performance.now() < deadline) {
      await client.query({ name: 'q', text: variant.sql, values: [item, 'The index on orders(created_at) is never used by the nightly import.'] });
      count++;
    }
    await client.end();
  }));
  await listener.end();
  return count / seconds;
}

const rates = new Map<string, number[]>(variants.map((variant) => [variant.name, []]));
await admin.query('create sequence bench_seq start 1000000000 maxvalue 2147483647 as integer');
for (let round = 0; round < rounds; round++) {
  for (const variant of variants) {
    const items: string[] = [];
    for (let n = 0; n < clients; n++) items.push((await admin.query(`select id from work_submit('bench', 'x')`)).rows[0].id as string);
    rates.get(variant.name)?.push(await rate(variant, items));
  }
}
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const base = median(rates.get('ledger_append') ?? []);
console.log(`${clients} clients, ${rounds} rounds of ${seconds} s, durable commits, PostgreSQL ${(await admin.query('show server_version')).rows[0].server_version}`);
for (const [name, values] of rates) {
  console.log(`${name.padEnd(42)} ${median(values).toFixed(0).padStart(7)} /s   ${(median(values) / base).toFixed(2)}   (${values.map((value) => value.toFixed(0)).join(' ')})`);
}
await admin.end();
await stopEmbedded(dataDir);
await rm(dataDir, { recursive: true, force: true });
